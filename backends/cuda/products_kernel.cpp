// Launching a product.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/products_kernel.h"

#include <fmt/format.h>

#include <utility>

#include "backends/cuda/device/operands.h"
#include "backends/cuda/device/run.h"
#include "backends/cuda/stream.h"
#include "ops/ir/op_def.h"

namespace stepscope::cuda {

namespace {

Needs needs_of(OpKind kind, const Problem& problem, const Algorithm& algorithm) {
  const bool saves = kind == OpKind::LinearReluMask;
  return {.scratch = algorithm.workspace,
          .saved = saves ? mask_bytes(problem.M, problem.N) : 0,
          .output_bytes = {}};
}

Mask mask_of(const Problem& problem) {
  const auto columns = static_cast<std::uint32_t>(problem.N);
  const std::size_t row_bytes = mask_bytes(1, problem.N);
  return {static_cast<std::uint32_t>(problem.M), columns, blocks_for(columns, 32),
          static_cast<std::uint32_t>(row_bytes / sizeof(std::uint32_t))};
}

}  // namespace

ProductKernel::ProductKernel(const OpSite& site, cublasLtHandle_t handle, const Problem& problem,
                             std::unique_ptr<LibraryProduct> product, const Algorithm& algorithm,
                             OwnPart own)
    : Kernel(site, needs_of(site.kind, problem, algorithm), launch, own == OwnPart::none ? 1 : 2),
      handle_(handle),
      problem_(problem),
      product_(std::move(product)),
      algorithm_(algorithm),
      own_(own),
      first_(site.kind == OpKind::MatMulUpdate ? 1 : 0),
      library_what_(fmt::format("cublasLtMatmul of {} {}", name(site.kind), to_text(problem))),
      own_what_(fmt::format("own kernel of {} {}", name(site.kind), to_text(problem))) {}

std::size_t ProductKernel::saved_bytes(std::size_t i) const {
  return site().kind == OpKind::MatMulMaskGrad && i == 2 ? mask_bytes(problem_.M, problem_.N) : 0;
}

// MatMul          a, b -> c
// Linear          a, b, bias -> y
// LinearReluMask  a, b, bias -> y, mask
// MatMulReluGrad  a, b, y -> dx
// MatMulMaskGrad  a, b, mask -> dx
// MatMulBiasGrad  a, b -> c, sums
// MatMulUpdate    W, a, b -> W', which lies over W[, sums]
ProductOperands ProductKernel::operands_of(const Launch& call) const {
  std::byte* const* outputs = call.operands + site().in.size();
  ProductOperands operands{.a = call.operands[first_],
                           .b = call.operands[first_ + 1],
                           .w = problem_.subtracted ? call.operands[0] : nullptr,
                           .c = outputs[0],
                           .workspace = call.scratch};
  switch (problem_.epilogue) {
    case Epilogue::none:
      break;
    case Epilogue::bias_relu_mask:
      operands.mask = outputs[1];
      [[fallthrough]];
    case Epilogue::bias:
    case Epilogue::bias_relu:
      operands.vector = call.operands[2];
      break;
    case Epilogue::mask_gate:
      operands.mask = call.operands[2];
      break;
    case Epilogue::b_sums:
      operands.vector = outputs[1];
      break;
  }
  return operands;
}

cudaError_t ProductKernel::run_own(const Launch& call, Submission& to) const {
  std::byte* const* outputs = call.operands + site().in.size();
  std::byte* const c = outputs[0];
  const Elements all{static_cast<std::uint32_t>(problem_.M * problem_.N)};
  switch (own_) {
    case OwnPart::none:
      break;
    case OwnPart::relu_gate: {
      std::byte* const operands[] = {c, call.operands[2], c};
      return run_relu_grad(to, operands, all);
    }
    case OwnPart::tanh: {
      std::byte* const operands[] = {c, c};
      return run_tanh(to, operands, all);
    }
    case OwnPart::sigmoid: {
      std::byte* const operands[] = {c, c};
      return run_sigmoid(to, operands, all);
    }
    case OwnPart::column_sums: {
      std::byte* const operands[] = {call.operands[first_ + 1], outputs[1]};
      return run_reduce_sum(
          to, operands,
          {1, static_cast<std::uint32_t>(problem_.K), static_cast<std::uint32_t>(problem_.N)});
    }
    case OwnPart::relu_mask: {
      std::byte* const operands[] = {c, outputs[1]};
      return run_relu_mask(to, operands, mask_of(problem_));
    }
    case OwnPart::mask_gate: {
      std::byte* const operands[] = {c, call.operands[2]};
      return run_mask_gate(to, operands, mask_of(problem_));
    }
  }
  return cudaSuccess;
}

void ProductKernel::launch(const Launch& call, Stream& stream) {
  const auto& self = static_cast<const ProductKernel&>(*call.kernel);
  auto& cuda = static_cast<CudaStream&>(stream);
  const ProductOperands operands = self.operands_of(call);
  cuda.report(call, CallBy::library);
  cuda.library_call([&](cudaStream_t to) {
    check_lt(self.product_->run(self.handle_, self.algorithm_, operands, to), self.library_what_);
  });
  if (self.own_ == OwnPart::none) return;
  cuda.report(call, CallBy::own);
  check_cuda(self.run_own(call, cuda.submission()), self.own_what_);
}

}  // namespace stepscope::cuda
