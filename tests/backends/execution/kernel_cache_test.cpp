// The kernel cache: one kernel for one site, whatever the hash says.
// SPDX-License-Identifier: Apache-2.0
#include "backends/execution/kernel_cache.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "backends/null/null.h"
#include "backends/reference/reference.h"
#include "ops/base/philox.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;

// A random, valid site: the kinds differ in what a key must tell apart.
OpSite random_site(Philox& draws) {
  const auto dim = [&] { return static_cast<std::int64_t>(1 + draws.below(6)); };
  const DType dtype = draws.below(4) == 0 ? DType::f64 : DType::f32;
  const TensorType matrix{{dim(), dim()}, dtype};
  OpSite site;
  switch (draws.below(6)) {
    case 0:
      site = {OpKind::Scale, ScaleAttrs{static_cast<double>(draws.below(4))}, {matrix}, {}};
      break;
    case 1:
      site = {OpKind::Relu, {}, {matrix}, {}};
      break;
    case 2:
      site = {OpKind::Add, {}, {matrix, matrix}, {}};
      break;
    case 3:
      site = {
          OpKind::ReduceSum, ReduceAttrs{static_cast<std::int64_t>(draws.below(2))}, {matrix}, {}};
      break;
    case 4:
      site = {OpKind::Fill, FillAttrs{matrix, static_cast<double>(draws.below(3))}, {}, {}};
      break;
    default: {
      const bool ta = draws.below(2) == 1;
      const bool tb = draws.below(2) == 1;
      const std::int64_t M = dim(), N = dim(), K = dim();
      const TensorType a{ta ? Shape{K, M} : Shape{M, K}, dtype};
      const TensorType b{tb ? Shape{N, K} : Shape{K, N}, dtype};
      site = {OpKind::MatMul, MatMulAttrs{ta, tb}, {a, b}, {}};
    }
  }
  TypeList out;
  op_def(site.kind).infer(site.in, site.attrs, out);
  site.out.assign(out.begin(), out.end());
  return site;
}

const CachedKernel& find(KernelCache& cache, const OpSite& site, Stream& stream) {
  SiteKey key(site.kind, site.attrs);
  for (const TensorType& type : site.in) key.add(type);
  return cache.find(key, stream, [&] { return site; });
}

// Sites have no order; their text has all that == compares.
std::string text(const OpSite& site) {
  std::string text = fmt::format("{} {} {}", static_cast<int>(site.kind), site.attrs.index(),
                                 to_string(site.attrs));
  for (const TensorType& type : site.in) text += to_string(type);
  return text;
}

TEST(KernelCache, HasOneKernelForEachSiteAndGrows) {
  const auto backend = null::make_backend({});
  const auto stream = backend->make_stream();
  KernelCache cache(*backend);
  std::map<std::string, const CachedKernel*> known;
  Philox draws(1);
  constexpr std::uint64_t kLookups = 5000;
  for (std::uint64_t i = 0; i < kLookups; ++i) {
    const OpSite site = random_site(draws);
    const CachedKernel& found = find(cache, site, *stream);
    ASSERT_EQ(found.kernel->site(), site);
    const auto [entry, is_new] = known.try_emplace(text(site), &found);
    ASSERT_EQ(entry->second, &found) << text(site);  // references stay good while the table grows
    ASSERT_EQ(cache.size(), known.size());
    ASSERT_EQ(&cache.get(site), found.kernel.get());
  }
  EXPECT_GT(known.size(), 500U);                    // the table begins with room for 32
  EXPECT_EQ(stream->counters().lookups, kLookups);  // get() counts nothing
  EXPECT_EQ(stream->counters().submitted, 0U);
}

TEST(KernelCache, TellsAttributesApart) {
  const auto backend = null::make_backend({});
  const auto stream = backend->make_stream();
  KernelCache cache(*backend);
  const TensorType weights{{3, 2}, DType::f32};
  const TensorType rate{Shape{}, DType::f32};
  const TensorType step{Shape{}, DType::i32};
  const auto adam = [&](AdamAttrs attrs) -> OpSite {
    return {OpKind::AdamUpdate, attrs, {weights, weights, weights, weights, rate, step}, {}};
  };
  const std::vector<OpSite> sites = {
      adam({}),
      adam({.beta1 = 0.8}),
      adam({.beta2 = 0.8}),
      adam({.epsilon = 1e-6}),
      adam({.advance_step = true}),
      {OpKind::MomentumUpdate, MomentumAttrs{}, {weights, weights, weights, rate}, {}},
      {OpKind::MomentumUpdate, MomentumAttrs{0.5}, {weights, weights, weights, rate}, {}},
      // The words of the attributes are the same; the kind of attributes is not.
      {OpKind::ReduceSum, ReduceAttrs{0}, {weights}, {}},
      {OpKind::ReduceSum, SgdAttrs{false}, {weights}, {}},
      // One type more, one dimension more, the same dimensions split otherwise.
      {OpKind::Add, {}, {{{2, 3}}}, {}},
      {OpKind::Add, {}, {{{2, 3}}, {{2, 3}}}, {}},
      {OpKind::Add, {}, {{{2, 3, 1}}}, {}},
      {OpKind::Add, {}, {{{2}}, {{3}}}, {}},
      {OpKind::Add, {}, {{Shape{}}, {{2, 3}}}, {}},
      {OpKind::Add, {}, {{{2, 3}, DType::f64}}, {}},
  };
  std::set<const CachedKernel*> kernels;
  for (const OpSite& site : sites) kernels.insert(&find(cache, site, *stream));
  EXPECT_EQ(kernels.size(), sites.size());
  EXPECT_EQ(cache.size(), sites.size());
}

// Two keys of one hash, made by running its last two rounds backwards: rotate, xor, multiply.
TEST(KernelCache, ComparesInFullWhenHashesCollide) {
  constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15;
  const auto key_words = [](std::int64_t d1, std::int64_t d2) {
    SiteKey key(OpKind::Relu, {});
    key.add({{1, d1, d2}, DType::f32});
    return std::vector<std::uint64_t>(key.words().begin(), key.words().end());
  };
  const auto state_before_last = [&](std::int64_t d1) {
    std::uint64_t state = 0;
    const std::vector<std::uint64_t> words = key_words(d1, 0);
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      state = (std::rotl(state, 23) ^ words[i]) * kMultiplier;
    }
    return std::rotl(state, 23);
  };
  const auto backend = null::make_backend({});
  const auto stream = backend->make_stream();
  KernelCache cache(*backend);
  std::set<const CachedKernel*> kernels;
  std::set<std::uint64_t> hashes;
  constexpr std::int64_t kKeys = 100;
  for (int round = 0; round < 2; ++round) {
    for (std::int64_t d1 = 1; d1 <= kKeys; ++d1) {
      const auto d2 = static_cast<std::int64_t>(state_before_last(1) ^ state_before_last(d1));
      SiteKey key(OpKind::Relu, {});
      key.add({{1, d1, d2}, DType::f32});
      hashes.insert(key.hash());
      const OpSite site{OpKind::Relu, {}, {{{1, d1, 1}}}, {{{1, d1, 1}}}};
      const CachedKernel& found = cache.find(key, *stream, [&] { return site; });
      kernels.insert(&found);
      EXPECT_EQ(found.kernel->site(), site);
    }
  }
  ASSERT_EQ(hashes.size(), 1U) << "the hash has changed: make the collision anew";
  EXPECT_EQ(kernels.size(), static_cast<std::size_t>(kKeys));
}

TEST(KernelCache, KeepsNothingOfASiteThatCannotBeLowered) {
  const auto backend = reference::make_backend({});
  const auto stream = backend->make_stream();
  KernelCache cache(*backend);
  const TensorType half{{2, 3}, DType::bf16};
  const OpSite site{OpKind::Relu, {}, {half}, {half}};
  constexpr std::string_view kSaid =
      "unsupported: reference: Relu on bf16, only f32, f64 and i32 are";
  EXPECT_EQ(error_of([&] { find(cache, site, *stream); }), kSaid);
  EXPECT_EQ(error_of([&] { find(cache, site, *stream); }), kSaid);
  EXPECT_EQ(cache.size(), 0U);
}

}  // namespace
}  // namespace stepscope
