// Planned and graph: the program bound once to its arena, then launched op by op or recorded.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/execution/executor.h"
#include "backends/execution/op_context.h"

namespace stepscope {

// The launches of a program, in order, bound to an arena of its own and to the model segment.
// Operand addresses lie in one flat array that never moves: launches borrow from it.
class BoundProgram {
 public:
  BoundProgram(const Program& program, Backend& backend, ModelMemory& memory,
               const ExecutorOptions& options);
  BoundProgram(const BoundProgram&) = delete;
  BoundProgram& operator=(const BoundProgram&) = delete;

  // Errors name the op.
  void submit(Stream& stream) const {
    std::size_t i = 0;
    try {
      for (; i < launches_.size(); ++i) {
        stream.submit(launches_[i], static_cast<std::uint32_t>(i));
      }
    } catch (const Error& error) {
      throw_at_op(*graph_, i, error.fault(), error.what());
    }
  }
  // The same with dead memory marked behind each op, for debug and sanitizer builds.
  void submit_tracking_dead(Stream& stream) const;
  // For a step that is one submission: the whole arena lives; afterwards what is kept.
  void mark_all_live() const;
  void mark_all_dead_but_kept() const;

  std::byte* address(ValueId id) const { return addresses_[static_cast<std::size_t>(id.index)]; }
  std::size_t arena_bytes() const { return arena_->bytes(); }
  MemoryUse memory_use() const;  // by the plan

 private:
  struct Block {
    std::byte* data;
    std::size_t bytes;
  };

  void find_lifetimes(const Program& program);

  std::shared_ptr<const Graph> graph_;
  Backend& backend_;
  std::unique_ptr<Memory> arena_;
  std::vector<std::byte*> addresses_;  // per value
  std::vector<std::byte*> operands_;   // of all launches, one after the other
  std::vector<Launch> launches_;
  std::vector<std::vector<Block>> born_, dies_;  // per op; empty in release builds
  std::vector<Block> kept_;                      // by address
  std::size_t kept_bytes_;
  std::size_t most_live_bytes_;
};

class PlannedExecutor final : public Executor {
 public:
  PlannedExecutor(std::shared_ptr<const Program> program, Backend& backend, ModelMemory& memory,
                  const ExecutorOptions& options);
  void enqueue(Stream& stream) override;
  std::byte* address(ValueId id) const override { return bound_.address(id); }
  MemoryUse memory_use() const override { return bound_.memory_use(); }
  std::vector<MemoryPart> memory_parts() const override {
    return {{"plan arena", bound_.arena_bytes()}};
  }

 private:
  BoundProgram bound_;
};

class GraphExecutor final : public Executor {
 public:
  GraphExecutor(std::shared_ptr<const Program> program, Backend& backend, ModelMemory& memory,
                Stream& stream, const ExecutorOptions& options);
  void enqueue(Stream& stream) override;
  std::byte* address(ValueId id) const override { return bound_.address(id); }
  MemoryUse memory_use() const override;
  std::vector<MemoryPart> memory_parts() const override;
  SetupTimes setup_times() const override { return setup_times_; }
  const Recording* recording() const override { return recording_.get(); }

 private:
  BoundProgram bound_;
  std::unique_ptr<Recording> recording_;
  SetupTimes setup_times_;
};

}  // namespace stepscope
