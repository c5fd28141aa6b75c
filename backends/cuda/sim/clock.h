// clock: the virtual time of the host and of the device. No real clock is ever read.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "backends/cuda/sim/control.h"
#include "backends/cuda/sim/stream.h"

namespace stepscope::cudasim {

Nanoseconds host_clock();
void move_host(Nanoseconds by);
void move_host_to(Nanoseconds at_least);  // a wait: never back

const Costs& costs();
Nanoseconds device_cost(const Work& work, bool node);
// Settles begin and end of a task that is submitted now.
void settle_times(Task& task);

void reset_clock(const Costs& costs);

}  // namespace stepscope::cudasim
