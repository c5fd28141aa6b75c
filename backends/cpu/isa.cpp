// What the processor and the system say they can run.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/isa.h"

#include <cpuid.h>

#include "backends/api/host.h"
#include "ops/base/check.h"

namespace stepscope::cpu {
namespace {

// Bits that clang 14's __builtin_cpu_supports has no name for (g++ 12 even knows "x86-64-v3").
// Source: Intel SDM volume 2A, CPUID, leaves 1 and 80000001H; the psABI wants all of them for v3.
bool has_unnamed_bits_of_v3() {
  constexpr unsigned kMovbe = 1U << 22, kOsxsave = 1U << 27, kF16c = 1U << 29, kLzcnt = 1U << 5;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  constexpr unsigned kLeaf1 = kMovbe | kOsxsave | kF16c;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & kLeaf1) != kLeaf1) return false;
  return __get_cpuid(0x80000001U, &eax, &ebx, &ecx, &edx) != 0 && (ecx & kLzcnt) != 0;
}

// The builtin answers yes to AVX and AVX-512 only where the system saves the registers.
bool has_v2() {
  return __builtin_cpu_supports("sse3") && __builtin_cpu_supports("ssse3") &&
         __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("sse4.2") &&
         __builtin_cpu_supports("popcnt");
}

bool has_v3() {
  return has_v2() && __builtin_cpu_supports("avx") && __builtin_cpu_supports("avx2") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("fma") && has_unnamed_bits_of_v3();
}

bool has_v4() {
  return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

}  // namespace

std::string_view name(Isa isa) {
  switch (isa) {
    case Isa::v2:
      return "x86-64-v2";
    case Isa::v3:
      return "x86-64-v3";
    case Isa::v4:
      return "x86-64-v4";
  }
  return "?";
}

bool can_run(Isa isa) {
  switch (isa) {
    case Isa::v2:
      return has_v2();
    case Isa::v3:
      return has_v3();
    case Isa::v4:
      return has_v4();
  }
  return false;
}

Isa best_isa() {
  for (const Isa isa : {Isa::v4, Isa::v3}) {
    if (can_run(isa)) return isa;
  }
  check(can_run(Isa::v2), Fault::unsupported,
        "cpu: {} is older than x86-64-v2 (SSE4.2), the least that kernels are compiled for",
        processor_name());
  return Isa::v2;
}

}  // namespace stepscope::cpu
