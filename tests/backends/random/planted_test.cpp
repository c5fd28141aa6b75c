// Whether the random programs find an error that is planted: a number off by a little in one kind
// of op, or a rule of an op taken another way.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "ops/ir/op_def.h"
#include "tests/backends/random/judged_program.h"
#include "tests/backends/random/planted_backend.h"
#include "tests/backends/random/terms.h"

namespace stepscope {
namespace {

using test::Contents;
using test::JudgedProgram;
using test::Variant;

// A program, and the kinds of ops that it executes unfused or fused.
struct Candidate {
  JudgedProgram judged;
  Variant variant;
  std::set<OpKind> kinds;
};

std::vector<Candidate> candidates(Contents contents) {
  std::vector<Candidate> all;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const JudgedProgram judged = make_judged(contents, seed);
    for (const Variant variant : {Variant::unfused, Variant::fused}) {
      Candidate& made = all.emplace_back(judged, variant, std::set<OpKind>());
      const Graph graph = executed_graph(judged.program, variant, test::kPlantedWishes);
      for (const Op& op : graph.ops()) made.kinds.insert(op.kind);
    }
  }
  return all;
}

// How often some kind of op is executed, and how often that is told of a backend whose op of that
// kind is changed.
struct Found {
  int runs = 0;
  int found = 0;
};

// In programs that have `beside` as well.
Found plant(std::span<const Candidate> programs, OpKind kind, test::PlantedBackend::Change change,
            OpKind beside) {
  constexpr int kEnough = 15;
  test::PlantedBackend backend(kind, change);
  Found result;
  for (const auto& [judged, variant, kinds] : programs) {
    if (!kinds.contains(kind) || !kinds.contains(beside)) continue;
    if (result.runs == kEnough) break;
    ++result.runs;
    const auto observed = run_program(backend, judged, variant, std::array{Mode::planned});
    result.found += first_violation(judged, variant, observed[0]).empty() ? 0 : 1;
  }
  fmt::print("{}: {} of {}\n", name(kind), result.found, result.runs);
  return result;
}

template <class Element>
std::span<Element> first_output(const OpSite& site, std::byte* const* operands) {
  return {reinterpret_cast<Element*>(operands[site.in.size()]),
          static_cast<std::size_t>(site.out[0].shape.elements())};
}

// One element off by one unit in the last place; a zero, which has none, by a little.
void bump(const OpSite& site, std::byte* const* operands) {
  const std::size_t middle = first_output<std::byte>(site, operands).size() / 2;
  if (site.out[0].dtype == DType::f32) {
    float& element = first_output<float>(site, operands)[middle];
    element = element == 0.0F ? 0x1p-10F : std::nextafter(element, 1e30F);
  } else if (site.out[0].dtype == DType::f64) {
    first_output<double>(site, operands)[middle] += 1.0;
  } else if (site.out[0].dtype == DType::i32) {
    first_output<std::int32_t>(site, operands)[middle] += 1;
  } else {
    first_output<std::byte>(site, operands)[middle] ^= std::byte{1};
  }
}

// All of them off by a thousandth, or by one.
void enlarge(const OpSite& site, std::byte* const* operands) {
  if (site.out[0].dtype != DType::f32) return bump(site, operands);
  for (float& element : first_output<float>(site, operands)) element *= 1.001F;
}

// Of the runs with an error, at least so many are told. The rarest over all programs is Sub on
// reals, 11 of 40: what it makes is often dwarfed by what it is added to, or read by nobody.
constexpr int kOneIn = 6;

// In whatever kind of op that is executed at all.
void expect_found(Contents contents, std::size_t least_kinds, test::PlantedBackend::Change change) {
  const std::vector<Candidate> programs = candidates(contents);
  std::set<OpKind> kinds;
  for (const Candidate& each : programs) kinds.insert(each.kinds.begin(), each.kinds.end());
  EXPECT_GE(kinds.size(), least_kinds);
  for (const OpKind kind : kinds) {
    const auto [runs, found] = plant(programs, kind, change, kind);
    EXPECT_GT(found, 0) << name(kind);
    EXPECT_GE(kOneIn * found, runs) << name(kind);
  }
}

TEST(PlantedErrors, AreFoundByExactPrograms) { expect_found(Contents::dyadic, 34, bump); }

TEST(PlantedErrors, AreFoundByRealPrograms) { expect_found(Contents::real, kBuiltinOps, enlarge); }

// Of elements of a window that are equal and largest, the last one wins instead of the first.
void last_wins(const OpSite& site, std::byte* const* operands) {
  const auto* x = reinterpret_cast<const float*>(operands[0]);
  const auto* y = reinterpret_cast<const float*>(operands[1]);
  auto* winners = reinterpret_cast<std::int32_t*>(operands[2]);
  const Shape& shape = site.in[0].shape;
  const auto plane = static_cast<std::size_t>(shape[2] * shape[3]);
  test::each_window_place(std::get<Pool2dAttrs>(site.attrs), shape, site.out[0].shape,
                          [&](std::size_t from, std::size_t to) {
                            if (x[from] != y[to]) return;
                            winners[to] = static_cast<std::int32_t>(from % plane);
                          });
}

TEST(PlantedErrors, AnotherWinnerOfATie) {
  const auto [runs, found] =
      plant(candidates(Contents::dyadic), OpKind::MaxPool, last_wins, OpKind::MaxPoolGrad);
  EXPECT_GT(6 * found, runs);  // ties between zeros change nothing
}

// Indices that come twice count once.
void last_index_alone(const OpSite& site, std::byte* const* operands) {
  const auto* x = reinterpret_cast<const float*>(operands[0]);
  const auto* indices = reinterpret_cast<const std::int32_t*>(operands[1]);
  const Shape& shape = site.in[0].shape;
  const auto row = static_cast<std::size_t>(test::elements_from(shape, 1));
  const auto made = first_output<float>(site, operands);
  for (std::size_t n = 0; n < static_cast<std::size_t>(shape[0]); ++n) {
    std::copy_n(
        x + n * row, row,
        made.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(indices[n]) * row));
  }
}

TEST(PlantedErrors, ScatteringWithoutAdding) {
  const auto [runs, found] =
      plant(candidates(Contents::dyadic), OpKind::ScatterAdd, last_index_alone, OpKind::ScatterAdd);
  EXPECT_GT(4 * found, runs);
}

}  // namespace
}  // namespace stepscope
