// Executors: the three ways of submitting the calls of one program.
//
//   eager    looks up, takes memory, binds, launches and releases, each op, each step
//   planned  lowered and bound once; launches each op, each step
//   graph    lowered, bound and recorded once; one replay a step
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/execution/model_memory.h"
#include "backends/execution/program.h"

namespace stepscope {

enum class Mode : std::uint8_t { eager, planned, graph };

std::string_view name(Mode mode);
Mode mode_from(std::string_view text);  // throws bad_input, with the nearest name

// off: eager makes every kernel anew, each op, each step (the naive row of a comparison).
enum class EagerCache : std::uint8_t { on, off };

struct ExecutorOptions {
  EagerCache eager_cache = EagerCache::on;
  // Shifts arena and pool blocks, for tests of what alignment does to bits. A multiple of the
  // backend's alignment, unless `misaligned` says that this is meant.
  std::size_t address_offset = 0;
  bool misaligned = false;
};

class Executor {
 public:
  virtual ~Executor() = default;

  // Submits one whole step.
  virtual void enqueue(Stream& stream) = 0;

  // Where a value lies: of inputs, parameters, states and kept values, good after each step. Under
  // eager a kept value moves from step to step.
  virtual std::byte* address(ValueId id) const = 0;

  // Bytes that the executor holds beside the model segment: the arena, or the pool's blocks.
  virtual std::size_t bytes_reserved() const = 0;

  const Program& program() const { return *program_; }
  const Graph& graph() const { return *program_->graph; }

 protected:
  explicit Executor(std::shared_ptr<const Program> program) : program_(std::move(program)) {}

 private:
  std::shared_ptr<const Program> program_;
};

// `cache`, `memory` and the backend must outlive the executor. Mode::graph records on `stream`.
// Throws unsupported when the backend cannot record.
std::unique_ptr<Executor> make_executor(Mode mode, std::shared_ptr<const Program> program,
                                        KernelCache& cache, ModelMemory& memory, Stream& stream,
                                        const ExecutorOptions& options = {});

// What was executed, from what the stream counted over some steps: never from what was asked for.
// Throws device, with the counts, when they fit no mode or a mixture of several.
Mode executed_mode(const Counters& counted);

}  // namespace stepscope
