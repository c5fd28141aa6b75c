// ReadsSaved: of kernels that read what another op saved. The type of such an input does not tell
// how large it is; the kernel does.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace stepscope::cuda {

class ReadsSaved {
 public:
  ReadsSaved(const ReadsSaved&) = delete;
  ReadsSaved& operator=(const ReadsSaved&) = delete;

  // Bytes that it may read of input `i`; 0: that input was not saved.
  virtual std::size_t saved_bytes(std::size_t i) const = 0;

 protected:
  ReadsSaved() = default;
  ~ReadsSaved() = default;
};

}  // namespace stepscope::cuda
