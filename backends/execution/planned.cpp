// Binding a program to its arena, and the two executors that use it.
// SPDX-License-Identifier: Apache-2.0
#include "backends/execution/planned.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "backends/api/dead_memory.h"
#include "backends/execution/input_source.h"
#include "ops/base/check.h"

namespace stepscope {
namespace {

// Of the arena between two steps; values that share memory in place count once.
std::size_t kept_bytes(const Plan& plan) {
  const Graph& graph = *plan.graph;
  std::set<std::int32_t> blocks;
  for (const ValueId id : graph.ids()) {
    const auto value = static_cast<std::size_t>(graph.storage(id).index);
    if (!graph.value(id).kept || plan.slots[value].segment == Segment::model) continue;
    blocks.insert(plan.memory_of[value].index);
  }
  std::size_t bytes = 0;
  for (const std::int32_t block : blocks)
    bytes += plan.slots[static_cast<std::size_t>(block)].bytes;
  return bytes;
}

}  // namespace

BoundProgram::BoundProgram(const Program& program, Backend& backend, ModelMemory& memory,
                           const ExecutorOptions& options)
    : graph_(program.graph),
      backend_(backend),
      arena_(backend.allocate(program.plan.bytes.arena + options.address_offset)),
      kept_bytes_(kept_bytes(program.plan)),
      most_live_bytes_(program.plan.bytes.bound) {
  const Graph& graph = *program.graph;
  std::byte* const base = arena_->data() + options.address_offset;
  for (const Slot& slot : program.plan.slots) {
    addresses_.push_back((slot.segment == Segment::model ? memory.base() : base) + slot.offset);
  }
  std::size_t operand_count = 0;
  for (const Op& op : graph.ops()) operand_count += op.inputs.size() + op.outputs.size();
  operands_.reserve(operand_count);  // launches point into it: it must not grow
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    const Op& op = graph.ops()[i];
    std::byte* const* first = operands_.data() + operands_.size();
    for (const ValueId id : op.inputs) operands_.push_back(address(id));
    for (const ValueId id : op.outputs) operands_.push_back(address(id));
    const Slot& scratch = program.plan.scratch[i];
    launches_.push_back(
        program.kernels[i]->bind(first, scratch.bytes != 0 ? base + scratch.offset : nullptr));
  }
  if constexpr (kTrackDeadMemory) find_lifetimes(program);
}

// Blocks of memory from birth to death; values that share memory in place are one block.
void BoundProgram::find_lifetimes(const Program& program) {
  const Graph& graph = *program.graph;
  const Plan& plan = program.plan;
  const std::vector<Lifetime> lives = lifetimes(graph);
  std::vector<Lifetime> block_lives(graph.values().size(), {-1, -1});
  std::vector<bool> kept(graph.values().size());
  for (const ValueId id : graph.ids()) {
    const auto value = static_cast<std::size_t>(id.index);
    if (plan.slots[value].segment == Segment::model) continue;
    const auto owner = static_cast<std::size_t>(
        plan.memory_of[static_cast<std::size_t>(graph.storage(id).index)].index);
    Lifetime& block = block_lives[owner];
    block.first = block.first < 0 ? lives[value].first : std::min(block.first, lives[value].first);
    block.last = std::max(block.last, lives[value].last);
    if (graph.value(id).kept) kept[owner] = true;
  }
  born_.resize(graph.ops().size());
  dies_.resize(graph.ops().size());
  for (std::size_t value = 0; value < block_lives.size(); ++value) {
    if (block_lives[value].first < 0) continue;
    const Block block{addresses_[value], plan.slots[value].bytes};
    born_[static_cast<std::size_t>(block_lives[value].first)].push_back(block);
    if (kept[value]) {
      kept_.push_back(block);
    } else {
      dies_[static_cast<std::size_t>(block_lives[value].last)].push_back(block);
    }
  }
  for (std::size_t i = 0; i < launches_.size(); ++i) {
    if (launches_[i].scratch == nullptr) continue;
    const Block block{launches_[i].scratch, plan.scratch[i].bytes};
    born_[i].push_back(block);
    dies_[i].push_back(block);
  }
  std::sort(kept_.begin(), kept_.end(),
            [](const Block& a, const Block& b) { return a.data < b.data; });
  backend_.mark_dead(arena_->data(), arena_->bytes());
}

MemoryUse BoundProgram::memory_use() const {
  return {.allocated = kept_bytes_,
          .reserved = arena_bytes(),
          .peak_allocated = most_live_bytes_,
          .peak_reserved = arena_bytes()};
}

void BoundProgram::submit_tracking_dead(Stream& stream) const {
  backend_.mark_dead(arena_->data(), arena_->bytes());
  for (std::size_t i = 0; i < launches_.size(); ++i) {
    for (const Block& block : born_[i]) backend_.mark_live(block.data, block.bytes);
    try {
      stream.submit(launches_[i], static_cast<std::uint32_t>(i));
      stream.wait();
    } catch (const Error& error) {
      throw_at_op(*graph_, i, error.fault(), error.what());
    }
    for (const Block& block : dies_[i]) backend_.mark_dead(block.data, block.bytes);
  }
}

void BoundProgram::mark_all_live() const { backend_.mark_live(arena_->data(), arena_->bytes()); }

void BoundProgram::mark_all_dead_but_kept() const {
  std::byte* at = arena_->data();
  for (const Block& block : kept_) {
    backend_.mark_dead(at, static_cast<std::size_t>(block.data - at));
    at = block.data + block.bytes;
  }
  backend_.mark_dead(at, static_cast<std::size_t>(arena_->data() + arena_->bytes() - at));
}

PlannedExecutor::PlannedExecutor(std::shared_ptr<const Program> program, Backend& backend,
                                 ModelMemory& memory, const ExecutorOptions& options)
    : Executor(std::move(program)), bound_(this->program(), backend, memory, options) {}

void PlannedExecutor::enqueue(Stream& stream) {
  stream.begin_step();
  if constexpr (kTrackDeadMemory) {
    bound_.submit_tracking_dead(stream);
  } else {
    bound_.submit(stream);
  }
}

GraphExecutor::GraphExecutor(std::shared_ptr<const Program> program, Backend& backend,
                             ModelMemory& memory, Stream& stream, const ExecutorOptions& options)
    : Executor(std::move(program)), bound_(this->program(), backend, memory, options) {
  const auto begin = std::chrono::steady_clock::now();
  std::size_t copies = 0;
  stream.begin_recording(backend.records_as());
  try {
    if (options.inputs != nullptr) copies = options.inputs->record(stream, graph(), memory);
    bound_.submit(stream);
  } catch (...) {
    stream.abandon_recording();
    throw;
  }
  try {
    recording_ = stream.end_recording();
  } catch (const RecordingError& error) {
    throw_at_op(graph(), error.op(), error.fault(), error.reason());
  }
  const std::chrono::nanoseconds taken = std::chrono::steady_clock::now() - begin;
  const Recording::Times apart = recording_->times();
  setup_times_ = {
      .capture_ns = taken.count() - apart.instantiate_ns.value_or(0) - apart.upload_ns.value_or(0),
      .instantiate_ns = apart.instantiate_ns,
      .upload_ns = apart.upload_ns};
  check(recording_->launches() == this->program().kernels.size(), Fault::device,
        "graph: {} launches were recorded, the program has {}", recording_->launches(),
        this->program().kernels.size());
  check(recording_->copies() == copies, Fault::device,
        "graph: {} copies were recorded, {} inputs are copied inside", recording_->copies(),
        copies);
}

MemoryUse GraphExecutor::memory_use() const {
  MemoryUse use = bound_.memory_use();
  const std::size_t recording = recording_->bytes().value_or(0);
  use.reserved += recording;
  use.peak_reserved += recording;
  return use;
}

std::vector<MemoryPart> GraphExecutor::memory_parts() const {
  std::vector<MemoryPart> parts{{"plan arena", bound_.arena_bytes()}};
  if (const auto bytes = recording_->bytes()) parts.push_back({"recording", *bytes});
  return parts;
}

void GraphExecutor::enqueue(Stream& stream) {
  stream.begin_step();
  if constexpr (kTrackDeadMemory) bound_.mark_all_live();
  try {
    recording_->replay(stream);
  } catch (const RecordingError& error) {
    throw_at_op(graph(), error.op(), error.fault(), error.reason());
  }
  if constexpr (kTrackDeadMemory) {
    stream.wait();
    bound_.mark_all_dead_but_kept();
  }
}

}  // namespace stepscope
