// capture_lock: one capture at a time in the process.
//
// While one thread captures in mode global, CUDA refuses allocations and the like to every thread
// and breaks the capture besides. So whoever captures holds this lock, and so does whoever makes
// such a call.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

namespace stepscope::cuda {

// Recursive, so that a launch which allocates while it is captured is refused by CUDA, with a
// message, instead of waiting for itself.
std::recursive_mutex& capture_lock();

}  // namespace stepscope::cuda
