// Questions: pairs that ask one thing at several batch sizes, such as what a graph changes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/report/arms.h"
#include "bench/report/runs.h"

namespace stepscope {

enum class About : std::uint8_t {
  graph_over_eager,
  graph_over_planned,
  planned_over_eager,
  fusion,    // fused over unfused, in one mode
  backends,  // one over the other
};

struct Question {
  About about = About::graph_over_eager;
  std::string backend;          // of the arm
  bool crosses = false;         // between backends
  std::vector<PairView> views;  // by rising batch; all of one arm over one base
  std::vector<std::size_t> runs;
  std::string tag;  // "run 2": where runs of a model cannot share a line; else empty
};

// Of one model, first by what they ask, then by backend. Arm and base differ in one thing alone;
// pairs of other kinds, and those of void runs, are in none.
std::vector<Question> questions_of(const Runs& runs, const ModelRuns& model);

}  // namespace stepscope
