// LedgerBackend: null, with books of the memory that it gave out, and kernels whose scratch changes
// from lowering to lowering, as with a library that tries out its algorithms once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "backends/null/null.h"

namespace stepscope::test {

class LedgerBackend final : public Backend {
 public:
  struct Books {
    std::size_t held = 0;  // bytes that are given out now
    std::size_t lowerings = 0;
  };

  const BackendInfo& info() const override { return null_->info(); }
  std::size_t alignment() const override { return null_->alignment(); }
  std::unique_ptr<Memory> allocate(std::size_t bytes) override;
  std::unique_ptr<Stream> make_stream() override { return null_->make_stream(); }
  RecordAs records_as() const override { return null_->records_as(); }
  std::unique_ptr<Kernel> lower(const OpSite& site) override;

  const Books& books() const { return *books_; }
  // Of the n-th lowering from now on; the last entry stands for all behind it.
  void ask_scratch(std::vector<std::size_t> by_lowering) {
    scratch_ = std::move(by_lowering);
    next_scratch_ = 0;
  }

 private:
  std::unique_ptr<Backend> null_ = null::make_backend({});
  std::shared_ptr<Books> books_ = std::make_shared<Books>();
  std::vector<std::size_t> scratch_{0};
  std::size_t next_scratch_ = 0;
};

}  // namespace stepscope::test
