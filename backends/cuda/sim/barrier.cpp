// Barrier: __syncthreads() and the memory fences.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "backends/cuda/sim/running_block.h"
#include "backends/cuda/sim/sanitizers.h"

namespace stepscope::cudasim {
namespace {

bool same(const Site& a, const Site& b) {
  return a.line() == b.line() && a.column() == b.column() &&
         (a.file_name() == b.file_name() || std::strcmp(a.file_name(), b.file_name()) == 0);
}

// Fences order by being made one after the other: stricter code is not told from lucky code.
void fence(void* order) {
  acquire(order);
  release(order);
}

}  // namespace

void complete_barrier() {
  RunningBlock& block = running_block();
  if (block.at_barrier == 0 || block.at_barrier != block.alive) {
    return;
  }
  for (unsigned thread = 0; thread < block.threads; ++thread) {
    if (block.states[thread] == ThreadState::at_barrier) {
      block.states[thread] = ThreadState::ready;
      block.waiting[thread].order = block.barrier_order;
    }
  }
  block.at_barrier = 0;
}

namespace device {

void barrier(Site site) {
  RunningBlock& block = running_block();
  const unsigned self = block.running;
  if (block.at_barrier == 0) {
    block.first_at_barrier = self;
    block.barrier_order = make_order();
  } else if (const Site& first = block.waiting[block.first_at_barrier].site; !same(site, first)) {
    raise({FaultKind::divergent_barrier, self, site, block.first_at_barrier, first});
  }
  release(block.barrier_order);
  block.waiting[self].site = site;
  block.states[self] = ThreadState::at_barrier;
  ++block.at_barrier;
  complete_barrier();
  wait_here();
}

void fence_block() { fence(running_block().fence_order); }

void fence_device() {
  static char order;
  fence(&order);
  fence_block();
}

}  // namespace device
}  // namespace stepscope::cudasim
