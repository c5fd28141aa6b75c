// clock: f = max(ends of what a task follows, the host's clock at its submission) + its cost.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/sim/clock.h"

#include <algorithm>

#include "ops/base/philox.h"

namespace stepscope::cudasim {
namespace {

struct Clock {
  Costs costs;
  Nanoseconds host = 0;
  Nanoseconds device_free = 0;  // of the one device, if it is one for all streams
};

Clock& clock_state() {
  static Clock& state = *new Clock;
  return state;
}

constexpr Nanoseconds scaled(Nanoseconds picoseconds, std::uint64_t count) {
  return picoseconds * static_cast<Nanoseconds>(count) / 1000;
}

std::uint64_t threads_of(const KernelCall& call) {
  return std::uint64_t{call.grid.x} * call.grid.y * call.grid.z * call.block.x * call.block.y *
         call.block.z;
}

struct CostOf {
  const Costs& costs;
  Nanoseconds operator()(const KernelCall& call) const {
    return costs.kernel + scaled(costs.kernel_per_thread_ps, threads_of(call));
  }
  Nanoseconds operator()(const LibraryCall&) const { return costs.kernel; }
  Nanoseconds operator()(const Copy& copy) const {
    return costs.copy + scaled(costs.copy_per_byte_ps, copy.bytes);
  }
  Nanoseconds operator()(const Fill& fill) const {
    return costs.copy +
           scaled(costs.copy_per_byte_ps, fill.width * fill.element_size * fill.height);
  }
  template <class Other>
  Nanoseconds operator()(const Other&) const {
    return 0;  // marks, host functions and memory's own steps keep no device busy
  }
};

}  // namespace

Nanoseconds host_clock() { return clock_state().host; }
void move_host(Nanoseconds by) { clock_state().host += by; }
void move_host_to(Nanoseconds at_least) {
  clock_state().host = std::max(clock_state().host, at_least);
}

const Costs& costs() { return clock_state().costs; }

Nanoseconds device_cost(const Work& work, bool node) {
  const Nanoseconds cost = std::visit(CostOf{costs()}, work);
  return node ? cost + costs().node : cost;
}

void settle_times(Task& task) {
  Nanoseconds begin = host_clock();
  for (const TaskRef& before : task.after) begin = std::max(begin, before->end);
  const Nanoseconds cost = device_cost(*task.work, task.node);
  if (costs().one_device && cost > 0) {
    begin = std::max(begin, clock_state().device_free);
    clock_state().device_free = begin + cost;
  }
  task.begin = begin;
  task.end = begin + cost;
}

void reset_clock(const Costs& costs) { clock_state() = {costs, 0, 0}; }

Costs drawn_costs(std::uint64_t seed) {
  Philox random(seed);
  // From a third to three times the plausible cost.
  const auto draw = [&](std::int64_t usual) {
    const std::int64_t least = usual / 3, most = usual * 3;
    return least +
           static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most - least + 1)));
  };
  Costs costs;
  for (std::int64_t* cost : {&costs.any_call, &costs.launch_kernel, &costs.launch_graph,
                             &costs.launch_per_node, &costs.kernel, &costs.kernel_per_thread_ps,
                             &costs.node, &costs.copy, &costs.copy_per_byte_ps}) {
    *cost = draw(*cost);
  }
  costs.one_device = random.below(2) != 0;
  return costs;
}

}  // namespace stepscope::cudasim
