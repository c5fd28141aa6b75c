// What the random programs are worth: what they contain, how tight their bounds are, and whether
// they find an error that is planted.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "ops/ir/op_def.h"
#include "tests/backends/random/judged_program.h"
#include "tests/backends/random/planted_backend.h"
#include "tests/backends/random/program_count.h"

namespace stepscope {
namespace {

using test::Contents;
using test::JudgedProgram;
using test::kPrograms;

// Ops that give f32, all but Argmax and CorrectCount; the exact ones first.
constexpr std::array kExactOps = {OpKind::MatMul,        OpKind::AddBias,   OpKind::Add,
                                  OpKind::Sub,           OpKind::Mul,       OpKind::Scale,
                                  OpKind::Fill,          OpKind::Relu,      OpKind::ReluGrad,
                                  OpKind::ReduceSum,     OpKind::Broadcast, OpKind::SgdUpdate,
                                  OpKind::MomentumUpdate};
constexpr std::array kRoundingOps = {OpKind::Tanh,
                                     OpKind::TanhGrad,
                                     OpKind::Sigmoid,
                                     OpKind::SigmoidGrad,
                                     OpKind::AdamUpdate,
                                     OpKind::SoftmaxCrossEntropy,
                                     OpKind::SoftmaxCrossEntropyGrad};

// Over all programs of one kind, as they are executed.
struct Coverage {
  std::set<OpKind> ops;
  std::set<std::int64_t> dims;
  // Programs that have it.
  std::uint64_t fan_out = 0;       // a value that three ops read
  std::uint64_t views = 0;         // read by an op
  std::uint64_t chains = 0;        // a parameter updated twice
  std::uint64_t late_readers = 0;  // an op that reads what was updated
  std::uint64_t optimizers = 0;    // of two kinds
  std::uint64_t kept = 0;          // four values and more
  std::uint64_t programs = 0, attempts = 0;
};

bool is_update(const Graph& graph, const Op& op) {
  return graph.value(op.outputs[0]).sharing == Sharing::overwrite;
}

void cover(Coverage& coverage, const Graph& graph) {
  std::vector<int> readers(graph.values().size());
  std::set<OpKind> optimizers;
  bool views = false, chain = false, late = false;
  for (const Op& op : graph.ops()) {
    coverage.ops.insert(op.kind);
    if (is_update(graph, op)) optimizers.insert(op.kind);
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
  coverage.kept += std::ranges::count_if(graph.values(), &Value::kept) >= 4 ? 1 : 0;
}

Coverage cover_all(Contents contents) {
  Coverage coverage;
  for (std::uint64_t seed = 0; seed < kPrograms; ++seed) {
    const JudgedProgram judged = make_judged(contents, seed);
    ++coverage.programs;
    coverage.attempts += judged.attempts;
    cover(coverage, executed_graph(judged.program));
  }
  return coverage;
}

void expect_covered(const Coverage& coverage, std::set<OpKind> expected) {
  expected.insert(kExactOps.begin(), kExactOps.end());
  expected.insert({OpKind::Argmax, OpKind::CorrectCount});
  EXPECT_EQ(coverage.ops, expected);
  for (const std::int64_t dim : test::kDims) EXPECT_TRUE(coverage.dims.contains(dim)) << dim;
  const std::uint64_t some = coverage.programs / 10;
  EXPECT_GE(coverage.fan_out, some);
  EXPECT_GE(coverage.views, some);
  EXPECT_GE(coverage.chains, some);
  EXPECT_GE(coverage.late_readers, some);
  EXPECT_GE(coverage.optimizers, some);
  EXPECT_GE(coverage.kept, some);
  fmt::print(
      "{} programs of {} made; fan-out {}, views {}, chains {}, late readers {}, "
      "optimizers {}, kept {}\n",
      coverage.programs, coverage.attempts, coverage.fan_out, coverage.views, coverage.chains,
      coverage.late_readers, coverage.optimizers, coverage.kept);
}

TEST(Coverage, OfExactPrograms) { expect_covered(cover_all(Contents::dyadic), {}); }

TEST(Coverage, OfRealPrograms) {
  const Coverage coverage = cover_all(Contents::real);
  expect_covered(coverage, {kRoundingOps.begin(), kRoundingOps.end()});
  // Those that meet a kink are left out; there must not be many, or the rest is a selection.
  EXPECT_LT(5 * (coverage.attempts - coverage.programs), coverage.attempts);
}

double largest(const std::vector<double>& elements) {
  double found = 0.0;
  for (const double each : elements) found = std::max(found, std::abs(each));
  return found;
}

TEST(Bounds, AreNotVacuous) {
  std::vector<double> ratios;  // largest bound over largest element, of each value that is seen
  for (std::uint64_t seed = 0; seed < kPrograms; ++seed) {
    const JudgedProgram judged = make_judged(Contents::real, seed);
    for (const auto& step : judged.steps) {
      for (const auto& [name, expected] : step) {
        const double bound = largest(expected.bound);
        if (bound > 0.0) ratios.push_back(bound / largest(expected.value));
      }
    }
  }
  std::sort(ratios.begin(), ratios.end());
  ASSERT_GT(ratios.size(), 5 * kPrograms);
  fmt::print("bound over value: median {:.1e}, 90th percentile {:.1e}, largest {:.1e}\n",
             ratios[ratios.size() / 2], ratios[ratios.size() / 10 * 9], ratios.back());
  EXPECT_LT(ratios[ratios.size() / 2], 1e-3);
}

// How many of some programs that execute `kind` tell of a backend whose `kind` is changed.
struct Found {
  int programs = 0;
  int found = 0;
};

Found plant(std::span<const JudgedProgram> programs, OpKind kind,
            test::PlantedBackend::Change change) {
  test::PlantedBackend backend(kind, change);
  Found result;
  for (const JudgedProgram& judged : programs) {
    const Graph graph = executed_graph(judged.program);
    if (std::ranges::count(graph.ops(), kind, &Op::kind) == 0) continue;
    ++result.programs;
    const bool found =
        !first_violation(judged, run_program(backend, judged, Mode::planned)).empty();
    result.found += found ? 1 : 0;
  }
  fmt::print("{}: {} of {}\n", name(kind), result.found, result.programs);
  return result;
}

std::vector<JudgedProgram> first_programs(Contents contents) {
  std::vector<JudgedProgram> programs;
  for (std::uint64_t seed = 0; seed < 50; ++seed) programs.push_back(make_judged(contents, seed));
  return programs;
}

// One element off by one unit in the last place.
void bump(std::span<float> elements) {
  float& element = elements[elements.size() / 2];
  element = std::nextafter(element, 1e30F);
}

void enlarge(std::span<float> elements) {
  for (float& element : elements) element *= 1.001F;
}

TEST(PlantedErrors, AreFoundByExactPrograms) {
  const auto programs = first_programs(Contents::dyadic);
  for (const OpKind kind : kExactOps) {
    const auto [executed, found] = plant(programs, kind, bump);
    EXPECT_GT(found, 0) << name(kind);
    EXPECT_GE(3 * found, executed) << name(kind);
  }
}

TEST(PlantedErrors, AreFoundByRealPrograms) {
  const auto programs = first_programs(Contents::real);
  for (const auto& kinds :
       {std::span<const OpKind>(kExactOps), std::span<const OpKind>(kRoundingOps)}) {
    for (const OpKind kind : kinds) {
      const auto [executed, found] = plant(programs, kind, enlarge);
      EXPECT_GT(found, 0) << name(kind);
      EXPECT_GE(3 * found, executed) << name(kind);
    }
  }
}

}  // namespace
}  // namespace stepscope
