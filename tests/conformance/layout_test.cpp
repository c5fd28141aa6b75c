// Ops on images in the channel-blocked layouts that the CPU backends share (backends/cpu/layout.h):
// every case of an op that takes other layouts, with its images reordered by the backend's own
// Reorder. Values within the bound of the op, and zeros in the padding of what is blocked.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cstring>
#include <set>

#include "ops/ir/op_def.h"
#include "tests/conformance/cells.h"
#include "tests/conformance/compare.h"

namespace stepscope::conformance {
namespace {

// Weights have layouts of the library's own, not these.
bool is_weight(OpKind kind, std::size_t input) {
  const std::set<OpKind> with_weights = {OpKind::Conv2d, OpKind::Conv2dBias,
                                         OpKind::Conv2dInputGrad, OpKind::Conv2dInputReluGrad};
  return input == 1 && with_weights.count(kind) != 0;
}

bool is_blocked(OpKind kind, std::size_t input, const TensorType& type) {
  return (op_def(kind).any_layout >> input & 1U) != 0 && type.shape.rank() == 4 &&
         is_floating(type.dtype) && !is_weight(kind, input);
}

Attrs with_layout(OpKind kind, Attrs attrs, LayoutId layout) {
  if (auto* forward = std::get_if<Conv2dAttrs>(&attrs)) forward->layout = layout;
  auto* backward = std::get_if<Conv2dGradAttrs>(&attrs);
  const bool of_image = kind == OpKind::Conv2dInputGrad || kind == OpKind::Conv2dInputReluGrad;
  if (backward != nullptr && of_image) backward->layout = layout;
  return attrs;
}

// The case with its images, and those of its sources, in the layout.
OpCase in_layout(const OpEntry& op, const OpCase& op_case, LayoutId layout) {
  const Elements elements = draw_inputs(op, op_case);
  OpCase made{op_case.name, with_layout(op.kind, op_case.attrs, layout), {}};
  for (std::size_t i = 0; i < op_case.in.size(); ++i) {
    const Operand& operand = op_case.in[i];
    if (const Source* source = operand.source.get(); source != nullptr) {
      made.in.push_back(made_by(source->kind,
                                in_layout(entry_of(source->kind), source->op_case, layout),
                                source->output));
      continue;
    }
    Operand written{operand.type, nullptr, elements[i], nullptr};
    made.in.push_back(is_blocked(op.kind, i, operand.type)
                          ? made_by(OpKind::Reorder, {"image", ReorderAttrs{layout}, {written}}, 0)
                          : std::move(written));
  }
  return made;
}

// Reads a {N, ceil(C / b), H, W, b} value; its padding must be there and be zero.
std::vector<double> unblocked(const TensorType& type, const Bytes& bytes) {
  const std::int64_t b = static_cast<std::int64_t>(type.layout);
  const std::int64_t C = type.shape[1];
  const std::int64_t blocks = (C + b - 1) / b;
  const std::int64_t inner = type.shape[2] * type.shape[3];
  std::vector<double> elements(static_cast<std::size_t>(type.shape.elements()));
  const std::int64_t stored = type.shape[0] * blocks * inner * b;
  EXPECT_EQ(bytes.size(), static_cast<std::size_t>(stored) * sizeof(float));
  if (bytes.size() != static_cast<std::size_t>(stored) * sizeof(float)) return elements;
  std::int64_t spoiled = 0;
  for (std::int64_t i = 0; i < stored; ++i) {
    float element = 0.0F;
    std::memcpy(&element, bytes.data() + static_cast<std::size_t>(i) * sizeof(float),
                sizeof(float));
    const std::int64_t c = i / (inner * b) % blocks * b + i % b;
    const std::int64_t n = i / (blocks * inner * b);
    if (c < C) {
      elements[static_cast<std::size_t>((n * C + c) * inner + i / b % inner)] = element;
    } else if (!(element == 0.0F)) {
      ++spoiled;
    }
  }
  EXPECT_EQ(spoiled, 0) << "elements of padding that are not zero";
  return elements;
}

Elements dense_outputs(const OpSite& site, const std::vector<Bytes>& outputs) {
  Elements all = output_elements(site, outputs);
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (site.out[k].layout != LayoutId::row_major) all[k] = unblocked(site.out[k], outputs[k]);
  }
  return all;
}

// NHWC, and blocks of vectors.
std::set<std::int64_t> blocks_of(const OpCase& op_case) {
  std::set<std::int64_t> blocks = {8, 16};
  if (op_case.in[0].type.shape[1] > 1) blocks.insert(op_case.in[0].type.shape[1]);
  return blocks;
}

struct Row {
  std::string backend;
  const OpEntry* op = nullptr;
};

std::vector<Row> rows() {
  std::vector<Row> all;
  for (const std::string& name : backend_names()) {
    for (const OpEntry& op : all_ops()) {
      if (name != "null" && op_def(op.kind).any_layout != 0) all.push_back({name, &op});
    }
  }
  return all;
}

class Layouts : public testing::TestWithParam<Row> {
 protected:
  // Whether the backend has kernels for it.
  bool check(const OpCase& plain, std::int64_t block) {
    const OpEntry& op = *GetParam().op;
    Backend& under_test = backend(GetParam().backend);
    const OpCase blocked = in_layout(op, plain, static_cast<LayoutId>(block));
    const Lowered lowered = lower(under_test, op, blocked);
    if (lowered.kernel == nullptr) {
      reason_ = lowered.reason;
      return false;
    }
    const OpSite& site = lowered.kernel->site();
    const std::vector<Bytes> bytes = input_bytes(under_test, op, blocked);
    const RunResult result = run_op(under_test, *lowered.kernel, bytes);
    for (const std::string& damage : result.damage) ADD_FAILURE() << damage;
    const Elements inputs = draw_inputs(op, plain);
    double worst = 0.0;
    EXPECT_TRUE(within_bound(op, site_of(op, plain), inputs, dense_outputs(site, result.outputs),
                             oracle_outputs(op, plain, inputs), &worst));
    const std::uint32_t in_place = op_def(op.kind).in_place & lowered.kernel->needs().in_place;
    for (std::size_t i = 0; i < site.in.size(); ++i) {
      if ((in_place >> i & 1U) == 0 || site.in[i] != site.out[0]) continue;
      const RunResult over =
          run_op(under_test, *lowered.kernel, bytes, {.in_place = static_cast<int>(i)});
      EXPECT_EQ(over.outputs, result.outputs) << "in place of input " << i;
    }
    return true;
  }

  std::string reason_;
};

TEST_P(Layouts, BlockedByChannels) {
  const OpEntry& op = *GetParam().op;
  std::size_t checked = 0;
  for (const OpCase& op_case : op.table.cases) {
    if (op_case.in[0].type.shape.rank() != 4) continue;
    for (const std::int64_t block : blocks_of(op_case)) {
      SCOPED_TRACE(fmt::format("{} in blocks of {}", op_case.name, block));
      if (check(op_case, block)) ++checked;
    }
  }
  RecordProperty("cells", static_cast<int>(checked));
  if (checked == 0) GTEST_SKIP() << reason_;
}

INSTANTIATE_TEST_SUITE_P(All, Layouts, testing::ValuesIn(rows()), [](const auto& made) {
  return fmt::format("{}_{}", made.param.backend, made.param.op->name);
});

}  // namespace
}  // namespace stepscope::conformance
