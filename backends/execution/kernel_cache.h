// SiteKey and KernelCache: from what is asked to the kernel that does it.
//
// The key is made of kind, attributes and input types as fixed words, hashed and compared in full
// on every look-up; output types follow from them. The cache owns its kernels and never drops one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backends/api/backend.h"
#include "ops/ir/op_def.h"

namespace stepscope {

class SiteKey {
 public:
  static constexpr std::size_t kMaxWords = 1 + kMaxAttrWords + kMaxInputs * Shape::kMaxRank;

  SiteKey(OpKind kind, const Attrs& attrs) {
    words_[0] = static_cast<std::uint64_t>(kind);
    end_ = pack(attrs, words_.data() + 1);
  }
  // Layout, element type, rank and first dimension (below 2^47, see check_type) share a word, which
  // takes 10, 3, 3 and 48 bits; each further dimension has one.
  void add(const TensorType& type) {
    const std::size_t rank = type.shape.rank();
    *end_++ = static_cast<std::uint64_t>(type.shape[0]) << 16 |
              static_cast<std::uint64_t>(type.layout) << 6 |
              static_cast<std::uint64_t>(type.dtype) << 3 | rank;
    for (std::size_t axis = 1; axis < rank; ++axis) {
      *end_++ = static_cast<std::uint64_t>(type.shape[axis]);
    }
  }
  SiteKey(const SiteKey&) = delete;
  SiteKey& operator=(const SiteKey&) = delete;

  std::span<const std::uint64_t> words() const {
    return {words_.data(), static_cast<std::size_t>(end_ - words_.data())};
  }
  std::uint64_t hash() const {
    // Multiply and rotate, word by word; the multiplier is 2^64 over the golden ratio.
    std::uint64_t hash = 0;
    for (const std::uint64_t word : words()) {
      hash = (std::rotl(hash, 23) ^ word) * 0x9E3779B97F4A7C15;
    }
    return hash ^ hash >> 32;
  }

 private:
  std::array<std::uint64_t, kMaxWords> words_;  // uninitialised behind end_, on purpose
  std::uint64_t* end_;
};

// What eager needs to know of a site once its kernel is found.
struct CachedKernel {
  std::unique_ptr<const Kernel> kernel;
  // Per output: the input it overwrites, or -1 and the size class of the block to take (pool.h).
  std::array<std::int8_t, kMaxOutputs> overwrites{};
  std::array<std::uint8_t, kMaxOutputs> output_class{};
  std::uint8_t scratch_class = 0;
};

// Serves one thread.
class KernelCache {
 public:
  explicit KernelCache(Backend& backend);

  // The kernel of the key, lowered from make_site() on its first use. Counts one look-up on the
  // stream; no allocation when the kernel is known. The reference lives as long as the cache.
  template <class MakeSite>
  const CachedKernel& find(const SiteKey& key, Stream& stream, MakeSite&& make_site) {
    stream.count_lookup();
    const std::uint64_t hash = key.hash();
    const CachedKernel* known = lookup(key, hash);
    return known != nullptr ? *known : insert(key, hash, make_site());
  }

  // The same for cold callers: counts nothing.
  const Kernel& get(const OpSite& site);

  // Lowers a kernel that is not kept, for a caller without a cache.
  CachedKernel lower(const OpSite& site);

  // Kernels lowered so far: those it keeps, and those of lower().
  std::uint64_t lowerings() const { return lowerings_; }

  Backend& backend() const { return backend_; }
  std::size_t size() const { return kernels_.size(); }

 private:
  struct Entry {
    std::uint64_t hash = 0;
    std::uint32_t first_word = 0;
    std::uint32_t word_count = 0;  // 0: the place is free
    const CachedKernel* kernel = nullptr;
  };

  const CachedKernel* lookup(const SiteKey& key, std::uint64_t hash) const {
    const std::span<const std::uint64_t> words = key.words();
    for (std::size_t at = hash & mask_; table_[at].word_count != 0; at = (at + 1) & mask_) {
      const Entry& entry = table_[at];
      if (entry.hash == hash && entry.word_count == words.size() &&
          std::equal(words.begin(), words.end(), words_.begin() + entry.first_word)) {
        return entry.kernel;
      }
    }
    return nullptr;
  }
  const CachedKernel& insert(const SiteKey& key, std::uint64_t hash, const OpSite& site);
  void place(const Entry& entry);

  Backend& backend_;
  std::uint64_t lowerings_ = 0;
  std::vector<Entry> table_;  // open addressing; a power of two, at most half full
  std::size_t mask_;
  std::vector<std::uint64_t> words_;  // of all keys, one after the other
  std::vector<std::unique_ptr<CachedKernel>> kernels_;
};

}  // namespace stepscope
