// Affinity by the calls of Linux.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/affinity.h"

#include <fmt/format.h>
#include <sched.h>

#include <cerrno>
#include <memory>
#include <system_error>

namespace stepscope {
namespace {

constexpr int kMostCpus =
    1 << 16;  // far above any machine; ends the search for a large enough mask

// A mask for processors 0 .. cpus - 1; cpu_set_t alone ends at 1024.
class CpuMask {
 public:
  explicit CpuMask(int cpus) : set_(CPU_ALLOC(cpus)), bytes_(CPU_ALLOC_SIZE(cpus)) {
    if (set_ != nullptr) CPU_ZERO_S(bytes_, set_.get());
  }
  cpu_set_t* set() { return set_.get(); }
  std::size_t bytes() const { return bytes_; }
  void add(int cpu) { CPU_SET_S(static_cast<std::size_t>(cpu), bytes_, set_.get()); }
  bool has(int cpu) const { return CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes_, set_.get()); }

 private:
  struct Free {
    void operator()(cpu_set_t* set) const { CPU_FREE(set); }
  };
  std::unique_ptr<cpu_set_t, Free> set_;
  std::size_t bytes_;
};

}  // namespace

std::vector<int> allowed_cpus() {
  for (int cpus = 1024; cpus <= kMostCpus; cpus *= 2) {
    CpuMask mask(cpus);
    if (mask.set() == nullptr) return {};
    if (sched_getaffinity(0, mask.bytes(), mask.set()) == 0) {
      std::vector<int> allowed;
      for (int cpu = 0; cpu < cpus; ++cpu) {
        if (mask.has(cpu)) allowed.push_back(cpu);
      }
      return allowed;
    }
    if (errno != EINVAL) return {};  // EINVAL: the kernel's mask is larger
  }
  return {};
}

std::optional<std::string> pin_this_thread(int cpu) {
  if (cpu < 0 || cpu >= kMostCpus) return fmt::format("processor {}: there is none", cpu);
  CpuMask mask(cpu + 1);
  if (mask.set() == nullptr) return "no memory for a processor mask";
  mask.add(cpu);
  if (sched_setaffinity(0, mask.bytes(), mask.set()) == 0) return std::nullopt;
  return fmt::format("processor {}: {}", cpu, std::generic_category().message(errno));
}

}  // namespace stepscope
