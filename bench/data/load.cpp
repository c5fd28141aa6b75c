// Finding the files of a data set.
// SPDX-License-Identifier: Apache-2.0
#include "bench/data/load.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

#include "bench/data/generated.h"
#include "bench/data/glyphlab.h"
#include "bench/data/glyphs.h"
#include "bench/data/make_data.h"
#include "ops/base/check.h"
#include "ops/base/nearest.h"

namespace stepscope {
namespace {

constexpr std::string_view kFashionMnist = "fashion-mnist";
constexpr std::string_view kGenerated = "generated";

bool is_folder(const std::filesystem::path& path) {
  std::error_code ignored;  // what cannot be examined is no folder to us
  return std::filesystem::is_directory(path, ignored);
}

// Not so for what may not be looked at: opening it will tell why.
bool is_missing(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::status(path, ignored).type() == std::filesystem::file_type::not_found;
}

std::filesystem::path find_file(const std::filesystem::path& folder, std::string_view stem) {
  const std::filesystem::path plain = folder / stem;
  if (!is_missing(plain)) return plain;
  const std::filesystem::path packed = folder / fmt::format("{}.gz", stem);
  check(!is_missing(packed), Fault::io, "{}: holds neither {} nor {}.gz", folder.string(), stem,
        stem);
  return packed;
}

Dataset read_part(const std::filesystem::path& folder, std::string_view part,
                  std::int64_t classes) {
  return read_dataset(find_file(folder, fmt::format("{}-images-idx3-ubyte", part)),
                      find_file(folder, fmt::format("{}-labels-idx1-ubyte", part)), classes);
}

// The first line of a README.txt that says the files beside it are generated; else nothing.
std::string generated_by_readme(const std::filesystem::path& folder) {
  std::ifstream file(folder / kReadme);
  std::array<char, 64> line{};  // longer ones are not ours
  return file.getline(line.data(), line.size()) && is_generated_label(line.data())
             ? std::string(line.data())
             : std::string();
}

// Where they were read, and that they are generated, where they say so.
Data with_origin(const std::filesystem::path& folder, std::string_view label) {
  if (label.empty()) return {.origin = Origin::files, .source = folder.string()};
  return {.origin = Origin::generated, .source = fmt::format("{}: {}", folder.string(), label)};
}

Data load_glyphlab(const std::filesystem::path& folder, const DataOptions& options) {
  for (const std::string_view file : kGlyphLabFiles) {
    check(!is_missing(folder / file), Fault::io, "{}: holds no {}", folder.string(), file);
  }
  GlyphLab lab = read_glyphlab(folder, options.classes);
  Data data = with_origin(folder, is_generated_label(lab.source) ? lab.source : std::string());
  data.train = std::move(lab.train);
  data.test = std::move(lab.test);
  if (lab.validation_rows > 0) data.validation_rows = lab.validation_rows;
  check(data.validation().count > 0, Fault::bad_input,
        "{}: {} rows to train on and none of the split val: give 5 rows, of which the last "
        "validates, or a split val",
        (folder / kGlyphLabMetadata).string(), data.train.count);
  if (data.test.count == 0) data.source += " (no rows of the split test)";
  return data;
}

Data load_idx(const std::filesystem::path& folder, const DataOptions& options) {
  Data data = with_origin(folder, generated_by_readme(folder));
  data.train = read_part(folder, "train", options.classes);
  data.test = read_part(folder, "t10k", options.classes);
  check(data.train.rows == data.test.rows && data.train.columns == data.test.columns,
        Fault::bad_input, "{} has images of {} x {}, {} of {} x {}; expected one size",
        data.train.name, data.train.rows, data.train.columns, data.test.name, data.test.rows,
        data.test.columns);
  return data;
}

// By what lies in it.
Data load_folder(const std::filesystem::path& folder, const DataOptions& options) {
  std::vector<std::string> idx;
  for (const char* part : {"train", "t10k"}) {
    idx.push_back(fmt::format("{}-images-idx3-ubyte", part));
    idx.push_back(fmt::format("{}-labels-idx1-ubyte", part));
  }
  const auto has_idx = std::find_if(idx.begin(), idx.end(), [&](const std::string& file) {
    return !is_missing(folder / file) || !is_missing(folder / (file + ".gz"));
  });
  const auto* const has_lab =
      std::find_if(kGlyphLabFiles.begin(), kGlyphLabFiles.end(),
                   [&](std::string_view file) { return !is_missing(folder / file); });
  const bool is_idx = has_idx != idx.end();
  const bool is_lab = has_lab != kGlyphLabFiles.end();
  check(is_idx || is_lab, Fault::io,
        "{}: holds no data set: looked for {} (each with or without .gz), and for {}",
        folder.string(), fmt::join(idx, ", "), fmt::join(kGlyphLabFiles, ", "));
  check(!is_idx || !is_lab, Fault::bad_input,
        "{}: holds files of two data sets, {} and {}; expected one", folder.string(), *has_idx,
        is_lab ? *has_lab : "");
  return is_idx ? load_idx(folder, options) : load_glyphlab(folder, options);
}

Data load_glyphs(std::uint64_t seed) {
  const GlyphSpec spec{.seed = seed};
  GeneratedData made = make_glyphs(spec);
  return {
      .origin = Origin::generated,
      .source = fmt::format("generated (seed {}, {} + {} glyphs of {} x {}, {} classes)", spec.seed,
                            spec.train, spec.test, kGlyphSide, kGlyphSide, kGlyphClasses),
      .train = std::move(made.train),
      .test = std::move(made.test)};
}

// The number behind `generated:`, 1 without one.
std::uint64_t seed_from(std::string_view source) {
  if (source == kGenerated) return 1;
  const std::string_view text = source.substr(kGenerated.size() + 1);
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  check(error == std::errc() && end == text.data() + text.size(), Fault::bad_input,
        "data '{}': '{}' is no seed, a whole number below 2^64, as in generated:2", source, text);
  return seed;
}

Data load_generated(std::uint64_t seed, const DataOptions& options) {
  const bool any = options.classes == 0;
  if (options.rows == kGlyphSide && options.columns == kGlyphSide &&
      (any || options.classes == kGlyphClasses)) {
    return load_glyphs(seed);
  }
  const GeneratedSpec spec{.seed = seed,
                           .rows = options.rows,
                           .columns = options.columns,
                           .classes = any ? GeneratedSpec().classes : options.classes};
  GeneratedData made = make_generated(spec);
  return {
      .origin = Origin::generated,
      .source = fmt::format("generated (seed {}, {} + {} images of {} x {}, {} classes)", spec.seed,
                            spec.train, spec.test, spec.rows, spec.columns, spec.classes),
      .train = std::move(made.train),
      .test = std::move(made.test)};
}

// Not a folder, not a name: says what it may have been.
[[noreturn]] void fail_unknown(std::string_view source) {
  check(is_missing(source), Fault::io, "{}: cannot be used as a folder of MNIST-format files",
        source);
  check(source.find('/') == std::string_view::npos, Fault::io, "{}: there is no such folder",
        source);
  const std::array<std::string, 2> names{std::string(kFashionMnist), std::string(kGenerated)};
  fail(Fault::bad_input, "{}, or give a folder", unknown_name("data", source, names));
}

}  // namespace

std::string_view name(Origin origin) {
  switch (origin) {
    case Origin::files:
      return "files";
    case Origin::generated:
      return "generated";
  }
  return "unknown origin";
}

Data load_fitting(std::string_view source, std::string_view model, std::int64_t features,
                  std::int64_t classes) {
  const auto side =
      static_cast<std::int64_t>(std::lround(std::sqrt(static_cast<double>(features))));
  const bool square = side * side == features;
  Data data = load_data(
      source, {.classes = classes, .rows = square ? side : 1, .columns = square ? side : features});
  check_fits(data.train, model, features, classes);
  return data;
}

void check_data_name(std::string_view source) {
  if (source.substr(0, source.find(':')) == kGenerated) {
    (void)seed_from(source);
  } else if (source != kFashionMnist && source.find('/') == std::string_view::npos &&
             is_missing(source)) {
    fail_unknown(source);
  }
}

Data load_data(std::string_view source, const DataOptions& options) {
  if (source.substr(0, source.find(':')) == kGenerated) {
    return load_generated(seed_from(source), options);
  }
  if (source == kFashionMnist) {
    check(is_folder(options.fashion_mnist), Fault::io,
          "fashion-mnist: there is no folder {}; install it: apt-get install dataset-fashion-mnist",
          options.fashion_mnist.string());
    return load_folder(options.fashion_mnist, options);
  }
  if (!is_folder(source)) fail_unknown(source);
  return load_folder(source, options);
}

}  // namespace stepscope
