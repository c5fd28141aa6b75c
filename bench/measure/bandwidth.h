// Bandwidth of one core to each level of its memory: sequential passes over a buffer that fits the
// level and not the one before.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/measure/cache_sizes.h"
#include "bench/measure/timer.h"
#include "bench/record/samples.h"

namespace stepscope {

enum class Traffic : std::uint8_t {
  read,        // each element once; bytes read
  read_write,  // each element read, changed and written in place; bytes read and written
};

// A buffer whose pages are there, and passes over parts of it with the widest vectors that the
// processor has.
class BandwidthProbe {
 public:
  // Rounded down to whole pages, one at least. Throws device when there is no such memory.
  explicit BandwidthProbe(std::size_t bytes);
  ~BandwidthProbe();
  BandwidthProbe(const BandwidthProbe&) = delete;
  BandwidthProbe& operator=(const BandwidthProbe&) = delete;

  std::size_t bytes() const { return bytes_; }
  // GB/s (1e9 bytes) of each sample, over about `time`; at least five samples.
  std::vector<double> measure(Timer& timer, Traffic traffic, std::chrono::nanoseconds time);
  static std::string vectors();  // "AVX-512", "AVX2", "128 bit"

  // One sample, for those who collect themselves: nanoseconds, 1 at least, for sample_bytes(). Goes
  // on in a large buffer where the last one ended. The first after the making fills caches.
  std::int64_t sample(Timer& timer, Traffic traffic);
  double sample_bytes(Traffic traffic) const;

 private:
  std::size_t part() const;  // bytes of the buffer that one sample goes through

  std::byte* data_;
  std::size_t bytes_;
  std::size_t at_ = 0;               // where the next sample begins
  volatile std::uint32_t sink_ = 0;  // so that no pass is left out
};

struct BandwidthOptions {
  CacheSizes caches = cache_sizes();
  std::size_t most_bytes = std::size_t{1} << 30;  // and at most a quarter of the free memory
  std::chrono::milliseconds time{15};             // of each level and traffic; dram takes longer
};

// The buffers that measure_bandwidth goes through on this machine.
std::vector<ProbeSize> bandwidth_sizes(const BandwidthOptions& options = {});

// Rows bandwidth_read_{l1,l2,l3,dram}, then bandwidth_read_write_{...}, as calibration.h lists
// them.
std::vector<CalibrationRow> measure_bandwidth(Timer& timer, const BandwidthOptions& options = {});

}  // namespace stepscope
