// Eager: what a framework does. No state keyed by position in the graph survives a step.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/execution/executor.h"
#include "backends/execution/pool.h"

namespace stepscope {

class EagerExecutor final : public Executor {
 public:
  EagerExecutor(std::shared_ptr<const Program> program, KernelCache& cache, ModelMemory& memory,
                const ExecutorOptions& options);

  void enqueue(Stream& stream) override;
  std::byte* address(ValueId id) const override;
  MemoryUse memory_use() const override;
  void reset_peaks() override;
  std::vector<MemoryPart> memory_parts() const override;

 private:
  // A tensor as a framework has it: memory and type; the class of the block it must give back.
  struct Tensor {
    std::byte* data = nullptr;
    TensorType type;
    std::uint8_t block_class = 0;
  };

  Tensor& tensor(ValueId id) { return tensors_[static_cast<std::size_t>(id.index)]; }
  // Watched steps follow how much of the pool is in use.
  template <bool kWatched>
  void run_all(Stream& stream);
  template <bool kWatched>
  void run(std::size_t index, Stream& stream);
  void mark_rests_dead(const Op& op, const CachedKernel& found, std::byte* scratch);
  const CachedKernel& find_kernel(const Op& op, Stream& stream);
  OpSite live_site(const Op& op);
  // Class 0 is no block.
  std::byte* take(std::uint8_t block_class) {
    return block_class != 0 ? pool_.take(block_class) : nullptr;
  }
  void make_views(std::size_t list);
  void release(ValueId id);

  KernelCache& cache_;
  EagerCache use_cache_;
  BlockPool pool_;
  bool watch_next_step_ = true;
  std::vector<Tensor> tensors_;  // per value; emptied as values die
  std::vector<ValueId> kept_;    // blocks that stay until the next step begins
  // Views to make: behind op i at i + 1, of declared values at 0.
  std::vector<std::vector<ValueId>> views_;
  std::vector<CachedKernel> uncached_;  // EagerCache::off: kernels of this step
};

}  // namespace stepscope
