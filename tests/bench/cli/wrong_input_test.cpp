// Wrong input, seen from outside: whatever is wrong with a file of a data set, the command says in
// one line which file, where and what was expected, ends with status 1 and leaves nothing behind.
// Wrong flags: usage_test.cpp. Outputs that cannot be written: train_kill_test.py.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>

#include "tests/bench/cli/run_command.h"
#include "tests/bench/data/idx_files.h"
#include "tests/bench/temp_folder.h"

namespace stepscope {
namespace {

using test::CommandResult;
using test::TempFolder;

// ---- MNIST-format folders: 20 images of 4 x 4 in ten classes

constexpr const char* kImages = "train-images-idx3-ubyte";
constexpr const char* kLabels = "train-labels-idx1-ubyte";

void write_mnist(const TempFolder& folder) {
  for (const std::string part : {"train", "t10k"}) {
    folder.write(part + "-images-idx3-ubyte", image_file(20, 4, 4));
    folder.write(part + "-labels-idx1-ubyte", label_file(20));
  }
}

// ---- GlyphLab folders: 20 images of 4 x 4 in three classes

std::string little_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * i & 0xff);
  return text;
}

std::string npy(const std::string& description, const std::string& order, const std::string& shape,
                const std::string& elements, char version = 1) {
  std::string header =
      "{'descr': " + description + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  while ((8 + length_bytes + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  return std::string("\x93NUMPY") + version + '\0' +
         little_endian(header.size(), static_cast<int>(length_bytes)) + header + elements;
}

std::string floats(std::size_t count, std::size_t odd_one = 0, float odd = 0.5F) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) {
    const float value = i == odd_one ? odd : static_cast<float>(i % 7) / 8.0F;
    bytes += little_endian(std::bit_cast<std::uint32_t>(value), 4);
  }
  return bytes;
}

std::string glyph_images(std::size_t odd_one = 0, float odd = 0.5F) {
  return npy("'<f4'", "False", "(20, 1, 4, 4)", floats(20 * 16, odd_one, odd));
}

std::string glyph_labels(std::size_t odd_one = 0, std::uint64_t odd = 0) {
  std::string bytes;
  for (std::size_t i = 0; i < 20; ++i) bytes += little_endian(i == odd_one ? odd : i % 3, 8);
  return npy("'<i8'", "False", "(20,)", bytes);
}

std::string glyph_metadata() {
  std::string text = "index,split\n";
  for (int i = 0; i < 20; ++i) {
    text += std::to_string(i) + (i < 12 ? ",train\n" : i < 16 ? ",val\n" : ",test\n");
  }
  return text;
}

void write_glyphs(const TempFolder& folder) {
  folder.write("images.npy", std::string_view(glyph_images()));
  folder.write("labels.npy", std::string_view(glyph_labels()));
  folder.write("metadata.csv", std::string_view(glyph_metadata()));
}

struct WrongFile {
  std::string name;  // of the test
  std::string file;  // that is replaced in a folder which is right
  std::string content;
  std::vector<std::string> says;  // beside the name of the file
  bool glyphs = false;
};

std::string text_of(const Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

std::vector<WrongFile> wrong_mnist_files() {
  const Bytes images = image_file(20, 4, 4);
  const Bytes packed = gzip(images);
  Bytes flipped = packed;
  flipped[packed.size() / 2] ^= 0x10;
  const Bytes absurd = words({0x803, 0xffffffff, 0xffffffff, 0xffffffff});
  Bytes bad_label = label_file(20);
  bad_label[8 + 7] = 10;
  return {
      {"idx_empty", kImages, "", {"empty"}},
      {"idx_truncated", kImages, text_of(first(images, 100)), {"336", "100"}},
      {"idx_too_long", kImages, text_of(images + Bytes{1}), {"336"}},
      {"idx_wrong_magic", kImages, text_of(words({0x801, 20}) + ramp(20)), {"0x00000803"}},
      {"idx_no_such_format", kImages, "P5 4 4 255\n", {"IDX"}},
      {"idx_absurd_dimensions", kImages, text_of(absurd), {"4294967295"}},
      {"idx_zero_dimension", kImages, text_of(words({0x803, 20, 0, 4})), {"0"}},
      {"idx_other_count", kLabels, text_of(label_file(19)), {"20", "19"}},
      {"idx_label_out_of_range", kLabels, text_of(bad_label), {"label 7", "10", "0 to 9"}},
      {"gzip_truncated", kImages, text_of(first(packed, packed.size() / 2)), {"gzip"}},
      {"gzip_corrupt", kImages, text_of(flipped), {"gzip"}},
      {"gzip_with_a_tail", kImages, text_of(packed + Bytes{'x', 'y'}), {"gzip"}},
      {"gzip_members_too_long", kImages, text_of(packed + gzip(ramp(5))), {"336"}},
  };
}

std::vector<WrongFile> wrong_glyph_files() {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const std::string right = floats(20 * 16);
  const std::string shape = "(20, 1, 4, 4)";
  std::vector<WrongFile> all = {
      {"npy_empty", "images.npy", "", {"empty"}},
      {"npy_wrong_magic", "images.npy", "not numpy at all, but long enough", {"NPY"}},
      {"npy_version", "images.npy", npy("'<f4'", "False", shape, right, 4), {"version 4", "1"}},
      {"npy_truncated", "images.npy", glyph_images().substr(0, 200), {"1280"}},
      {"npy_too_long", "images.npy", glyph_images() + "x", {"1280", "1281"}},
      {"npy_big_endian", "images.npy", npy("'>f4'", "False", shape, right), {">f4"}},
      {"npy_complex", "images.npy", npy("'<c8'", "False", shape, right), {"<c8"}},
      {"npy_pickle", "images.npy", npy("'|O'", "False", shape, right), {"|O"}},
      {"npy_fortran", "images.npy", npy("'<f4'", "True", shape, right), {"Fortran"}},
      {"npy_absurd",
       "images.npy",
       npy("'<f4'", "False", "(4611686018427387904, 1, 4, 4)", right),
       {"4611686018427387904"}},
      {"npy_other_rank", "images.npy", npy("'<f4'", "False", "(320,)", right), {"320"}},
      {"npy_nan_pixel", "images.npy", glyph_images(37, kNan), {"image 2", "nan"}},
      {"npy_labels_are_floats", "labels.npy", npy("'<f4'", "False", "(20,)", floats(20)), {"f32"}},
      {"npy_other_count",
       "labels.npy",
       npy("'<i8'", "False", "(2,)", little_endian(0, 8) + little_endian(1, 8)),
       {"20", "2"}},
      {"labels_too_wide", "labels.npy", glyph_labels(5, 0x100000001), {"5", "4294967297"}},
      {"labels_out_of_range", "labels.npy", glyph_labels(5, 3), {"5", "3", "0 to 2"}},
      {"labels_negative", "labels.npy", glyph_labels(5, ~std::uint64_t{0}), {"5", "-1", "0 to 2"}},
      {"csv_empty", "metadata.csv", "", {"empty"}},
      {"csv_no_index", "metadata.csv", "number,split\n0,train\n", {"index"}},
      {"csv_no_split", "metadata.csv", "index,part\n0,train\n", {"split"}},
      {"csv_short_row", "metadata.csv", "index,split\n0,train\n1\n", {"3", "2", "1"}},
      {"csv_index_no_number", "metadata.csv", "index,split\nzero,train\n", {"zero", "2"}},
      {"csv_index_twice", "metadata.csv", glyph_metadata() + "3,test\n", {"3", "22"}},
      {"csv_index_out_of_range", "metadata.csv", glyph_metadata() + "20,test\n", {"20", "19"}},
      {"csv_rows_missing", "metadata.csv", "index,split\n0,train\n1,test\n", {"2", "20"}},
      {"csv_unknown_split", "metadata.csv", "index,split\n0,trian\n", {"trian", "train"}},
      {"csv_open_quote", "metadata.csv", "index,split\n0,\"train\n", {"quote"}},
  };
  for (WrongFile& each : all) each.glyphs = true;
  return all;
}

class WrongData : public testing::TestWithParam<WrongFile> {};

// One line on standard error, nothing on standard output.
void expect_one_line(const CommandResult& result) {
  EXPECT_EQ(result.out, "");
  EXPECT_TRUE(result.err.starts_with("stepscope: ")) << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
}

TEST_P(WrongData, IsNamedInOneLineAndStatusOne) {
  const WrongFile& wrong = GetParam();
  const TempFolder folder;
  if (wrong.glyphs) {
    write_glyphs(folder);
  } else {
    write_mnist(folder);
  }
  folder.write(wrong.file, std::string_view(wrong.content));
  const std::string out = (folder.path() / "out").string();
  const CommandResult result =
      test::run_stepscope({"train", "--data", folder.path().string(), "--model",
                           wrong.glyphs ? "mlp:16-3" : "mlp:16-10", "--batch", "4", "--epochs", "1",
                           "--backend", "reference", "--out", out});
  EXPECT_EQ(result.status, 1);
  expect_one_line(result);
  EXPECT_NE(result.err.find(wrong.file), std::string::npos) << result.err;
  for (const std::string& part : wrong.says) {
    EXPECT_NE(result.err.find(part), std::string::npos) << part << "\n" << result.err;
  }
  EXPECT_FALSE(std::filesystem::exists(out));
}

std::string test_name(const testing::TestParamInfo<WrongFile>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Mnist, WrongData, testing::ValuesIn(wrong_mnist_files()), test_name);
INSTANTIATE_TEST_SUITE_P(Glyphs, WrongData, testing::ValuesIn(wrong_glyph_files()), test_name);

// The folders that are broken above are right as they were.
TEST(RightData, Trains) {
  const TempFolder mnist;
  write_mnist(mnist);
  const TempFolder glyphs;
  write_glyphs(glyphs);
  for (const auto& [folder, model] :
       {std::pair(&mnist, "mlp:16-10"), std::pair(&glyphs, "mlp:16-3")}) {
    const CommandResult result =
        test::run_stepscope({"train", "--data", folder->path().string(), "--model", model,
                             "--batch", "4", "--epochs", "1", "--backend", "reference"});
    EXPECT_EQ(result.status, 0) << result.err;
  }
}

// Several gzip members are one content.
TEST(RightData, MayBeGzipOfSeveralMembers) {
  const TempFolder folder;
  write_mnist(folder);
  const Bytes images = image_file(20, 4, 4);
  folder.write(kImages, gzip(first(images, 50)) + gzip(from(images, 50)));
  const CommandResult result =
      test::run_stepscope({"train", "--data", folder.path().string(), "--model", "mlp:16-10",
                           "--batch", "4", "--epochs", "1", "--backend", "reference"});
  EXPECT_EQ(result.status, 0) << result.err;
}

TEST(WrongFolder, SaysWhatWasLookedFor) {
  const TempFolder folder;
  const CommandResult result = test::run_stepscope({"train", "--data", folder.path().string()});
  EXPECT_EQ(result.status, 1);
  expect_one_line(result);
  for (const std::string part : {"images.npy", "train-images-idx3-ubyte"}) {
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
  }
}

TEST(WrongFolder, AModelThatDoesNotFitIsNamedWithBothSizes) {
  const TempFolder folder;
  write_glyphs(folder);
  const CommandResult result =
      test::run_stepscope({"train", "--data", folder.path().string(), "--model", "small_cnn"});
  EXPECT_EQ(result.status, 1);
  expect_one_line(result);
  for (const std::string part : {"small_cnn", "576", "16"}) {
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
  }
}

TEST(WrongFolder, ABatchLargerThanTheDataIsAWrongFlag) {
  const TempFolder folder;
  write_glyphs(folder);
  const CommandResult result =
      test::run_stepscope({"train", "--data", folder.path().string(), "--model", "mlp:16-3",
                           "--batch", "13", "--backend", "reference"});
  EXPECT_EQ(result.status, 2);
  expect_one_line(result);
  EXPECT_NE(result.err.find("13 rows"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("12"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace stepscope
