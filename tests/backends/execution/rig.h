// Rig: one graph on one backend, compiled and ready for executors, outside any session.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "backends/execution/executor.h"

namespace stepscope::test {

class Rig {
 public:
  // `model_offset` shifts the model segment. The backend must outlive the rig.
  Rig(Backend& backend, Graph graph, InPlace in_place = InPlace::on, std::size_t model_offset = 0);

  std::unique_ptr<Executor> executor(Mode mode, const ExecutorOptions& options = {});

  Stream& stream() { return *stream_; }
  KernelCache& cache() { return cache_; }
  ModelMemory& memory() { return memory_; }
  const std::shared_ptr<const Program>& program() const { return program_; }
  const Graph& graph() const { return *program_->graph; }

  // Declared values by name, as doubles of their type.
  void write(std::string_view name, std::span<const double> elements);
  std::vector<double> read(std::string_view name);
  // A kept or declared value, where the executor has it.
  std::vector<double> read(const Executor& executor, std::string_view name);
  std::vector<std::byte> read_bytes(const Executor& executor, std::string_view name);

 private:
  Backend& backend_;
  std::unique_ptr<Stream> stream_;
  KernelCache cache_;
  ModelMemory memory_;
  std::shared_ptr<const Program> program_;
};

}  // namespace stepscope::test
