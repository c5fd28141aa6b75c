// Counts, one-off costs and memory of an arm, as the record has them.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/arm.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <set>

#include "backends/api/host.h"
#include "bench/data/generated.h"
#include "tests/support/backends.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

constexpr std::int64_t kBatch = 4;

// Each reading is one nanosecond later.
class CountingTimer final : public Timer {
 public:
  std::int64_t now() override { return reads_++; }
  std::int64_t reads() const { return reads_; }

 private:
  std::int64_t reads_ = 0;
};

class ArmTest : public testing::Test {
 protected:
  Arm arm(Mode mode, const std::string& fusion = "off", const ArmOptions& options = {}) {
    return make_arm(spec_, *backend_, {mode, parse_fusion(fusion)}, kBatch, ring_, options);
  }

  // As a process does with each of its arms.
  Arm measured(Mode mode, const std::string& fusion = "off", const ArmOptions& options = {}) {
    Arm made = arm(mode, fusion, options);
    first_step(made, kBatch, ring_, timer_);
    made.session->warm_up();
    begin_steady(made);
    count_step(made, kBatch, ring_);
    end_steady(made);
    return made;
  }

  void use_backend(const std::string& name) {
    spec_.backend = name;
    backend_ = Registry::builtin().make(name, {});
  }

  CompareSpec spec_{.model = make_model("mlp:9-5-3"), .backend = "reference"};
  std::unique_ptr<Backend> backend_ = Registry::builtin().make("reference", {});
  Dataset data_ =
      make_generated({.train = 64, .test = 1, .rows = 3, .columns = 3, .classes = 3}).train;
  InputRing ring_{data_.view(), kBatch, 1};
  CountingTimer timer_;
};

constexpr std::array kModes = {Mode::eager, Mode::planned, Mode::graph};

TEST_F(ArmTest, IsNamedByWhatItIs) {
  EXPECT_EQ(arm(Mode::graph, "on").record.name, "reference/graph/on/4");
  EXPECT_EQ(arm(Mode::eager).record.name, "reference/eager/off/4");
}

// Operations of the program, submissions of the host and calls that computed: no two of these
// arms agree in all three.
TEST_F(ArmTest, R_CNT_2_OpsSubmissionsAndCallsAreThreeNumbers) {
  std::set<std::vector<std::uint64_t>> seen;
  for (const std::string fusion : {"off", "on"}) {
    for (const Mode mode : {Mode::eager, Mode::graph}) {
      SCOPED_TRACE(testing::Message() << name(mode) << " " << fusion);
      const StepCounts counts = measured(mode, fusion).record.counts;
      EXPECT_EQ(counts.ops, fusion == "off" ? 17U : 7U);
      EXPECT_EQ(counts.submissions, mode == Mode::graph ? 1U : counts.ops);
      EXPECT_EQ(counts.calls, counts.ops);  // of the reference backend
      EXPECT_EQ(counts.calls, counts.library_calls + counts.own_calls);
      EXPECT_TRUE(seen.insert({counts.ops, counts.submissions, counts.calls}).second);
    }
  }
}

// An op may need several calls: then calls and ops differ in eager, too.
TEST_F(ArmTest, R_CNT_2_OneOpMayMakeSeveralCalls) {
  for (const std::string& each :
       test::backends_that_run(Registry::builtin(), make_model("small_cnn"))) {
    if (each == "null" || each == "reference") continue;
    use_backend(each);
    spec_.model = make_model("small_cnn");
    data_ = make_generated({.train = 64, .test = 1, .rows = 24, .columns = 24, .classes = 3}).train;
    ring_ = InputRing(data_.view(), kBatch, 1);
    const StepCounts counts = measured(Mode::planned).record.counts;
    EXPECT_EQ(counts.submissions, counts.ops) << each;
    EXPECT_GE(counts.calls, counts.ops) << each;
    EXPECT_GT(counts.library_calls, 0U) << each;
    EXPECT_GT(counts.own_calls, 0U) << each;
  }
}

TEST_F(ArmTest, R_CNT_3_LaunchesOfAGraphAndItsNodesAreApart) {
  for (const Mode mode : kModes) {
    SCOPED_TRACE(name(mode));
    const Arm made = measured(mode);
    const StepCounts& counts = made.record.counts;
    const bool graph = mode == Mode::graph;
    EXPECT_EQ(counts.graph_launches, graph ? 1U : 0U);
    EXPECT_EQ(counts.nodes_executed, graph ? 17U : 0U);
    EXPECT_EQ(counts.lookups, mode == Mode::eager ? 17U : 0U);
    EXPECT_EQ(made.record.mode_executed, name(mode));
  }
}

TEST_F(ArmTest, R_CNT_1_CallsAreGivenByPhase) {
  for (const Mode mode : kModes) {
    SCOPED_TRACE(name(mode));
    const Arm made = measured(mode);
    std::map<std::string, std::uint64_t> expected;
    for (const Op& op : made.session->step(kBatch).graph().ops()) ++expected[to_string(op.phases)];
    std::map<std::string, std::uint64_t> ops, calls;
    for (const PhaseCalls& row : made.record.counts.by_phase) {
      EXPECT_TRUE(ops.try_emplace(row.phases, row.ops).second) << row.phases << " came twice";
      calls[row.phases] = row.calls;
      EXPECT_EQ(row.calls, row.library_calls + row.own_calls);
    }
    EXPECT_EQ(ops, expected);
    EXPECT_EQ(calls, expected);  // one call for each op of the reference backend
    EXPECT_EQ(made.record.counts.by_phase.front().phases, "forward");
    EXPECT_EQ(made.record.counts.by_phase.back().phases, "update");
  }
}

TEST_F(ArmTest, R_CNT_1_AFusedOpBelongsToSeveralPhases) {
  const StepCounts counts = measured(Mode::graph, "on").record.counts;
  std::uint64_t ops = 0, calls = 0;
  bool several = false;
  for (const PhaseCalls& row : counts.by_phase) {
    ops += row.ops;
    calls += row.calls;
    several = several || row.phases.find('+') != std::string::npos;
  }
  EXPECT_EQ(ops, counts.ops);
  EXPECT_EQ(calls, counts.calls);
  EXPECT_TRUE(several);
}

// A ring of one step, of several, or of more than there were: counts are those of one step.
TEST_F(ArmTest, CountsFitOneStepWhateverTheLogHolds) {
  for (const std::size_t entries : {32U, 64U, 4096U}) {
    Arm made = arm(Mode::eager);
    made.session->stream().keep_log(entries);
    count_step(made, kBatch, ring_);
    std::uint64_t calls = 0;
    for (const PhaseCalls& row : made.record.counts.by_phase) calls += row.calls;
    EXPECT_EQ(calls, 17U) << entries;
  }
}

TEST_F(ArmTest, R_PHA_6_OneOffCostsStandApart) {
  for (const Mode mode : kModes) {
    SCOPED_TRACE(name(mode));
    const Arm made = measured(mode);
    ASSERT_EQ(made.record.one_off.size(), 1U);
    const OneOffRecord& one_off = made.record.one_off.front();
    EXPECT_TRUE(one_off.init_ns.has_value());
    EXPECT_TRUE(one_off.compile_ns.has_value());
    EXPECT_EQ(one_off.capture_ns.has_value(), mode == Mode::graph);
    EXPECT_FALSE(one_off.instantiate_ns.has_value()) << "no device graph here";
    EXPECT_FALSE(one_off.upload_ns.has_value());
    EXPECT_EQ(one_off.first_step_ns, 1) << "one reading before and one behind it";
  }
}

TEST_F(ArmTest, R_PHA_6_NothingIsCompiledInSteadySteps) {
  for (const Mode mode : kModes) {
    EXPECT_EQ(measured(mode).record.one_off.front().compilations_in_steady, 0) << name(mode);
  }
  const Arm naive = measured(Mode::eager, "off", {.eager_cache = EagerCache::off});
  EXPECT_EQ(naive.record.one_off.front().compilations_in_steady, 4 * 17);  // four steps counted
}

TEST_F(ArmTest, FirstStepDoesNotTrain) {
  Arm made = arm(Mode::planned);
  const auto before = made.session->parameters_and_states();
  first_step(made, kBatch, ring_, timer_);
  EXPECT_EQ(made.session->parameters_and_states(), before);
  EXPECT_EQ(timer_.reads(), 2);
}

TEST_F(ArmTest, R_MEM_3_TwoWindowsOfMemory) {
  for (const Mode mode : kModes) {
    SCOPED_TRACE(name(mode));
    const MemoryRecord memory = measured(mode).record.memory;
    for (const MemoryWindow& window : {memory.first, memory.steady}) {
      EXPECT_GT(window.allocated, 0U);
      EXPECT_LE(window.allocated, window.peak_allocated);
      EXPECT_LE(window.peak_allocated, window.peak_reserved);
      EXPECT_LE(window.allocated, window.reserved);
      EXPECT_LE(window.reserved, window.peak_reserved);
    }
  }
}

// What the first window says is settled before the second begins.
TEST_F(ArmTest, R_MEM_4_TheFirstWindowEndsWithTheFirstStep) {
  Arm made = arm(Mode::eager, "off", {.eager_cache = EagerCache::off});
  EXPECT_EQ(made.record.memory.first.reserved, 0U) << "nothing is read before the step";
  first_step(made, kBatch, ring_, timer_);
  const MemoryWindow first = made.record.memory.first;
  EXPECT_GT(first.peak_allocated, first.allocated);
  EXPECT_EQ(made.record.memory.steady.reserved, 0U);
  begin_steady(made);
  end_steady(made);
  EXPECT_EQ(made.record.memory.steady.peak_allocated, made.record.memory.steady.allocated)
      << "the peak begins anew: no step ran";
  EXPECT_EQ(made.record.memory.first.peak_allocated, first.peak_allocated);
}

TEST_F(ArmTest, R_MEM_5_EachFigureNamesItsLayer) {
  const Arm made = measured(Mode::graph);
  const MemoryRecord& memory = made.record.memory;
  for (const MemoryOwner& owner : memory.owners) EXPECT_EQ(owner.layer, "stepscope");
  ASSERT_TRUE(memory.process_rss && memory.process_peak_rss);  // those of the system
  EXPECT_GT(*memory.process_rss, memory.steady.reserved);
  EXPECT_GE(*memory.process_peak_rss, *memory.process_rss);
}

TEST_F(ArmTest, R_MEM_6_OwnersAreNamedAndMakeTheSum) {
  const std::map<Mode, std::vector<std::string>> expected = {
      {Mode::eager, {"model segment", "eager pool"}},
      {Mode::planned, {"model segment", "plan arena"}},
      {Mode::graph, {"model segment", "plan arena", "recording"}}};
  for (const auto& [mode, owners] : expected) {
    SCOPED_TRACE(name(mode));
    const MemoryRecord memory = measured(mode).record.memory;
    std::vector<std::string> named;
    std::uint64_t sum = 0;
    for (const MemoryOwner& owner : memory.owners) {
      named.push_back(owner.owner);
      sum += owner.reserved;
    }
    EXPECT_EQ(named, owners);
    EXPECT_EQ(sum, memory.steady.reserved);
  }
}

// A wrapper that makes one call more from its third launch on: steps then differ.
class Unsteady final : public HostBackend {
 public:
  Unsteady() : HostBackend({.name = "unsteady", .device = "none", .computes = false}) {}
  std::unique_ptr<Kernel> lower(const OpSite& site) override {
    return std::make_unique<OneMore>(site, *this);
  }

 private:
  struct OneMore final : Kernel {
    OneMore(const OpSite& site, Unsteady& from) : Kernel(site, {}, launch), backend(from) {}
    static void launch(const Launch& call, Stream& stream) {
      stream.made_call(call, CallBy::own);
      if (++static_cast<const OneMore*>(call.kernel)->backend.launches_ == 20) {
        stream.made_call(call, CallBy::own);
      }
    }
    Unsteady& backend;
  };
  int launches_ = 0;
};

TEST_F(ArmTest, StepsThatDifferAreNoSteadyStep) {
  backend_ = std::make_unique<Unsteady>();
  Arm made = arm(Mode::planned);
  EXPECT_EQ(test::error_of([&] { count_step(made, kBatch, ring_); }),
            "device: count: steady steps differ: 17 submissions and 17 calls, then 17 and 18");
}

TEST_F(ArmTest, ProcessesLieAtPlacesOfTheirOwn) {
  std::set<std::int64_t> places;
  for (std::int64_t process = 0; process < 20; ++process) {
    const std::int64_t offset = address_offset(process, 64);
    EXPECT_EQ(offset % 64, 0);
    EXPECT_TRUE(places.insert(offset).second) << process;
  }
  EXPECT_EQ(address_offset(0, 64), 0);
  const Arm moved = measured(Mode::eager, "off", {.offset = address_offset(1, 64)});
  const Arm placed = measured(Mode::eager);
  EXPECT_EQ(moved.record.work_hash, placed.record.work_hash);
  EXPECT_EQ(moved.record.memory.steady.allocated, placed.record.memory.steady.allocated);
}

}  // namespace
}  // namespace stepscope
