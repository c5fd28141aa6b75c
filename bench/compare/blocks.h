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
SideMeans side_means(const Block& block, const ProcessBlocks& process);

// One process in one stratum, per step.
struct ProcessTimes {
  std::vector<double> base_ns, of_ns;  // one of each block; of a list: one of each sample
  std::vector<double> second_effect;   // of each block: log of what the second of two slots takes
  std::vector<double> base_slots_ns, of_slots_ns;  // of each slot

  double ratio(bool paired) const;  // median of the blocks' ratios; of lists, ratio of medians
  double difference_ns(bool paired) const;
};

struct Evidence {
  std::string stratum;
  bool paired = true;  // blocks; else lists of two backends, where block k of one has no partner
  std::vector<ProcessTimes> processes;
  std::int64_t blocks = 0, voided = 0;
};

// Of blocks: by stratum, in order of appearance; a process whose blocks of a stratum are all
// voided is left out there.
std::vector<Evidence> evidence_of_blocks(const PairRecord& pair);

// Of the throughput lists of two arms: the k-th process of one with the k-th of the other, both of
// the same stratum, by Record::processes.
std::vector<Evidence> evidence_of_lists(const Record& record, const ArmRecord& base,
                                        const ArmRecord& of);

}  // namespace stepscope
