// The cold side of the kernel cache: lowering, and growth of the table.
// SPDX-License-Identifier: Apache-2.0
#include "backends/execution/kernel_cache.h"

#include "backends/api/output_bytes.h"
#include "backends/execution/pool.h"
#include "ops/base/check.h"

namespace stepscope {
namespace {

constexpr std::size_t kFirstTableSize = 64;  // entries; enough for any net we ship

// Wraps a kernel with what eager needs to know. `alignment`: of the backend's blocks.
CachedKernel describe(std::unique_ptr<const Kernel> kernel, std::size_t alignment) {
  CachedKernel cached;
  const OpDef& def = op_def(kernel->site().kind);
  for (std::size_t k = 0; k < kernel->site().out.size(); ++k) {
    cached.overwrites[k] = static_cast<std::int8_t>(
        overwritten_input(def, kernel->site().attrs, kernel->site().in.size(), k));
    if (cached.overwrites[k] < 0) {
      cached.output_class[k] = size_class(output_bytes(*kernel, k), alignment);
    }
  }
  cached.scratch_class = size_class(kernel->needs().scratch, alignment);
  cached.kernel = std::move(kernel);
  return cached;
}

}  // namespace

KernelCache::KernelCache(Backend& backend)
    : backend_(backend), table_(kFirstTableSize), mask_(kFirstTableSize - 1) {}

CachedKernel KernelCache::lower(const OpSite& site) {
  ++lowerings_;
  return describe(backend_.lower(site), backend_.alignment());
}

const Kernel& KernelCache::get(const OpSite& site) {
  SiteKey key(site.kind, site.attrs);
  for (const TensorType& type : site.in) key.add(type);
  const std::uint64_t hash = key.hash();
  const CachedKernel* known = lookup(key, hash);
  return known != nullptr ? *known->kernel : *insert(key, hash, site).kernel;
}

void KernelCache::place(const Entry& entry) {
  std::size_t at = entry.hash & mask_;
  while (table_[at].word_count != 0) at = (at + 1) & mask_;
  table_[at] = entry;
}

const CachedKernel& KernelCache::insert(const SiteKey& key, std::uint64_t hash,
                                        const OpSite& site) {
  kernels_.push_back(std::make_unique<CachedKernel>(lower(site)));
  if (2 * kernels_.size() > table_.size()) {
    std::vector<Entry> old(2 * table_.size());
    old.swap(table_);
    mask_ = table_.size() - 1;
    for (const Entry& entry : old) {
      if (entry.word_count != 0) place(entry);
    }
  }
  const std::span<const std::uint64_t> words = key.words();
  place({hash, static_cast<std::uint32_t>(words_.size()), static_cast<std::uint32_t>(words.size()),
         kernels_.back().get()});
  words_.insert(words_.end(), words.begin(), words.end());
  return *kernels_.back();
}

}  // namespace stepscope
