// Modes by name, making an executor, and telling from counters what was executed.
// SPDX-License-Identifier: Apache-2.0
#include "backends/execution/executor.h"

#include <array>

#include "backends/execution/eager.h"
#include "backends/execution/planned.h"
#include "ops/base/check.h"
#include "ops/base/nearest.h"

namespace stepscope {
namespace {

constexpr std::array kModes = {Mode::eager, Mode::planned, Mode::graph};
constexpr std::array kInputCopies = {InputCopy::outside, InputCopy::inside};

// The one that is called `text`.
template <class Enum, std::size_t kCount>
Enum from_name(std::string_view kind, std::string_view text,
               const std::array<Enum, kCount>& known) {
  std::vector<std::string> names;
  for (const Enum each : known) {
    if (name(each) == text) return each;
    names.emplace_back(name(each));
  }
  fail(Fault::bad_input, "{}", unknown_name(kind, text, names));
}

}  // namespace

std::string_view name(Mode mode) {
  switch (mode) {
    case Mode::eager:
      return "eager";
    case Mode::planned:
      return "planned";
    case Mode::graph:
      return "graph";
  }
  return "?";
}

Mode mode_from(std::string_view text) { return from_name("mode", text, kModes); }

std::string_view name(InputCopy copy) {
  switch (copy) {
    case InputCopy::outside:
      return "outside";
    case InputCopy::inside:
      return "inside";
  }
  return "?";
}

InputCopy input_copy_from(std::string_view text) {
  return from_name("input copy", text, kInputCopies);
}

std::unique_ptr<Executor> make_executor(Mode mode, std::shared_ptr<const Program> program,
                                        KernelCache& cache, ModelMemory& memory, Stream& stream,
                                        const ExecutorOptions& options) {
  Backend& backend = cache.backend();
  check(options.misaligned || options.address_offset % backend.alignment() == 0, Fault::bad_input,
        "executor: an offset of {} bytes breaks the alignment of {}", options.address_offset,
        backend.alignment());
  switch (mode) {
    case Mode::eager:
      return std::make_unique<EagerExecutor>(std::move(program), cache, memory, options);
    case Mode::planned:
      return std::make_unique<PlannedExecutor>(std::move(program), backend, memory, options);
    case Mode::graph:
      return std::make_unique<GraphExecutor>(std::move(program), backend, memory, stream, options);
  }
  fail(Fault::bad_input, "executor: no such mode");
}

Mode executed_mode(const Counters& counted) {
  const bool replayed = counted.replays > 0;
  const bool submitted = counted.submitted > 0;
  if (replayed && !submitted && counted.lookups == 0 && counted.replays == counted.steps) {
    return Mode::graph;
  }
  if (submitted && !replayed && counted.lookups == counted.submitted) return Mode::eager;
  if (submitted && !replayed && counted.lookups == 0) return Mode::planned;
  fail(Fault::device,
       "executed mode: {} steps with {} look-ups, {} single launches and {} replays are no mode",
       counted.steps, counted.lookups, counted.submitted, counted.replays);
}

}  // namespace stepscope
