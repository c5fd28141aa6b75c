// Copying a graph op by op into another: what a pass does when it leaves most of it alone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "ops/ir/graph.h"

namespace stepscope {

// Copies values and ops of `from` into `to`, keeping names, kept marks, phases and declared values.
// A pass copies the ops it leaves alone and maps the values of those it replaces.
class GraphCopy {
 public:
  using TypeMap = std::function<TensorType(const TensorType&)>;

  // Declares the inputs, parameters and states of `from` in `to`; `types` (if given) maps each
  // declared type, the type of each Fill and what each Cast makes.
  GraphCopy(const Graph& from, Graph& to, TypeMap types = {});

  // Appends op `index` of `from`. Requires: its inputs were copied or mapped.
  void copy(std::size_t index);
  // Makes `to_value` stand for `from_value` from now on; carries name and kept mark over. A name
  // that is not kept is carried where it is free and `to_value` has none.
  void map(ValueId from_value, ValueId to_value);
  // What stands for `from_value`; a view is made on first use.
  ValueId operator()(ValueId from_value);
  bool has(ValueId from_value) const;
  // Marks what `from` keeps and was not marked by copy or map: views, declared values. Last call.
  void finish();

 private:
  void carry_marks(ValueId from_value, ValueId to_value);

  const Graph& from_;
  Graph& to_;
  TypeMap types_;
  std::vector<ValueId> mapped_;  // per value of from_
};

// The same graph with its ops in another order. Requires: `order` is a permutation of the op
// indices that keeps every dependency; the result is verified.
Graph reordered(const Graph& graph, std::span<const std::size_t> order);

// The same graph with every f32 value as `dtype`: f64 for gradient checks and golden values.
Graph with_dtype(const Graph& graph, DType dtype);

}  // namespace stepscope
