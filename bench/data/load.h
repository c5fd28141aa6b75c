// Data by the name that a user gives: a folder of MNIST-format or GlyphLab files, `fashion-mnist`,
// `generated`.
// Fetches nothing from a network.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "bench/data/dataset.h"

namespace stepscope {

enum class Origin : std::uint8_t { files, generated };
std::string_view name(Origin origin);

struct Data {
  Origin origin = Origin::files;
  std::string source;  // for records: the folder, or "generated" with its seed and sizes
  Dataset train;       // rows to train on, and those to validate with at their end
  Dataset test;        // touched by nobody who trains or chooses; may have no rows
  // Rows of `train` to validate with. Nothing said: the last fifth, 12,000 of 60,000, rounded down.
  std::optional<std::int64_t> validation_rows{};

  // The validation rows are never shuffled in; training has the rest. Both borrow from this object.
  DatasetView training() const { return train.view(0, train.count - held_out()); }
  DatasetView validation() const { return train.view(train.count - held_out(), held_out()); }

 private:
  std::int64_t held_out() const { return validation_rows.value_or(train.count / 5); }
};

// Where Debian's package dataset-fashion-mnist puts its files.
inline constexpr std::string_view kFashionMnistFolder = "/usr/share/datasets/fashion-mnist";

struct DataOptions {
  std::int64_t classes = 10;             // labels lie in [0, classes); 0: any labels
  std::int64_t rows = 28, columns = 28;  // of generated images; files have their own
  std::filesystem::path fashion_mnist = kFashionMnistFolder;
};

// `source` is one of
// - a folder that holds train-images-idx3-ubyte, train-labels-idx1-ubyte and the same with t10k,
//   each with or without .gz (without wins where both lie there);
// - a folder that holds images.npy, labels.npy and metadata.csv (bench/data/glyphlab.h);
// - `fashion-mnist`;
// - `generated`, or `generated:SEED` (a folder of that name is ./generated): glyphs for 24 x 24 and
//   three classes (bench/data/glyphs.h), else patterns of the size asked for
//   (bench/data/generated.h).
// A folder that was made by make_data (bench/data/make_data.h) has Origin::generated.
// Throws io for what is missing, with the way to get it; bad_input for wrong content, an unknown
// name, files of both kinds in one folder, or train and test images of different sizes.
Data load_data(std::string_view source, const DataOptions& options = {});

// The same for a model of that name with `features` inputs and `classes` outputs (0: no labels).
// Generated images have its size: square where that is possible, else one row. Throws also what
// check_fits throws.
Data load_fitting(std::string_view source, std::string_view model, std::int64_t features,
                  std::int64_t classes);

// Throws bad_input, as load_data does, for a text that can be nothing of these, whatever lies on
// the disk: a name that is neither known nor there, a seed that is none.
void check_data_name(std::string_view source);

}  // namespace stepscope
