// Peak: what a device could compute at most, from facts that are printed beside it, and the
// shortest time that follows for some work. A bound, neither a time of a kernel nor a utilization.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace stepscope {

struct DeviceRates {
  std::int64_t sm_count = 0;      // streaming multiprocessors
  std::int64_t cores_per_sm = 0;  // f32 lanes of each
  double clock_hz = 0.0;          // of the SMs: base, boost or as it is now, whoever asks must say
};

// Fused multiply-adds of all lanes in a second, each two operations. Throws bad_input unless every
// number is above 0.
double peak_flops(const DeviceRates& rates);

// The numbers behind it: "48 SM x 64 cores x 1.800 GHz x 2 = 11.0592 TFLOP/s".
std::string peak_text(const DeviceRates& rates);

// f32 lanes of an SM by compute capability, as the CUDA C++ programming guide tables them; nothing
// for one that is not in the table.
std::optional<std::int64_t> cores_per_sm(int major, int minor);

// Microseconds that `flops` operations take at least. Throws bad_input unless the peak is above 0
// and the operations are not below 0.
double arith_lower_bound_us(double flops, double peak_flops);

}  // namespace stepscope
