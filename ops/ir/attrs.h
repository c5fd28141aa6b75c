// The settings of ops that take any: one small struct each, and their variant.
// What changes from step to step (rate, step count, random offset) is never an attribute: it is a
// value in device memory.
//
// A struct lists its fields once, in fields(); key words, printed text and comparison of
// descriptions all come from that list. A new struct joins the variant and nothing else.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "ops/ir/types.h"

namespace stepscope {

// A transposed operand is read as its transpose; the memory stays as it is.
struct MatMulAttrs {
  bool transpose_a = false;
  bool transpose_b = false;
  friend bool operator==(const MatMulAttrs&, const MatMulAttrs&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("transpose_a", self.transpose_a);
    visit("transpose_b", self.transpose_b);
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

// `advance_step`: this update also counts the step (see StepCount in ops/defs/updates.cpp). One
// update of a step does, the last, so that counting costs no launch of its own.
struct SgdAttrs {
  bool advance_step = false;
  friend bool operator==(const SgdAttrs&, const SgdAttrs&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("advance_step", self.advance_step);
  }
};

struct MomentumAttrs {
  double mu = 0.9;
  bool advance_step = false;
  friend bool operator==(const MomentumAttrs&, const MomentumAttrs&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("mu", self.mu);
    visit("advance_step", self.advance_step);
  }
};

// Kingma & Ba, "Adam", ICLR 2015, algorithm 1; epsilon stands outside the root.
struct AdamAttrs {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  bool advance_step = false;
  friend bool operator==(const AdamAttrs&, const AdamAttrs&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("beta1", self.beta1);
    visit("beta2", self.beta2);
    visit("epsilon", self.epsilon);
    visit("advance_step", self.advance_step);
  }
};

using Attrs = std::variant<std::monostate, MatMulAttrs, ScaleAttrs, FillAttrs, ReduceAttrs,
                           BroadcastAttrs, SgdAttrs, MomentumAttrs, AdamAttrs>;

// Attributes as words, for keys that are compared and hashed: equal attributes give equal words,
// different ones different words (the first word is the variant's index). Writes at most
// kMaxAttrWords words and returns the end. No allocation.
inline constexpr std::size_t kMaxAttrWords = 12;
std::uint64_t* pack(const Attrs& attrs, std::uint64_t* out);

// `name = value` pairs for people, empty when there are none: transpose_a = true, ...
std::string to_string(const Attrs& attrs);

}  // namespace stepscope
