// Counting threads and measuring stacks.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/team.h"

#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string_view>

#include "ops/base/check.h"

namespace stepscope::cpu {
namespace {

// Bytes of the calling thread's stack, used ones included; for the first thread of the process what
// RLIMIT_STACK allows. Zero when the system does not tell.
std::size_t stack_bytes() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  void* lowest = nullptr;
  std::size_t bytes = 0;
  const int failed = pthread_attr_getstack(&attributes, &lowest, &bytes);
  pthread_attr_destroy(&attributes);
  return failed == 0 ? bytes : 0;
}

struct Team {
  int threads = 0;
  std::size_t worker_stack = std::numeric_limits<std::size_t>::max();  // the smallest
};

Team probe(int threads) {
  Team team;
#pragma omp parallel num_threads(threads)
  {
    const bool worker = omp_get_thread_num() != 0;  // the caller's stack is measured before
    const std::size_t bytes = worker ? stack_bytes() : std::numeric_limits<std::size_t>::max();
#pragma omp critical(stepscope_cpu_probe)
    {
      ++team.threads;
      team.worker_stack = std::min(team.worker_stack, bytes);
    }
  }
  return team;
}

}  // namespace

void require_team(std::string_view backend, int threads, TeamNeeds needs) {
  check(threads >= 1, Fault::bad_input, "{}: threads must be 1 or more, got {}", backend, threads);
  check(omp_in_parallel() == 0, Fault::device,
        "{}: made within a parallel region of {} threads, where products get one; make it outside",
        backend, omp_get_num_threads());
  check(omp_get_thread_limit() >= threads, Fault::device,
        "{}: {} threads wanted, OMP_THREAD_LIMIT allows {}; raise it or lower --threads", backend,
        threads, omp_get_thread_limit());
  const std::size_t own_stack = stack_bytes();
  check(own_stack >= needs.caller_stack, Fault::device,
        "{}: the stack is limited to {} bytes, products need {}; raise it with ulimit -s", backend,
        own_stack, needs.caller_stack);
  omp_set_dynamic(0);
  const Team team = probe(threads);
  check(team.threads == threads, Fault::device, "{}: {} threads wanted, OpenMP gives {}", backend,
        threads, team.threads);
  check(team.worker_stack >= needs.worker_stack, Fault::device,
        "{}: OpenMP's threads have stacks of {} bytes, products need {}; set OMP_STACKSIZE=4M",
        backend, team.worker_stack, needs.worker_stack);
}

void open_team(int threads) {
#pragma omp parallel num_threads(threads)
  {
    // Every thread passes here, so that the region is not left out.
    asm volatile("");
  }
}

std::string openmp_runtime() {
  // Looked up by name, because an executable may hold an entry of its own for the function.
  Dl_info info{};
  std::string_view file = "an unknown runtime";
  void* function = dlsym(RTLD_DEFAULT, "omp_get_max_threads");
  if (function != nullptr && dladdr(function, &info) != 0 && info.dli_fname != nullptr) {
    file = info.dli_fname;
    file.remove_prefix(file.rfind('/') + 1);
  }
  return fmt::format("{}, {}", _OPENMP, file);
}

}  // namespace stepscope::cpu
