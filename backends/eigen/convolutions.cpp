// Convolutions: which image by which thread, and the own parts around the products.
// SPDX-License-Identifier: Apache-2.0
#include <omp.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <variant>

#include "backends/api/host.h"
#include "backends/api/stream.h"
#include "backends/cpu/kernels.h"
#include "backends/eigen/composed.h"
#include "backends/eigen/kernels/table.h"
#include "backends/eigen/sites.h"

namespace stepscope::eigen {
namespace {

using cpu::Body;

// Of the columns made at once: they are read again by the product, so they must stay in an L2
// cache (1 MiB and more on today's processors).
constexpr std::int64_t kColumnsBytes = 524288;

std::size_t aligned(std::size_t bytes) {
  return (bytes + kHostAlignment - 1) / kHostAlignment * kHostAlignment;
}

// attrs: of any convolution
template <class OwnAttrs>
Convolution convolution(const Shape& x, const Shape& w, const Shape& y, const OwnAttrs& attrs) {
  Convolution site{.N = x[0],
                   .C = x[1],
                   .H = x[2],
                   .W = x[3],
                   .O = y[1],
                   .OH = y[2],
                   .OW = y[3],
                   .KH = w[2],
                   .KW = w[3],
                   .stride_h = attrs.stride_h,
                   .stride_w = attrs.stride_w,
                   .pad_h = attrs.pad_h,
                   .pad_w = attrs.pad_w};
  site.columns_are_x = site.KH == 1 && site.KW == 1 && site.stride_h == 1 && site.stride_w == 1 &&
                       site.pad_h == 0 && site.pad_w == 0;
  const std::int64_t row_bytes = site.C * site.KH * site.KW * site.OW * std::int64_t{sizeof(float)};
  const std::int64_t rows = site.columns_are_x ? site.OH : kColumnsBytes / row_bytes;
  site.rows_per_block = std::clamp<std::int64_t>(rows, 1, site.OH);
  return site;
}

std::size_t columns_bytes(const Convolution& site) {
  if (site.columns_are_x) return 0;
  return aligned(
      static_cast<std::size_t>(site.C * site.KH * site.KW * site.rows_per_block * site.OW) *
      sizeof(float));
}

// More threads than images would have nothing to do.
int team_of(const Convolution& site, int threads) {
  return static_cast<int>(std::min<std::int64_t>(threads, site.N));
}

// Calls visit(image, worker): each worker has a run of images, so that what it adds up depends on
// the number of workers alone.
template <class Visit>
void for_each_image(const Convolution& site, int workers, Visit visit) {
  if (workers == 1) {
    for (std::int64_t n = 0; n < site.N; ++n) visit(n, 0);
    return;
  }
  const int dynamic_before = omp_get_dynamic();
  if (dynamic_before != 0) omp_set_dynamic(0);
#pragma omp parallel num_threads(workers)
  {
    const int worker = omp_get_thread_num();
    const std::int64_t end = site.N * (worker + 1) / workers;
    for (std::int64_t n = site.N * worker / workers; n < end; ++n) visit(n, worker);
  }
  if (dynamic_before != 0) omp_set_dynamic(dynamic_before);
}

// The type of one image of a batch.
TensorType one_image(TensorType batch) {
  batch.shape = {1, batch.shape[1], batch.shape[2], batch.shape[3]};
  return batch;
}

float* f32(std::byte* address) { return reinterpret_cast<float*>(address); }
std::byte* bytes(float* address) { return reinterpret_cast<std::byte*>(address); }

class ConvolutionKernel : public Kernel {
 protected:
  ConvolutionKernel(const OpSite& site, Machine machine, const Convolution& numbers, Needs needs,
                    Function function, std::uint32_t calls)
      : Kernel(site, std::move(needs), function, calls),
        table_(table_of(machine.isa)),
        numbers_(numbers),
        workers_(team_of(numbers, machine.threads)) {}

  void report(const Launch& call, Stream& stream) const {
    stream.made_call(call, CallBy::library);
    for (std::uint32_t own = 1; own < calls(); ++own) stream.made_call(call, CallBy::own);
  }

  float* columns(const Launch& call, int worker) const {
    const std::size_t bytes = columns_bytes(numbers_);
    return bytes == 0 ? nullptr : f32(call.scratch + static_cast<std::size_t>(worker) * bytes);
  }
  std::int64_t x_image() const { return numbers_.C * numbers_.H * numbers_.W; }
  std::int64_t y_image() const { return numbers_.O * numbers_.OH * numbers_.OW; }

  const Table& table_;
  Convolution numbers_;
  int workers_;
};

// Calls of a convolution: the library's, the making of columns if any are made, and `more`.
std::uint32_t calls_of(const Convolution& site, std::uint32_t more) {
  return (site.columns_are_x ? 1U : 2U) + more;
}

Needs columns_of_all(const Convolution& site, int threads) {
  return {.scratch = columns_bytes(site) * static_cast<std::size_t>(team_of(site, threads))};
}

// x, w[, bias] -> y
class Forward final : public ConvolutionKernel {
 public:
  Forward(const OpSite& site, Machine machine, const Convolution& numbers,
          std::optional<Body> activation)
      : ConvolutionKernel(site, machine, numbers, columns_of_all(numbers, machine.threads), launch,
                          calls_of(numbers, activation ? 1 : 0)),
        activation_(activation) {}

 private:
  static void launch(const Launch& call, Stream& stream) {
    const auto& self = static_cast<const Forward&>(*call.kernel);
    self.report(call, stream);
    for_each_image(self.numbers_, self.workers_,
                   [&](std::int64_t n, int worker) { self.run(call, n, worker); });
  }

  void run(const Launch& call, std::int64_t n, int worker) const {
    const bool has_bias = site().in.size() == 3;
    float* y = f32(call.operands[site().in.size()]) + n * y_image();
    table_.convolve(numbers_, f32(call.operands[0]) + n * x_image(), f32(call.operands[1]),
                    has_bias ? f32(call.operands[2]) : nullptr, y, columns(call, worker));
    if (!activation_) return;
    std::byte* const in_place[] = {bytes(y), bytes(y)};
    (*activation_)(in_place, nullptr);
  }

  std::optional<Body> activation_;  // on one image
};

// dy, w[, y] -> dx
class InputGrad final : public ConvolutionKernel {
 public:
  InputGrad(const OpSite& site, Machine machine, const Convolution& numbers,
            std::optional<Body> relu)
      : ConvolutionKernel(site, machine, numbers, columns_of_all(numbers, machine.threads), launch,
                          calls_of(numbers, relu ? 1 : 0)),
        relu_(relu) {}

 private:
  static void launch(const Launch& call, Stream& stream) {
    const auto& self = static_cast<const InputGrad&>(*call.kernel);
    self.report(call, stream);
    for_each_image(self.numbers_, self.workers_,
                   [&](std::int64_t n, int worker) { self.run(call, n, worker); });
  }

  void run(const Launch& call, std::int64_t n, int worker) const {
    float* dx = f32(call.operands[site().in.size()]) + n * x_image();
    table_.convolve_back(numbers_, f32(call.operands[0]) + n * y_image(), f32(call.operands[1]), dx,
                         columns(call, worker));
    if (!relu_) return;
    float* y = f32(call.operands[2]) + n * x_image();
    std::byte* const in_place[] = {bytes(dx), bytes(y), bytes(dx)};
    (*relu_)(in_place, nullptr);
  }

  std::optional<Body> relu_;  // on one image
};

// What is done with the sum over the images, and beside it.
struct WeightGradParts {
  std::optional<Body> merge;      // of the sums of two workers
  std::optional<Body> update;     // W, dw -> W'
  std::optional<Body> bias_grad;  // dy -> db
};

std::uint32_t count(const WeightGradParts& parts, int workers) {
  return (workers > 1 ? 1U : 0U) + (parts.update ? 1U : 0U) + (parts.bias_grad ? 1U : 0U);
}

// [W, ]x, dy -> dw or W'[, db]
class WeightGrad final : public ConvolutionKernel {
 public:
  WeightGrad(const OpSite& site, Machine machine, const Convolution& numbers,
             const WeightGradParts& parts)
      : ConvolutionKernel(site, machine, numbers, needs_of(site, numbers, parts, machine.threads),
                          launch,
                          calls_of(numbers, count(parts, team_of(numbers, machine.threads)))),
        parts_(parts),
        dw_bytes_(aligned(site.out[0].bytes())) {}

 private:
  // A sum for each worker; the first one's lies in dw if there is one.
  static Needs needs_of(const OpSite& site, const Convolution& numbers,
                        const WeightGradParts& parts, int threads) {
    Needs needs = columns_of_all(numbers, threads);
    const int sums = team_of(numbers, threads) - (parts.update ? 0 : 1);
    needs.scratch += static_cast<std::size_t>(sums) * aligned(site.out[0].bytes());
    return needs;
  }

  static void launch(const Launch& call, Stream& stream) {
    const auto& self = static_cast<const WeightGrad&>(*call.kernel);
    self.report(call, stream);
    self.sum_images(call);
    self.finish(call);
  }

  std::byte* sum_of(const Launch& call, int worker) const {
    if (!parts_.update && worker == 0) return call.operands[2];
    const int place = parts_.update ? worker : worker - 1;
    const std::size_t columns = columns_bytes(numbers_) * static_cast<std::size_t>(workers_);
    return call.scratch + columns + static_cast<std::size_t>(place) * dw_bytes_;
  }

  void sum_images(const Launch& call) const {
    const int first = parts_.update ? 1 : 0;  // W stands before x and dy
    const std::size_t dw_bytes = site().out[0].bytes();
    for (int worker = 0; worker < workers_; ++worker) {
      std::memset(sum_of(call, worker), 0, dw_bytes);
    }
    for_each_image(numbers_, workers_, [&](std::int64_t n, int worker) {
      table_.add_weight_grad(numbers_, f32(call.operands[first]) + n * x_image(),
                             f32(call.operands[first + 1]) + n * y_image(),
                             f32(sum_of(call, worker)), columns(call, worker));
    });
  }

  void finish(const Launch& call) const {
    std::byte* const dw = sum_of(call, 0);
    for (int worker = 1; worker < workers_; ++worker) {
      std::byte* const operands[] = {dw, sum_of(call, worker), dw};
      (*parts_.merge)(operands, nullptr);
    }
    const std::size_t inputs = site().in.size();
    if (parts_.update) {
      std::byte* const operands[] = {call.operands[0], dw, call.operands[inputs]};
      (*parts_.update)(operands, nullptr);
    }
    if (parts_.bias_grad) {
      std::byte* const operands[] = {call.operands[inputs - 1], call.operands[inputs + 1]};
      (*parts_.bias_grad)(operands, nullptr);
    }
  }

  WeightGradParts parts_;
  std::size_t dw_bytes_;
};

WeightGradParts parts_of(const OpSite& site, bool update, cpu::Isa isa) {
  const TensorType& w = site.out[0];
  const TensorType& dy = site.in.back();
  WeightGradParts parts;
  parts.merge = cpu::make_body({OpKind::Add, {}, {w, w}, {w}}, isa);
  if (update) parts.update = cpu::make_body({OpKind::Sub, {}, {w, w}, {w}}, isa);
  if (site.out.size() == 2) {
    parts.bias_grad = cpu::make_body({OpKind::BiasGrad, {}, {dy}, {site.out[1]}}, isa);
  }
  return parts;
}

}  // namespace

std::unique_ptr<Kernel> make_convolution(const OpSite& site, Machine machine) {
  const auto& attrs = std::get<Conv2dAttrs>(site.attrs);
  const TensorType& y = site.out[0];
  return std::make_unique<Forward>(site, machine,
                                   convolution(site.in[0].shape, site.in[1].shape, y.shape, attrs),
                                   activation_of(attrs.activation, one_image(y), machine.isa));
}

std::unique_ptr<Kernel> make_input_grad(const OpSite& site, Machine machine) {
  const auto& attrs = std::get<Conv2dGradAttrs>(site.attrs);
  std::optional<Body> relu;
  if (site.kind == OpKind::Conv2dInputReluGrad) {
    const TensorType dx = one_image(site.out[0]);
    relu = cpu::make_body({OpKind::ReluGrad, {}, {dx, dx}, {dx}}, machine.isa);
  }
  return std::make_unique<InputGrad>(
      site, machine, convolution(site.out[0].shape, site.in[1].shape, site.in[0].shape, attrs),
      relu);
}

std::unique_ptr<Kernel> make_weight_grad(const OpSite& site, Machine machine) {
  const bool update = site.kind == OpKind::Conv2dWeightUpdate;
  const Shape& x = site.in[update ? 1 : 0].shape;
  const Shape& dy = site.in[update ? 2 : 1].shape;
  const Shape& w = site.out[0].shape;
  const Convolution numbers = update
                                  ? convolution(x, w, dy, std::get<Conv2dUpdateAttrs>(site.attrs))
                                  : convolution(x, w, dy, std::get<Conv2dGradAttrs>(site.attrs));
  return std::make_unique<WeightGrad>(site, machine, numbers, parts_of(site, update, machine.isa));
}

}  // namespace stepscope::eigen
