// NPZ files: zip with stored and deflated members.
// SPDX-License-Identifier: Apache-2.0
#include "bench/files/npz.h"

#include "tests/fuzz/fuzz.h"

namespace stepscope::fuzz {

void run(std::span<const std::uint8_t> input) {
  std::vector<HostTensor> known;
  std::vector<UnreadTensor> unread;
  const bool takes_known = accepts([&] { known = read_npz(input, "input", &unread); });
  const bool takes_all = accepts([&] { (void)read_npz(input, "input"); });
  require(takes_all == (takes_known && unread.empty()), "refused and taken");
  accepts([&] {
    for (const HostTensor& tensor : read_npz(input, "input")) {
      accepts([&] { (void)to_doubles(tensor); });
    }
  });
}

}  // namespace stepscope::fuzz
