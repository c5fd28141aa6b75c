// Resource usage by the calls of Linux.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/resource_usage.h"

#include <sys/resource.h>
#include <time.h>

namespace stepscope {
namespace {

std::int64_t cpu_time(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

ResourceUsage operator-(const ResourceUsage& later, const ResourceUsage& earlier) {
  return {later.thread_cpu_ns - earlier.thread_cpu_ns,
          later.process_cpu_ns - earlier.process_cpu_ns,
          later.voluntary_switches - earlier.voluntary_switches,
          later.involuntary_switches - earlier.involuntary_switches,
          later.page_faults - earlier.page_faults};
}

ResourceUsage resource_usage() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {cpu_time(CLOCK_THREAD_CPUTIME_ID), cpu_time(CLOCK_PROCESS_CPUTIME_ID), usage.ru_nvcsw,
          usage.ru_nivcsw, usage.ru_minflt + usage.ru_majflt};
}

}  // namespace stepscope
