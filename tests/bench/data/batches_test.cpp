// Orders that anybody can rebuild, ranges that cover each row once, and copies of batches.
// SPDX-License-Identifier: Apache-2.0
#include "bench/data/batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/base/philox.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;

// The order again, from the bijection alone: counter {block, 0, epoch, 1}, key = seed.
std::vector<std::uint32_t> rebuilt_order(std::uint32_t count, std::uint64_t seed,
                                         std::uint32_t epoch) {
  std::vector<std::uint32_t> drawn;
  for (std::uint32_t block = 0; drawn.size() < 2 * (count + 8); ++block) {
    const PhiloxCounter four =
        philox4x32_10({block, 0, epoch, 1},
                      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
    drawn.insert(drawn.end(), four.begin(), four.end());
  }
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  std::size_t next = 0;
  for (std::uint32_t last = count; last > 1; --last) {
    // A 64-bit draw is refused with probability below 2^-32 here: not in these cases.
    const std::uint64_t draw = drawn[next] | std::uint64_t{drawn[next + 1]} << 32;
    next += 2;
    std::swap(order[last - 1], order[draw % last]);
  }
  return order;
}

TEST(EpochOrder, CanBeRebuiltFromSeedAndEpoch) {
  for (const std::uint64_t seed : {0ULL, 42ULL, 0x123456789abcdefULL}) {
    for (const std::uint32_t epoch : {0U, 1U, 17U}) {
      EXPECT_EQ(epoch_order(1000, seed, epoch), rebuilt_order(1000, seed, epoch));
    }
  }
}

// By a Philox and a shuffle written in Python.
TEST(EpochOrder, KnownValues) {
  EXPECT_EQ(epoch_order(10, 42, 0), (std::vector<std::uint32_t>{8, 7, 3, 1, 6, 9, 4, 2, 5, 0}));
  EXPECT_EQ(epoch_order(10, 42, 1), (std::vector<std::uint32_t>{2, 0, 6, 5, 9, 3, 8, 4, 1, 7}));
  EXPECT_EQ(to_hex(digest(epoch_order(48000, 1, 0))),
            "3e99b74e612f665d9b7557a85ec5f926b88098bffe0e9baa234b26b362f82e1a");
}

TEST(EpochOrder, IsAPermutationOfItsOwnForEachEpochAndSeed) {
  const auto first = epoch_order(500, 7, 0);
  auto sorted = first;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, file_order(500));
  EXPECT_NE(first, file_order(500));
  EXPECT_NE(first, epoch_order(500, 7, 1));
  EXPECT_NE(first, epoch_order(500, 8, 0));
}

// Parameters draw from streams 0, 1, ...; an epoch must not share their numbers.
TEST(EpochOrder, DoesNotShareAStreamWithParameters) {
  EXPECT_NE(epoch_order(500, 7, 0), Philox(7, 0).permutation(500));
}

TEST(EpochOrder, CountsThatAreNoCounts) {
  EXPECT_EQ(error_of([] { epoch_order(-1, 0, 0); }),
            "bad input: order of -1 rows: expected 0 to 4294967295");
  EXPECT_EQ(error_of([] { file_order(std::int64_t{1} << 32); }),
            "bad input: order of 4294967296 rows: expected 0 to 4294967295");
}

struct CutCase {
  std::int64_t count, batch;
  std::size_t full, with_partial;
};

// 48,000 training rows, 12,000 for validation, 1000: full batches, and batches with the partial
// one.
constexpr CutCase kCuts[] = {
    {48000, 32, 1500, 1500}, {48000, 256, 187, 188}, {48000, 512, 93, 94},  {48000, 1024, 46, 47},
    {48000, 2048, 23, 24},   {48000, 4096, 11, 12},  {12000, 32, 375, 375}, {12000, 64, 187, 188},
    {12000, 4096, 2, 3},     {1000, 32, 31, 32},     {1000, 1000, 1, 1},    {1000, 1, 1000, 1000},
};

TEST(EpochBatches, CountsOfBothPolicies) {
  for (const CutCase& c : kCuts) {
    SCOPED_TRACE(testing::Message() << c.count << " / " << c.batch);
    EXPECT_EQ(epoch_batches(c.count, c.batch, PartialBatch::drop).size(), c.full);
    EXPECT_EQ(epoch_batches(c.count, c.batch, PartialBatch::second_plan).size(), c.with_partial);
  }
}

struct StepsOfAnEpoch {
  std::int64_t batch;
  std::int64_t full, dropped, with_partial;  // of 48,000 training rows
  std::int64_t validation;                   // of 12,000 rows, with the partial batch
};

// The steps of an epoch of Fashion-MNIST with a fifth held out.
constexpr StepsOfAnEpoch kFashionMnistSteps[] = {
    {32, 1500, 0, 1500, 375}, {64, 750, 0, 750, 188},  {128, 375, 0, 375, 94},
    {256, 187, 128, 188, 47}, {512, 93, 384, 94, 24},  {1024, 46, 896, 47, 12},
    {2048, 23, 896, 24, 6},   {4096, 11, 2944, 12, 3},
};

TEST(EpochCounts, R_EQU_5_OfFashionMnistUnderEachPolicy) {
  for (const StepsOfAnEpoch& row : kFashionMnistSteps) {
    SCOPED_TRACE(row.batch);
    EXPECT_EQ(epoch_counts(48000, row.batch, PartialBatch::drop),
              (EpochCounts{row.full, 48000 - row.dropped, row.dropped}));
    for (const PartialBatch policy : {PartialBatch::second_plan, PartialBatch::pad_masked}) {
      EXPECT_EQ(epoch_counts(48000, row.batch, policy), (EpochCounts{row.with_partial, 48000, 0}));
      EXPECT_EQ(epoch_counts(12000, row.batch, policy), (EpochCounts{row.validation, 12000, 0}));
    }
  }
  EXPECT_EQ(epoch_counts(48000, 4096, PartialBatch::drop).samples_seen, 45056);
}

TEST(EpochCounts, AreThoseOfTheBatches) {
  for (const CutCase& c : kCuts) {
    for (const PartialBatch policy :
         {PartialBatch::drop, PartialBatch::second_plan, PartialBatch::pad_masked}) {
      const auto batches = epoch_batches(c.count, c.batch, policy);
      const EpochCounts counts = epoch_counts(c.count, c.batch, policy);
      EXPECT_EQ(counts.steps, static_cast<std::int64_t>(batches.size()));
      EXPECT_EQ(
          counts.samples_seen,
          std::accumulate(batches.begin(), batches.end(), std::int64_t{0},
                          [](std::int64_t sum, const BatchRange& b) { return sum + b.rows; }));
      EXPECT_EQ(counts.samples_seen + counts.samples_dropped, c.count);
    }
  }
}

TEST(EpochCounts, ABatchAboveTheCountIsPartial) {
  EXPECT_EQ(epoch_counts(10, 16, PartialBatch::drop), (EpochCounts{0, 0, 10}));
  EXPECT_EQ(epoch_counts(10, 16, PartialBatch::pad_masked), (EpochCounts{1, 10, 0}));
  EXPECT_EQ(error_of([] { epoch_counts(10, 0, PartialBatch::drop); }),
            "bad input: batch of 0 rows: expected 1 or more");
}

TEST(EpochBatches, SecondPlanCoversEachRowOnce) {
  for (const CutCase& c : kCuts) {
    std::int64_t next = 0;
    for (const BatchRange& range : epoch_batches(c.count, c.batch, PartialBatch::second_plan)) {
      EXPECT_EQ(range.first, next);
      EXPECT_GE(range.rows, 1);
      EXPECT_LE(range.rows, c.batch);
      next += range.rows;
    }
    EXPECT_EQ(next, c.count);
  }
}

TEST(EpochBatches, DropLeavesOutThePartialBatchAlone) {
  const auto kept = epoch_batches(1000, 32, PartialBatch::drop);
  auto all = epoch_batches(1000, 32, PartialBatch::second_plan);
  EXPECT_EQ(all.back(), (BatchRange{992, 8}));
  all.pop_back();
  EXPECT_EQ(kept, all);
  for (const BatchRange& range : kept) EXPECT_EQ(range.rows, 32);
}

TEST(EpochBatches, BatchMustFitTheSet) {
  EXPECT_EQ(error_of([] { epoch_batches(50, 64, PartialBatch::second_plan); }),
            "bad input: batch of 64 rows is larger than the set of 50: use a batch of at most 50");
  EXPECT_EQ(error_of([] { epoch_batches(50, 0, PartialBatch::drop); }),
            "bad input: batch of 0 rows: expected 1 or more");
}

TEST(PartialBatch, NamesAreReadBack) {
  for (const PartialBatch policy :
       {PartialBatch::drop, PartialBatch::second_plan, PartialBatch::pad_masked}) {
    EXPECT_EQ(parse_partial_batch(name(policy)), policy);
  }
  EXPECT_EQ(error_of([] { parse_partial_batch("dorp"); }),
            "bad input: unknown partial-batch policy 'dorp': did you mean 'drop'? (there are: "
            "drop, second_plan, pad_masked)");
}

Dataset all_bytes() {
  Dataset data{.name = "all bytes", .count = 64, .rows = 2, .columns = 2, .classes = 64};
  for (int i = 0; i < 256; ++i) data.pixels.push_back(static_cast<std::uint8_t>(i));
  data.labels.resize(64);
  std::iota(data.labels.begin(), data.labels.end(), 0);
  return data;
}

TEST(Batcher, CopiesRowsInTheOrderGiven) {
  const Dataset data = all_bytes();
  const Batcher batcher(data.view(8, 40));
  const std::vector<std::uint32_t> rows{3, 0, 39, 3};
  std::vector<float> x(16);
  std::vector<std::int32_t> labels(4);
  batcher.fill(rows, x, labels);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(labels[i], static_cast<std::int32_t>(8 + rows[i]));
    for (std::size_t p = 0; p < 4; ++p) {
      EXPECT_EQ(x[4 * i + p], static_cast<float>(4 * (8 + rows[i]) + p) / 255.0F);
    }
  }
}

// Each of the 256 values is the float nearest to pixel / 255: what NumPy's division gives.
TEST(Batcher, ScalesWithOneRounding) {
  const Dataset data = all_bytes();
  std::vector<float> x(256);
  std::vector<std::int32_t> labels(64);
  Batcher(data.view()).fill(file_order(64), x, labels);
  EXPECT_EQ(x[0], 0.0F);
  EXPECT_EQ(x[255], 1.0F);
  for (int i = 0; i < 256; ++i) {
    const double exact = i / 255.0;
    const float value = x[static_cast<std::size_t>(i)];
    const double error = std::abs(value - exact);
    EXPECT_LE(error, std::abs(static_cast<double>(std::nextafter(value, 2.0F)) - exact));
    EXPECT_LE(error, std::abs(static_cast<double>(std::nextafter(value, -1.0F)) - exact));
  }
}

TEST(Batcher, WritesTheSpansAndNothingElse) {
  const Dataset data = all_bytes();
  std::vector<float> x(10, -1.0F);
  std::vector<std::int32_t> labels(4, -1);
  const std::vector<std::uint32_t> rows{1, 2};
  Batcher(data.view()).fill(rows, std::span(x).subspan(1, 8), std::span(labels).subspan(1, 2));
  EXPECT_EQ(x.front(), -1.0F);
  EXPECT_EQ(x.back(), -1.0F);
  EXPECT_EQ(std::count(x.begin(), x.end(), -1.0F), 2);
  EXPECT_EQ(labels, (std::vector<std::int32_t>{-1, 1, 2, -1}));
}

TEST(Batcher, RefusesWrongRoomAndRowsThatAreNotThere) {
  const Dataset data = all_bytes();
  const Batcher batcher(data.view(0, 10));
  std::vector<float> x(8);
  std::vector<std::int32_t> labels(2);
  const std::vector<std::uint32_t> one{0};
  EXPECT_EQ(error_of([&] { batcher.fill(one, x, labels); }),
            "bad input: batch of 1 rows of 4 pixels: got room for 8 numbers and 2 labels");
  const std::vector<std::uint32_t> beyond{9, 10};
  EXPECT_EQ(error_of([&] { batcher.fill(beyond, x, labels); }),
            "bad input: batch: row 10 asked for, there are 10");
}

TEST(Batcher, PadsWithZerosAndALabelThatNothingSees) {
  const Dataset data = all_bytes();
  std::vector<float> x(16, 7.0F);
  std::vector<std::int32_t> labels(4, 7);
  const std::vector<std::uint32_t> rows{1, 2};
  const Batcher batcher(data.view());
  batcher.fill_padded(rows, x, labels);
  EXPECT_EQ(labels, (std::vector<std::int32_t>{1, 2, -1, -1}));
  EXPECT_EQ(x[7], 11.0F / 255.0F);
  EXPECT_EQ(std::count(x.begin() + 8, x.end(), 0.0F), 8);
  labels.resize(1);
  x.resize(4);
  EXPECT_EQ(error_of([&] { batcher.fill_padded(rows, x, labels); }),
            "bad input: batch of 2 rows of 4 pixels to be padded: got room for 4 numbers and 1 "
            "labels");
}

TEST(Batcher, WithoutLabelsCopiesXAlone) {
  const Dataset data = all_bytes();
  std::vector<float> x(4);
  const std::vector<std::uint32_t> row{5};
  Batcher(data.view()).fill(row, x, {});
  EXPECT_EQ(x[3], 23.0F / 255.0F);
}

// A whole epoch through the pieces, as training does it: every row once, each with its own label.
TEST(Batcher, AnEpochVisitsEachRowOnce) {
  const Dataset data = all_bytes();
  const Batcher batcher(data.view());
  const auto order = epoch_order(64, 5, 3);
  std::vector<int> seen(64, 0);
  for (const BatchRange& range : epoch_batches(64, 10, PartialBatch::second_plan)) {
    const auto rows = static_cast<std::size_t>(range.rows);
    std::vector<float> x(rows * 4);
    std::vector<std::int32_t> labels(rows);
    batcher.fill(std::span(order).subspan(static_cast<std::size_t>(range.first), rows), x, labels);
    for (std::size_t i = 0; i < rows; ++i) {
      EXPECT_EQ(x[4 * i], static_cast<float>(4 * labels[i]) / 255.0F);
      ++seen[static_cast<std::size_t>(labels[i])];
    }
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), 64);
}

}  // namespace
}  // namespace stepscope
