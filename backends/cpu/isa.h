// The instruction sets that kernels are compiled for, and the choice between them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace stepscope::cpu {

// Levels of the x86-64 psABI: v2 has SSE4.2, v3 AVX2 and FMA, v4 AVX-512 (F, BW, CD, DQ, VL).
enum class Isa { v2, v3, v4 };

std::string_view name(Isa isa);  // x86-64-v3

// Whether processor and system can run it; asked of cpuid.
bool can_run(Isa isa);

// The highest that can run. Throws unsupported when not even v2 does.
Isa best_isa();

}  // namespace stepscope::cpu
