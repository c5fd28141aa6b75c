// IDX files, plain or gzip: images and labels.
// SPDX-License-Identifier: Apache-2.0
#include "bench/data/idx.h"

#include "tests/fuzz/fuzz.h"

namespace stepscope::fuzz {

void run(std::span<const std::uint8_t> input) {
  const MemoryFile file(input);
  accepts([&] {
    const IdxImages images = read_idx_images(file.path());
    require(images.count > 0 && images.rows > 0 && images.columns > 0, "an image without a size");
    require(static_cast<std::uint64_t>(images.count) * static_cast<std::uint64_t>(images.rows) *
                    static_cast<std::uint64_t>(images.columns) ==
                images.pixels.size(),
            "pixels that are not those of the sizes");
  });
  accepts([&] { require(!read_idx_labels(file.path()).empty(), "no labels"); });
}

}  // namespace stepscope::fuzz
