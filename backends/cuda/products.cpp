// From the site of a product to its kernel: which problem it is to the library, which own part
// follows.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/products.h"

#include <fmt/format.h>

#include <limits>
#include <map>
#include <utility>
#include <variant>

#include "backends/cuda/build.h"
#include "backends/cuda/products_kernel.h"
#include "backends/cuda/products_library.h"
#include "backends/cuda/site_types.h"
#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope::cuda {
namespace {

bool is_product(OpKind kind) {
  using enum OpKind;
  return kind == MatMul || kind == Linear || kind == LinearReluMask || kind == MatMulReluGrad ||
         kind == MatMulMaskGrad || kind == MatMulBiasGrad || kind == MatMulUpdate;
}

// W stands before a and b of MatMulUpdate.
std::size_t first_operand(const OpSite& site) { return site.kind == OpKind::MatMulUpdate ? 1 : 0; }

Problem problem_of(const OpSite& site) {
  Problem problem;
  if (const auto* update = std::get_if<ProductUpdateAttrs>(&site.attrs)) {
    problem.transpose_a = update->transpose_a;
    problem.transpose_b = update->transpose_b;
    problem.subtracted = true;
  } else {
    const auto& attrs = std::get<MatMulAttrs>(site.attrs);
    problem.transpose_a = attrs.transpose_a;
    problem.transpose_b = attrs.transpose_b;
  }
  const Shape& a = site.in[first_operand(site)].shape;
  problem.M = site.out[0].shape[0];
  problem.N = site.out[0].shape[1];
  problem.K = a[problem.transpose_a ? 0 : 1];
  return problem;
}

bool wants_sums(const OpSite& site) { return site.out.size() == 2; }

// No documentation says whether the library's relu lets a NaN pass, nor that the sums of a
// subtracted product keep their sign. The simulator does both; on a device the special values of
// Linear and MatMulUpdate (tests/conformance) judge it. Should one fail there, it becomes an own
// part, as the gate is.
Epilogue epilogue_of(const OpSite& site) {
  if (site.kind == OpKind::LinearReluMask) return Epilogue::bias_relu_mask;
  if (site.kind == OpKind::MatMulMaskGrad) return Epilogue::mask_gate;
  if (wants_sums(site)) return Epilogue::b_sums;
  if (site.kind != OpKind::Linear) return Epilogue::none;
  const bool relu = std::get<MatMulAttrs>(site.attrs).activation == Activation::relu;
  return relu ? Epilogue::bias_relu : Epilogue::bias;
}

// What follows a product that has all that the library could do for it.
OwnPart own_part_of(const OpSite& site) {
  if (site.kind == OpKind::MatMulReluGrad) return OwnPart::relu_gate;
  if (site.kind != OpKind::Linear) return OwnPart::none;
  switch (std::get<MatMulAttrs>(site.attrs).activation) {
    case Activation::tanh:
      return OwnPart::tanh;
    case Activation::sigmoid:
      return OwnPart::sigmoid;
    case Activation::none:
    case Activation::relu:
      break;
  }
  return OwnPart::none;
}

// What the library may lack for a shape or a type, made of a plainer product and an own part. The
// mask is laid out in one way, so that who writes it and who reads it fall back each on its own.
struct Fallback {
  Epilogue epilogue;
  OwnPart own;
};

std::optional<Fallback> fallback_of(Epilogue epilogue) {
  switch (epilogue) {
    case Epilogue::b_sums:
      return Fallback{Epilogue::none, OwnPart::column_sums};
    case Epilogue::bias_relu_mask:
      return Fallback{Epilogue::bias, OwnPart::relu_mask};
    case Epilogue::mask_gate:
      return Fallback{Epilogue::none, OwnPart::mask_gate};
    case Epilogue::none:
    case Epilogue::bias:
    case Epilogue::bias_relu:
      break;
  }
  return std::nullopt;
}

// Own kernels have indices of 32 bits.
void check_own_part(const OpSite& site, const Problem& problem, OwnPart own) {
  if (own == OwnPart::none) return;
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  const std::int64_t rows = own == OwnPart::column_sums ? problem.K : problem.M;
  check(rows <= kMost / problem.N, Fault::unsupported,
        "{}: {} on {{{}, {}}}, own kernels take tensors of up to {} elements", kBuild.name,
        name(site.kind), rows, problem.N, kMost);
}

}  // namespace

struct Products::Choices {
  struct Choice {
    std::optional<Algorithm> algorithm;
    std::string answer;  // the library's, where there is none
  };
  std::map<Problem, Choice> of;
};

Products::Products(Tf32 tf32, SplitK split_k)
    : tf32_(tf32), split_k_(split_k), choices_(std::make_unique<Choices>()) {
  check_lt(cublasLtCreate(handle_.fill()), "cublasLtCreate");
}
Products::~Products() = default;

std::optional<Algorithm> Products::choose(const Problem& problem, LibraryProduct& product,
                                          std::string& answer) const {
  const auto found = choices_->of.find(problem);
  if (found != choices_->of.end()) {
    answer = found->second.answer;
    return found->second.algorithm;
  }
  const std::optional<Algorithm> chosen = product.choose(handle_.value(), split_k_, answer);
  choices_->of.emplace(problem, Choices::Choice{chosen, answer});
  return chosen;
}

std::unique_ptr<Kernel> Products::make(const OpSite& site) const {
  if (!is_product(site.kind)) return nullptr;
  check_types(site);
  Problem problem = problem_of(site);
  problem.epilogue = epilogue_of(site);
  OwnPart own = own_part_of(site);
  auto product = std::make_unique<LibraryProduct>(problem, tf32_);
  std::string answer;
  std::optional<Algorithm> chosen = choose(problem, *product, answer);
  if (const auto other = fallback_of(problem.epilogue); !chosen && other) {
    problem.epilogue = other->epilogue;
    own = other->own;
    product = std::make_unique<LibraryProduct>(problem, tf32_);
    chosen = choose(problem, *product, answer);
  }
  check(chosen.has_value(), Fault::unsupported,
        "{}: {} {}: cuBLASLt has no algorithm for it{} ({})", kBuild.name, name(site.kind),
        to_text(problem), tf32_ == Tf32::on ? " with TF32" : "", answer);
  check_own_part(site, problem, own);
  return std::make_unique<ProductKernel>(site, handle_.value(), problem, std::move(product),
                                         *chosen, own);
}

std::string Products::version() const {
  const std::size_t number = cublasLtGetVersion();  // major, minor and patch, two digits for each
  return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

}  // namespace stepscope::cuda
