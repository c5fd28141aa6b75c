// Names of phases.
// SPDX-License-Identifier: Apache-2.0
#include "ops/ir/phase.h"

namespace stepscope {

std::string_view name(Phase phase) {
  switch (phase) {
    case Phase::input_copy:
      return "input_copy";
    case Phase::forward:
      return "forward";
    case Phase::loss:
      return "loss";
    case Phase::backward:
      return "backward";
    case Phase::update:
      return "update";
    case Phase::readback:
      return "readback";
  }
  return "?";
}

std::string to_string(PhaseSet phases) {
  std::string text;
  for (const Phase phase : kPhases) {
    if (!phases.contains(phase)) continue;
    if (!text.empty()) text += '+';
    text += name(phase);
  }
  return text;
}

}  // namespace stepscope
