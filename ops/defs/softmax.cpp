// Softmax with cross-entropy as one op, its gradient, and the two ways of reading logits: argmax
// and the count of correct rows. The loss is the mean over the rows that are not left out: a row
// with label -1 (ops/ir/labels.h) adds nothing to the loss and gets a gradient of zero.
// SPDX-License-Identifier: Apache-2.0
#include "ops/base/check.h"
#include "ops/ir/build.h"
#include "ops/ir/op_def.h"

namespace stepscope::defs {
namespace {

void check_logits(std::string_view op, const TensorType& logits) {
  check_rank(op, logits, 2, "logits");
  check_floating(op, logits, "logits");
}

void check_labels(std::string_view op, const TensorType& labels, const TensorType& logits) {
  check_rank(op, labels, 1, "labels");
  check(labels.dtype == DType::i32, Fault::bad_graph, "{}: labels must be i32, got {}", op,
        to_string(labels));
  check(labels.shape[0] == logits.shape[0], Fault::bad_graph, "{}: {} labels for {} rows", op,
        labels.shape[0], logits.shape[0]);
}

// logits {N, C}, labels i32{N} -> loss {}, probabilities {N, C}
// The loss is NaN when every row is left out. A row left out has probabilities as any other.
void infer_loss(std::span<const TensorType> in, const Attrs&, TypeList& out) {
  check_arity("SoftmaxCrossEntropy", in, 2);
  check_logits("SoftmaxCrossEntropy", in[0]);
  check_labels("SoftmaxCrossEntropy", in[1], in[0]);
  out.push_back({Shape{}, in[0].dtype});
  out.push_back(in[0]);
}

void vjp_loss(GradientRequest& request) {
  const bool through_probabilities = request.output_grads[1].valid();
  check(!through_probabilities, Fault::unsupported,
        "SoftmaxCrossEntropy: no gradient rule through the probabilities, only through the loss");
  if (!request.wanted[0]) return;
  request.input_grads[0] =
      request.graph.apply1(OpKind::SoftmaxCrossEntropyGrad,
                           {request.op.outputs[1], request.op.inputs[1], request.output_grads[0]});
}

// Per element: subtract the maximum, compare for it, exp, add, divide.
Work work_loss(std::span<const TensorType> in, std::span<const TensorType> out, const Attrs&) {
  return {5.0 * static_cast<double>(in[0].shape.elements()), bytes_moved(in, out)};
}

// probabilities {N, C}, labels i32{N}[, d_loss {}] -> d_logits {N, C}
//   = (probabilities - one_hot(labels)) / rows not left out [* d_loss]; without d_loss it is one.
// A row left out is exactly zero, whatever its probabilities and d_loss are.
void infer_grad(std::span<const TensorType> in, const Attrs&, TypeList& out) {
  check(in.size() == 2 || in.size() == 3, Fault::bad_graph,
        "SoftmaxCrossEntropyGrad: takes 2 or 3 inputs, got {}", in.size());
  check_logits("SoftmaxCrossEntropyGrad", in[0]);
  check_labels("SoftmaxCrossEntropyGrad", in[1], in[0]);
  if (in.size() == 3) {
    check_same_type("SoftmaxCrossEntropyGrad", in[2], {Shape{}, in[0].dtype});
  }
  out.push_back(in[0]);
}

Work work_grad(std::span<const TensorType> in, std::span<const TensorType> out, const Attrs&) {
  return {2.0 * static_cast<double>(in[0].shape.elements()), bytes_moved(in, out)};
}

// x {N, C} -> i32{N}: the first largest; a NaN counts as largest.
void infer_argmax(std::span<const TensorType> in, const Attrs&, TypeList& out) {
  check_arity("Argmax", in, 1);
  check_logits("Argmax", in[0]);
  out.push_back({{in[0].shape[0]}, DType::i32});
}

// logits {N, C}, labels i32{N} -> i32{}: rows with argmax(row) == label; never a row left out
void infer_correct(std::span<const TensorType> in, const Attrs&, TypeList& out) {
  check_arity("CorrectCount", in, 2);
  check_logits("CorrectCount", in[0]);
  check_labels("CorrectCount", in[1], in[0]);
  out.push_back({Shape{}, DType::i32});
}

Work work_compare(std::span<const TensorType> in, std::span<const TensorType> out, const Attrs&) {
  return {static_cast<double>(in[0].shape.elements()), bytes_moved(in, out)};
}

}  // namespace

extern const OpDef SoftmaxCrossEntropy = {
    .name = "SoftmaxCrossEntropy", .infer = infer_loss, .vjp = vjp_loss, .work = work_loss};

extern const OpDef SoftmaxCrossEntropyGrad = {
    .name = "SoftmaxCrossEntropyGrad", .infer = infer_grad, .work = work_grad, .in_place = 0b001};

extern const OpDef Argmax = {.name = "Argmax", .infer = infer_argmax, .work = work_compare};

extern const OpDef CorrectCount = {
    .name = "CorrectCount", .infer = infer_correct, .work = work_compare};

}  // namespace stepscope::defs
