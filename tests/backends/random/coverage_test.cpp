// What the random programs are worth: what they contain, what fusion makes of them, and how tight
// their bounds are.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "ops/ir/op_def.h"
#include "ops/ir/print.h"
#include "tests/backends/execution/training.h"
#include "tests/backends/random/judged_program.h"
#include "tests/backends/random/program_count.h"

namespace stepscope {
namespace {

using test::Contents;
using test::JudgedProgram;
using test::kPrograms;
using test::RandomProgram;
using test::Variant;

// The first programs of each kind: what they contain, all of them contain.
constexpr std::uint64_t kCovered = std::min<std::uint64_t>(300, kPrograms);

// Ops that round by nature: exact programs do without.
std::set<OpKind> rounding_ops() {
  return {OpKind::Tanh,
          OpKind::TanhGrad,
          OpKind::Sigmoid,
          OpKind::SigmoidGrad,
          OpKind::AdamUpdate,
          OpKind::ScheduledRate,
          OpKind::SoftmaxCrossEntropy,
          OpKind::SoftmaxCrossEntropyGrad,
          OpKind::SoftmaxCrossEntropyWithGrad,
          OpKind::MatMulUpdate,
          OpKind::MatMulSgdUpdate,
          OpKind::Conv2dWeightUpdate};
}

// Over all programs of one kind, as they are executed.
struct Coverage {
  std::map<OpKind, std::uint64_t> ops;             // programs that have it, unfused or fused
  std::map<std::string, std::uint64_t> changed;    // programs that a pass changes, by its name
  std::map<std::string, std::uint64_t> reordered;  // programs the backend's layouts reorder
  std::set<std::int64_t> dims;
  // Programs that have it.
  std::uint64_t fan_out = 0;       // a value that three ops read
  std::uint64_t views = 0;         // read by an op
  std::uint64_t chains = 0;        // a parameter updated twice
  std::uint64_t late_readers = 0;  // an op that reads what was updated
  std::uint64_t optimizers = 0;    // of two kinds
  std::uint64_t several = 0;       // updated by one op
  std::uint64_t kept = 0;          // four values and more
  std::uint64_t programs = 0, attempts = 0;
  std::vector<double> tightness;  // largest bound over largest element, of each value that is seen
};

bool is_update(const Graph& graph, const Op& op) {
  return graph.value(op.outputs[0]).sharing == Sharing::overwrite;
}

void cover(Coverage& coverage, const Graph& graph) {
  std::vector<int> readers(graph.values().size());
  std::set<OpKind> optimizers;
  bool views = false, chain = false, late = false, several = false;
  for (const Op& op : graph.ops()) {
    if (is_update(graph, op)) {
      optimizers.insert(op.kind);
      several = several || op.outputs.size() > 2;
    }
    for (const ValueId id : op.inputs) {
      ++readers[static_cast<std::size_t>(graph.source(id).index)];
      const Value& value = graph.value(id);
      coverage.dims.insert(value.type.shape.dims().begin(), value.type.shape.dims().end());
      views = views || value.sharing == Sharing::view;
      const bool updated = value.sharing == Sharing::overwrite;
      chain = chain || (updated && is_update(graph, op));
      late = late || (updated && !is_update(graph, op));
    }
  }
  coverage.fan_out += *std::max_element(readers.begin(), readers.end()) >= 3 ? 1 : 0;
  coverage.views += views ? 1 : 0;
  coverage.chains += chain ? 1 : 0;
  coverage.late_readers += late ? 1 : 0;
  coverage.optimizers += optimizers.size() >= 2 ? 1 : 0;
  coverage.several += several ? 1 : 0;
  coverage.kept += std::ranges::count_if(graph.values(), &Value::kept) >= 4 ? 1 : 0;
}

auto reorders(const Graph& graph) {
  return std::ranges::count(graph.ops(), OpKind::Reorder, &Op::kind);
}

// What backends wish for, by their names.
using AllWishes = std::vector<std::pair<std::string, Wishes>>;

// Which passes change the program, those of a backend with wishes included; the ops of all graphs
// that are executed.
void cover_fusion(Coverage& coverage, const RandomProgram& program, const AllWishes& all) {
  const Graph unfused = executed_graph(program, Variant::unfused);
  std::set<OpKind> ops;
  for (const Op& op : unfused.ops()) ops.insert(op.kind);
  std::set<std::string> changed;
  for (const auto& [backend, wishes] : all) {
    Graph graph = program.graph;
    for (const Pass& pass : passes_for(program.fusion, wishes)) {
      Graph made = pass.run(graph).graph;
      if (to_text(made) != to_text(graph)) changed.emplace(pass.name);
      const bool added = pass.name == "layout" && reorders(made) > reorders(graph);
      coverage.reordered[backend] += added ? 1 : 0;
      graph = std::move(made);
    }
    for (const Op& op : graph.ops()) ops.insert(op.kind);
  }
  for (const OpKind kind : ops) ++coverage.ops[kind];
  for (const std::string& name : changed) ++coverage.changed[name];
}

double largest(const std::vector<double>& elements) {
  double found = 0.0;
  for (const double each : elements) found = std::max(found, std::abs(each));
  return found;
}

void cover_bounds(Coverage& coverage, const JudgedProgram& judged) {
  for (const Variant variant : {Variant::unfused, Variant::fused}) {
    for (const auto& step : judged.steps(variant)) {
      for (const auto& [name, expected] : step) {
        const double bound = largest(expected.bound);
        if (bound > 0.0) coverage.tightness.push_back(bound / largest(expected.value));
      }
    }
  }
}

Coverage cover_all(Contents contents) {
  std::vector<std::unique_ptr<Backend>> backends;  // whose choosers of layouts are asked
  AllWishes wishes = {{"a graphics card", {.relu_mask = true, .small_product = 4096}}};
  for (const std::string& name : test::computing_backends({"small_cnn"})) {
    backends.push_back(test::make_backend({name, 1}));
    wishes.emplace_back(name, backends.back()->wishes());
  }
  Coverage coverage;
  for (std::uint64_t seed = 0; seed < kCovered; ++seed) {
    const JudgedProgram judged = make_judged(contents, seed);
    ++coverage.programs;
    coverage.attempts += judged.attempts;
    cover(coverage, executed_graph(judged.program, Variant::unfused));
    cover_fusion(coverage, judged.program, wishes);
    cover_bounds(coverage, judged);
  }
  return coverage;
}

void print(const Coverage& coverage) {
  fmt::print(
      "{} programs of {} made; fan-out {}, views {}, chains {}, late readers {}, "
      "optimizers {}, several by one {}, kept {}\n",
      coverage.programs, coverage.attempts, coverage.fan_out, coverage.views, coverage.chains,
      coverage.late_readers, coverage.optimizers, coverage.several, coverage.kept);
  for (const auto& [name, programs] : coverage.changed) {
    fmt::print("changed by {}: {}\n", name, programs);
  }
  for (const auto& [name, programs] : coverage.reordered) {
    fmt::print("reordered for {}: {}\n", name, programs);
  }
  for (const auto& [kind, programs] : coverage.ops) fmt::print("{}: {}\n", name(kind), programs);
}

void expect_covered(const Coverage& coverage, const std::set<OpKind>& without) {
  print(coverage);
  const std::uint64_t some = coverage.programs / 10;
  const std::uint64_t few = coverage.programs / 50;
  for (std::size_t i = 0; i < kBuiltinOps; ++i) {
    const auto kind = static_cast<OpKind>(i);
    const auto found = coverage.ops.find(kind);
    const std::uint64_t programs = found == coverage.ops.end() ? 0 : found->second;
    if (without.contains(kind)) {
      EXPECT_EQ(programs, 0) << name(kind);
    } else {
      EXPECT_GE(programs, few) << name(kind);
    }
  }
  for (const std::int64_t dim : test::kDims) EXPECT_TRUE(coverage.dims.contains(dim)) << dim;
  EXPECT_GE(coverage.fan_out, some);
  EXPECT_GE(coverage.views, some);
  EXPECT_GE(coverage.chains, some);
  EXPECT_GE(coverage.late_readers, some);
  EXPECT_GE(coverage.optimizers, some);
  EXPECT_GE(coverage.several, some);
  EXPECT_GE(coverage.kept, some);
}

// `layout` where a backend of this build has layouts, and there by reordering.
void expect_changed(const Coverage& coverage, const std::set<std::string>& without) {
  const std::uint64_t some = coverage.programs / 20;
  bool layouts = false;
  for (const std::string& name : test::computing_backends({"small_cnn"})) {
    if (test::make_backend({name, 1})->wishes().layouts == nullptr) continue;
    layouts = true;
    EXPECT_GE(coverage.reordered.at(name), some) << name;
  }
  for (const std::string& name : fusion_names()) {
    if (without.contains(name) || (name == "layout" && !layouts)) continue;
    const auto found = coverage.changed.find(name);
    EXPECT_GE(found == coverage.changed.end() ? 0 : found->second, some) << name;
  }
}

TEST(Coverage, OfExactPrograms) {
  const Coverage coverage = cover_all(Contents::dyadic);
  expect_covered(coverage, rounding_ops());
  expect_changed(coverage, {"loss_grad", "fold_sgd", "small_update"});
}

TEST(Coverage, OfRealPrograms) {
  Coverage coverage = cover_all(Contents::real);
  expect_covered(coverage, {});
  expect_changed(coverage, {});
  // Those that meet a kink are left out; there must not be many, or the rest is a selection.
  EXPECT_LT(4 * (coverage.attempts - coverage.programs), coverage.attempts);
  // Bounds that are not vacuous.
  std::vector<double>& ratios = coverage.tightness;
  std::sort(ratios.begin(), ratios.end());
  ASSERT_GT(ratios.size(), 5 * kCovered);
  fmt::print("bound over value: median {:.1e}, 90th percentile {:.1e}, largest {:.1e}\n",
             ratios[ratios.size() / 2], ratios[ratios.size() / 10 * 9], ratios.back());
  EXPECT_LT(ratios[ratios.size() / 2], 1e-3);
}

}  // namespace
}  // namespace stepscope
