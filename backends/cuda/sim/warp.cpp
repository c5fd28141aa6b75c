// Warp: collectives of the lanes of a mask, and the ways in which a mask can lie.
//
// Lanes of one mask meet, whatever lines they come from; what counts is the function, as in PTX's
// shfl.sync and vote.sync. Lanes that have exited are not waited for, and cannot be read.
// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "backends/cuda/sim/running_block.h"
#include "backends/cuda/sim/sanitizers.h"

namespace stepscope::cudasim {
namespace {

// The lane that a lane's shuffle reads; its own where the source would be outside its group (PTX
// ISA, shfl.sync).
unsigned source_of(const Offer& offer, unsigned lane) {
  const auto width = static_cast<unsigned>(offer.width);
  const unsigned first = lane & ~(width - 1);
  const auto operand = static_cast<unsigned>(offer.operand);
  switch (offer.kind) {
    case Collective::shuffle_index:
      return first | (operand & (width - 1));
    case Collective::shuffle_up:
      return operand > lane - first ? lane : lane - operand;
    case Collective::shuffle_down:
      return operand > first + width - 1 - lane ? lane : lane + operand;
    default:  // xor may read groups before its own
      return (lane ^ operand) < first + width ? lane ^ operand : lane;
  }
}

bool shuffles(Collective kind) {
  return kind >= Collective::shuffle_index && kind <= Collective::shuffle_xor;
}

std::uint64_t vote_result(Collective kind, unsigned votes, unsigned arrived) {
  switch (kind) {
    case Collective::any:
      return votes != 0;
    case Collective::all:
      return votes == arrived;
    default:
      return votes;
  }
}

template <class Visit>
void each_lane(unsigned lanes, Visit visit) {
  for (; lanes != 0; lanes &= lanes - 1) {
    visit(static_cast<unsigned>(std::countr_zero(lanes)));
  }
}

void settle(const Meeting& meeting, unsigned first) {
  RunningBlock& block = running_block();
  unsigned votes = 0;
  each_lane(meeting.arrived, [&](unsigned lane) {
    votes |= static_cast<unsigned>(block.waiting[first + lane].offer.value & 1) << lane;
  });
  each_lane(meeting.arrived, [&](unsigned lane) {
    Waiting& waiting = block.waiting[first + lane];
    if (shuffles(waiting.offer.kind)) {
      const unsigned source = source_of(waiting.offer, lane);
      if (source >= kWarpSize || (meeting.arrived >> source & 1) == 0) {
        raise({FaultKind::lane_takes_no_part, first + lane, waiting.site, 0, {}, source});
      }
      waiting.result = block.waiting[first + source].offer.value;
    } else {
      waiting.result = vote_result(waiting.offer.kind, votes, meeting.arrived);
    }
    waiting.order = meeting.order;
    block.states[first + lane] = ThreadState::ready;
  });
}

// The meeting of the mask, new if the caller is its first lane.
Meeting& join(unsigned self, const Offer& offer, Site site) {
  RunningBlock& block = running_block();
  const unsigned first = self / kWarpSize * kWarpSize;
  const unsigned bit = 1u << (self - first);
  Warp& warp = block.warps[self / kWarpSize];
  for (unsigned i = 0; i < warp.count; ++i) {
    Meeting& meeting = warp.meetings[i];
    const unsigned there =
        first + static_cast<unsigned>(std::countr_zero(meeting.arrived & offer.mask));
    if (meeting.mask == offer.mask) {
      const Offer& their = block.waiting[there].offer;
      if (their.kind != offer.kind || their.bytes != offer.bytes) {
        raise({FaultKind::collectives_differ, self, site, there, block.waiting[there].site});
      }
      return meeting;
    }
    if ((meeting.mask & bit) != 0 && (meeting.arrived & offer.mask) != 0) {
      raise({FaultKind::masks_differ, self, site, there, block.waiting[there].site});
    }
  }
  Meeting& meeting = warp.meetings[warp.count++];
  // Only __syncwarp() orders memory; CUDA promises it of no shuffle and no vote.
  void* order = offer.kind == Collective::sync_warp ? make_order() : nullptr;
  meeting = {offer.mask, 0, order};
  return meeting;
}

}  // namespace

void complete_meetings(unsigned number) {
  RunningBlock& block = running_block();
  Warp& warp = block.warps[number];
  for (unsigned i = warp.count; i-- > 0;) {
    const Meeting meeting = warp.meetings[i];
    if (meeting.arrived == (meeting.mask & warp.alive)) {
      warp.meetings[i] = warp.meetings[--warp.count];
      settle(meeting, number * kWarpSize);
    }
  }
}

namespace device {

std::uint64_t collective(const Offer& offer, Site site) {
  RunningBlock& block = running_block();
  const unsigned self = block.running;
  const unsigned bit = 1u << (self % kWarpSize);
  Waiting& waiting = block.waiting[self];
  waiting.offer = offer;
  if ((offer.mask & bit) == 0) {
    raise({FaultKind::mask_without_caller, self, site});
  }
  if (shuffles(offer.kind) &&
      (offer.width < 1 || offer.width > 32 || !std::has_single_bit(unsigned(offer.width)))) {
    raise({FaultKind::bad_width, self, site, 0, {}, static_cast<std::uint64_t>(offer.width)});
  }
  // The device looks at the low five bits alone, and no manual says so of all four shuffles.
  if (shuffles(offer.kind) && (offer.operand < 0 || offer.operand > 31)) {
    raise({FaultKind::bad_operand, self, site, 0, {}, static_cast<std::uint64_t>(offer.operand)});
  }
  Meeting& meeting = join(self, offer, site);
  if (meeting.order != nullptr) {
    release(meeting.order);
  }
  meeting.arrived |= bit;
  waiting.site = site;
  block.states[self] = ThreadState::at_collective;
  complete_meetings(self / kWarpSize);
  wait_here();
  return waiting.result;
}

unsigned lane() { return running_block().running % kWarpSize; }

}  // namespace device
}  // namespace stepscope::cudasim
