// Pools of images and their gradients.
// MaxPool takes the first largest element of a window in row-major order; a NaN counts as largest;
// padding never wins. AvgPool counts padding as zeros and always divides by the size of the window.
// SPDX-License-Identifier: Apache-2.0
#include "ops/defs/pooling.h"

#include <limits>

#include "ops/base/check.h"
#include "ops/defs/convolution.h"

namespace stepscope::defs {
namespace {

constexpr char kMaxPool[] = "MaxPool", kMaxPoolGrad[] = "MaxPoolGrad";
constexpr char kAvgPool[] = "AvgPool", kAvgPoolGrad[] = "AvgPoolGrad";

std::int64_t pooled_along(std::string_view op, std::int64_t size, std::int64_t kernel,
                          std::int64_t stride, std::int64_t pad) {
  check(kernel >= 1 && stride >= 1 && pad >= 0, Fault::bad_graph,
        "{}: kernels and strides must be 1 or more and paddings 0 or more, got {}, {} and {}", op,
        kernel, stride, pad);
  check_window(op, size, kernel, stride, pad);
  check(pad < kernel, Fault::bad_graph,
        "{}: a padding of {} leaves windows of {} with nothing but padding", op, pad, kernel);
  check(kernel <= size + 2 * pad, Fault::bad_graph,
        "{}: a window of {} does not fit {} padded by {}", op, kernel, size, pad);
  return (size + 2 * pad - kernel) / stride + 1;
}

// The places of a window are numbered in 32 bits: so MaxPool saves which one won.
template <class Window>
Shape pooled(std::string_view op, const Shape& x, const Window& window) {
  const Shape y{x[0], x[1], pooled_along(op, x[2], window.kernel_h, window.stride_h, window.pad_h),
                pooled_along(op, x[3], window.kernel_w, window.stride_w, window.pad_w)};
  constexpr std::int64_t kMostPlaces = std::numeric_limits<std::int32_t>::max();
  check(window.kernel_h <= kMostPlaces / window.kernel_w, Fault::bad_graph,
        "{}: a window of {} x {} has more than {} places", op, window.kernel_h, window.kernel_w,
        kMostPlaces);
  return y;
}

// x {N, C, H, W} -> y {N, C, OH, OW}
template <const char* kName>
void infer_pool(std::span<const TensorType> in, const Attrs& attrs, TypeList& out) {
  check_arity(kName, in, 1);
  check_image(kName, in[0], "x");
  const auto& window = own_attrs<Pool2dAttrs>(kName, attrs);
  out.push_back({pooled(kName, in[0].shape, window), in[0].dtype, in[0].layout});
}

// ..., saved: where each window's winner lies
void infer_max_pool(std::span<const TensorType> in, const Attrs& attrs, TypeList& out) {
  infer_pool<kMaxPool>(in, attrs, out);
  out.push_back({out[0].shape, DType::u8});
}

template <OpKind kGrad>
void vjp_pool(GradientRequest& request) {
  const auto& window = std::get<Pool2dAttrs>(request.op.attrs);
  const Shape& x = request.graph.type(request.op.inputs[0]).shape;
  const Pool2dGradAttrs attrs{.kernel_h = window.kernel_h,
                              .kernel_w = window.kernel_w,
                              .stride_h = window.stride_h,
                              .stride_w = window.stride_w,
                              .pad_h = window.pad_h,
                              .pad_w = window.pad_w,
                              .height = x[2],
                              .width = x[3]};
  std::vector<ValueId> inputs = {request.output_grads[0]};
  if (kGrad == OpKind::MaxPoolGrad) inputs.push_back(request.op.outputs[1]);
  request.input_grads[0] = request.graph.apply1(kGrad, std::move(inputs), attrs);
}

template <class Window>
double window_places(const Attrs& attrs) {
  const auto& window = std::get<Window>(attrs);
  return static_cast<double>(window.kernel_h) * static_cast<double>(window.kernel_w);
}

Work work_pool(std::span<const TensorType> in, std::span<const TensorType> out,
               const Attrs& attrs) {
  return {window_places<Pool2dAttrs>(attrs) * static_cast<double>(out[0].shape.elements()),
          bytes_moved(in, out)};
}

void infer_max_pool_grad(std::span<const TensorType> in, const Attrs& attrs, TypeList& out) {
  check_arity(kMaxPoolGrad, in, 2);
  append_max_pool_grad(kMaxPoolGrad, in, attrs, out);
}

Work work_max_pool_grad(std::span<const TensorType> in, std::span<const TensorType> out,
                        const Attrs&) {
  return {static_cast<double>(in[0].shape.elements()), bytes_moved(in, out)};
}

void infer_avg_pool_grad(std::span<const TensorType> in, const Attrs& attrs, TypeList& out) {
  check_arity(kAvgPoolGrad, in, 1);
  append_pool_grad(kAvgPoolGrad, in, attrs, out);
}

Work work_avg_pool_grad(std::span<const TensorType> in, std::span<const TensorType> out,
                        const Attrs& attrs) {
  return {window_places<Pool2dGradAttrs>(attrs) * static_cast<double>(in[0].shape.elements()),
          bytes_moved(in, out)};
}

}  // namespace

// dy {N, C, OH, OW} -> dx {N, C, height, width}
void append_pool_grad(std::string_view op, std::span<const TensorType> in, const Attrs& attrs,
                      TypeList& out) {
  check_image(op, in[0], "dy");
  const auto& window = own_attrs<Pool2dGradAttrs>(op, attrs);
  const Shape dx{in[0].shape[0], in[0].shape[1], window.height, window.width};
  const Shape y = pooled(op, dx, window);
  check(y == in[0].shape, Fault::bad_graph, "{}: dy is {}, an input of {} gives {}", op,
        to_string(in[0].shape), to_string(dx), to_string(y));
  out.push_back({dx, in[0].dtype, in[0].layout});
}

void append_max_pool_grad(std::string_view op, std::span<const TensorType> in, const Attrs& attrs,
                          TypeList& out) {
  append_pool_grad(op, in, attrs, out);
  check(in[1] == TensorType({in[0].shape, DType::u8}), Fault::bad_graph,
        "{}: the saved winners are {}, expected are those of {}", op, to_string(in[1]),
        to_string(in[0].shape));
}

extern const OpDef MaxPool = {.name = "MaxPool",
                              .infer = infer_max_pool,
                              .vjp = vjp_pool<OpKind::MaxPoolGrad>,
                              .work = work_pool,
                              .attrs = Pool2dAttrs{},
                              .any_layout = 0b1,
                              .saved_outputs = 0b10};

extern const OpDef MaxPoolGrad = {.name = "MaxPoolGrad",
                                  .infer = infer_max_pool_grad,
                                  .work = work_max_pool_grad,
                                  .attrs = Pool2dGradAttrs{},
                                  .any_layout = 0b1};

extern const OpDef AvgPool = {.name = "AvgPool",
                              .infer = infer_pool<kAvgPool>,
                              .vjp = vjp_pool<OpKind::AvgPoolGrad>,
                              .work = work_pool,
                              .attrs = Pool2dAttrs{},
                              .any_layout = 0b1};

extern const OpDef AvgPoolGrad = {.name = "AvgPoolGrad",
                                  .infer = infer_avg_pool_grad,
                                  .work = work_avg_pool_grad,
                                  .attrs = Pool2dGradAttrs{},
                                  .any_layout = 0b1};

}  // namespace stepscope::defs
