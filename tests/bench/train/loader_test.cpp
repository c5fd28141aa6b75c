// Batches come out in order and with the same bits whoever makes them; errors reach the caller.
// SPDX-License-Identifier: Apache-2.0
#include "bench/train/loader.h"

#include <gtest/gtest.h>

#include <numeric>

#include "bench/data/dataset.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

constexpr std::int64_t kFeatures = 3;

Dataset numbered(std::int64_t count) {
  Dataset data{.name = "numbered", .count = count, .rows = 1, .columns = kFeatures, .classes = 256};
  for (std::int64_t i = 0; i < count * kFeatures; ++i) {
    data.pixels.push_back(static_cast<std::uint8_t>(i % 251));
  }
  for (std::int64_t i = 0; i < count; ++i) data.labels.push_back(static_cast<std::int32_t>(i));
  return data;
}

struct Seen {
  std::vector<float> x;
  std::vector<std::int32_t> labels;
  friend bool operator==(const Seen&, const Seen&) = default;
};

// Three epochs of batches of 7, all behind each other.
Seen three_epochs(const Dataset& data, int workers, std::int64_t prefetch, std::int64_t pad_to,
                  bool labels = true) {
  Loader loader({.workers = workers,
                 .prefetch = prefetch,
                 .largest_rows = 7,
                 .features = kFeatures,
                 .labels = labels});
  const auto ranges = epoch_batches(data.count, 7, PartialBatch::second_plan);
  Seen seen;
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    const auto order = epoch_order(data.count, 5, epoch);
    loader.begin({Batcher(data.view()), order, ranges, pad_to});
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const LoadedBatch batch = loader.next();
      seen.x.insert(seen.x.end(), batch.x.begin(), batch.x.end());
      seen.labels.insert(seen.labels.end(), batch.labels.begin(), batch.labels.end());
    }
  }
  return seen;
}

TEST(Loader, GivesTheSameBatchesForAnyNumberOfWorkers) {
  const Dataset data = numbered(100);
  for (const std::int64_t pad_to : {0, 7}) {
    const Seen alone = three_epochs(data, 0, 0, pad_to);
    EXPECT_EQ(alone.labels.size(), pad_to > 0 ? 3U * 105U : 300U);
    for (const int workers : {1, 3, 8}) {
      for (const std::int64_t prefetch : {0, 1, 2, 40}) {
        EXPECT_EQ(three_epochs(data, workers, prefetch, pad_to), alone)
            << workers << " workers, " << prefetch << " ahead";
      }
    }
  }
}

TEST(Loader, BatchesFollowTheOrder) {
  const Dataset data = numbered(100);
  const Seen seen = three_epochs(data, 3, 0, 0);
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    const auto order = epoch_order(100, 5, epoch);
    for (std::size_t i = 0; i < order.size(); ++i) {
      ASSERT_EQ(seen.labels[100 * epoch + i], static_cast<std::int32_t>(order[i]));
    }
  }
}

TEST(Loader, WithoutLabelsGivesXAlone) {
  const Dataset data = numbered(20);
  const Seen seen = three_epochs(data, 2, 0, 0, false);
  EXPECT_TRUE(seen.labels.empty());
  EXPECT_EQ(seen.x, three_epochs(data, 0, 0, 0).x);
}

// A batch stays as it is while later ones are made, until the next is asked for.
TEST(Loader, ABatchInUseIsNotTouched) {
  const Dataset data = numbered(700);
  Loader loader({.workers = 3, .prefetch = 2, .largest_rows = 7, .features = kFeatures});
  const auto ranges = epoch_batches(700, 7, PartialBatch::drop);
  const auto order = file_order(700);
  loader.begin({Batcher(data.view()), order, ranges});
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const LoadedBatch batch = loader.next();
    for (int look = 0; look < 50; ++look) {
      std::this_thread::yield();
      ASSERT_EQ(batch.labels.front(), static_cast<std::int32_t>(7 * i));
      ASSERT_EQ(batch.labels.back(), static_cast<std::int32_t>(7 * i + 6));
    }
  }
}

TEST(Loader, ErrorsComeOutInPlaceOfTheirBatch) {
  const Dataset data = numbered(40);
  auto order = file_order(40);
  order[25] = 40;  // of batch 2 of four
  const auto ranges = epoch_batches(40, 10, PartialBatch::drop);
  for (const int workers : {0, 1, 3}) {
    Loader loader({.workers = workers, .largest_rows = 10, .features = kFeatures});
    loader.begin({Batcher(data.view()), order, ranges});
    EXPECT_EQ(loader.next().labels.front(), 0);
    EXPECT_EQ(loader.next().labels.front(), 10);
    EXPECT_EQ(test::error_of([&] { loader.next(); }),
              "bad input: batch: row 40 asked for, there are 40");
    loader.begin({Batcher(data.view()), file_order(40), ranges});  // it can be used again
    EXPECT_EQ(loader.next().labels.front(), 0);
  }
}

TEST(Loader, ARingBeyondAllMemoryIsNamedWithItsBytes) {
  EXPECT_EQ(test::error_of([] {
              Loader loader({.workers = 2,
                             .prefetch = 3,
                             .largest_rows = std::int64_t{1} << 40,
                             .features = std::int64_t{1} << 30});
            }),
            "device: loader: no memory for 4 batches of 1099511627776 rows of 1073741824 features, "
            "18889465931478580854784 bytes: fewer batches ahead (--prefetch), fewer workers or "
            "smaller batches take less");
}

TEST(Loader, EndsWithBatchesThatNobodyTook) {
  const Dataset data = numbered(1000);
  const auto order = file_order(1000);
  const auto ranges = epoch_batches(1000, 1, PartialBatch::drop);
  for (int taken = 0; taken < 20; ++taken) {
    Loader loader({.workers = 3, .largest_rows = 1, .features = kFeatures});
    if (taken == 19) continue;  // without any work
    loader.begin({Batcher(data.view()), order, ranges});
    for (int i = 0; i < taken; ++i) EXPECT_EQ(loader.next().labels.front(), i);
  }
}

}  // namespace
}  // namespace stepscope
