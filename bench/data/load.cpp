// Finding the files of a data set.
// SPDX-License-Identifier: Apache-2.0
#include "bench/data/load.h"

#include <array>
#include <system_error>
#include <utility>

#include "bench/data/generated.h"
#include "bench/data/glyphs.h"
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

Data load_folder(const std::filesystem::path& folder, const DataOptions& options) {
  Data data{.origin = Origin::files,
            .source = folder.string(),
            .train = read_part(folder, "train", options.classes),
            .test = read_part(folder, "t10k", options.classes)};
  check(data.train.rows == data.test.rows && data.train.columns == data.test.columns,
        Fault::bad_input, "{} has images of {} x {}, {} of {} x {}; expected one size",
        data.train.name, data.train.rows, data.train.columns, data.test.name, data.test.rows,
        data.test.columns);
  return data;
}

Data load_glyphs() {
  const GlyphSpec spec;
  GeneratedData made = make_glyphs(spec);
  return {
      .origin = Origin::generated,
      .source = fmt::format("generated (seed {}, {} + {} glyphs of {} x {}, {} classes)", spec.seed,
                            spec.train, spec.test, kGlyphSide, kGlyphSide, kGlyphClasses),
      .train = std::move(made.train),
      .test = std::move(made.test)};
}

Data load_generated(const DataOptions& options) {
  if (options.rows == kGlyphSide && options.columns == kGlyphSide &&
      options.classes == kGlyphClasses) {
    return load_glyphs();
  }
  const GeneratedSpec spec{
      .rows = options.rows, .columns = options.columns, .classes = options.classes};
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

Data load_data(std::string_view source, const DataOptions& options) {
  if (source == kGenerated) return load_generated(options);
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
