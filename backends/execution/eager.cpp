// One step, op by op: key from the live tensors, look-up, memory, bind, launch, release.
// SPDX-License-Identifier: Apache-2.0
#include "backends/execution/eager.h"

#include <array>

#include "backends/api/output_bytes.h"
#include "backends/execution/op_context.h"
#include "ops/base/check.h"

namespace stepscope {

EagerExecutor::EagerExecutor(std::shared_ptr<const Program> program, KernelCache& cache,
                             ModelMemory& memory, const ExecutorOptions& options)
    : Executor(std::move(program)),
      cache_(cache),
      use_cache_(options.eager_cache),
      pool_(cache.backend(), options.address_offset),
      tensors_(graph().values().size()),
      views_(graph().ops().size() + 1) {
  for (const ValueId id : graph().ids()) {
    const Value& value = graph().value(id);
    if (value.sharing == Sharing::view) {
      views_[static_cast<std::size_t>(value.producer + 1)].push_back(id);
    } else if (value.producer < 0) {
      tensor(id) = {memory.address(value.name), value.type, 0};
    }
  }
  for (const ValueId id : graph().ids()) {
    const Value& owner = graph().value(graph().storage(id));
    if (graph().value(id).kept && owner.producer >= 0) kept_.push_back(graph().storage(id));
  }
  make_views(0);
}

void EagerExecutor::make_views(std::size_t list) {
  for (const ValueId id : views_[list]) {
    tensor(id) = {tensor(graph().storage(id)).data, graph().type(id), 0};
  }
}

void EagerExecutor::release(ValueId id) {
  Tensor& dead = tensor(id);
  if (dead.block_class != 0) pool_.give(dead.data, dead.block_class);
  dead.block_class = 0;
  dead.data = nullptr;
}

void EagerExecutor::enqueue(Stream& stream) {
  stream.begin_step();
  for (const ValueId id : kept_) release(id);
  if (use_cache_ == EagerCache::off) {
    stream.wait();  // kernels of the last step may still run
    uncached_.clear();
    uncached_.reserve(graph().ops().size());
  }
  if (watch_next_step_ || use_cache_ == EagerCache::off) [[unlikely]] {
    watch_next_step_ = false;
    run_all<true>(stream);
  } else {
    run_all<false>(stream);
  }
}

template <bool kWatched>
void EagerExecutor::run_all(Stream& stream) {
  const std::size_t count = graph().ops().size();
  std::size_t i = 0;
  try {
    for (; i < count; ++i) run<kWatched>(i, stream);
  } catch (const Error& error) {
    throw_at_op(graph(), i, error.fault(), error.what());
  }
}

OpSite EagerExecutor::live_site(const Op& op) {
  OpSite site{op.kind, op.attrs, {}, {}};
  for (const ValueId id : op.inputs) site.in.push_back(tensor(id).type);
  TypeList out;
  op_def(op.kind).infer(site.in, site.attrs, out);
  site.out.assign(out.begin(), out.end());
  return site;
}

const CachedKernel& EagerExecutor::find_kernel(const Op& op, Stream& stream) {
  if (use_cache_ == EagerCache::off) {
    stream.count_lookup();
    uncached_.push_back(cache_.lower(live_site(op)));
    return uncached_.back();
  }
  SiteKey key(op.kind, op.attrs);
  for (const ValueId id : op.inputs) key.add(tensor(id).type);
  return cache_.find(key, stream, [&] { return live_site(op); });
}

void EagerExecutor::mark_rests_dead(const Op& op, const CachedKernel& found, std::byte* scratch) {
  for (std::size_t k = 0; k < op.outputs.size(); ++k) {
    const Tensor& made = tensor(op.outputs[k]);
    if (made.block_class == 0) continue;
    pool_.mark_rest_dead(made.data, made.block_class, output_bytes(*found.kernel, k));
  }
  if (scratch == nullptr) return;
  pool_.mark_rest_dead(scratch, found.scratch_class, found.kernel->needs().scratch);
}

template <bool kWatched>
void EagerExecutor::run(std::size_t index, Stream& stream) {
  const Op& op = graph().ops()[index];
  const CachedKernel& found = find_kernel(op, stream);
  const std::vector<TensorType>& out = found.kernel->site().out;

  std::array<std::byte*, kMaxOperands> operands;  // filled up to the operands there are
  std::size_t count = 0;
  for (const ValueId id : op.inputs) operands[count++] = tensor(id).data;
  for (std::size_t k = 0; k < out.size(); ++k) {
    Tensor& made = tensor(op.outputs[k]);
    const int overwritten = found.overwrites[k];
    made.block_class = found.output_class[k];
    made.data =
        overwritten < 0 ? take(made.block_class) : operands[static_cast<std::size_t>(overwritten)];
    made.type = out[k];
    operands[count++] = made.data;
  }
  std::byte* scratch = take(found.scratch_class);
  if constexpr (kWatched) pool_.note_peak();
  if constexpr (kTrackDeadMemory) mark_rests_dead(op, found, scratch);
  stream.submit(found.kernel->bind(operands.data(), scratch), static_cast<std::uint32_t>(index));
  if (scratch != nullptr) pool_.give(scratch, found.scratch_class);
  make_views(index + 1);
  for (const ValueId id : program().plan.dies_after[index]) release(id);
}

MemoryUse EagerExecutor::memory_use() const {
  return {.allocated = pool_.bytes_in_use(),
          .reserved = pool_.bytes_reserved(),
          .peak_allocated = pool_.peak_in_use(),
          .peak_reserved = pool_.bytes_reserved()};  // it gives nothing back
}

void EagerExecutor::reset_peaks() {
  pool_.reset_peak();
  watch_next_step_ = true;
}

std::vector<MemoryPart> EagerExecutor::memory_parts() const {
  return {{"eager pool", pool_.bytes_reserved()}};
}

std::byte* EagerExecutor::address(ValueId id) const {
  return tensors_[static_cast<std::size_t>(id.index)].data;
}

}  // namespace stepscope
