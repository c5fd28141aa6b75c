// The ring begins its order again where the data end.
// SPDX-License-Identifier: Apache-2.0
#include "bench/data/input_ring.h"

#include <gtest/gtest.h>

#include "bench/data/batches.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

const std::vector<std::uint8_t> kPixels{0, 51, 102};
const std::vector<std::int32_t> kLabels{0, 1, 2};

DatasetView three_rows() {
  return {.count = 3, .features = 1, .pixels = kPixels, .labels = kLabels};
}

TEST(InputRing, TakesTheRowsOfTheFirstEpochInTurn) {
  const std::vector<std::uint32_t> order = epoch_order(3, 1, 0);
  for (const std::int64_t batch : {1, 2, 3, 7}) {
    const InputRing ring(three_rows(), batch, 1);
    std::size_t next = 0;
    for (std::int64_t i = 0; i < InputRing::kBatches; ++i) {
      ASSERT_EQ(ring.at(i).labels.size(), static_cast<std::size_t>(batch));
      for (const std::int32_t label : ring.at(i).labels) {
        EXPECT_EQ(label, static_cast<std::int32_t>(order[next++ % 3])) << "batch " << batch;
      }
    }
  }
}

TEST(InputRing, NeedsRows) {
  EXPECT_EQ(test::error_of([] { InputRing(three_rows(), 0, 1); }),
            "bad input: batch: 0 rows asked for, the data have 3; expected 1 or more of both");
  EXPECT_EQ(test::error_of([] { InputRing({.count = 0, .features = 1}, 4, 1); }),
            "bad input: batch: 4 rows asked for, the data have 0; expected 1 or more of both");
}

}  // namespace
}  // namespace stepscope
