// safetensors files; what was read is written and read again.
// SPDX-License-Identifier: Apache-2.0
#include "bench/files/safetensors.h"

#include "tests/fuzz/fuzz.h"

namespace stepscope::fuzz {

void run(std::span<const std::uint8_t> input) {
  Safetensors content;
  if (!accepts([&] { content = read_safetensors(input, "input"); })) return;
  const std::string written = to_safetensors(content);
  const Safetensors again = read_safetensors(as_bytes(written), "written");
  require(again.metadata == content.metadata && again.tensors.size() == content.tensors.size(),
          "another content when it is written and read again");
  require(to_safetensors(again) == written, "equal content, and other bytes");
}

}  // namespace stepscope::fuzz
