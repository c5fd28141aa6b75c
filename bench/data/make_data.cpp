// Files of generated data.
// SPDX-License-Identifier: Apache-2.0
#include "bench/data/make_data.h"

#include <algorithm>
#include <array>
#include <span>
#include <system_error>
#include <utility>

#include "bench/data/generated.h"
#include "bench/data/glyphlab.h"
#include "bench/data/glyphs.h"
#include "bench/files/files.h"
#include "bench/files/npy.h"
#include "ops/base/check.h"
#include "ops/base/nearest.h"

namespace stepscope {
namespace {

constexpr std::string_view kLabelBegin = "generated (seed ";
constexpr std::int64_t kLeastImages = 7;  // one to test, one to validate, in either shape
constexpr std::int64_t kUsualGlyphs = 360, kUsualMnist = 7000;

struct File {
  std::string name, content;
};

template <class T>
HostTensor tensor_of(Element element, std::vector<std::int64_t> shape, const std::vector<T>& list) {
  const auto bytes = std::as_bytes(std::span(list));
  return {.name = {},
          .element = element,
          .shape = std::move(shape),
          .bytes = {bytes.begin(), bytes.end()}};
}

std::string metadata_csv(const GeneratedData& data, std::uint64_t seed) {
  const std::int64_t validation = data.train.count / 5;  // as bench/data/load.h holds out
  std::string csv = "index,split,label,source\n";
  std::int64_t index = 0;
  for (const Dataset* part : {&data.train, &data.test}) {
    for (const std::int32_t label : part->labels) {
      const char* split = index < data.train.count - validation ? "train"
                          : index < data.train.count            ? "val"
                                                                : "test";
      csv += fmt::format("{},{},{},{}\n", index++, split, label, generated_label(seed));
    }
  }
  return csv;
}

std::vector<File> glyph_files(const MakeDataSpec& spec, std::int64_t images,
                              const StopMaking& stop) {
  const std::int64_t test = images / 6;
  const GeneratedData data =
      make_glyphs({.seed = spec.seed, .train = images - test, .test = test}, stop);
  std::vector<float> pixels;
  std::vector<std::int64_t> labels;
  for (const Dataset* part : {&data.train, &data.test}) {
    for (const std::uint8_t pixel : part->pixels) {
      pixels.push_back(static_cast<float>(pixel) / 255.0F);
    }
    labels.insert(labels.end(), part->labels.begin(), part->labels.end());
  }
  return {{std::string(kGlyphLabImages),
           to_npy(tensor_of(Element::f32, {images, 1, kGlyphSide, kGlyphSide}, pixels))},
          {std::string(kGlyphLabLabels), to_npy(tensor_of(Element::i64, {images}, labels))},
          {std::string(kGlyphLabMetadata), metadata_csv(data, spec.seed)}};
}

void append_big_endian(std::string& to, std::uint32_t word) {
  for (int shift = 24; shift >= 0; shift -= 8) to += static_cast<char>(word >> shift & 0xff);
}

void append_idx(std::vector<File>& files, const Dataset& data, std::string_view part) {
  const auto count = static_cast<std::uint32_t>(data.count);
  std::string images;
  append_big_endian(images, 0x803);
  append_big_endian(images, count);
  append_big_endian(images, static_cast<std::uint32_t>(data.rows));
  append_big_endian(images, static_cast<std::uint32_t>(data.columns));
  images.append(data.pixels.begin(), data.pixels.end());
  std::string labels;
  append_big_endian(labels, 0x801);
  append_big_endian(labels, count);
  labels.append(data.labels.begin(), data.labels.end());
  files.push_back({fmt::format("{}-images-idx3-ubyte", part), std::move(images)});
  files.push_back({fmt::format("{}-labels-idx1-ubyte", part), std::move(labels)});
}

std::vector<File> mnist_files(const MakeDataSpec& spec, std::int64_t images,
                              const StopMaking& stop) {
  const std::int64_t test = images / 7;
  const GeneratedData data =
      make_generated({.seed = spec.seed, .train = images - test, .test = test}, stop);
  std::vector<File> files;
  files.push_back(
      {std::string(kReadme),
       fmt::format(
           "{}\n\nMade by `stepscope lab --make-data`, in the format of MNIST: {} images to "
           "train on, {} to test.\nNo result on them says anything about real images. "
           "stepscope reads the first line of this file.\n",
           generated_label(spec.seed), data.train.count, data.test.count)});
  append_idx(files, data.train, "train");
  append_idx(files, data.test, "t10k");
  return files;
}

}  // namespace

std::string_view name(DataShape shape) { return shape == DataShape::glyphs ? "glyphs" : "mnist"; }

DataShape parse_data_shape(std::string_view text) {
  std::vector<std::string> names;
  for (const DataShape shape : {DataShape::glyphs, DataShape::mnist}) {
    if (text == name(shape)) return shape;
    names.emplace_back(name(shape));
  }
  fail(Fault::bad_input, "{}", unknown_name("shape of data", text, names));
}

std::string generated_label(std::uint64_t seed) { return fmt::format("{}{})", kLabelBegin, seed); }

bool is_generated_label(std::string_view text) {
  return text.substr(0, kLabelBegin.size()) == kLabelBegin && text.back() == ')';
}

std::vector<std::filesystem::path> make_data(const std::filesystem::path& folder,
                                             const MakeDataSpec& spec, const StopMaking& stop) {
  const bool glyphs = spec.shape == DataShape::glyphs;
  const std::int64_t usual = glyphs ? kUsualGlyphs : kUsualMnist;
  const std::int64_t images = spec.images == 0 ? usual : spec.images;
  check(images >= kLeastImages && images <= kMostMadeImages, Fault::bad_input,
        "generated data: {} images asked for, expected {} to {}", images, kLeastImages,
        kMostMadeImages);
  const std::vector<File> files =
      glyphs ? glyph_files(spec, images, stop) : mnist_files(spec, images, stop);
  for (const File& file : files) {
    std::error_code ignored;
    const std::filesystem::path path = folder / file.name;
    check(!std::filesystem::exists(std::filesystem::symlink_status(path, ignored)), Fault::io,
          "{}: lies there already, it is left as it is: give another folder", path.string());
  }
  std::error_code ignored;
  const bool made_folder = !std::filesystem::exists(folder, ignored);
  std::vector<std::filesystem::path> written;
  try {
    for (const File& file : files) {
      if (stop && stop()) throw MakingStopped();
      write_file(folder / file.name, file.content);
      written.push_back(folder / file.name);
    }
  } catch (...) {
    // The label goes last, as it came first.
    std::for_each(written.rbegin(), written.rend(),
                  [&](const auto& path) { std::filesystem::remove(path, ignored); });
    if (made_folder) std::filesystem::remove(folder, ignored);
    throw;
  }
  return written;
}

}  // namespace stepscope
