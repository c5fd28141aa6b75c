// The suite can fail: it is run on ops with planted damage, wrong gradient rules and empty tables,
// and on a backend that supports nothing.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "backends/api/dead_memory.h"
#include "ops/ir/build.h"
#include "ops/ir/op_def.h"
#include "tests/conformance/conformance.h"
#include "tests/conformance/planted.h"
#include "tests/conformance/tolerance.h"

namespace stepscope::conformance {
namespace {

constexpr bool kAsan = STEPSCOPE_ASAN != 0;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

OpEntry entry_for(OpKind kind) {
  OpEntry entry{kind, std::string(name(kind)), {}};
  entry.table.agreement = Agreement::equal_bits;
  entry.table.bound = relative(0);
  entry.table.cases = {{"5", {}, {f32({5})}}, {"2x3", {}, {f32({2, 3})}}};
  entry.table.specials = {
      {"all", {}, {{{{3}, DType::f32}, {-0.0, kNan, 1.0}, nullptr}}, {{-0.0, kNan, 1.0}}}};
  return entry;
}

Report report_of(Plant plant) {
  add_plants(oracle_backend());
  const std::unique_ptr<Backend> backend = backend_with_plants();
  return run(*backend, std::array{entry_for(planted_op(plant))});
}

TEST(Suite, PassesAnHonestOp) {
  const Report report = report_of(Plant::copy);
  EXPECT_TRUE(report.passed()) << to_text(report);
  EXPECT_EQ(to_text(report), "reference: 3 cells: 3 passed, 0 unsupported, 0 failed\n");
}

TEST(Suite, FailsOnDamage) {
  const Report report = report_of(Plant::write_input);
  EXPECT_FALSE(report.passed());
  EXPECT_EQ(report.count(Outcome::failed), 3U) << to_text(report);
  EXPECT_NE(to_text(report).find("failed: PlantedWriteInput 5, drawn: plain run: changed input 0"),
            std::string::npos)
      << to_text(report);
  if (kAsan) return;  // what follows is stopped earlier there
  EXPECT_EQ(report_of(Plant::write_behind).count(Outcome::failed), 3U);
}

TEST(Suite, FailsOnOtherValues) {
  OpEntry entry = entry_for(planted_op(Plant::copy));
  entry.table.specials[0].out[0][2] = 2.0;
  add_plants(oracle_backend());
  const Report report = run(*backend_with_plants(), std::array{entry});
  EXPECT_EQ(report.count(Outcome::failed), 1U);
  EXPECT_NE(to_text(report).find("output 0, element 2: got 1, expected 2"), std::string::npos)
      << to_text(report);
}

// x -> x, with the gradient of -x.
TEST(Suite, FailsOnAWrongGradientRule) {
  static const OpKind kind = [] {
    OpDef def = op_def(planted_op(Plant::copy));
    def.name = "PlantedWrongGradient";
    def.vjp = [](GradientRequest& request) {
      request.input_grads[0] = build::scale(request.graph, request.output_grads[0], -1.0);
    };
    return add_op(def);
  }();
  const auto maker = [](const OpSite& site) {
    OpSite copy = site;
    copy.kind = planted_op(Plant::copy);
    return backend_with_plants()->lower(copy);
  };
  oracle_backend().set_maker(kind, maker);
  const std::unique_ptr<Backend> backend = backend_with_plants();
  dynamic_cast<HostBackend&>(*backend).set_maker(kind, maker);
  OpEntry entry = entry_for(kind);
  EXPECT_EQ(run(*backend, std::array{entry}).count(Outcome::failed), 2U);
  EXPECT_TRUE(run(*backend, std::array{entry}, {.gradients = false, .finished = {}}).passed());
}

TEST(Suite, FailsWhereNothingWouldBeChecked) {
  const OpKind kind = planted_op(Plant::copy);
  const Report report = run(oracle_backend(), std::array{OpEntry{kind, "Empty", {}}});
  EXPECT_FALSE(report.passed());
  for (const char* missing : {"no cases", "no bound", "no special values"}) {
    EXPECT_NE(to_text(report).find(missing), std::string::npos) << to_text(report);
  }
  EXPECT_FALSE(run(oracle_backend(), {}).passed());
}

class Refusing final : public HostBackend {
 public:
  Refusing() : HostBackend({.name = "refusing", .device = "none"}) {}
};

TEST(Suite, ABackendThatSupportsNothingHasProvenNothing) {
  Refusing backend;
  const Report report =
      run(backend, std::array{entry_for(planted_op(Plant::copy))}, {.gradients = false});
  EXPECT_FALSE(report.passed());
  EXPECT_EQ(report.count(Outcome::unsupported), 3U) << to_text(report);
  EXPECT_NE(to_text(report).find("unsupported, 3 cells: refusing: "), std::string::npos)
      << to_text(report);
}

TEST(Suite, GradientsOnTheOracleProveNothingOfABackend) {
  Refusing backend;
  const Report report = run(backend, std::array{entry_of(OpKind::Add)});
  EXPECT_GT(report.count(Outcome::passed), 0U) << to_text(report);
  EXPECT_EQ(report.count(Outcome::failed), 0U) << to_text(report);
  EXPECT_FALSE(report.passed()) << to_text(report);
}

}  // namespace
}  // namespace stepscope::conformance
