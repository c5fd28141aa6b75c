// Pairs of image and label files, checked against each other.
// SPDX-License-Identifier: Apache-2.0
#include "bench/data/dataset.h"

#include <algorithm>
#include <utility>

#include "bench/data/idx.h"
#include "ops/base/check.h"

namespace stepscope {
namespace {

// Of the two lists of pixels, the one that a data set does not use is empty.
template <class T>
std::span<const T> rows_of(std::span<const T> all, std::size_t first, std::size_t size) {
  return all.empty() ? all : all.subspan(first, size);
}

}  // namespace

DatasetView Dataset::view(std::int64_t first, std::int64_t size) const {
  check(first >= 0 && size >= 0 && first <= count && size <= count - first, Fault::bad_input,
        "{}: rows {} to {} asked for, there are {}", name, first, first + size, count);
  const auto at = static_cast<std::size_t>(first);
  const auto taken = static_cast<std::size_t>(size);
  const auto width = static_cast<std::size_t>(features());
  return {.count = size,
          .features = features(),
          .pixels = rows_of(std::span<const std::uint8_t>(pixels), at * width, taken * width),
          .values = rows_of(std::span<const float>(values), at * width, taken * width),
          .labels = std::span(labels).subspan(at, taken)};
}

Dataset read_dataset(const std::filesystem::path& images, const std::filesystem::path& labels,
                     std::int64_t classes) {
  IdxImages from_images = read_idx_images(images);
  const std::vector<std::uint8_t> from_labels = read_idx_labels(labels);
  check(from_images.count == static_cast<std::int64_t>(from_labels.size()), Fault::bad_input,
        "{} has {} images, {} has {} labels; expected as many of both", images.string(),
        from_images.count, labels.string(), from_labels.size());
  for (std::size_t i = 0; i < from_labels.size(); ++i) {
    check(classes == 0 || from_labels[i] < classes, Fault::bad_input,
          "{}: label {} is {}, expected 0 to {}", labels.string(), i, from_labels[i], classes - 1);
  }
  if (classes == 0) classes = 1 + *std::max_element(from_labels.begin(), from_labels.end());
  return {.name = images.string(),
          .count = from_images.count,
          .rows = from_images.rows,
          .columns = from_images.columns,
          .classes = classes,
          .pixels = std::move(from_images.pixels),
          .labels = {from_labels.begin(), from_labels.end()}};
}

void check_fits(const Dataset& data, std::string_view model, std::int64_t features,
                std::int64_t classes) {
  check(data.features() == features, Fault::bad_input,
        "model '{}' takes rows of {} numbers, the images of {} have {} ({} x {})", model, features,
        data.name, data.features(), data.rows, data.columns);
  check(classes == 0 || data.classes <= classes, Fault::bad_input,
        "model '{}' tells {} classes apart, {} has {}", model, classes, data.name, data.classes);
}

Digest digest(const DatasetView& data) {
  Sha256 hash;
  hash.update(static_cast<std::uint64_t>(data.count));
  hash.update(static_cast<std::uint64_t>(data.features));
  hash.update(data.pixels);
  hash.update(std::as_bytes(data.values));
  hash.update(data.labels);
  return hash.finish();
}

}  // namespace stepscope
