// Books over another backend's memory.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/execution/ledger_backend.h"

#include <algorithm>

namespace stepscope::test {
namespace {

class BookedMemory final : public Memory {
 public:
  BookedMemory(std::unique_ptr<Memory> memory, std::shared_ptr<LedgerBackend::Books> books)
      : memory_(std::move(memory)), books_(std::move(books)) {
    books_->held += memory_->bytes();
  }
  ~BookedMemory() override { books_->held -= memory_->bytes(); }
  std::byte* data() override { return memory_->data(); }
  std::size_t bytes() const override { return memory_->bytes(); }

 private:
  std::unique_ptr<Memory> memory_;
  std::shared_ptr<LedgerBackend::Books> books_;
};

void launch(const Launch& call, Stream& stream) { stream.made_call(call, CallBy::own); }

struct ScratchKernel final : Kernel {
  ScratchKernel(const OpSite& site, std::size_t scratch)
      : Kernel(site, {.scratch = scratch}, launch) {}
};

}  // namespace

std::unique_ptr<Memory> LedgerBackend::allocate(std::size_t bytes) {
  return std::make_unique<BookedMemory>(null_->allocate(bytes), books_);
}

std::unique_ptr<Kernel> LedgerBackend::lower(const OpSite& site) {
  ++books_->lowerings;
  const std::size_t at = std::min(next_scratch_++, scratch_.size() - 1);
  return std::make_unique<ScratchKernel>(site, scratch_[at]);
}

}  // namespace stepscope::test
