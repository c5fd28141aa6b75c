// Arms with fusion: which there are, what their gate lets pass, and what the record says of them.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <set>

#include "backends/api/host.h"
#include "backends/reference/reference.h"
#include "bench/compare/arm.h"
#include "bench/compare/gate.h"
#include "bench/compare/work.h"
#include "bench/data/generated.h"
#include "bench/data/load.h"

namespace stepscope {
namespace {

constexpr std::int64_t kBatch = 4;

Data images() { return load_data("generated", {.classes = 3, .rows = 3, .columns = 3}); }

CompareSpec spec_of(const OptimizerSpec& optimizer = {}) {
  return {.model = make_model("mlp:9-5-3", optimizer),
          .optimizer = optimizer,
          .backend = "reference",
          .modes = {Mode::eager, Mode::planned, Mode::graph},
          .fusions = {parse_fusion("off"), parse_fusion("on")},
          .batches = {kBatch}};
}

Record compare(const CompareSpec& spec) {
  const Data data = images();
  SteadyTimer timer;
  return run_process(spec, Registry::builtin(), &data, {.process = 1, .blocks = 2}, timer,
                     [](const std::string&, double) {});
}

// All but the control.
std::vector<ArmRecord> arms_in(const Record& record) {
  std::vector<ArmRecord> arms;
  for (const ArmRecord& arm : record.arms) {
    if (arm.role == "arm") arms.push_back(arm);
  }
  return arms;
}

std::vector<std::string> fusions_of(const std::vector<ArmChoice>& arms) {
  std::vector<std::string> texts;
  for (const ArmChoice& arm : arms) texts.push_back(to_string(arm.fusion));
  return texts;
}

bool has(const std::vector<std::string>& texts, const std::string& text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

TEST(FusionArms, AreModesTimesFusionsAndDoTheSameWork) {
  const std::vector<ArmRecord> arms = arms_in(compare(spec_of()));
  ASSERT_EQ(arms.size(), 6U);
  for (const ArmRecord& arm : arms) {
    const bool fused = arm.fusion == "on";
    EXPECT_EQ(arm.mode_executed, arm.mode_requested);
    EXPECT_EQ(arm.work_hash, arms[0].work_hash);
    EXPECT_EQ(arm.counts.ops, fused ? 7U : 17U);
    EXPECT_EQ(arm.counts.calls, arm.counts.ops);
    EXPECT_EQ(arm.counts.submissions, arm.mode_requested == "graph" ? 1U : arm.counts.ops);
    EXPECT_EQ(arm.counts.intermediate_bytes < arms[0].counts.intermediate_bytes, fused);
    EXPECT_EQ(arm.counts.reorders, 0U);
    EXPECT_EQ(arm.library_flops, 0.0);  // reference has no library
    EXPECT_GT(arm.flops, 0.0);
  }
}

TEST(FusionArms, GateHoldsUnfusedByBitsAndTheFirstFusedByRounding) {
  const Record record = compare(spec_of());
  for (const std::string when : {"before", "after"}) {
    std::size_t gates = 0;
    std::size_t bits = 0;
    for (const GateRecord& gate : record.gates) {
      if (gate.when != when) continue;
      ++gates;
      EXPECT_TRUE(gate.passed) << gate.detail;
      bits += gate.criterion == "bits" ? 1 : 0;
      EXPECT_EQ(gate.criterion == "bits", gate.fusion == gate.baseline_fusion);
      EXPECT_EQ(gate.baseline_mode, "eager");
      EXPECT_EQ(gate.process, 1);
    }
    EXPECT_EQ(gates, 6U) << when;
    EXPECT_EQ(bits, 5U) << when;  // planned, graph and control unfused, planned and graph fused
  }
}

TEST(FusionArms, ArePairedWithUnfusedEagerWithPlannedAndWithUnfused) {
  const Record record = compare(spec_of());
  std::map<std::string, std::set<std::string>> bases;
  for (const PairRecord& pair : record.pairs) bases[pair.of].insert(pair.base);
  using Set = std::set<std::string>;
  const std::string eager = "reference/eager/off/4";
  EXPECT_EQ(bases.count(eager), 0U);
  EXPECT_EQ(bases["reference/eager/off/4/again"], Set{eager});
  EXPECT_EQ(bases["reference/planned/off/4"], Set{eager});
  EXPECT_EQ(bases["reference/graph/off/4"], (Set{eager, "reference/planned/off/4"}));
  EXPECT_EQ(bases["reference/eager/on/4"], Set{eager});
  EXPECT_EQ(bases["reference/graph/on/4"],
            (Set{eager, "reference/planned/on/4", "reference/graph/off/4"}));
  EXPECT_EQ(record.pairs.front().kind, "control");
}

TEST(FusionArms, RecordWhatEachPassRemovedAndWhyOneDidNot) {
  CompareSpec spec = spec_of();
  spec.modes = {Mode::graph};
  const Record record = compare(spec);
  ASSERT_EQ(arms_in(record).size(), 2U);
  ASSERT_GE(record.gates.size(), 2U);  // against unfused eager, which is none of the arms
  EXPECT_EQ(record.gates[0].baseline_mode, "eager");
  std::int64_t ops = 18;  // as described
  std::set<std::string> names;
  for (const PassRecord& pass : record.arms[1].passes) {
    names.insert(pass.name);
    if (pass.time_ns == 0) continue;  // did not run
    EXPECT_EQ(pass.ops_before, ops) << pass.name;
    ops = pass.ops_after;
  }
  EXPECT_EQ(ops, 7);
  for (const std::string& pass : fusion_names()) EXPECT_EQ(names.count(pass), 1U) << pass;
  const PassRecord& layout = record.arms[1].passes.back();
  EXPECT_EQ(layout.name, "layout");
  EXPECT_TRUE(layout.fusion);
  EXPECT_FALSE(layout.changed);
  EXPECT_EQ(layout.notes, std::vector<std::string>{"the backend has no use for it"});
}

// No kernels: what arms there are is asked of the passes alone.
class Wishing final : public HostBackend {
 public:
  explicit Wishing(const Wishes& wishes) : HostBackend({.name = "wishing"}), wishes_(wishes) {}
  Wishes wishes() override { return wishes_; }

 private:
  Wishes wishes_;
};

TEST(Ablation, LeavesOutWhatWaitsForAWishOnlyWhereItIsWishedFor) {
  CompareSpec spec = spec_of();
  spec.ablate = true;
  spec.modes = {Mode::graph};
  for (const bool relu_mask : {false, true}) {
    for (const std::int64_t small_product : {0, 1, 4096}) {
      Wishing backend({.relu_mask = relu_mask, .small_product = small_product});
      const std::vector<std::string> arms = fusions_of(arms_of(spec, backend, kBatch));
      EXPECT_EQ(has(arms, "-relu_mask"), relu_mask);
      // One element is none of the weights.
      EXPECT_EQ(has(arms, "-small_update"), small_product == 4096);
    }
  }
}

TEST(Ablation, LeavesOutOneByOneWhatChangesTheStep) {
  CompareSpec spec = spec_of();
  spec.ablate = true;
  spec.modes = {Mode::graph};
  const auto backend = reference::make_backend({});
  const std::vector<std::string> sgd = fusions_of(arms_of(spec, *backend, kBatch));
  EXPECT_EQ(sgd[0], "off");
  EXPECT_EQ(sgd[1], "on");
  EXPECT_TRUE(has(sgd, "-fold_sgd"));
  EXPECT_FALSE(has(sgd, "-layout"));     // the reference has no layouts
  EXPECT_FALSE(has(sgd, "-pointwise"));  // no two pointwise ops follow each other
  spec.model = make_model("mlp:9-5-3", {.kind = OptimizerSpec::Kind::momentum});
  const std::vector<std::string> momentum = fusions_of(arms_of(spec, *backend, kBatch));
  EXPECT_FALSE(has(momentum, "-fold_sgd"));
  EXPECT_TRUE(has(momentum, "-epilogue"));
}

TEST(Ablation, DividesByAllPasses) {
  CompareSpec spec = spec_of();
  spec.ablate = true;
  spec.modes = {Mode::planned};
  const Record record = compare(spec);
  for (const ArmRecord& arm : arms_in(record)) {
    const bool divided =
        std::any_of(record.pairs.begin(), record.pairs.end(), [&](const PairRecord& pair) {
          return pair.of == arm.name && pair.base == "reference/planned/on/4";
        });
    EXPECT_EQ(divided, arm.fusion != "on") << arm.fusion;
    EXPECT_EQ(arm.work_hash, record.arms[0].work_hash);
  }
  for (const GateRecord& gate : record.gates) EXPECT_TRUE(gate.passed) << gate.detail;
}

TEST(WorkHash, TellsWorkApartAndNothingElse) {
  const Data data = images();
  const auto backend = reference::make_backend({});
  const auto hash = [&](const CompareSpec& spec, std::int64_t batch, ArmChoice choice = {}) {
    const InputRing ring(data.training(), batch, spec.seed);
    return make_arm(spec, *backend, choice, batch, ring).record.work_hash;
  };
  const CompareSpec spec = spec_of();
  const std::string same = hash(spec, kBatch);
  EXPECT_EQ(hash(spec, kBatch, {Mode::graph, parse_fusion("on")}), same);
  EXPECT_NE(hash(spec, kBatch + 1), same);
  EXPECT_NE(hash(spec_of({.rate = 0.2}), kBatch), same);
  CompareSpec other = spec;
  other.seed = 2;
  EXPECT_NE(hash(other, kBatch), same);
  other = spec;
  other.tune_digest = "of another table";
  EXPECT_NE(hash(other, kBatch), same);
  other = spec;
  other.partial = PartialBatch::drop;
  EXPECT_NE(hash(other, kBatch), same);
  // Two step files of one name, with the same parameters.
  other = spec;
  other.model = make_model("mlp_tanh:9-5-3", spec.optimizer);
  other.model.name = spec.model.name;
  EXPECT_NE(hash(other, kBatch), same);
}

// Traces of the gate on the reference backend.
class RoundingGate : public testing::Test {
 protected:
  GateTrace trace(const char* fusion, const OptimizerSpec& optimizer = {}) {
    Session session = session_of(fusion, optimizer);
    return gate_trace(session, ring_, kBatch);
  }
  GateTrace control(const OptimizerSpec& optimizer = {}) {
    Session session = session_of("off", optimizer);
    return control_trace(session, ring_, kBatch);
  }
  double tolerance() { return rounding_tolerance(session_of("off", {}).step(kBatch).graph()); }

 private:
  Session session_of(const char* fusion, const OptimizerSpec& optimizer) {
    return {*backend_,
            make_model("mlp:9-5-3", optimizer),
            {.mode = Mode::planned,
             .step_batches = {kBatch},
             .passes = passes_for(parse_fusion(fusion), {})}};
  }

  std::unique_ptr<Backend> backend_ = reference::make_backend({});
  Data data_ = images();
  InputRing ring_{data_.training(), kBatch, 1};
};

TEST_F(RoundingGate, LetsFusionPassAndNoOtherRate) {
  const GateRecord fused = compare_rounding(trace("off"), trace("on"), control(), tolerance());
  EXPECT_TRUE(fused.passed) << fused.detail;
  EXPECT_EQ(fused.criterion, "1.4e-06 relative, grown as one rounding grows");
  GateTrace faster = trace("on", {.rate = 0.1001});
  faster.after_first.at("control.lr") = trace("off").after_first.at("control.lr");
  const GateRecord other = compare_rounding(trace("off"), faster, control(), tolerance());
  EXPECT_FALSE(other.passed);
  EXPECT_NE(other.detail.find("differs after step 1 by"), std::string::npos) << other.detail;
}

TEST_F(RoundingGate, StopsWhatOnlyShowsLater) {
  const GateTrace baseline = trace("off");
  GateTrace arm = trace("on");
  arm.results[10][0] *= 1.001;
  const GateRecord result = compare_rounding(baseline, arm, control(), tolerance());
  EXPECT_FALSE(result.passed);
  EXPECT_TRUE(result.detail.starts_with("results of step 11 differ by ")) << result.detail;
  arm = trace("on");
  arm.after_last.at("w2")[3] ^= std::byte{1};  // top byte of the first element: another exponent
  const GateRecord last = compare_rounding(baseline, arm, control(), tolerance());
  EXPECT_FALSE(last.passed);
  EXPECT_TRUE(last.detail.starts_with("w2 differs after step 20 by ")) << last.detail;
  arm = trace("on");
  arm.results[4][0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(compare_rounding(baseline, arm, control(), tolerance()).passed);
}

TEST_F(RoundingGate, AllowsLaterWhatOneRoundingGrowsTo) {
  const GateTrace baseline = trace("off");
  GateTrace arm = baseline;
  arm.results[10][0] += 3e-3;
  GateTrace grown = control();
  EXPECT_FALSE(compare_rounding(baseline, arm, grown, tolerance()).passed);
  grown.results[9][0] = baseline.results[9][0] + 1e-4;  // a step that amplifies a thousandfold
  const GateRecord result = compare_rounding(baseline, arm, grown, tolerance());
  EXPECT_TRUE(result.passed) << result.detail;
}

TEST_F(RoundingGate, TheControlStartsOneNumberFurther) {
  const GateTrace baseline = trace("off");
  const GateTrace moved = control();
  EXPECT_NE(baseline.after_first.at("w1"), moved.after_first.at("w1"));
  EXPECT_EQ(baseline.after_first.at("control.lr"), moved.after_first.at("control.lr"));
  EXPECT_LT(std::abs(baseline.results[0][0] - moved.results[0][0]), 1e-5);
}

TEST(RoundingTolerance, GrowsWithTheLongestSum) {
  const Graph small = make_model("mlp:9-5-3").step(4);
  const Graph wide = make_model("mlp:10000-5-3").step(4);
  EXPECT_EQ(reduction_length(small), 9.0);
  EXPECT_EQ(reduction_length(wide), 10000.0);
  EXPECT_EQ(rounding_tolerance(small), 8.0 * 3.0 * std::numeric_limits<float>::epsilon() / 2.0);
  EXPECT_NEAR(rounding_tolerance(wide), 4.77e-5, 1e-7);
  // 10 bits of each input, in eight sums.
  EXPECT_EQ(rounding_tolerance(wide, true), 8.0 / 1024.0);
}

}  // namespace
}  // namespace stepscope
