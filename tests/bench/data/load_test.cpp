// Data by name: folders, Fashion-MNIST as Debian packs it, generated; and the split.
// SPDX-License-Identifier: Apache-2.0
#include "bench/data/load.h"

#include <gtest/gtest.h>

#include "bench/data/batches.h"
#include "tests/bench/data/idx_files.h"
#include "tests/bench/temp_folder.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;
using test::TempFolder;

void write_folder(const TempFolder& folder, std::string_view name) {
  const std::string base(name);
  folder.write(base + "/train-images-idx3-ubyte", image_file(13, 4, 4));
  folder.write(base + "/train-labels-idx1-ubyte.gz", gzip(label_file(13)));
  folder.write(base + "/t10k-images-idx3-ubyte.gz", gzip(image_file(3, 4, 4)));
  folder.write(base + "/t10k-labels-idx1-ubyte", label_file(3));
}

TEST(LoadFolder, TakesPlainAndGzipMixed) {
  TempFolder folder;
  write_folder(folder, "set");
  const std::string path = (folder.path() / "set").string();
  const Data data = load_data(path);
  EXPECT_EQ(data.origin, Origin::files);
  EXPECT_EQ(data.source, path);
  EXPECT_EQ(data.train.count, 13);
  EXPECT_EQ(data.train.pixels, ramp(13 * 16));
  EXPECT_EQ(data.test.count, 3);
  EXPECT_EQ(data.test.labels, (std::vector<std::int32_t>{0, 1, 2}));
}

TEST(LoadFolder, PlainWinsOverGzip) {
  TempFolder folder;
  write_folder(folder, "set");
  folder.write("set/train-images-idx3-ubyte.gz", "not read");
  EXPECT_EQ(load_data((folder.path() / "set").string()).train.count, 13);
}

TEST(LoadFolder, ValidationIsTheLastFifthInFileOrder) {
  TempFolder folder;
  write_folder(folder, "set");
  const Data data = load_data((folder.path() / "set").string());
  EXPECT_EQ(data.training().count, 11);
  EXPECT_EQ(data.validation().count, 2);  // 13 / 5, rounded down
  EXPECT_EQ(data.training().pixels.data(), data.train.pixels.data());
  EXPECT_EQ(data.validation().pixels.data(), data.train.pixels.data() + 11 * 16);
  EXPECT_EQ(data.validation().labels[0], 1);  // label 11 of the file
  EXPECT_EQ(data.validation().labels[1], 2);
}

TEST(LoadFolder, MissingFileIsNamedInBothForms) {
  TempFolder folder;
  write_folder(folder, "set");
  const auto path = folder.path() / "set";
  std::filesystem::remove(path / "t10k-labels-idx1-ubyte");
  EXPECT_EQ(error_of([&] { load_data(path.string()); }),
            "io: " + path.string() +
                ": holds neither t10k-labels-idx1-ubyte nor t10k-labels-idx1-ubyte.gz");
}

TEST(LoadFolder, TrainAndTestImagesHaveOneSize) {
  TempFolder folder;
  write_folder(folder, "set");
  const auto path = folder.path() / "set";
  folder.write("set/t10k-images-idx3-ubyte", image_file(3, 5, 4));
  EXPECT_EQ(error_of([&] { load_data(path.string()); }),
            "bad input: " + (path / "train-images-idx3-ubyte").string() + " has images of 4 x 4, " +
                (path / "t10k-images-idx3-ubyte").string() + " of 5 x 4; expected one size");
}

TEST(LoadFolder, LabelsAreCheckedAgainstTheClasses) {
  TempFolder folder;
  write_folder(folder, "set");
  const auto path = folder.path() / "set";
  EXPECT_EQ(error_of([&] { load_data(path.string(), {.classes = 5}); }),
            "bad input: " + (path / "train-labels-idx1-ubyte.gz").string() +
                ": label 5 is 5, expected 0 to 4");
}

TEST(LoadName, UnknownNamesGetTheNearest) {
  EXPECT_EQ(error_of([] { load_data("fashon-mnist"); }),
            "bad input: unknown data 'fashon-mnist': did you mean 'fashion-mnist'? (there are: "
            "fashion-mnist, generated), or give a folder");
  EXPECT_EQ(error_of([] { load_data("/no/such/folder"); }),
            "io: /no/such/folder: there is no such folder");
  TempFolder folder;
  const std::string file = folder.write("file", "text").string();
  EXPECT_EQ(error_of([&] { load_data(file); }),
            "io: " + file + ": cannot be used as a folder of MNIST-format files");
}

TEST(LoadName, MissingFashionMnistTellsHowToGetIt) {
  TempFolder folder;
  const auto gone = folder.path() / "gone";
  EXPECT_EQ(error_of([&] { load_data("fashion-mnist", {.fashion_mnist = gone}); }),
            "io: fashion-mnist: there is no folder " + gone.string() +
                "; install it: apt-get install dataset-fashion-mnist");
}

TEST(LoadName, GeneratedSaysSo) {
  const Data data = load_data("generated", {.classes = 4, .rows = 24, .columns = 24});
  EXPECT_EQ(data.origin, Origin::generated);
  EXPECT_EQ(name(data.origin), "generated");
  EXPECT_EQ(data.source, "generated (seed 1, 6000 + 1000 images of 24 x 24, 4 classes)");
  EXPECT_EQ(data.training().count, 4800);
  EXPECT_EQ(data.validation().count, 1200);
  EXPECT_EQ(data.test.count, 1000);
}

TEST(LoadName, GeneratedIsGlyphsForTheirSizeAndClasses) {
  const Data data = load_data("generated", {.classes = 3, .rows = 24, .columns = 24});
  EXPECT_EQ(data.origin, Origin::generated);
  EXPECT_EQ(data.source, "generated (seed 1, 300 + 60 glyphs of 24 x 24, 3 classes)");
  EXPECT_EQ(data.training().count, 240);
  EXPECT_EQ(data.validation().count, 60);
  EXPECT_EQ(data.test.count, 60);
}

// Digests of the real files, by Python's gzip and hashlib: the reader against another one.
TEST(LoadName, FashionMnist) {
  if (!std::filesystem::exists(kFashionMnistFolder)) {
    GTEST_SKIP() << "no " << kFashionMnistFolder << ": apt-get install dataset-fashion-mnist";
  }
  const Data data = load_data("fashion-mnist");
  EXPECT_EQ(data.source, kFashionMnistFolder);
  EXPECT_EQ(data.train.count, 60000);
  EXPECT_EQ(data.train.features(), 784);
  EXPECT_EQ(data.test.count, 10000);
  EXPECT_EQ(data.training().count, 48000);
  EXPECT_EQ(data.validation().count, 12000);
  EXPECT_EQ(to_hex(digest(data.train.view())),
            "ca3f5f82ffd36ea588bf2f9145ac1c443f1b726256974442e0df683cf811d328");
  EXPECT_EQ(to_hex(digest(data.validation())),
            "6f66f3c1ed52bb6cc8c72bfac95d11ac38144426282d0d615c4f18bf143026bf");
  EXPECT_EQ(to_hex(digest(data.test.view())),
            "82d3caed647a94cacfa76984cb58434201188d8a3a140058fa3b9e5c5fccb9f9");
  EXPECT_EQ(epoch_batches(data.training().count, 32, PartialBatch::second_plan).size(), 1500U);
  EXPECT_EQ(epoch_batches(data.validation().count, 32, PartialBatch::second_plan).size(), 375U);
}

}  // namespace
}  // namespace stepscope
