// Channel-blocked layouts: every op that takes them computes what it computes on row-major values,
// bit for bit and padding included, on every instruction set.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <string>
#include <vector>

#include "backends/cpu/layout.h"
#include "ops/ir/op_def.h"
#include "tests/backends/cpu/own_backend.h"

namespace stepscope::cpu {
namespace {

// 3 images of 11 channels: the last block of 2, 4, 8 and 16 is padded, that of 11 is not.
const Shape kImages{3, 11, 6, 5};
constexpr std::int64_t kBlocks[] = {2, 3, 4, 8, 11, 16, 32, 255};

struct Case {
  std::string name;
  OpKind kind;
  Attrs attrs;
  int images;         // operands like x; more inputs follow
  bool bias = false;  // {C}
};

std::vector<Case> cases() {
  using enum OpKind;
  const ChainAttrs chain{.count = 3,
                         .steps = {ChainStep{Sigmoid, ChainOperands::current, 0.0},
                                   ChainStep{Add, ChainOperands::current_second, 0.0},
                                   ChainStep{Sigmoid, ChainOperands::current, 0.0}}};
  return {{"Add", Add, {}, 2},
          {"Sub", Sub, {}, 2},
          {"Mul", Mul, {}, 2},
          {"Scale", Scale, ScaleAttrs{0.3}, 1},
          {"Relu", Relu, {}, 1},
          {"ReluGrad", ReluGrad, {}, 2},
          {"Tanh", Tanh, {}, 1},
          {"TanhGrad", TanhGrad, {}, 2},
          {"Sigmoid", Sigmoid, {}, 1},
          {"SigmoidGrad", SigmoidGrad, {}, 2},
          {"PointwiseChain", PointwiseChain, chain, 2},
          {"AddBias", AddBias, {}, 1, true},
          {"AvgPool_2x2", AvgPool, Pool2dAttrs{}, 1},
          {"AvgPool_3x2_p1", AvgPool, Pool2dAttrs{3, 2, 1, 2, 1, 1}, 1},
          {"AvgPoolGrad_2x2", AvgPoolGrad, Pool2dGradAttrs{.height = 12, .width = 11}, 1},
          {"AvgPoolGrad_3x2_p1", AvgPoolGrad, Pool2dGradAttrs{3, 2, 1, 2, 1, 1, 6, 9}, 1}};
}

OpSite site_in(const Case& each, std::int64_t block) {
  std::vector<TensorType> in(static_cast<std::size_t>(each.images), tensor(kImages, block));
  if (each.bias) in.push_back(tensor({kImages[1]}));
  return site_of(each.kind, each.attrs, in);
}

TEST(CpuBlocked, OpsComputeWhatTheyDoOnRowMajorValues) {
  for (const Case& each : cases()) {
    const OpSite rows = site_in(each, 0);
    std::vector<Bytes> inputs;
    for (std::size_t i = 0; i < rows.in.size(); ++i) {
      inputs.push_back(drawn(rows.in[i].shape.elements(), static_cast<std::uint32_t>(i)));
    }
    const Bytes expected = run(rows, inputs, Isa::v2)[0];
    for (const Isa isa : runnable_isas()) {
      EXPECT_EQ(run(rows, inputs, isa)[0], expected) << each.name << " row-major " << name(isa);
      for (const std::int64_t block : kBlocks) {
        std::vector<Bytes> blocked = inputs;
        for (int i = 0; i < each.images; ++i) {
          blocked[static_cast<std::size_t>(i)] =
              in_layout(inputs[static_cast<std::size_t>(i)], kImages, block);
        }
        const OpSite site = site_in(each, block);
        EXPECT_EQ(run(site, blocked, isa)[0], in_layout(expected, site.out[0].shape, block))
            << each.name << " in blocks of " << block << " on " << name(isa);
      }
    }
  }
}

TEST(CpuBlocked, BiasGradSumsEachChannel) {
  const Bytes dy = drawn(kImages.elements(), 1);
  const std::vector<float> values = floats_of(dy);
  std::vector<double> exact(static_cast<std::size_t>(kImages[1]));
  const std::size_t inner = 30, channels = exact.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    exact[i / inner % channels] += double{values[i]};
  }
  for (const std::int64_t block : {0, 1, 2, 3, 4, 8, 11, 16, 32, 255}) {
    const OpSite site = site_of(OpKind::BiasGrad, {}, {tensor(kImages, block)});
    const Bytes input = in_layout(dy, kImages, block);
    const Bytes first = run(site, {input}, Isa::v2)[0];
    for (std::size_t c = 0; c < channels; ++c) {
      EXPECT_NEAR(floats_of(first)[c], exact[c], 1e-5) << c << " in blocks of " << block;
    }
    for (const Isa isa : runnable_isas()) {
      for (const std::size_t offset : {0, 4, 32}) {
        EXPECT_EQ(run(site, {input}, isa, {.offset = offset})[0], first)
            << "blocks of " << block << " on " << name(isa) << " offset " << offset;
      }
    }
  }
}

TEST(CpuBlocked, ReorderMovesBetweenAllLayouts) {
  constexpr std::int64_t kLayouts[] = {0, 1, 2, 3, 4, 8, 11, 16, 17, 32};
  for (const Shape& shape : {kImages, Shape{2, 16, 8, 8}, Shape{1, 1, 3, 7}, Shape{2, 20, 1, 1}}) {
    const Bytes dense = drawn(shape.elements(), 7);
    for (const std::int64_t from : kLayouts) {
      for (const std::int64_t to : kLayouts) {
        const OpSite site = site_of(OpKind::Reorder, ReorderAttrs{static_cast<LayoutId>(to)},
                                    {tensor(shape, from)});
        for (const Isa isa : runnable_isas()) {
          EXPECT_EQ(run(site, {in_layout(dense, shape, from)}, isa)[0], in_layout(dense, shape, to))
              << to_string(shape) << " from " << from << " to " << to << " on " << name(isa);
        }
      }
    }
  }
}

TEST(CpuLayout, CountsThePadding) {
  EXPECT_EQ(channel_block(LayoutId::row_major), 1);
  EXPECT_EQ(channel_block(static_cast<LayoutId>(16)), 16);
  EXPECT_EQ(stored_elements(tensor({2, 5, 3, 4}, 0)), 120);
  EXPECT_EQ(stored_elements(tensor({2, 5, 3, 4}, 5)), 120);
  EXPECT_EQ(stored_elements(tensor({2, 5, 3, 4}, 4)), 2 * 8 * 12);
  EXPECT_EQ(stored_bytes(tensor({2, 5, 3, 4}, 16)), 2U * 16 * 12 * 4);
  EXPECT_EQ(stored_elements(tensor({7})), 7);
}

}  // namespace
}  // namespace stepscope::cpu
