// Passes over memory, for three widths of vectors.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/bandwidth.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>

#include "bench/measure/row_values.h"
#include "bench/measure/statistics.h"
#include "ops/base/check.h"

namespace stepscope {
namespace {

constexpr std::size_t kKiB = 1024, kPage = 4096;
constexpr std::size_t kSampleBytes = std::size_t{4} << 20;  // 0.3 ms of DRAM
constexpr int kUnrolled = 8;  // loads in flight; sums that do not wait for each other

// Integers: no NaN, no denormals, whatever lies in the memory.
using Lanes16 = std::uint32_t __attribute__((vector_size(16)));
using Lanes32 = std::uint32_t __attribute__((vector_size(32)));
using Lanes64 = std::uint32_t __attribute__((vector_size(64)));

// data {bytes}, a multiple of kUnrolled vectors. The empty asm says that the address may be another
// one, so that no pass is left out.
template <class Lanes>
[[gnu::always_inline]] inline std::uint32_t read_passes(const std::byte* data, std::size_t bytes,
                                                        std::int64_t passes) {
  const auto* from = reinterpret_cast<const Lanes*>(data);
  const std::size_t count = bytes / sizeof(Lanes);
  Lanes sums[kUnrolled] = {};
  for (std::int64_t pass = 0; pass < passes; ++pass) {
    for (std::size_t i = 0; i < count; i += kUnrolled) {
#pragma GCC unroll 8
      for (int k = 0; k < kUnrolled; ++k) sums[k] += from[i + static_cast<std::size_t>(k)];
    }
    asm volatile("" : "+r"(from));
  }
  for (int k = 1; k < kUnrolled; ++k) sums[0] += sums[k];
  return sums[0][0];
}

template <class Lanes>
[[gnu::always_inline]] inline void update_passes(std::byte* data, std::size_t bytes,
                                                 std::int64_t passes) {
  auto* into = reinterpret_cast<Lanes*>(data);
  const std::size_t count = bytes / sizeof(Lanes);
  for (std::int64_t pass = 0; pass < passes; ++pass) {
    for (std::size_t i = 0; i < count; i += kUnrolled) {
#pragma GCC unroll 8
      for (int k = 0; k < kUnrolled; ++k) into[i + static_cast<std::size_t>(k)] += 1U;
    }
    asm volatile("" : "+r"(into));
  }
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) std::uint32_t read_avx512(const std::byte* data,
                                                             std::size_t bytes,
                                                             std::int64_t passes) {
  return read_passes<Lanes64>(data, bytes, passes);
}
__attribute__((target("avx512f"))) void update_avx512(std::byte* data, std::size_t bytes,
                                                      std::int64_t passes) {
  update_passes<Lanes64>(data, bytes, passes);
}
__attribute__((target("avx2"))) std::uint32_t read_avx2(const std::byte* data, std::size_t bytes,
                                                        std::int64_t passes) {
  return read_passes<Lanes32>(data, bytes, passes);
}
__attribute__((target("avx2"))) void update_avx2(std::byte* data, std::size_t bytes,
                                                 std::int64_t passes) {
  update_passes<Lanes32>(data, bytes, passes);
}
#endif

std::uint32_t read_baseline(const std::byte* data, std::size_t bytes, std::int64_t passes) {
  return read_passes<Lanes16>(data, bytes, passes);
}
void update_baseline(std::byte* data, std::size_t bytes, std::int64_t passes) {
  update_passes<Lanes16>(data, bytes, passes);
}

struct Variant {
  std::uint32_t (*read)(const std::byte* data, std::size_t bytes, std::int64_t passes);
  void (*update)(std::byte* data, std::size_t bytes, std::int64_t passes);
  const char* vectors;
};

Variant best_variant() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {read_avx512, update_avx512, "AVX-512"};
  if (__builtin_cpu_supports("avx2")) return {read_avx2, update_avx2, "AVX2"};
#endif
  return {read_baseline, update_baseline, "128 bit"};
}

// Bytes that this process could still take: of the machine, and of its control group.
std::size_t free_memory() {
  std::size_t free = std::numeric_limits<std::size_t>::max();
  std::ifstream machine("/proc/meminfo"), group("/sys/fs/cgroup/memory.max");
  std::string name;
  std::size_t number = 0;
  while (machine >> name) {
    if (name == "MemAvailable:" && machine >> number) free = number * kKiB;
  }
  if (group >> number) free = std::min(free, number);
  return free;
}

CalibrationRow row_of(const ProbeSize& size, Traffic traffic, std::string note) {
  CalibrationRow row;
  row.name =
      fmt::format("bandwidth_{}_{}", traffic == Traffic::read ? "read" : "read_write", size.level);
  row.unit = "GB/s";
  row.note = std::move(note);
  row.reason = size.reason;
  return row;
}

}  // namespace

BandwidthProbe::BandwidthProbe(std::size_t bytes)
    : data_(nullptr), bytes_(std::max(bytes / kPage, std::size_t{1}) * kPage) {
  void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check(memory != MAP_FAILED, Fault::device, "bandwidth: no memory for {} bytes", bytes_);
  data_ = static_cast<std::byte*>(memory);
  madvise(memory, bytes_, MADV_HUGEPAGE);  // fewer page walks; a refusal costs time only
  std::memset(memory, 1, bytes_);
}

BandwidthProbe::~BandwidthProbe() { munmap(data_, bytes_); }

std::string BandwidthProbe::vectors() { return best_variant().vectors; }

// A large buffer is gone through part by part: what was read last is the last to come again.
std::size_t BandwidthProbe::part() const { return std::min(bytes_, kSampleBytes); }

double BandwidthProbe::sample_bytes(Traffic traffic) const {
  const double passed = static_cast<double>(kSampleBytes / part() * part());
  return traffic == Traffic::read ? passed : 2.0 * passed;
}

std::int64_t BandwidthProbe::sample(Timer& timer, Traffic traffic) {
  const Variant variant = best_variant();
  const auto passes = static_cast<std::int64_t>(kSampleBytes / part());
  const std::int64_t start = timer.now();
  if (traffic == Traffic::read) {
    sink_ = sink_ + variant.read(data_ + at_, part(), passes);
  } else {
    variant.update(data_ + at_, part(), passes);
  }
  const std::int64_t taken = timer.now() - start;
  at_ = at_ + 2 * part() <= bytes_ ? at_ + part() : 0;
  return std::max<std::int64_t>(taken, 1);
}

std::vector<double> BandwidthProbe::measure(Timer& timer, Traffic traffic,
                                            std::chrono::nanoseconds time) {
  constexpr std::size_t kFewestSamples = 5;
  constexpr std::size_t kMostSamples = 10'000;  // where the clock of a test stands still
  const double moved = sample_bytes(traffic);
  std::vector<double> rates;
  const std::int64_t begin = timer.now();
  at_ = 0;
  bool warm = false;  // the first sample fills caches, and is none
  while (rates.size() < kMostSamples &&
         (rates.size() < kFewestSamples || timer.now() - begin < time.count())) {
    const std::int64_t taken = sample(timer, traffic);
    if (warm) rates.push_back(moved / static_cast<double>(taken));
    warm = true;
  }
  return rates;
}

std::vector<ProbeSize> bandwidth_sizes(const BandwidthOptions& options) {
  return probe_sizes(options.caches, std::min(options.most_bytes, free_memory() / 4));
}

std::vector<CalibrationRow> measure_bandwidth(Timer& timer, const BandwidthOptions& options) {
  std::vector<CalibrationRow> reads, updates;
  for (const ProbeSize& size : bandwidth_sizes(options)) {
    const std::string note =
        fmt::format("one core, {}, {} KiB; caches {}, {}, {} KiB by {}", BandwidthProbe::vectors(),
                    size.bytes / kKiB, options.caches.l1 / kKiB, options.caches.l2 / kKiB,
                    options.caches.l3 / kKiB, options.caches.source);
    reads.push_back(row_of(size, Traffic::read, note));
    updates.push_back(row_of(size, Traffic::read_write, note));
    if (size.bytes == 0) continue;
    try {
      BandwidthProbe probe(size.bytes);
      // Long enough for each byte of a large buffer to be met twice, at 8 GB/s.
      const auto time = std::max<std::chrono::nanoseconds>(
          options.time, std::chrono::nanoseconds(size.bytes / 4));
      fill(reads.back(), probe.measure(timer, Traffic::read, time));
      fill(updates.back(), probe.measure(timer, Traffic::read_write, time));
    } catch (const Error& error) {
      reads.back().reason = updates.back().reason = error.what();
    }
  }
  reads.insert(reads.end(), updates.begin(), updates.end());
  return reads;
}

}  // namespace stepscope
