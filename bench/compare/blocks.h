// What blocks and lists say, before any claim: per step, by process and stratum. A voided block is
// counted and left out.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/record/record.h"

namespace stepscope {

// Mean time per step of the slots of each side. `order` has an A (base) or a B for each slot in
// time order.
struct SideMeans {
  double base_ns = 0.0, of_ns = 0.0;

  double ratio() const { return of_ns / base_ns; }
};
// Throws bad_input for a letter that is neither, a side without a slot, a time that is not above 0.
SideMeans side_means(std::string_view order, std::span<const std::int64_t> elapsed_ns,
                     std::int64_t base_steps = 1, std::int64_t of_steps = 1);

// The same of a block. Throws bad_input unless it is ABBA or BAAB.
SideMeans side_means(const TimedBlock& block, const ProcessBlocks& process);

// One process in one stratum, per step. The center of its blocks is the mean over the two orders of
// the median of each: what the place of a slot in its block adds has opposite signs in ABBA and
// BAAB, so that a median over both would fall between two groups. Where one order has no block that
// counts, it is the median of the other.
struct ProcessTimes {
  std::int64_t process = 0;
  std::vector<double> base_ns, of_ns;  // one of each block; of a list: one of each sample
  std::vector<bool> base_first;        // of each block: ABBA; empty of a list
  std::vector<double> second_effect;   // of each block: log of what the second of two slots takes
  std::vector<double> base_slots_ns, of_slots_ns;  // of each slot

  // Logarithms of the blocks' ratios, of one order or of the other.
  std::vector<double> log_ratios(bool abba) const;
  bool one_order() const;  // blocks of both orders are not there

  double ratio(bool paired) const;  // center of the blocks' ratios; of lists, ratio of medians
  double difference_ns(bool paired) const;
  double base_center_ns() const;  // of blocks, the center; of lists, the median
  double of_center_ns() const;
};

struct Evidence {
  std::string stratum;
  bool paired = true;  // blocks; else lists of two backends, where block k of one has no partner
  std::vector<ProcessTimes> processes;
  std::int64_t blocks = 0, voided = 0;
};

// Of blocks: by stratum, in order of appearance; a process whose blocks of a stratum are all
// voided is left out there. All blocks of one process number are one process.
std::vector<Evidence> evidence_of_blocks(const PairRecord& pair);

// Of the throughput lists of two arms: process number k of one with process number k of the other,
// which ran next to each other, in the stratum of both by Record::processes. A pair of processes
// whose sentinels' medians differ by more than kSentinelTolerance, or whose strata differ, is left
// out, and its samples are counted as voided.
std::vector<Evidence> evidence_of_lists(const Record& record, const ArmRecord& base,
                                        const ArmRecord& of);

}  // namespace stepscope
