// Sorting pairs by what they ask.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/questions.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace stepscope {
namespace {

// Nothing where more than one thing differs, or it is no question of this report.
std::optional<About> about(const PairView& view) {
  const ArmRecord& of = *view.of;
  const ArmRecord& base = *view.base;
  if (of.simulated || base.simulated) return std::nullopt;  // their pairs have no ratio
  if (view.pair->kind != "arm" || of.batch != base.batch) return std::nullopt;
  const bool same_fusion = of.fusion == base.fusion;
  const bool same_mode = of.mode_requested == base.mode_requested;
  if (view.crosses_backends()) {
    return same_fusion && same_mode ? std::optional(About::backends) : std::nullopt;
  }
  if (same_mode && !same_fusion && base.fusion == kUnfused) return About::fusion;
  if (!same_fusion || same_mode) return std::nullopt;
  const bool graph = of.mode_requested == "graph";
  if (graph && base.mode_requested == "eager") return About::graph_over_eager;
  if (graph && base.mode_requested == "planned") return About::graph_over_planned;
  if (of.mode_requested == "planned" && base.mode_requested == "eager") {
    return About::planned_over_eager;
  }
  return std::nullopt;
}

bool asks_the_same(const Question& question, About about, const PairView& view,
                   const std::string& tag) {
  const PairView& first = question.views.front();
  return question.about == about && question.tag == tag && first.of->backend == view.of->backend &&
         first.base->backend == view.base->backend && arm_name(*first.of) == arm_name(*view.of) &&
         arm_name(*first.base) == arm_name(*view.base);
}

void add(std::vector<Question>& questions, About about, const PairView& view, std::size_t run,
         const std::string& tag) {
  auto at = std::find_if(questions.begin(), questions.end(), [&](const Question& question) {
    return asks_the_same(question, about, view, tag);
  });
  if (at == questions.end()) {
    questions.push_back({about, view.of->backend, view.crosses_backends(), {}, {}, tag});
    at = std::prev(questions.end());
  }
  at->views.push_back(view);
  if (at->runs.empty() || at->runs.back() != run) at->runs.push_back(run);
}

}  // namespace

std::vector<Question> questions_of(const Runs& runs, const ModelRuns& model) {
  std::vector<Question> questions;
  for (const std::size_t run : model.runs) {
    if (is_void(runs[run])) continue;
    const std::string tag = model.joined ? "" : fmt::format("run {}", run_name(runs, run));
    for (const PairView& view : pairs_of(runs[run])) {
      if (const std::optional<About> what = about(view)) add(questions, *what, view, run, tag);
    }
  }
  for (Question& question : questions) {
    std::stable_sort(
        question.views.begin(), question.views.end(),
        [](const PairView& a, const PairView& b) { return a.of->batch < b.of->batch; });
  }
  std::stable_sort(questions.begin(), questions.end(), [](const Question& a, const Question& b) {
    return std::tie(a.about, a.backend) < std::tie(b.about, b.backend);
  });
  return questions;
}

}  // namespace stepscope
