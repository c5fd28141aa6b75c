// Executors: the three ways of submitting the calls of one program.
//
//   eager    looks up, takes memory, binds, launches and releases, each op, each step
//   planned  lowered and bound once; launches each op, each step
//   graph    lowered, bound and recorded once; one replay a step
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
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

// Mode::graph: where the copy of a batch into the input slots is made. Both give the same bits;
// eager and planned always copy outside.
enum class InputCopy : std::uint8_t {
  outside,  // by a call in front of each replay
  inside,   // by each replay itself, from memory of the host with a fixed address
};

std::string_view name(InputCopy copy);
InputCopy input_copy_from(std::string_view text);  // throws bad_input, with the nearest name

class InputSource;

struct ExecutorOptions {
  EagerCache eager_cache = EagerCache::on;
  // Shifts arena and pool blocks, for tests of what alignment does to bits. A multiple of the
  // backend's alignment, unless `misaligned` says that this is meant.
  std::size_t address_offset = 0;
  bool misaligned = false;
  // InputCopy::inside: what recordings copy the inputs from. Null: they copy nothing.
  InputSource* inputs = nullptr;
};

// Memory in bytes. At any moment allocated is at most reserved; so are the peaks.
struct MemoryUse {
  std::size_t allocated = 0;       // of live tensors and of scratch in use
  std::size_t reserved = 0;        // held, whether in use or not
  std::size_t peak_allocated = 0;  // highest of the window
  std::size_t peak_reserved = 0;
};

// What one owner holds.
struct MemoryPart {
  std::string_view owner;
  std::size_t reserved = 0;
};

// Costs that are paid once. Empty: the mode has no such phase, or it was not measured apart.
struct SetupTimes {
  std::optional<std::int64_t> init_ns;         // stream, model segment, initial values
  std::optional<std::int64_t> compile_ns;      // graphs, passes, lowering, plan, binding
  std::optional<std::int64_t> capture_ns;      // recording
  std::optional<std::int64_t> instantiate_ns;  // of a device graph
  std::optional<std::int64_t> upload_ns;       // of a device graph
};

class Executor {
 public:
  virtual ~Executor() = default;

  // Submits one whole step.
  virtual void enqueue(Stream& stream) = 0;

  // Where a value lies: of inputs, parameters, states and kept values, good after each step. Under
  // eager a kept value moves from step to step.
  virtual std::byte* address(ValueId id) const = 0;

  // What the executor holds beside the model segment. Peaks are those since it was made, or since
  // reset_peaks().
  //   eager           blocks of the pool, at the sizes of blocks. The peak of what is allocated is
  //                   followed in the first step behind either, and whenever the pool grows: with
  //                   the cache on every step of a program takes the same, and following costs
  //                   time; without the cache it is followed in all
  //   planned, graph  by the plan: what is kept between steps, the most that lives at one op, and
  //                   the arena; of a recording the bytes it holds itself, which are no tensors
  virtual MemoryUse memory_use() const = 0;
  virtual void reset_peaks() {}
  // Who holds what is reserved: the pool or arena first. An owner whose bytes nobody knows is left
  // out.
  virtual std::vector<MemoryPart> memory_parts() const = 0;
  std::size_t bytes_reserved() const { return memory_use().reserved; }

  // Of making it: what a recording took.
  virtual SetupTimes setup_times() const { return {}; }
  // Mode::graph alone; else null.
  virtual const Recording* recording() const { return nullptr; }

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
