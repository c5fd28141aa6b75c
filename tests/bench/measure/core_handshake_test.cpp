// The handshake: what it answers on any machine. How long it takes is nobody's test.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/core_handshake.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "bench/measure/affinity.h"

namespace stepscope {
namespace {

TEST(CoreHandshake, NearIsBelowTwoHundredNanoseconds) {
  EXPECT_EQ(classify_round_trip(100.0), CoreDistance::near);
  EXPECT_EQ(classify_round_trip(199.9), CoreDistance::near);
  EXPECT_EQ(classify_round_trip(200.0), CoreDistance::far);
  EXPECT_EQ(classify_round_trip(500.0), CoreDistance::far);
}

TEST(CoreHandshake, NamesOfDistances) {
  EXPECT_EQ(name(CoreDistance::near), "near");
  EXPECT_EQ(name(CoreDistance::far), "far");
  EXPECT_EQ(name(CoreDistance::not_measured), "not measured");
}

// Whatever the machine: either a time that fits the distance, or a reason.
TEST(CoreHandshake, IsMeasuredOrSaysWhyNot) {
  const std::vector<int> before = allowed_cpus();
  const Handshake handshake = measure_core_handshake();
  EXPECT_EQ(allowed_cpus(), before);
  if (handshake.distance == CoreDistance::not_measured) {
    EXPECT_FALSE(handshake.round_trip_ns);
    EXPECT_FALSE(handshake.reason.empty());
    return;
  }
  ASSERT_TRUE(handshake.round_trip_ns);
  EXPECT_GT(*handshake.round_trip_ns, 0.0);
  EXPECT_EQ(handshake.distance, classify_round_trip(*handshake.round_trip_ns));
  EXPECT_EQ(handshake.reason, "");
  EXPECT_EQ(handshake.cpus, (std::array<int, 2>{before.at(0), before.at(1)}));
}

TEST(CoreHandshake, OneAllowedProcessorIsAReason) {
  const std::vector<int> allowed = allowed_cpus();
  if (allowed.empty()) GTEST_SKIP() << "the system does not say which processors are allowed";
  Handshake handshake;
  std::jthread([&] {
    ASSERT_FALSE(pin_this_thread(allowed[0]));
    EXPECT_EQ(allowed_cpus(), std::vector<int>{allowed[0]});
    handshake = measure_core_handshake();
  }).join();
  EXPECT_EQ(handshake.distance, CoreDistance::not_measured);
  EXPECT_EQ(handshake.reason, "processor " + std::to_string(allowed[0]) + " alone is allowed");
}

// On either side; and the other side does not wait for the limit, which is a day here.
TEST(CoreHandshake, RefusedPinIsAReason) {
  const std::vector<int> allowed = allowed_cpus();
  if (allowed.empty()) GTEST_SKIP() << "the system does not say which processors are allowed";
  constexpr int kNobodys = 60000;
  for (const std::array<int, 2> cpus :
       {std::array<int, 2>{allowed[0], kNobodys}, {kNobodys, allowed[0]}}) {
    const Handshake handshake =
        measure_core_handshake({.cpus = cpus, .limit = std::chrono::hours(24)});
    EXPECT_EQ(handshake.distance, CoreDistance::not_measured);
    EXPECT_EQ(handshake.reason, "pinning refused: processor 60000: Invalid argument");
    EXPECT_EQ(handshake.cpus, cpus);
  }
}

// Two threads on one processor take turns of the scheduler, milliseconds each: 4,352 rounds never
// end within a limit of 1 ms.
TEST(CoreHandshake, NoAnswerWithinTheLimitIsAReason) {
  const std::vector<int> allowed = allowed_cpus();
  if (allowed.empty()) GTEST_SKIP() << "the system does not say which processors are allowed";
  const Handshake handshake = measure_core_handshake(
      {.cpus = std::array<int, 2>{allowed[0], allowed[0]}, .limit = std::chrono::milliseconds(1)});
  EXPECT_EQ(handshake.distance, CoreDistance::not_measured);
  EXPECT_EQ(handshake.reason, "no answer within 1 ms");
}

TEST(Affinity, WrongProcessorsAreRefusedInWords) {
  EXPECT_EQ(pin_this_thread(-1), "processor -1: there is none");
  EXPECT_EQ(pin_this_thread(1 << 20), "processor 1048576: there is none");
}

}  // namespace
}  // namespace stepscope
