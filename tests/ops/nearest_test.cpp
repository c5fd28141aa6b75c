// The name that was perhaps meant.
// SPDX-License-Identifier: Apache-2.0
#include "ops/base/nearest.h"

#include <gtest/gtest.h>

#include <vector>

namespace stepscope {
namespace {

using Names = std::vector<std::string>;

TEST(Nearest, FewestEdits) {
  const Names names = {"chain", "mlp", "mlp_tanh", "lenet"};
  EXPECT_EQ(nearest("mlp", names), "mlp");
  EXPECT_EQ(nearest("mpl", names), "mlp") << "neighbours swapped";
  EXPECT_EQ(nearest("mllp", names), "mlp") << "a letter too many";
  EXPECT_EQ(nearest("lent", names), "lenet") << "a letter too few";
  EXPECT_EQ(nearest("cha1n", names), "chain") << "another letter";
  EXPECT_EQ(nearest("mlptanh", names), "mlp_tanh");
}

// A swap counts one: "ab" is nearer to "ba" than to "xyb".
TEST(Nearest, ASwapIsOneEdit) { EXPECT_EQ(nearest("ab", Names{"xyb", "ba"}), "ba"); }

TEST(Nearest, OfEqualsTheFirst) {
  EXPECT_EQ(nearest("b", Names{"a", "c"}), "a");
  EXPECT_EQ(nearest("b", Names{"c", "a"}), "c");
}

TEST(Nearest, EmptyTextAndEmptyList) {
  EXPECT_EQ(nearest("", Names{"abc", "ab"}), "ab");
  EXPECT_EQ(nearest("abc", {}), "");
}

TEST(UnknownName, SaysWhatThereIs) {
  EXPECT_EQ(unknown_name("model", "mpl", Names{"chain", "mlp"}),
            "unknown model 'mpl': did you mean 'mlp'? (there are: chain, mlp)");
  EXPECT_EQ(unknown_name("pass", "fold", {}), "unknown pass 'fold' (there are none)");
}

}  // namespace
}  // namespace stepscope
