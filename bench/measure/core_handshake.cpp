// The ping-pong of one cache line.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/core_handshake.h"

#include <fmt/format.h>

#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

#include "bench/measure/affinity.h"
#include "bench/measure/clock.h"
#include "bench/measure/statistics.h"

namespace stepscope {
namespace {

// A block is timed as a whole, so that two stamps (some 50 ns) do not count as part of each round
// trip; the median is over blocks, as one block in which a thread was interrupted must not matter.
constexpr std::uint32_t kRoundsPerBlock = 64;
constexpr std::uint32_t kBlocks = 64;
constexpr std::uint32_t kWarmUpBlocks = 4;  // both threads awake, the line in their caches
constexpr std::uint32_t kRounds = kRoundsPerBlock * (kBlocks + kWarmUpBlocks);

struct Table {
  alignas(64) std::atomic<std::uint32_t> turn{0};  // the line: odd, ping; even, pong
  alignas(64) std::atomic<bool> given_up{
      false};  // of its own, so that it does not disturb the other
  Stamp deadline;
};

// Spins until the line holds `turn`; false when one side has given up. No pause instruction: it
// lasts as long as what is measured.
bool wait_for(Table& table, std::uint32_t turn) {
  constexpr std::uint32_t kSpinsBetweenLooks = 4096;
  for (std::uint32_t spins = 1; table.turn.load(std::memory_order_acquire) != turn; ++spins) {
    if (spins % kSpinsBetweenLooks != 0) continue;
    if (table.given_up.load(std::memory_order_relaxed) || now() >= table.deadline) {
      table.given_up.store(true, std::memory_order_relaxed);
      return false;
    }
  }
  return true;
}

void answer(Table& table) {
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    if (!wait_for(table, 2 * round + 1)) return;
    table.turn.store(2 * round + 2, std::memory_order_release);
  }
}

// Nanoseconds per round trip of each block; empty when given up.
std::vector<double> ask(Table& table) {
  std::vector<double> blocks;
  blocks.reserve(kBlocks);
  std::uint32_t round = 0;
  for (std::uint32_t block = 0; block < kBlocks + kWarmUpBlocks; ++block) {
    const Stamp begin = now();
    for (std::uint32_t i = 0; i < kRoundsPerBlock; ++i, ++round) {
      table.turn.store(2 * round + 1, std::memory_order_release);
      if (!wait_for(table, 2 * round + 2)) return {};
    }
    const std::chrono::duration<double, std::nano> taken = now() - begin;
    if (block >= kWarmUpBlocks) blocks.push_back(taken.count() / kRoundsPerBlock);
  }
  return blocks;
}

// Runs `play` pinned; a refused pin ends the game for both.
template <class Play>
void play_pinned(Table& table, int cpu, std::string& refusal, Play play) {
  if (std::optional<std::string> reason = pin_this_thread(cpu)) {
    refusal = *std::move(reason);
    table.given_up.store(true, std::memory_order_relaxed);
    return;
  }
  play();
}

Handshake not_measured(std::array<int, 2> cpus, std::string reason) {
  return {.distance = CoreDistance::not_measured,
          .round_trip_ns = std::nullopt,
          .cpus = cpus,
          .reason = std::move(reason)};
}

Handshake play_on(std::array<int, 2> cpus, std::chrono::milliseconds limit) {
  Table table{.deadline = now() + limit};
  std::array<std::string, 2> refusals;
  std::vector<double> blocks;
  try {
    std::jthread second([&] { play_pinned(table, cpus[1], refusals[1], [&] { answer(table); }); });
    std::jthread first(
        [&] { play_pinned(table, cpus[0], refusals[0], [&] { blocks = ask(table); }); });
  } catch (const std::system_error& error) {
    return not_measured(cpus, fmt::format("no thread: {}", error.what()));
  }
  for (const std::string& refusal : refusals) {
    if (!refusal.empty()) return not_measured(cpus, fmt::format("pinning refused: {}", refusal));
  }
  if (blocks.empty()) {
    return not_measured(cpus, fmt::format("no answer within {} ms", limit.count()));
  }
  const double round_trip_ns = median(blocks);
  return {.distance = classify_round_trip(round_trip_ns),
          .round_trip_ns = round_trip_ns,
          .cpus = cpus,
          .reason = {}};
}

}  // namespace

std::string_view name(CoreDistance distance) {
  switch (distance) {
    case CoreDistance::near:
      return "near";
    case CoreDistance::far:
      return "far";
    case CoreDistance::not_measured:
      return "not measured";
  }
  return "unknown distance";
}

CoreDistance classify_round_trip(double round_trip_ns) {
  return round_trip_ns < kNearRoundTripNs ? CoreDistance::near : CoreDistance::far;
}

Handshake measure_core_handshake(const HandshakeOptions& options) {
  if (options.cpus) return play_on(*options.cpus, options.limit);
  const std::vector<int> allowed = allowed_cpus();
  if (allowed.size() < 2) {
    return not_measured({allowed.empty() ? -1 : allowed[0], -1},
                        allowed.empty() ? "the system does not say which processors are allowed"
                                        : fmt::format("processor {} alone is allowed", allowed[0]));
  }
  return play_on({allowed[0], allowed[1]}, options.limit);
}

}  // namespace stepscope
