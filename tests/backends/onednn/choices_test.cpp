// Choices between routines: tables as text, what a file of another machine is told, and tuning.
// SPDX-License-Identifier: Apache-2.0
#include "backends/onednn/choices.h"

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "backends/onednn/library.h"
#include "backends/onednn/onednn.h"
#include "backends/onednn/tune.h"
#include "tests/backends/onednn/images.h"
#include "tests/support/errors.h"

namespace stepscope::onednn {
namespace {

using test::error_of;

const Machine kMachine{.threads = 2, .instruction_set = "avx512_core", .library = "2.6.3"};

OpSite product(bool transpose_a = false) {
  return site_for(OpKind::MatMul, MatMulAttrs{.transpose_a = transpose_a},
                  {transpose_a ? f32({7, 4}) : f32({4, 7}), f32({7, 5})});
}

constexpr const char* kLine = "MatMul 4x5x7 nn threads=2 avx512_core 2.6.3 sgemm\n";

// A file that is gone when the test ends.
class File {
 public:
  explicit File(const std::string& name)
      : path_(fmt::format("{}/{}-{}", std::filesystem::temp_directory_path().string(), name,
                          ::getpid())) {
    std::filesystem::remove(path_);
  }
  ~File() { std::filesystem::remove(path_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  void write(const std::string& text) const { std::ofstream(path_) << text; }
  std::string text() const {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(OnednnChoices, AreFoundByOpSizesThreadsAndMachine) {
  const Choices choices = Choices::parse(kLine, "test");
  EXPECT_EQ(choices.of(product(), kMachine), Routine::sgemm);
  Machine other = kMachine;
  other.threads = 1;
  EXPECT_EQ(choices.of(product(), other), Routine::matmul);
  other = kMachine;
  other.library = "2.7.0";
  EXPECT_EQ(choices.of(product(), other), Routine::matmul);
  other = kMachine;
  other.instruction_set = "avx2";
  EXPECT_EQ(choices.of(product(), other), Routine::matmul);
}

TEST(OnednnChoices, OfWhatNoLineNamesFollowTheShape) {
  EXPECT_EQ(Choices{}.of(product(false), kMachine), Routine::matmul);
  EXPECT_EQ(Choices{}.of(product(true), kMachine), Routine::sgemm);
  const OpSite row = site_for(OpKind::MatMul, MatMulAttrs{}, {f32({1, 7}), f32({7, 5})});
  EXPECT_EQ(Choices{}.of(row, kMachine), Routine::sgemm);
}

TEST(OnednnChoices, AreTheSameTextAndHashInAnyOrder) {
  const std::string second = "Linear 4x5x7 nn threads=2 avx512_core 2.6.3 matmul\n";
  const Choices one = Choices::parse(kLine + second, "one");
  const Choices other = Choices::parse("# a remark\n\n" + second + kLine, "other");
  EXPECT_EQ(one.text(), second + kLine);
  EXPECT_EQ(other.text(), one.text());
  EXPECT_EQ(other.hash(), one.hash());
  EXPECT_NE(Choices::parse(kLine, "less").hash(), one.hash());
}

TEST(OnednnChoices, RefuseALineThatIsNone) {
  for (const std::string line :
       {"MatMul 4x5x7 nn threads=2 avx512_core 2.6.3 blas", "MatMul 4x5x7 sgemm"}) {
    EXPECT_EQ(error_of([&] { Choices::parse("# first\n" + line, "FILE"); }),
              fmt::format("bad input: onednn: FILE:2: '{}' is no choice; one reads 'MatMul "
                          "32x128x784 nn threads=1 avx512_core 2.6.3 sgemm'",
                          line));
  }
}

TEST(OnednnChoices, RefuseASecondChoiceForOneProduct) {
  EXPECT_EQ(error_of([&] { Choices::parse(std::string(kLine) + kLine, "FILE"); }),
            "bad input: onednn: FILE:2: a second choice for MatMul 4x5x7 nn threads=2 avx512_core "
            "2.6.3");
}

TEST(OnednnTuneFile, OfAnotherLibraryOrInstructionSetIsRefused) {
  const File file("choices");
  file.write(kLine);
  Machine other = kMachine;
  other.library = "2.7.0";
  EXPECT_EQ(error_of([&] { Choices::read(file.path(), other); }),
            fmt::format("bad input: onednn: {}: 'MatMul 4x5x7 nn threads=2 avx512_core 2.6.3' was "
                        "chosen for oneDNN 2.6.3, this is 2.7.0; tune again",
                        file.path()));
  other = kMachine;
  other.instruction_set = "avx2";
  EXPECT_EQ(error_of([&] { Choices::read(file.path(), other); }),
            fmt::format("bad input: onednn: {}: 'MatMul 4x5x7 nn threads=2 avx512_core 2.6.3' was "
                        "chosen for avx512_core, this machine has avx2; tune again",
                        file.path()));
  EXPECT_EQ(Choices::read(file.path(), kMachine).size(), 1U);
}

TEST(OnednnTuneFile, DecidesWhatTheBackendSaysOfItsChoices) {
  const File file("choices");
  const auto hash_of = [&] {
    return make_backend({.threads = 1, .tune_file = file.path()})->info().details[4].second;
  };
  EXPECT_EQ(hash_of(), Choices::committed().hash());  // no file yet
  const Machine machine{1, instruction_set(), library_version()};
  Choices chosen;
  chosen.set(product(), machine, Routine::sgemm);
  file.write(chosen.text());
  EXPECT_EQ(hash_of(), chosen.hash());
}

TEST(OnednnTune, WritesAChoiceForEachProductThatHasOne) {
  const File file("choices");
  const auto backend = make_backend({.threads = 1, .tune_file = {}});
  const OpSite relu = site_for(OpKind::Relu, {}, {f32({4, 4})});
  const std::vector<OpSite> sites = {product(), relu, product(true)};
  backend->tune(sites, file.path());
  const Machine machine{1, instruction_set(), library_version()};
  EXPECT_EQ(Choices::read(file.path(), machine).size(), 2U) << file.text();
  EXPECT_NE(file.text().find(key_of(product(true), machine)), std::string::npos) << file.text();
}

TEST(OnednnTune, KeepsWhatTheFileHolds) {
  const File file("choices");
  const std::string line =
      fmt::format("Linear 9x9x9 nn threads=7 {} {} sgemm\n", instruction_set(), library_version());
  file.write(line);
  tune(std::vector<OpSite>{product()}, {.threads = 1, .tune_file = {}}, file.path());
  EXPECT_NE(file.text().find(line), std::string::npos) << file.text();
  EXPECT_NE(file.text().find("MatMul 4x5x7"), std::string::npos) << file.text();
}

TEST(OnednnTune, SaysWhereItCannotWrite) {
  EXPECT_EQ(error_of([] {
              tune(std::vector<OpSite>{}, {.threads = 1, .tune_file = {}}, "no/such/folder/file");
            }),
            "io: onednn: cannot write no/such/folder/file.part: No such file or directory");
}

// Both routines compute every product op, whatever the table says.
TEST(OnednnChoices, MakeNoDifferenceForWholeNumbers) {
  const TensorType a = f32({6, 9}), b = f32({9, 20}), c = f32({6, 20}), row = f32({20});
  const std::vector<OpSite> sites = {
      site_for(OpKind::MatMul, MatMulAttrs{}, {a, b}),
      site_for(OpKind::Linear, MatMulAttrs{.activation = Activation::relu}, {a, b, row}),
      site_for(OpKind::MatMulReluGrad, MatMulAttrs{}, {a, b, c}),
      site_for(OpKind::MatMulBiasGrad, MatMulAttrs{}, {a, b})};
  const Machine machine{1, instruction_set(), library_version()};
  for (const OpSite& site : sites) {
    std::vector<Floats> inputs;
    for (const TensorType& type : site.in) {
      inputs.push_back(whole_numbers(type.shape, static_cast<int>(inputs.size())));
    }
    std::vector<std::vector<Floats>> results;
    for (const Routine routine : {Routine::sgemm, Routine::matmul}) {
      const File file("choices");
      Choices chosen;
      chosen.set(site, machine, routine);
      file.write(chosen.text());
      const auto backend = make_backend({.threads = 1, .tune_file = file.path()});
      results.push_back(run(*backend, site, inputs));
    }
    EXPECT_EQ(results[0], results[1]) << name(site.kind);
  }
}

}  // namespace
}  // namespace stepscope::onednn
