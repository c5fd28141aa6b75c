// What the system says that this process used: CPU time, switches, page faults. CPU time is not
// elapsed time: it misses every wait.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace stepscope {

struct ResourceUsage {
  std::int64_t thread_cpu_ns = 0;                                 // of the calling thread
  std::int64_t process_cpu_ns = 0;                                // of all threads
  std::int64_t voluntary_switches = 0, involuntary_switches = 0;  // of all threads
  std::int64_t page_faults = 0;                                   // with and without reading a disk
};
ResourceUsage operator-(const ResourceUsage& later, const ResourceUsage& earlier);

// Since the process began. Allocates nothing; about a microsecond.
ResourceUsage resource_usage();

}  // namespace stepscope
