// Choosing fusion passes: texts, their canonical form, refusals, and what a session then runs.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "graph/passes/fusion.h"
#include "graph/plan/layout.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;

constexpr const char* kAll =
    "epilogue, loss_grad, relu_grad, bias_grad, fold_sgd, multi_tensor, relu_mask, small_update, "
    "pointwise, layout";

std::string canonical(std::string_view text) { return to_string(parse_fusion(text)); }
std::string refusal(std::string_view text) {
  return error_of([&] { (void)parse_fusion(text); });
}

TEST(FusionChoice, EqualChoicesHaveEqualTexts) {
  EXPECT_EQ(canonical("on"), "on");
  EXPECT_EQ(canonical("off"), "off");
  EXPECT_EQ(canonical("loss_grad,epilogue,loss_grad"), "epilogue,loss_grad");
  EXPECT_EQ(canonical("-layout,-fold_sgd"), "-fold_sgd,-layout");
  EXPECT_EQ(canonical("-epilogue,-loss_grad,-relu_grad,-bias_grad,-fold_sgd,-multi_tensor,"
                      "-relu_mask,-small_update"),
            "pointwise,layout");
  EXPECT_EQ(canonical("-epilogue,-loss_grad,-relu_grad,-bias_grad,-fold_sgd,-multi_tensor,"
                      "-relu_mask,-small_update,-pointwise,-layout"),
            "off");
  EXPECT_EQ(canonical("epilogue,loss_grad,relu_grad,bias_grad,fold_sgd,multi_tensor,relu_mask,"
                      "small_update,pointwise"),
            "-layout");
  for (const std::string& name : fusion_names()) {
    EXPECT_EQ(canonical(name), name);
    EXPECT_EQ(canonical("-" + name), "-" + name);
    EXPECT_TRUE(parse_fusion(name).has(name));
    EXPECT_FALSE(parse_fusion("-" + name).has(name));
  }
}

TEST(FusionChoice, SaysWhatItDoesNotUnderstand) {
  EXPECT_EQ(refusal("epilog"), std::string("bad input: fusion 'epilog': unknown pass 'epilog': did "
                                           "you mean 'epilogue'? (there are: ") +
                                   kAll + ")");
  EXPECT_EQ(refusal("-fold-sgd"), std::string("bad input: fusion '-fold-sgd': unknown pass "
                                              "'fold-sgd': did you mean 'fold_sgd'? (there are: ") +
                                      kAll + ")");
  EXPECT_EQ(refusal("epilogue,-fold_sgd"),
            "bad input: fusion 'epilogue,-fold_sgd': either names of passes to run, or each with a "
            "minus to run all but these");
  EXPECT_EQ(refusal("-fold_sgd,epilogue"),
            "bad input: fusion '-fold_sgd,epilogue': either names of passes to run, or each with a "
            "minus to run all but these");
  EXPECT_EQ(refusal("on,epilogue"), "bad input: fusion 'on,epilogue': 'on' stands alone");
  EXPECT_EQ(refusal("-off"), "bad input: fusion '-off': 'off' stands alone");
  EXPECT_EQ(refusal(""),
            std::string("bad input: fusion: neither on, off nor names of passes (") + kAll + ")");
  EXPECT_NE(refusal("epilogue,"), "no error");
  EXPECT_NE(refusal(","), "no error");
}

class Indifferent final : public LayoutChooser {
 public:
  LayoutChoice choose(const LayoutRequest& request) override {
    LayoutChoice choice{.attrs = request.attrs};
    for (const TensorType& type : request.in) choice.in.push_back(type.layout);
    return choice;
  }
};

std::string names(std::string_view text, const Wishes& wishes) {
  std::string all;
  for (const Pass& pass : passes_for(parse_fusion(text), wishes)) {
    all += std::string(all.empty() ? "" : " ") + std::string(pass.name);
    EXPECT_FALSE(pass.summary.empty());
  }
  return all;
}

TEST(FusionChoice, ChosenPassesRunBetweenThoseThatAlwaysDo) {
  Indifferent chooser;
  EXPECT_EQ(names("off", {.layouts = &chooser}), "simplify schedule");
  EXPECT_EQ(names("fold_sgd,epilogue", {.layouts = &chooser}),
            "simplify epilogue fold_sgd schedule");
  EXPECT_EQ(names("on", {.layouts = &chooser}),
            "simplify epilogue loss_grad relu_grad bias_grad fold_sgd multi_tensor pointwise "
            "layout schedule");
  EXPECT_EQ(names("-multi_tensor,-layout", {.layouts = &chooser}),
            "simplify epilogue loss_grad relu_grad bias_grad fold_sgd pointwise schedule");
  EXPECT_EQ(names("layout", {.layouts = &chooser}), "simplify layout schedule");
  EXPECT_EQ(names("layout", {}), "simplify schedule") << "the backend has no wishes";
}

TEST(FusionChoice, WhatWaitsForAWishRunsWhereItIsChosenAndWishedFor) {
  const Wishes wishes{.relu_mask = true, .small_product = 1};
  EXPECT_EQ(names("on", wishes),
            "simplify epilogue loss_grad relu_grad bias_grad fold_sgd multi_tensor relu_mask "
            "small_update pointwise schedule");
  EXPECT_EQ(names("relu_mask,small_update", wishes), "simplify relu_mask small_update schedule");
  EXPECT_EQ(names("relu_mask,small_update", {}), "simplify schedule");
  EXPECT_EQ(names("relu_mask,small_update", {.relu_mask = true}), "simplify relu_mask schedule");
  EXPECT_EQ(names("-relu_mask,-small_update,-pointwise", wishes),
            "simplify epilogue loss_grad relu_grad bias_grad fold_sgd multi_tensor schedule");
  EXPECT_EQ(names("off", wishes), "simplify schedule");
}

}  // namespace
}  // namespace stepscope
