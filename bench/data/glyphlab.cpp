// Reading a GlyphLab folder: three files that must agree.
// SPDX-License-Identifier: Apache-2.0
#include "bench/data/glyphlab.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "bench/files/csv.h"
#include "bench/files/host_tensor.h"
#include "bench/files/npy.h"
#include "bench/files/shown.h"
#include "ops/base/check.h"
#include "ops/base/nearest.h"

namespace stepscope {
namespace {

struct Images {
  std::int64_t count = 0, rows = 0, columns = 0;
  std::vector<float> values;
};

Images read_images(const std::filesystem::path& path) {
  const std::string who = path.string();
  const HostTensor tensor = read_npy(path);
  check(tensor.element == Element::f32, Fault::bad_input, "{}: holds {}, expected f32", who,
        name(tensor.element));
  const std::vector<std::int64_t>& shape = tensor.shape;
  const bool flat = shape.size() == 3;
  check(flat || (shape.size() == 4 && shape[1] == 1), Fault::bad_input,
        "{}: is {}, expected {{N, 1, H, W}} or {{N, H, W}}", who, to_text(shape));
  Images images{shape[0], shape[flat ? 1 : 2], shape[flat ? 2 : 3], {}};
  check(images.count > 0 && images.rows > 0 && images.columns > 0, Fault::bad_input,
        "{}: is {}, expected 1 or more of each", who, to_text(shape));
  check(images.count <= std::numeric_limits<std::uint32_t>::max(), Fault::bad_input,
        "{}: {} images, more than 32 bits count", who, images.count);
  images.values.resize(tensor.bytes.size() / sizeof(float));
  std::memcpy(images.values.data(), tensor.bytes.data(), tensor.bytes.size());
  const auto features = static_cast<std::size_t>(images.rows * images.columns);
  for (std::size_t i = 0; i < images.values.size(); ++i) {
    check(std::isfinite(images.values[i]), Fault::bad_input,
          "{}: pixel {} of image {} is {}, expected finite numbers", who, i % features,
          i / features, images.values[i]);
  }
  return images;
}

// As the file has them; i32 widened.
std::vector<std::int64_t> read_wide_labels(const std::filesystem::path& path, std::int64_t count) {
  const std::string who = path.string();
  const HostTensor tensor = read_npy(path);
  check(tensor.element == Element::i64 || tensor.element == Element::i32, Fault::bad_input,
        "{}: holds {}, expected i64 or i32", who, name(tensor.element));
  check(tensor.shape.size() == 1 && tensor.shape[0] == count, Fault::bad_input,
        "{}: is {}, expected {{{}}}: one label for each image", who, to_text(tensor.shape), count);
  std::vector<std::int64_t> labels(static_cast<std::size_t>(count));
  if (tensor.element == Element::i64) {
    std::memcpy(labels.data(), tensor.bytes.data(), tensor.bytes.size());
    return labels;
  }
  std::vector<std::int32_t> narrow(labels.size());
  std::memcpy(narrow.data(), tensor.bytes.data(), tensor.bytes.size());
  std::copy(narrow.begin(), narrow.end(), labels.begin());
  return labels;
}

std::vector<std::int32_t> read_labels(const std::filesystem::path& path, std::int64_t count,
                                      std::int64_t classes) {
  const std::vector<std::int64_t> wide = read_wide_labels(path, count);
  const std::int64_t most =
      classes > 0 ? classes - 1 : std::int64_t{std::numeric_limits<std::int32_t>::max()} - 1;
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < wide.size(); ++i) {
    check(wide[i] >= 0 && wide[i] <= most, Fault::bad_input, "{}: label {} is {}, expected 0 to {}",
          path.string(), i, wide[i], most);
    labels.push_back(static_cast<std::int32_t>(wide[i]));
  }
  return labels;
}

enum Split : std::size_t { kTrain, kValidation, kTest, kSplits };

struct Metadata {
  std::array<std::vector<std::size_t>, kSplits> rows;  // indices of images, rising
  std::string source;
};

std::size_t split_from(const std::string& text, std::string_view who, std::int64_t line) {
  if (text == "validation") return kValidation;
  const std::array<std::string, kSplits> names{"train", "val", "test"};
  const auto* const found = std::find(names.begin(), names.end(), text);
  check(found != names.end(), Fault::bad_input, "{}: line {}: {}", who, line,
        unknown_name("split", shown(text).substr(1, shown(text).size() - 2), names));
  return static_cast<std::size_t>(found - names.begin());
}

std::optional<std::size_t> column_of(const CsvTable& table, std::string_view name) {
  const auto found = std::find(table.columns.begin(), table.columns.end(), name);
  if (found == table.columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - table.columns.begin());
}

std::size_t need_column(const CsvTable& table, std::string_view name, std::string_view who) {
  const std::optional<std::size_t> column = column_of(table, name);
  std::vector<std::string> names;
  for (const std::string& each : table.columns) names.push_back(shown(each));
  check(column.has_value(), Fault::bad_input, "{}: line 1: no column '{}'; there are: {}", who,
        name, fmt::join(names, ", "));
  return *column;
}

std::size_t index_from(const std::string& text, std::int64_t count, std::string_view who,
                       std::int64_t line) {
  std::int64_t index = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  check(whole && index >= 0 && index < count, Fault::bad_input,
        "{}: line {}: index {} is no whole number from 0 to {}", who, line, shown(text), count - 1);
  return static_cast<std::size_t>(index);
}

// What all rows of the column `source` say.
std::string common_source(const CsvTable& table) {
  const std::optional<std::size_t> column = column_of(table, "source");
  if (!column || table.rows.empty()) return {};
  const std::string& first = table.rows.front()[*column];
  const bool same = std::all_of(table.rows.begin(), table.rows.end(),
                                [&](const auto& row) { return row[*column] == first; });
  return same ? first : std::string();
}

Metadata read_metadata(const std::filesystem::path& path, std::int64_t count) {
  const std::string who = path.string();
  const CsvTable table = read_csv(path);
  const std::size_t index_column = need_column(table, "index", who);
  const std::size_t split_column = need_column(table, "split", who);
  Metadata metadata{.rows = {}, .source = common_source(table)};
  std::vector<std::int64_t> line_of(static_cast<std::size_t>(count), 0);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const std::int64_t line = table.lines[i];
    const std::size_t index = index_from(table.rows[i][index_column], count, who, line);
    check(line_of[index] == 0, Fault::bad_input, "{}: line {}: index {} has a row already, line {}",
          who, line, index, line_of[index]);
    line_of[index] = line;
    metadata.rows[split_from(table.rows[i][split_column], who, line)].push_back(index);
  }
  const auto missing = std::find(line_of.begin(), line_of.end(), 0);
  check(missing == line_of.end(), Fault::bad_input, "{}: {} rows for {} images: index {} has none",
        who, table.rows.size(), count, missing - line_of.begin());
  for (std::vector<std::size_t>& rows : metadata.rows) std::sort(rows.begin(), rows.end());
  check(!metadata.rows[kTrain].empty(), Fault::bad_input, "{}: no row has the split train", who);
  return metadata;
}

Dataset pick(const Images& images, const std::vector<std::int32_t>& labels,
             const std::vector<std::size_t>& rows, std::string name, std::int64_t classes) {
  Dataset data{.name = std::move(name),
               .count = static_cast<std::int64_t>(rows.size()),
               .rows = images.rows,
               .columns = images.columns,
               .classes = classes};
  const auto features = static_cast<std::ptrdiff_t>(data.features());
  data.values.reserve(rows.size() * static_cast<std::size_t>(features));
  for (const std::size_t row : rows) {
    const auto from = images.values.begin() + static_cast<std::ptrdiff_t>(row) * features;
    data.values.insert(data.values.end(), from, from + features);
    data.labels.push_back(labels[row]);
  }
  return data;
}

}  // namespace

GlyphLab read_glyphlab(const std::filesystem::path& folder, std::int64_t classes) {
  const std::filesystem::path images_path = folder / kGlyphLabImages;
  const Images images = read_images(images_path);
  const std::vector<std::int32_t> labels =
      read_labels(folder / kGlyphLabLabels, images.count, classes);
  if (classes == 0) classes = std::int64_t{1} + *std::max_element(labels.begin(), labels.end());
  Metadata metadata = read_metadata(folder / kGlyphLabMetadata, images.count);
  std::vector<std::size_t> train = metadata.rows[kTrain];
  const std::vector<std::size_t>& validation = metadata.rows[kValidation];
  train.insert(train.end(), validation.begin(), validation.end());
  return {.train = pick(images, labels, train, images_path.string(), classes),
          .validation_rows = static_cast<std::int64_t>(validation.size()),
          .test = pick(images, labels, metadata.rows[kTest], images_path.string(), classes),
          .source = std::move(metadata.source)};
}

}  // namespace stepscope
