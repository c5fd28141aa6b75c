// A kernel on scratch memory of its own.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/trials.h"

#include <array>
#include <optional>
#include <span>

#include "backends/api/output_bytes.h"
#include "backends/cuda/build.h"
#include "backends/cuda/error.h"
#include "backends/cuda/memory.h"
#include "backends/cuda/reads_saved.h"
#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope::cuda {
namespace {

void append(std::vector<std::uint64_t>& words, std::span<const TensorType> types) {
  words.push_back(types.size());
  for (const TensorType& type : types) {
    words.push_back(static_cast<std::uint64_t>(type.dtype));
    words.push_back(static_cast<std::uint64_t>(type.layout));
    words.push_back(type.shape.rank());
    for (const std::int64_t dim : type.shape.dims()) {
      words.push_back(static_cast<std::uint64_t>(dim));
    }
  }
}

// Kind, attributes and types: equal words are equal sites.
std::vector<std::uint64_t> words_of(const OpSite& site) {
  std::array<std::uint64_t, kMaxAttrWords> attrs;
  const std::uint64_t* const end = pack(site.attrs, attrs.data());
  std::vector<std::uint64_t> words{static_cast<std::uint64_t>(site.kind),
                                   static_cast<std::uint64_t>(end - attrs.data())};
  for (const std::uint64_t* word = attrs.data(); word != end; ++word) words.push_back(*word);
  append(words, site.in);
  append(words, site.out);
  return words;
}

// What an op saved is as large as its kernel says, and not as its type.
std::size_t input_bytes(const Kernel& kernel, std::size_t i) {
  const auto* reads = dynamic_cast<const ReadsSaved*>(&kernel);
  const std::size_t saved = reads != nullptr ? reads->saved_bytes(i) : 0;
  return saved != 0 ? saved : kernel.site().in[i].bytes();
}

// Operands in one block, each at the backend's alignment; an output that is the new content of an
// input lies there.
class Operands {
 public:
  explicit Operands(const Kernel& kernel) {
    const OpSite& site = kernel.site();
    std::vector<std::size_t> offsets;
    for (std::size_t i = 0; i < site.in.size(); ++i) {
      offsets.push_back(place(input_bytes(kernel, i)));
    }
    for (std::size_t k = 0; k < site.out.size(); ++k) {
      const int overwritten = overwritten_input(site.kind, site.attrs, site.in.size(), k);
      offsets.push_back(overwritten >= 0 ? offsets[static_cast<std::size_t>(overwritten)]
                                         : place(output_bytes(kernel, k)));
    }
    const std::size_t scratch = place(kernel.needs().scratch);
    memory_.emplace(bytes_);
    for (const std::size_t offset : offsets) addresses_.push_back(memory_->data() + offset);
    if (kernel.needs().scratch != 0) scratch_ = memory_->data() + scratch;
  }

  void clear(cudaStream_t stream) {
    if (bytes_ == 0) return;
    check_cuda(cudaMemsetAsync(memory_->data(), 0, bytes_, stream),
               fmt::format("cudaMemsetAsync of {} bytes", bytes_));
  }
  Launch bound_to(const Kernel& kernel) { return kernel.bind(addresses_.data(), scratch_); }

 private:
  std::size_t place(std::size_t bytes) {
    const std::size_t at = bytes_;
    bytes_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return at;
  }

  std::size_t bytes_ = 0;
  std::optional<DeviceMemory> memory_;
  std::vector<std::byte*> addresses_;
  std::byte* scratch_ = nullptr;
};

}  // namespace

void Trials::run(const Kernel& kernel) {
  std::vector<std::uint64_t> words = words_of(kernel.site());
  if (tried_.contains(words)) return;
  try {
    Operands operands(kernel);
    operands.clear(stream_.live());
    stream_.submit(operands.bound_to(kernel), 0);
    stream_.wait();
  } catch (const Error& error) {
    fail(error.fault(), "{}: trying {}: {}", kBuild.name, name(kernel.site().kind), error.what());
  }
  tried_.insert(std::move(words));
}

}  // namespace stepscope::cuda
