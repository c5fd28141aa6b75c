// Dataset: labelled images in memory, as the file has them: bytes, which stay bytes until batches
// are made of them (bench/data/batches.h), a quarter of what f32 would take; or f32.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/data/sha256.h"

namespace stepscope {

// Consecutive rows of a Dataset, borrowed from it. A row is one image, flattened.
struct DatasetView {
  std::int64_t count = 0;                // rows
  std::int64_t features = 0;             // pixels of a row
  std::span<const std::uint8_t> pixels;  // {count, features}; empty where `values` is not
  std::span<const float> values;         // {count, features}; empty where `pixels` is not
  std::span<const std::int32_t> labels;  // {count}, each in [0, classes)
};

struct Dataset {
  std::string name;  // for messages: the file of images, or what made it
  std::int64_t count = 0, rows = 0, columns = 0;
  std::int64_t classes = 0;
  std::vector<std::uint8_t> pixels;  // {count, rows, columns}: steps read pixel / 255
  std::vector<float> values;         // or these, as steps read them; then `pixels` is empty
  std::vector<std::int32_t> labels;  // {count}

  std::int64_t features() const { return rows * columns; }
  // Rows [first, first + size). Throws bad_input when there are fewer.
  DatasetView view(std::int64_t first, std::int64_t size) const;
  DatasetView view() const { return view(0, count); }
};

// Reads a pair of IDX files. Throws what read_idx_images does, and bad_input when the files
// disagree on the count or when a label lies outside [0, classes): with its index and value. With
// `classes` 0 any label will do, and Dataset::classes follows from the largest.
Dataset read_dataset(const std::filesystem::path& images, const std::filesystem::path& labels,
                     std::int64_t classes);

// Throws bad_input, with both numbers, unless a model of `features` inputs and `classes` outputs
// can learn these data. A model of 0 classes reads no labels: any will do.
void check_fits(const Dataset& data, std::string_view model, std::int64_t features,
                std::int64_t classes);

// SHA-256 of count and features (64-bit little-endian each), the pixels (bytes, or f32
// little-endian), and the labels (32-bit little-endian each): equal for equal work, whatever the
// files were called or packed with.
Digest digest(const DatasetView& data);

}  // namespace stepscope
