// --tune: choices are timed once, for the calls of all arms, and only where no file is there.
// SPDX-License-Identifier: Apache-2.0
#include "bench/cli/tune.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "backends/api/host.h"
#include "bench/files/files.h"
#include "tests/bench/temp_folder.h"
#include "tests/support/errors.h"

namespace stepscope::cli {
namespace {

using test::error_of;
using test::TempFolder;

// Writes the kinds of the sites that it was asked about.
class Chooser final : public HostBackend {
 public:
  Chooser() : HostBackend({.name = "chooser"}) {}
  void tune(std::span<const OpSite> sites, const std::string& file) override {
    std::string text;
    for (const OpSite& site : sites) text += std::string(stepscope::name(site.kind)) + "\n";
    write_file(file, text);
  }
};

class Lazy final : public HostBackend {
 public:
  Lazy() : HostBackend({.name = "lazy"}) {}
  void tune(std::span<const OpSite>, const std::string&) override {}
};

class Simple final : public HostBackend {
 public:
  Simple() : HostBackend({.name = "simple"}) {}
};

template <class B>
std::unique_ptr<Backend> make(const BackendOptions&) {
  return std::make_unique<B>();
}

class Choices : public testing::Test {
 protected:
  Choices() {
    registry_.add({"chooser", make<Chooser>});
    registry_.add({"lazy", make<Lazy>});
    registry_.add({"simple", make<Simple>});
    options_.flags.tune = (folder_.path() / "choices").string();
    options_.fusions = {parse_fusion("off")};
    step_ = make_model("mlp:4-3-2").step(2);
  }
  void make_choices_of(std::vector<std::string> backends) {
    options_.flags.backends = std::move(backends);
    make_choices(options_, registry_, std::span(&step_, 1));
  }
  std::int64_t count(const std::string& kind) const {
    const std::string text = read_file(options_.flags.tune);
    std::int64_t found = 0;
    for (std::size_t at = 0; (at = text.find(kind + "\n", at)) != std::string::npos; ++at) ++found;
    return found;
  }

  TempFolder folder_;
  Registry registry_;
  Options options_;
  Graph step_;
};

TEST_F(Choices, AsksForTheCallsOfAllFusionsEachOnce) {
  options_.fusions = {parse_fusion("off"), parse_fusion("on")};
  make_choices_of({"simple", "chooser"});
  EXPECT_EQ(count("MatMul"), 5);  // no two have the same types and attributes
  EXPECT_EQ(count("Linear"), 2);
  EXPECT_EQ(count("AddBias"), 2);
}

TEST_F(Choices, AsksForEveryAblationToo) {
  options_.flags.ablate = true;
  make_choices_of({"chooser"});
  EXPECT_EQ(count("MatMulUpdate"), 4);    // with fold_sgd; with bias_grad and without
  EXPECT_GE(count("MatMulBiasGrad"), 2);  // without it
}

TEST_F(Choices, LeavesAFileThatIsThereAlone) {
  write_file(options_.flags.tune, "mine");
  make_choices_of({"chooser"});
  EXPECT_EQ(read_file(options_.flags.tune), "mine");
  EXPECT_EQ(choices_file(options_), options_.flags.tune);
  EXPECT_EQ(choices_digest(options_).size(), 64U);
}

TEST_F(Choices, WithoutTheFlagNothingIsTimed) {
  options_.flags.tune.clear();
  make_choices_of({"lazy"});
  EXPECT_EQ(choices_file(options_), "");
  EXPECT_EQ(choices_digest(options_), "");
}

TEST_F(Choices, SaysWhoHasNoChoicesAndWhoWroteNone) {
  EXPECT_EQ(error_of([&] { make_choices_of({"simple"}); }),
            "unsupported: --tune " + options_.flags.tune +
                ": there is no such file, and simple has no choices to time");
  EXPECT_EQ(error_of([&] { make_choices_of({"lazy"}); }),
            "io: tune: lazy did not write " + options_.flags.tune);
}

}  // namespace
}  // namespace stepscope::cli
