// The table of conformance: per op its cases, its special values and how exactly backends must
// agree. Values, gradients, guard bytes, in-place variants and addresses are checked from it, on
// every backend of the build.
//
// A line of op_list.inc needs a function `OpCases cases_of_Name()` in one of the files cases_*.cpp
// here; a missing one is a link error that names it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ops/base/philox.h"
#include "ops/ir/graph.h"

namespace stepscope::conformance {

// Draws one element.
using Draw = std::function<double(Philox&)>;

Draw normal(double deviation = 1.0);
Draw away_from_zero();  // |x| >= 0.1: no kink of relu within a difference quotient
Draw uniform(double low, double high);
Draw coarse();                   // multiples of 1/2: ties are frequent
Draw spaced();                   // multiples of 1/4 out of many: ties are as good as never
Draw below(std::int64_t bound);  // whole numbers, for labels
Draw constant(double value);

struct Source;

struct Operand {
  TensorType type;
  Draw draw;
  std::vector<double> elements;          // not empty: written by hand, nothing is drawn
  std::shared_ptr<const Source> source;  // not null: made by another op
};
Operand f32(const Shape& shape, Draw draw = normal());
Operand i32(const Shape& shape, Draw draw);

struct OpCase {
  std::string name;  // letters, digits and _; unique within the op
  Attrs attrs;
  std::vector<Operand> in;
  // Differences approach the gradient: nothing drawn lies on a kink or in a tie.
  bool differentiable = true;
};

// An operand that is output `output` of another case, computed by the backend that is given the
// operand: what a kernel saves for a gradient has a format of its own.
struct Source {
  OpKind kind{};
  OpCase op_case;
  std::size_t output = 0;
};
// The type is that of the shape rule.
Operand made_by(OpKind kind, OpCase op_case, std::size_t output);

enum class Agreement {
  bounded,     // within the bound of the oracle
  equal_bits,  // one rounding or none: also the bits of the reference backend in f32
};

// Inputs and expected outputs written by hand, elements in row-major order. NaN equals any NaN;
// a saved output has no elements.
struct SpecialCase {
  struct Values {
    TensorType type;
    std::vector<double> elements;
    std::shared_ptr<const Source> source;  // in place of elements
  };
  std::string name;
  Attrs attrs;
  std::vector<Values> in;
  std::vector<std::vector<double>> out;      // per output
  Agreement agreement = Agreement::bounded;  // equal_bits: exact, though the op may round elsewhere
};

// The inputs of a special case as a case.
OpCase as_case(const SpecialCase& special);

// What a bound is computed from: the site, its inputs and the oracle's outputs in f64. An input
// that another op makes has no elements here, nor has a saved output.
struct Oracle {
  const Attrs& attrs;
  std::span<const TensorType> in_types;
  std::span<const std::vector<double>> in;
  std::span<const std::vector<double>> out;
};

// Largest deviation of each element of an output from the oracle, in any order of summation.
using Bound = std::function<std::vector<double>(const Oracle& oracle, std::size_t output)>;

struct OpCases {
  Agreement agreement = Agreement::bounded;
  Bound bound;
  std::vector<OpCase> cases;
  std::vector<SpecialCase> specials;
  // Bit k: the gradient rule takes a gradient of output k.
  std::uint32_t gradient_through = ~0U;
};

struct OpEntry {
  OpKind kind;
  std::string name;
  OpCases table;
};
// One entry per line of the op list, in its order; made on first use.
const std::vector<OpEntry>& all_ops();
const OpEntry& entry_of(OpKind kind);

// 7x17, or `scalar`.
std::string shape_name(const Shape& shape);

// Odd and even, below and above vector widths, one of each: what pointwise cases run on.
std::span<const Shape> pointwise_shapes();

}  // namespace stepscope::conformance
