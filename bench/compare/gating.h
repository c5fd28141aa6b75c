// The gates of one backend and batch: which arm is held against which, and by what.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backends/registry/registry.h"
#include "bench/compare/arm.h"
#include "bench/compare/compare.h"
#include "bench/compare/gate.h"

namespace stepscope {

// Unfused arms against unfused eager by bits; the first arm of each fusion against it within what
// rounding explains, and the other modes of that fusion against the first by bits. Unfused eager is
// made apart where it is none of the arms.
class Gating {
 public:
  Gating(const CompareSpec& spec, Backend& backend, const InputRing& ring, std::int64_t batch,
         std::vector<Arm>& arms)
      : spec_(spec), backend_(backend), ring_(ring), batch_(batch), arms_(arms) {}

  // Over the batches of the ring from `first` on. Nothing when the backend computes nothing.
  std::vector<GateRecord> run(std::int64_t first);
  // Unfused eager against the reference backend, at most about two seconds of its plain loops.
  // Nothing for the reference backend itself.
  std::vector<GateRecord> run_reference(const Registry& registry);

 private:
  Arm& unfused_eager();
  const Graph& graph_of(Arm& arm) const { return arm.session->step(batch_).graph(); }
  void stamp(std::vector<GateRecord>& gates) const;

  const CompareSpec& spec_;
  Backend& backend_;
  const InputRing& ring_;
  std::int64_t batch_;
  std::vector<Arm>& arms_;
  std::unique_ptr<Arm> apart_;
};

}  // namespace stepscope
