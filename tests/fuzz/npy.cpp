// NPY files; what was read is written and read again.
// SPDX-License-Identifier: Apache-2.0
#include "bench/files/npy.h"

#include "tests/fuzz/fuzz.h"

namespace stepscope::fuzz {

void run(std::span<const std::uint8_t> input) {
  HostTensor tensor;
  if (!accepts([&] { tensor = read_npy(input, "input"); })) return;
  require(tensor.bytes.size() <= input.size(), "more elements than there were bytes");
  accepts([&] { (void)to_doubles(tensor); });
  const HostTensor again = read_npy(as_bytes(to_npy(tensor)), "written");
  require(
      again.element == tensor.element && again.shape == tensor.shape && again.bytes == tensor.bytes,
      "another array when it is written and read again");
}

}  // namespace stepscope::fuzz
