// Independent chains of multiply-adds, as many as two units with four cycles of latency can hold.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/fma_peak.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "bench/measure/clock.h"
#include "bench/measure/statistics.h"

namespace stepscope {
namespace {

// Two units, four to five cycles each (Agner Fog, instruction tables: Zen 3 and 4, Skylake to
// Sapphire Rapids): ten chains keep both busy, twelve leave room. Sixteen registers hold them all.
constexpr int kChains = 12;
constexpr std::int64_t kRoundsPerSample = 40'000;  // 480,000 instructions: below a millisecond

// A chain x = x a + b with |a| < 1 stays at b / (1 - a): no overflow, no denormals.
constexpr float kFactor = 0.5F, kTerm = 1.0F;

// Each returns the sum of its chains, so that the compiler cannot leave them out.
#if defined(__x86_64__)

__attribute__((target("avx512f"))) float run_avx512(std::int64_t rounds) {
  const __m512 a = _mm512_set1_ps(kFactor);
  const __m512 b = _mm512_set1_ps(kTerm);
  __m512 x[kChains];
  for (auto& chain : x) chain = b;
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) x[i] = _mm512_fmadd_ps(x[i], a, b);
  }
  for (int i = 1; i < kChains; ++i) x[0] = _mm512_add_ps(x[0], x[i]);
  return _mm512_cvtss_f32(x[0]);
}

__attribute__((target("avx2,fma"))) float run_avx2(std::int64_t rounds) {
  const __m256 a = _mm256_set1_ps(kFactor);
  const __m256 b = _mm256_set1_ps(kTerm);
  __m256 x[kChains];
  for (auto& chain : x) chain = b;
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) x[i] = _mm256_fmadd_ps(x[i], a, b);
  }
  for (int i = 1; i < kChains; ++i) x[0] = _mm256_add_ps(x[0], x[i]);
  return _mm256_cvtss_f32(x[0]);
}

#endif

// What every processor can do that we compile for: four lanes, and a product and a sum apart.
float run_baseline(std::int64_t rounds) {
  using Lanes = float __attribute__((vector_size(16)));
  const Lanes a = Lanes{} + kFactor;
  const Lanes b = Lanes{} + kTerm;
  Lanes x[kChains];
  for (auto& chain : x) chain = b;
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) x[i] = x[i] * a + b;
  }
  for (int i = 1; i < kChains; ++i) x[0] += x[i];
  return x[0][0];
}

struct Variant {
  float (*run)(std::int64_t rounds);
  int lanes;
  const char* vectors;
};

Variant best_variant() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {run_avx512, 16, "AVX-512"};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {run_avx2, 8, "AVX2"};
#endif
  return {run_baseline, 4, "128 bit"};
}

}  // namespace

FmaProbe::FmaProbe() {
  const Variant variant = best_variant();
  run_ = variant.run;
  flops_ = 2.0 * kChains * variant.lanes * static_cast<double>(kRoundsPerSample);
  vectors_ = variant.vectors;
}

void FmaProbe::run() { sink_ = sink_ + run_(kRoundsPerSample); }

FmaPeak measure_fma_peak(std::chrono::milliseconds time) {
  constexpr std::size_t kFewestSamples = 5;
  FmaProbe probe;
  // Wide vectors start slowly: the processor changes its clock for them.
  const Stamp begin = now();
  while (now() - begin < time / 4) probe.run();
  std::vector<double> rates;
  while (rates.size() < kFewestSamples || now() - begin < time) {
    const Stamp start = now();
    probe.run();
    const std::chrono::duration<double> taken = now() - start;
    rates.push_back(probe.flops() / taken.count());
  }
  const auto [lowest, highest] = std::minmax_element(rates.begin(), rates.end());
  return {.flops_per_second = quantile(rates, 0.5),
          .lowest = *lowest,
          .highest = *highest,
          .samples = static_cast<std::int64_t>(rates.size()),
          .vectors = probe.vectors()};
}

}  // namespace stepscope
