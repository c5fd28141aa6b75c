// safetensors files; what was read is written and read again.
// SPDX-License-Identifier: Apache-2.0
#include "bench/files/safetensors.h"

#include "tests/fuzz/fuzz.h"

namespace stepscope::fuzz {

void run(std::span<const std::uint8_t> input) {
  Safetensors content;
  Safetensors known;
  std::vector<UnreadTensor> unread;
  const bool takes_known = accepts([&] { known = read_safetensors(input, "input", &unread); });
  const bool takes_all = accepts([&] { content = read_safetensors(input, "input"); });
  require(takes_all == (takes_known && unread.empty()), "refused and taken");
  require(!takes_all || known.tensors.size() == content.tensors.size(), "tensors lost");
  if (takes_known) require(!to_safetensors(known).empty(), "nothing written");
  if (!takes_all) return;
  const std::string written = to_safetensors(content);
  const Safetensors again = read_safetensors(as_bytes(written), "written");
  require(again.metadata == content.metadata && again.tensors.size() == content.tensors.size(),
          "another content when it is written and read again");
  require(to_safetensors(again) == written, "equal content, and other bytes");
}

}  // namespace stepscope::fuzz
