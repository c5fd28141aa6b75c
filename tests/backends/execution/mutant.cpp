// Flaws, planted one at a time into a list of launches.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/execution/mutant.h"

#include <utility>

namespace stepscope::test {

Mutant::Mutant(Rig& rig, Mode mode, Flaw flaw, std::size_t at)
    : Executor(rig.program()), mode_(mode), memory_(rig.executor(Mode::planned)) {
  for (const Op& op : graph().ops()) {
    operands_.emplace_back();
    for (const ValueId id : op.inputs) operands_.back().push_back(address(id));
    for (const ValueId id : op.outputs) operands_.back().push_back(address(id));
  }
  for (std::uint32_t op = 0; op < operands_.size(); ++op) {
    const bool other = flaw == Flaw::other_kernel && op == at;
    const Kernel* kernel = program().kernels[other ? op + 1 : op];
    calls_.push_back({op, kernel->bind(operands_[op].data(), nullptr)});
  }
  const auto place = calls_.begin() + static_cast<std::ptrdiff_t>(at);
  if (flaw == Flaw::skips) calls_.erase(place);
  if (flaw == Flaw::repeats) calls_.insert(place, Call(*place));
  if (flaw == Flaw::swaps_order) std::swap(place[0], place[1]);
  if (flaw == Flaw::swaps_operands) std::swap(operands_[at], operands_[at + 1]);
  for (Call& call : calls_) call.launch.operands = operands_[call.op].data();
}

void Mutant::move_operand(std::size_t op, std::size_t k, std::ptrdiff_t bytes) {
  operands_[op][k] += bytes;
}

void Mutant::place_operand(std::size_t op, std::size_t k, ValueId value) {
  operands_[op][k] = address(value);
}

void Mutant::submit(Stream& stream) const {
  for (const auto& [op, launch] : calls_) {
    if (mode_ == Mode::eager) stream.count_lookup();
    stream.submit(launch, op);
  }
}

void Mutant::enqueue(Stream& stream) {
  if (mode_ == Mode::graph && recording_ == nullptr) {
    stream.begin_recording(RecordAs::tape);
    submit(stream);
    recording_ = stream.end_recording();
  }
  stream.begin_step();
  if (recording_ != nullptr) {
    recording_->replay(stream);
  } else {
    submit(stream);
  }
}

}  // namespace stepscope::test
