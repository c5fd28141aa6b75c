// Memory by windows and by owners, against a plan walked by hand and an allocator that keeps books.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "backends/api/output_bytes.h"
#include "backends/execution/pool.h"
#include "backends/execution/session.h"
#include "tests/backends/execution/ledger_backend.h"

namespace stepscope {
namespace {

using test::LedgerBackend;

constexpr std::array kModes = {Mode::eager, Mode::planned, Mode::graph};
constexpr std::int64_t kBatch = 4;

class MemoryOfSteps : public testing::Test {
 protected:
  Session session(Mode mode, const char* model = "mlp:300-40-10",
                  EagerCache cache = EagerCache::on) {
    return Session(backend_, make_model(model),
                   {.mode = mode, .step_batches = {kBatch}, .executor = {.eager_cache = cache}});
  }

  // On whatever lies in the input slots: nothing is computed.
  static void step(Session& session) {
    session.step(kBatch).enqueue(session.stream());
    session.stream().wait();
  }

  LedgerBackend backend_;
};

std::size_t model_tensor_bytes(Session& session) {
  std::size_t bytes = 0;
  for (const auto& [name, entry] : session.memory().layout().entries()) bytes += entry.bytes;
  return bytes;
}

std::size_t part(Session& session, std::string_view owner) {
  for (const MemoryPart& each : session.memory_parts(kBatch)) {
    if (each.owner == owner) return each.reserved;
  }
  return 0;
}

// What eager has in use at most, and between steps, by walking the ops and what dies behind each.
struct Walked {
  std::size_t most = 0;
  std::size_t kept = 0;
};

Walked walk(const Program& program, std::size_t alignment) {
  const Graph& graph = *program.graph;
  std::vector<std::size_t> block(graph.values().size());
  Walked walked;
  std::size_t now = 0;
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    const Kernel& kernel = *program.kernels[i];
    for (std::size_t k = 0; k < graph.ops()[i].outputs.size(); ++k) {
      const ValueId id = graph.ops()[i].outputs[k];
      if (graph.storage(id) != id) continue;
      std::size_t& bytes = block[static_cast<std::size_t>(id.index)];
      bytes = class_bytes(size_class(output_bytes(kernel, k), alignment), alignment);
      now += bytes;
    }
    const std::size_t scratch =
        class_bytes(size_class(kernel.needs().scratch, alignment), alignment);
    walked.most = std::max(walked.most, now + scratch);
    for (const ValueId id : program.plan.dies_after[i]) {
      now -= block[static_cast<std::size_t>(id.index)];
    }
  }
  walked.kept = now;
  return walked;
}

TEST_F(MemoryOfSteps, R_MEM_2_AllocatedAndReservedAreTwoNumbersNowAndAtThePeak) {
  for (const char* model : {"mlp:300-40-10", "small_cnn", "chain:20:64"}) {
    const bool model_rounds = std::string_view(model) != "chain:20:64";
    for (const Mode mode : kModes) {
      SCOPED_TRACE(testing::Message() << model << " " << name(mode));
      backend_.ask_scratch({100});
      Session made = session(mode, model);
      for (int i = 0; i < 4; ++i) {
        const MemoryUse use = made.memory_use(kBatch);
        EXPECT_LE(use.allocated, use.reserved);
        EXPECT_LE(use.peak_allocated, use.peak_reserved);
        EXPECT_LE(use.allocated, use.peak_allocated);
        EXPECT_LE(use.reserved, use.peak_reserved);
        if (i == 2) made.step(kBatch).reset_peaks();
        step(made);
      }
      const MemoryUse use = made.memory_use(kBatch);
      EXPECT_LT(use.allocated, use.peak_allocated) << "a step takes more than it leaves";
      // Rounded up, but for the chain, whose values fill whole blocks.
      if (model_rounds) {
        EXPECT_LT(use.peak_allocated, use.peak_reserved);
      }
    }
  }
}

// What is reserved is what the backend gave out: nothing is left out, nothing counted twice.
TEST_F(MemoryOfSteps, R_MEM_2_ReservedIsWhatTheAllocatorGaveOut) {
  for (const Mode mode : kModes) {
    SCOPED_TRACE(name(mode));
    backend_.ask_scratch({0, 5000});
    Session made = session(mode);
    step(made);
    const MemoryUse use = made.memory_use(kBatch);
    EXPECT_EQ(use.reserved - part(made, "recording"), backend_.books().held);
  }
  EXPECT_EQ(backend_.books().held, 0U);
}

TEST_F(MemoryOfSteps, R_MEM_2_EagerHasInUseWhatLives) {
  for (const std::size_t scratch : {0U, 777U, 50'000U}) {
    SCOPED_TRACE(scratch);
    backend_.ask_scratch({scratch});
    Session made = session(Mode::eager);
    const std::size_t model = model_tensor_bytes(made);
    EXPECT_EQ(made.memory_use(kBatch).peak_allocated, model) << "no step ran";
    step(made);
    const Walked walked = walk(made.step(kBatch).program(), backend_.alignment());
    EXPECT_EQ(made.memory_use(kBatch).peak_allocated, model + walked.most);
    EXPECT_EQ(made.memory_use(kBatch).allocated, model + walked.kept);
    EXPECT_GT(walked.kept, 0U) << "the loss stays";
    made.step(kBatch).reset_peaks();
    EXPECT_EQ(made.memory_use(kBatch).peak_allocated, model + walked.kept);
    step(made);
    step(made);
    EXPECT_EQ(made.memory_use(kBatch).peak_allocated, model + walked.most);
  }
}

TEST_F(MemoryOfSteps, R_MEM_2_PlannedHasInUseWhatItsPlanSays) {
  for (const Mode mode : {Mode::planned, Mode::graph}) {
    Session made = session(mode);
    step(made);
    const Program& program = made.step(kBatch).program();
    const MemoryUse use = made.memory_use(kBatch);
    const std::size_t model = model_tensor_bytes(made);
    EXPECT_EQ(use.peak_allocated, model + program.plan.bytes.bound);
    EXPECT_EQ(use.allocated, model + sizeof(float)) << "the loss alone is kept";
    EXPECT_EQ(part(made, "plan arena"), program.plan.bytes.arena);
  }
}

// Of a session without cache: it lowers `compiled` sites when it is made, `step` in each step.
struct Lowerings {
  std::size_t compiled = 0;
  std::size_t step = 0;
};

class MemoryWithoutCache : public MemoryOfSteps {
 protected:
  static constexpr std::size_t kLarge = 1'000'000;
  static constexpr std::size_t kSmall = 64;

  // Scratch of the steps, one after the other; small while compiling.
  Session session_with(const std::vector<std::size_t>& scratch_of_steps) {
    const Lowerings count = lowerings();
    std::vector<std::size_t> scratch(count.compiled, kSmall);
    for (const std::size_t bytes : scratch_of_steps) {
      scratch.insert(scratch.end(), count.step, bytes);
    }
    backend_.ask_scratch(scratch);
    return session(Mode::eager, kModel, EagerCache::off);
  }

  std::size_t peak(Session& made) { return made.memory_use(kBatch).peak_allocated; }

 private:
  static constexpr const char* kModel = "mlp:300-40-10";

  Lowerings lowerings() {
    const std::size_t before = backend_.books().lowerings;
    Session made = session(Mode::eager, kModel, EagerCache::off);
    return {backend_.books().lowerings - before, made.step(kBatch).graph().ops().size()};
  }
};

TEST_F(MemoryWithoutCache, R_MEM_3_ScratchOfAFirstRunShowsInTheFirstWindowOnly) {
  Session made = session_with({kLarge, kSmall, kSmall});
  step(made);
  const MemoryUse first = made.memory_use(kBatch);
  made.step(kBatch).reset_peaks();
  step(made);
  step(made);
  const MemoryUse steady = made.memory_use(kBatch);
  EXPECT_GT(first.peak_allocated, kLarge);
  EXPECT_LT(steady.peak_allocated, kLarge);
  EXPECT_GT(steady.peak_reserved, kLarge) << "a caching pool keeps it, and must say so";
  EXPECT_EQ(steady.allocated, first.allocated);
}

TEST_F(MemoryWithoutCache, R_MEM_4_ThePeakIsResetBeforeAndReadAtTheEnd) {
  Session made = session_with({kLarge, kSmall, kLarge, kSmall});
  step(made);
  made.step(kBatch).reset_peaks();
  step(made);
  EXPECT_LT(peak(made), kLarge) << "what lies before the reset";
  step(made);
  EXPECT_GT(peak(made), kLarge) << "the last step before reading";
  made.step(kBatch).reset_peaks();
  step(made);
  EXPECT_LT(peak(made), kLarge) << "what lies before the second reset";
}

TEST_F(MemoryOfSteps, R_MEM_6_EachModePaysForItsOwnMemory) {
  for (const Mode mode : kModes) {
    SCOPED_TRACE(name(mode));
    Session made = session(mode);
    step(made);
    std::size_t sum = 0;
    std::set<std::string_view> owners;
    for (const MemoryPart& each : made.memory_parts(kBatch)) {
      EXPECT_GT(each.reserved, 0U) << each.owner;
      EXPECT_TRUE(owners.insert(each.owner).second) << each.owner;
      sum += each.reserved;
    }
    EXPECT_EQ(sum, made.memory_use(kBatch).reserved);
    const std::set<std::string_view> expected =
        mode == Mode::eager ? std::set<std::string_view>{"model segment", "eager pool"}
        : mode == Mode::planned
            ? std::set<std::string_view>{"model segment", "plan arena"}
            : std::set<std::string_view>{"model segment", "plan arena", "recording"};
    EXPECT_EQ(owners, expected);
  }
}

TEST_F(MemoryOfSteps, R_MEM_6_ARecordingGrowsWithItsLaunches) {
  Session few = session(Mode::graph, "chain:10:64");
  Session many = session(Mode::graph, "chain:100:64");
  const auto launches = [](Session& made) { return made.step(kBatch).graph().ops().size(); };
  EXPECT_GE(part(few, "recording"), launches(few) * sizeof(Launch));
  EXPECT_GE(part(many, "recording"), launches(many) * sizeof(Launch));
}

TEST_F(MemoryOfSteps, R_PHA_6_SetupIsTakenApart) {
  for (const Mode mode : kModes) {
    const SetupTimes times = session(mode).setup_times();
    EXPECT_GE(times.init_ns.value(), 0);
    EXPECT_GT(times.compile_ns.value(), 0);
    EXPECT_EQ(times.capture_ns.has_value(), mode == Mode::graph) << name(mode);
    EXPECT_FALSE(times.instantiate_ns.has_value()) << "a tape is replayed as it is";
    EXPECT_FALSE(times.upload_ns.has_value());
  }
}

// Compilation happens on first need, not each step: unless there is no cache, and then it shows.
TEST_F(MemoryOfSteps, R_PHA_6_ASteadyStepLowersNothing) {
  for (const Mode mode : kModes) {
    const std::size_t booked = backend_.books().lowerings;
    Session made = session(mode);
    step(made);
    const std::uint64_t before = made.lowerings();
    EXPECT_EQ(before, backend_.books().lowerings - booked);
    for (int i = 0; i < 3; ++i) step(made);
    EXPECT_EQ(made.lowerings(), before) << name(mode);
  }
  const std::size_t booked = backend_.books().lowerings;
  Session naive = session(Mode::eager, "mlp:300-40-10", EagerCache::off);
  step(naive);
  const std::uint64_t before = naive.lowerings();
  for (int i = 0; i < 3; ++i) step(naive);
  EXPECT_EQ(naive.lowerings() - before, 3 * naive.step(kBatch).graph().ops().size());
  EXPECT_EQ(naive.lowerings(), backend_.books().lowerings - booked);
}

}  // namespace
}  // namespace stepscope
