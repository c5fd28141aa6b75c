// Data, launch and plain loops of a product.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/cuda/backend/products_case.h"

#include <cmath>
#include <cstddef>
#include <span>

#include "backends/cuda/memory.h"
#include "backends/cuda/stream.h"
#include "ops/base/philox.h"
#include "ops/ir/op_def.h"

namespace stepscope::cuda::products {
namespace {

using Values = std::vector<float>;

std::size_t first_of(const Case& product) { return product.kind == OpKind::MatMulUpdate ? 1 : 0; }

std::vector<Values> inputs_of(const Case& product) {
  std::vector<Values> inputs;
  for (const TensorType& type : site_of(product).in) {
    Philox random(7, inputs.size());
    Values values(static_cast<std::size_t>(type.shape.elements()));
    for (float& value : values) value = static_cast<float>(random.normal());
    inputs.push_back(std::move(values));
  }
  return inputs;
}

struct Sum {
  double value = 0.0, size = 0.0;
  void add(double term) {
    value += term;
    size += std::abs(term);
  }
};

// Row m, column n of a b.
Sum product_at(const Case& product, const Values& a, const Values& b, std::int64_t m,
               std::int64_t n) {
  const auto& [M, K, N] = product.sizes;
  Sum sum;
  for (std::int64_t k = 0; k < K; ++k) {
    const float left = a[static_cast<std::size_t>(product.transpose_a ? k * M + m : m * K + k)];
    const float right = b[static_cast<std::size_t>(product.transpose_b ? n * K + k : k * N + n)];
    sum.add(double{left} * double{right});
  }
  return sum;
}

// b as it is multiplied is not transposed where its columns are summed.
Sum column_sum(const Case& product, const Values& b, std::int64_t n) {
  Sum sum;
  for (std::int64_t k = 0; k < product.sizes.K; ++k) {
    sum.add(b[static_cast<std::size_t>(k * product.sizes.N + n)]);
  }
  return sum;
}

double activated(Activation activation, double x) {
  switch (activation) {
    case Activation::relu:
      return x > 0 ? x : 0;
    case Activation::tanh:
      return std::tanh(x);
    case Activation::sigmoid:
      return 1 / (1 + std::exp(-x));
    case Activation::none:
      break;
  }
  return x;
}

// What becomes of the product of an element; `i` is its index.
Sum finished(const Case& product, const std::vector<Values>& in, Sum sum, std::size_t i) {
  if (product.kind == OpKind::MatMulUpdate) {
    return {double{in[0][i]} - sum.value, std::abs(double{in[0][i]}) + sum.size};
  }
  if (product.kind == OpKind::Linear) {
    sum.add(in[2][i % in[2].size()]);
    sum.value = activated(product.activation, sum.value);
  }
  if (product.kind == OpKind::MatMulReluGrad && in[2][i] <= 0) return {};
  return sum;
}

std::string off(std::size_t output, std::size_t i, float got, const Sum& want, double roundings) {
  const double function = 16 * 0x1p-24;  // tanh and sigmoid, of a result below 1
  const double bound = roundings * 0x1p-24 * want.size + (want.size == 0 ? 0 : function);
  if (std::abs(got - want.value) <= bound) return {};  // a NaN is not
  return fmt::format("output {}, element {}: got {}, expected {}, bound {}", output, i, got,
                     want.value, bound);
}

}  // namespace

std::vector<Case> all_of(const Sizes& sizes) {
  std::vector<Case> all;
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      for (const OpKind kind : {OpKind::MatMul, OpKind::MatMulReluGrad, OpKind::MatMulUpdate}) {
        all.push_back({kind, sizes, ta, tb});
      }
      for (const Activation each :
           {Activation::none, Activation::relu, Activation::tanh, Activation::sigmoid}) {
        all.push_back({OpKind::Linear, sizes, ta, tb, each});
      }
    }
    all.push_back({OpKind::MatMulBiasGrad, sizes, ta});
    all.push_back({OpKind::MatMulUpdate, sizes, ta, false, Activation::none, true});
  }
  return all;
}

std::string text_of(const Case& product) {
  return fmt::format("{} {}x{}x{}{}{}, activation {}{}", name(product.kind), product.sizes.M,
                     product.sizes.K, product.sizes.N, product.transpose_a ? ", ta" : "",
                     product.transpose_b ? ", tb" : "", name(product.activation),
                     product.sums ? ", sums" : "");
}

OpSite site_of(const Case& product) {
  const auto& [M, K, N] = product.sizes;
  const TensorType a{product.transpose_a ? Shape{K, M} : Shape{M, K}, DType::f32};
  const TensorType b{product.transpose_b ? Shape{N, K} : Shape{K, N}, DType::f32};
  const TensorType c{{M, N}, DType::f32};
  OpSite site{product.kind,
              MatMulAttrs{product.transpose_a, product.transpose_b, product.activation},
              {a, b},
              {}};
  if (product.kind == OpKind::Linear) site.in.push_back({{N}, DType::f32});
  if (product.kind == OpKind::MatMulReluGrad) site.in.push_back(c);
  if (product.kind == OpKind::MatMulUpdate) {
    site.attrs = ProductUpdateAttrs{product.transpose_a, product.transpose_b, product.sums};
    site.in.insert(site.in.begin(), c);
  }
  TypeList out;
  op_def(site.kind).infer(site.in, site.attrs, out);
  site.out.assign(out.begin(), out.end());
  return site;
}

std::uint64_t own_calls(const Case& product) {
  const bool curved =
      product.activation == Activation::tanh || product.activation == Activation::sigmoid;
  return product.kind == OpKind::MatMulReluGrad || curved ? 1 : 0;
}

Result run(const Products& made, const Case& product, Scratch scratch) {
  const std::unique_ptr<Kernel> kernel = made.make(site_of(product));
  std::vector<std::unique_ptr<DeviceMemory>> memory;  // outlives what the stream still has to do
  CudaStream stream;
  std::vector<std::byte*> operands;
  const auto place = [&](std::size_t bytes) {
    memory.push_back(std::make_unique<DeviceMemory>(bytes));
    return memory.back()->data();
  };
  for (const Values& values : inputs_of(product)) {
    const auto bytes = std::as_bytes(std::span(values));
    operands.push_back(place(bytes.size()));
    stream.copy_in(operands.back(), bytes);
  }
  const OpSite& site = kernel->site();
  for (std::size_t k = 0; k < site.out.size(); ++k) {
    const int over = overwritten_input(site.kind, site.attrs, site.in.size(), k);
    operands.push_back(over >= 0 ? operands[static_cast<std::size_t>(over)]
                                 : place(site.out[k].bytes()));
  }
  std::byte* workspace = nullptr;
  if (scratch == Scratch::as_needed && kernel->needs().scratch != 0) {
    workspace = place(kernel->needs().scratch);
  }
  const Counters before = stream.counters();
  stream.submit(kernel->bind(operands.data(), workspace), 0);
  Result result{{}, stream.counters() - before};
  for (std::size_t k = 0; k < site.out.size(); ++k) {
    Values values(site.out[k].bytes() / sizeof(float));
    stream.copy_out(std::as_writable_bytes(std::span(values)), operands[site.in.size() + k]);
    result.outputs.push_back(std::move(values));
  }
  return result;
}

std::string difference(const Case& product, const Result& result) {
  const std::vector<Values> in = inputs_of(product);
  const Values& a = in[first_of(product)];
  const Values& b = in[first_of(product) + 1];
  const auto& [M, K, N] = product.sizes;
  const auto roundings = static_cast<double>(K + 3);
  for (std::int64_t m = 0; m < M; ++m) {
    for (std::int64_t n = 0; n < N; ++n) {
      const auto i = static_cast<std::size_t>(m * N + n);
      const Sum want = finished(product, in, product_at(product, a, b, m, n), i);
      std::string found = off(0, i, result.outputs[0][i], want, roundings);
      if (!found.empty()) return found;
    }
  }
  if (result.outputs.size() == 1) return {};
  for (std::int64_t n = 0; n < N; ++n) {
    const auto i = static_cast<std::size_t>(n);
    std::string found = off(1, i, result.outputs[1][i], column_sum(product, b, n), roundings);
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace stepscope::cuda::products
