// StepLaunches: the launches of a program one by one, in an order that the caller chooses.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backends/execution/planned.h"
#include "backends/execution/session.h"

namespace stepscope::suites {

// Bound to an arena of its own, to the session's model segment, and to scratch that all share.
class StepLaunches {
 public:
  // Requires: the program is one of the session, which outlives this.
  StepLaunches(const stepscope::Program& program, Session& session);

  std::size_t size() const { return launches_.size(); }
  void submit(Stream& stream, std::size_t op) const {
    stream.submit(launches_[op], static_cast<std::uint32_t>(op));
  }
  // Inputs, then outputs.
  std::span<std::byte* const> operands(std::size_t op) const { return operands_[op]; }

 private:
  BoundProgram bound_;
  std::unique_ptr<Memory> scratch_;
  std::vector<std::vector<std::byte*>> operands_;  // per op; launches point into them
  std::vector<Launch> launches_;
};

// Copies one batch of noise and of labels that a model of these classes can have into the inputs.
void load_noise(Session& session, std::int64_t batch, std::uint64_t seed);

}  // namespace stepscope::suites
