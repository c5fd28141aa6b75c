// The settings of ops that take any: one small struct each, and their variant.
// What changes from step to step (rate, step count, random offset) is never an attribute: it is a
// value in device memory.
//
// A struct lists its fields once, in fields(); key words, printed text and comparison of
// descriptions all come from that list. A new struct joins the variant and nothing else.
// Optional settings (activation, layout, tensors, ...) are printed only where they are set.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "ops/ir/activation.h"
#include "ops/ir/chain_attrs.h"
#include "ops/ir/image_attrs.h"
#include "ops/ir/schedule_attrs.h"
#include "ops/ir/types.h"

namespace stepscope {

// A transposed operand is read as its transpose; the memory stays as it is.
struct MatMulAttrs {
  bool transpose_a = false;
  bool transpose_b = false;
  Activation activation = Activation::none;  // of Linear and LinearReluMask; a product has none
  friend bool operator==(const MatMulAttrs&, const MatMulAttrs&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("transpose_a", self.transpose_a);
    visit("transpose_b", self.transpose_b);
    visit("activation", self.activation);
  }
};

// MatMulUpdate; with `bias_grad` it gives the column sums of b as well.
struct ProductUpdateAttrs {
  bool transpose_a = false;
  bool transpose_b = false;
  bool bias_grad = false;
  friend bool operator==(const ProductUpdateAttrs&, const ProductUpdateAttrs&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("transpose_a", self.transpose_a);
    visit("transpose_b", self.transpose_b);
    visit("bias_grad", self.bias_grad);
  }
};

// MatMulSgdUpdate. `bias`: the first of `tensors` parameters is updated by the column sums of b,
// and has no gradient of its own among the operands.
struct SmallUpdateAttrs {
  bool transpose_a = false;
  bool transpose_b = false;
  bool bias = false;
  std::int64_t tensors = 1;
  bool advance_step = false;
  friend bool operator==(const SmallUpdateAttrs&, const SmallUpdateAttrs&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("transpose_a", self.transpose_a);
    visit("transpose_b", self.transpose_b);
    visit("bias", self.bias);
    visit("tensors", self.tensors);
    visit("advance_step", self.advance_step);
  }
};

struct ScaleAttrs {
  double factor = 1.0;
  friend bool operator==(const ScaleAttrs&, const ScaleAttrs&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("factor", self.factor);
  }
};

struct FillAttrs {
  TensorType type;
  double value = 0.0;
  friend bool operator==(const FillAttrs&, const FillAttrs&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("value", self.value);
  }
};

// ReduceSum removes `axis`.
struct ReduceAttrs {
  std::int64_t axis = 0;
  friend bool operator==(const ReduceAttrs&, const ReduceAttrs&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("axis", self.axis);
  }
};

// Broadcast inserts a dimension of `size` at `axis` and repeats the input along it.
struct BroadcastAttrs {
  std::int64_t axis = 0;
  std::int64_t size = 1;
  friend bool operator==(const BroadcastAttrs&, const BroadcastAttrs&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("axis", self.axis);
    visit("size", self.size);
  }
};

// The rows of the result.
struct ScatterAddAttrs {
  std::int64_t rows = 1;
  friend bool operator==(const ScatterAddAttrs&, const ScatterAddAttrs&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("rows", self.rows);
  }
};

struct CastAttrs {
  DType to = DType::f32;
  friend bool operator==(const CastAttrs&, const CastAttrs&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("to", self.to);
  }
};

struct ReorderAttrs {
  LayoutId layout = LayoutId::row_major;  // of the result
  friend bool operator==(const ReorderAttrs&, const ReorderAttrs&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("layout", self.layout);
  }
};

// `tensors`: how many parameters one update op updates.
// `advance_step`: this update also counts the step (see StepCount in ops/defs/updates.cpp). One
// update of a step does, the last, so that counting costs no launch of its own.
//
// `scaled_gradient`: the gradients carry the rate already, so the op takes none.
struct SgdAttrs {
  bool advance_step = false;
  std::int64_t tensors = 1;
  bool scaled_gradient = false;
  friend bool operator==(const SgdAttrs&, const SgdAttrs&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("advance_step", self.advance_step);
    visit("tensors", self.tensors);
    visit("scaled_gradient", self.scaled_gradient);
  }
};

struct MomentumAttrs {
  double mu = 0.9;
  bool advance_step = false;
  std::int64_t tensors = 1;
  friend bool operator==(const MomentumAttrs&, const MomentumAttrs&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("mu", self.mu);
    visit("advance_step", self.advance_step);
    visit("tensors", self.tensors);
  }
};

// Kingma & Ba, "Adam", ICLR 2015, algorithm 1; epsilon stands outside the root.
struct AdamAttrs {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  bool advance_step = false;
  std::int64_t tensors = 1;
  friend bool operator==(const AdamAttrs&, const AdamAttrs&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("beta1", self.beta1);
    visit("beta2", self.beta2);
    visit("epsilon", self.epsilon);
    visit("advance_step", self.advance_step);
    visit("tensors", self.tensors);
  }
};

using Attrs =
    std::variant<std::monostate, MatMulAttrs, ScaleAttrs, FillAttrs, ReduceAttrs, BroadcastAttrs,
                 SgdAttrs, MomentumAttrs, AdamAttrs, ProductUpdateAttrs, Conv2dAttrs,
                 Conv2dGradAttrs, Conv2dUpdateAttrs, Pool2dAttrs, Pool2dGradAttrs, ScatterAddAttrs,
                 CastAttrs, ReorderAttrs, ChainAttrs, SmallUpdateAttrs, ScheduleAttrs>;

// Attributes as words, for keys that are compared and hashed: equal attributes give equal words,
// different ones different words (the first word is the variant's index). Writes at most
// kMaxAttrWords words and returns the end. No allocation.
inline constexpr std::size_t kMaxAttrWords = 2 + 2 * kMaxChainSteps;
std::uint64_t* pack(const Attrs& attrs, std::uint64_t* out);

// `name = value` pairs for people, empty when there are none: transpose_a = true, ...
std::string to_string(const Attrs& attrs);

}  // namespace stepscope
