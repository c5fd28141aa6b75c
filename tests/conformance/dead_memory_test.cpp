// The harness can fail, and the safety nets hold: guards see planted damage in every build; debug
// builds fill dead memory with NaN; AddressSanitizer stops a kernel at the first byte it must not
// touch.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "backends/api/dead_memory.h"
#include "backends/execution/pool.h"
#include "ops/ir/build.h"
#include "tests/conformance/cells.h"
#include "tests/conformance/op_graph.h"
#include "tests/conformance/planted.h"
#include "tests/support/tensor_bytes.h"

namespace stepscope::conformance {
namespace {

const TensorType kFive{{5}, DType::f32};  // 20 bytes: its slot ends within a cache line
constexpr bool kAsan = STEPSCOPE_ASAN != 0;
constexpr char kPoisoned[] = "use-after-poison";

std::vector<std::string> damage_of(Plant plant) {
  const std::unique_ptr<Backend> backend = backend_with_plants();
  const std::unique_ptr<Kernel> kernel =
      backend->lower(site_of(planted_op(plant), {}, {kFive}, DType::f32));
  return run_op(*backend, *kernel, {Bytes(kFive.bytes())}).damage;
}

TEST(Guards, SeeDamage) {
  EXPECT_EQ(damage_of(Plant::copy), std::vector<std::string>{});
  EXPECT_EQ(damage_of(Plant::write_input), std::vector<std::string>{"changed input 0"});
  if (kAsan) return;  // what follows is stopped earlier there, see below
  EXPECT_EQ(damage_of(Plant::write_behind),
            std::vector<std::string>{"wrote into the guard at the end"});
  EXPECT_EQ(damage_of(Plant::write_in_front),
            std::vector<std::string>{"wrote into the guard in front of output 0"});
}

TEST(GuardsDeathTest, StopAKernelUnderAsan) {
  if (!kAsan) GTEST_SKIP() << "not an AddressSanitizer build";
  EXPECT_DEATH(damage_of(Plant::write_behind), kPoisoned);
  EXPECT_DEATH(damage_of(Plant::write_in_front), kPoisoned);
  EXPECT_DEATH(damage_of(Plant::read_behind), kPoisoned);
}

// x -> a -> plant(a) -> b -> c, kept; a and the plant's output are dead at the end.
struct Chain {
  explicit Chain(Plant plant) {
    const ValueId x = graph.declare(Role::input, kFive, "x");
    a = build::relu(graph, x);
    planted = graph.apply1(planted_op(plant), {a});
    graph.keep(build::relu(graph, build::relu(graph, planted)), "c");
  }
  Graph graph;
  ValueId a, planted;
};

void step(Mode mode, Plant plant) {
  const std::unique_ptr<Backend> backend = backend_with_plants();
  GraphRun run(*backend, mode, Chain(plant).graph);
  run.write("x", test::to_bytes(std::vector<double>{1, 2, 3, 4, 5}, DType::f32));
  run.step();
  EXPECT_EQ(test::to_doubles(run.read("c"), DType::f32), (std::vector<double>{1, 2, 3, 4, 5}));
}

TEST(DeadMemory, KeptValuesAreNotDead) {
  for (const Mode mode : {Mode::eager, Mode::planned, Mode::graph}) step(mode, Plant::copy);
}

TEST(DeadMemoryDeathTest, OneByteTooFarIsStopped) {
  if (!kAsan) GTEST_SKIP() << "not an AddressSanitizer build";
  for (const Mode mode : {Mode::eager, Mode::planned}) {  // a graph's step is one submission
    SCOPED_TRACE(name(mode));
    EXPECT_DEATH(step(mode, Plant::write_behind), kPoisoned);
    EXPECT_DEATH(step(mode, Plant::read_behind), kPoisoned);
  }
}

// Reads a dead slot from a kernel, while the step runs: NaN patterns, or the end.
Bytes dead_slot_seen_by_a_kernel(Backend& backend) {
  Graph graph;
  const ValueId x = graph.declare(Role::input, kFive, "x");
  const ValueId wide = build::broadcast(graph, x, 0, 64);  // no later value fills its slot
  const ValueId y = build::reduce_sum(graph, wide, 0);
  graph.keep(graph.apply1(planted_op(Plant::read_dead), {y}), "seen");
  GraphRun run(backend, Mode::planned, graph);
  set_dead_address(run.executor().address(wide) + graph.type(wide).bytes() - 2 * kFive.bytes());
  run.step();
  return run.read("seen");
}

TEST(DeadMemory, ReadsAsNan) {
  if (!kFillDeadMemory || kAsan) GTEST_SKIP() << "only debug builds fill dead memory";
  const std::unique_ptr<Backend> backend = backend_with_plants();
  for (const double element : test::to_doubles(dead_slot_seen_by_a_kernel(*backend), DType::f32)) {
    EXPECT_TRUE(std::isnan(element));
  }
}

TEST(DeadMemoryDeathTest, ReadIsStopped) {
  if (!kAsan) GTEST_SKIP() << "not an AddressSanitizer build";
  const std::unique_ptr<Backend> backend = backend_with_plants();
  EXPECT_DEATH(dead_slot_seen_by_a_kernel(*backend), kPoisoned);
}

TEST(DeadMemory, PoolBlocksDieToo) {
  if (!kTrackDeadMemory) GTEST_SKIP() << "release builds leave dead memory alone";
  const std::unique_ptr<Backend> backend = backend_with_plants();
  BlockPool pool(*backend);
  const std::uint8_t block_class = size_class(kFive.bytes(), backend->alignment());
  std::byte* block = pool.take(block_class);
  std::memset(block, 0, kFive.bytes());
  pool.give(block, block_class);
  unpoison_memory(block, kFive.bytes());
  EXPECT_EQ(*block, std::byte{0xFF});
}

}  // namespace
}  // namespace stepscope::conformance
