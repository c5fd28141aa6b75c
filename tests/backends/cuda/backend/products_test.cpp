// Products on the simulated cuBLASLt against plain loops in double: each op, transposed or not, odd
// sizes, every activation; where the workspace lies, how often an algorithm is asked for, what is
// refused.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/products.h"

#include "ops/ir/op_def.h"
#include "tests/backends/cuda/backend/products_case.h"
#include "tests/backends/cuda/sim/fixture.h"
#include "tests/support/errors.h"

namespace stepscope::cuda {
namespace {

using products::Case;
using products::Result;
using test::error_of;

class ProductsTest : public cudasim::SimTest {
 protected:
  static std::uint32_t calls(const Products& made, const Case& product) {
    return made.make(products::site_of(product))->calls();
  }
};

constexpr std::array kSizes = {products::Sizes{1, 1, 1},    products::Sizes{3, 7, 5},
                               products::Sizes{17, 65, 64}, products::Sizes{64, 2, 1},
                               products::Sizes{1, 129, 33}, products::Sizes{65, 1, 3}};

TEST_F(ProductsTest, AgreeWithPlainLoops) {
  const Products made(Tf32::off);
  int cases = 0;
  for (const products::Sizes& sizes : kSizes) {
    for (Case product : products::all_of(sizes)) {
      SCOPED_TRACE(products::text_of(product));
      const Result result = products::run(made, product);
      EXPECT_EQ(products::difference(product, result), "");
      EXPECT_EQ(result.counted.library_calls, 1U);
      EXPECT_EQ(result.counted.own_calls, products::own_calls(product));
      ++cases;
    }
  }
  EXPECT_EQ(cases, 6 * (4 + 4 * 4 + 4 + 2 + 4 + 2));
}

TEST_F(ProductsTest, GiveTheSameBitsAgain) {
  const Case product{OpKind::Linear, {17, 65, 64}, true, false, Activation::tanh};
  const Result first = products::run(Products(Tf32::off), product);
  cudasim::set_orders(cudasim::Order::descending, cudasim::Order::seeded);
  cudasim::set_schedule(cudasim::Schedule::seeded);
  EXPECT_EQ(products::run(Products(Tf32::off), product).outputs, first.outputs);
}

TEST_F(ProductsTest, SumsAreSplitOnlyWhereThatIsAskedFor) {
  const Case product{OpKind::MatMul, {3, 512, 5}};
  EXPECT_EQ(Products(Tf32::off).make(products::site_of(product))->needs().scratch, 0U);
  const Products split(Tf32::off, SplitK::on);
  const std::unique_ptr<Kernel> kernel = split.make(products::site_of(product));
  EXPECT_GE(kernel->needs().scratch, 2 * 3 * 5 * sizeof(float));
  const Result result = products::run(split, product);
  EXPECT_EQ(products::difference(product, result), "");
  EXPECT_NE(result.outputs, products::run(Products(Tf32::off), product).outputs);
}

TEST_F(ProductsTest, TheWorkspaceIsTheScratch) {
  const Products split(Tf32::off, SplitK::on);
  const Case product{OpKind::MatMul, {3, 512, 5}};
  EXPECT_EQ(error_of([&] { products::run(split, product, products::Scratch::missing); }),
            "device: cublasLtMatmul of MatMul 3x512x5: CUBLAS_STATUS_INVALID_VALUE (7)");
}

TEST_F(ProductsTest, AnAlgorithmIsAskedForOnce) {
  const Products made(Tf32::off);
  const auto asked = [] { return cudasim::calls_of("cublasLtMatmulAlgoGetHeuristic"); };
  const OpSite site = products::site_of({OpKind::MatMul, {3, 7, 5}});
  const auto first = made.make(site);
  const auto second = made.make(site);
  EXPECT_EQ(asked(), 1U);
  made.make(products::site_of({OpKind::MatMul, {3, 7, 5}, true}));
  made.make(products::site_of({OpKind::Linear, {3, 7, 5}}));
  EXPECT_EQ(asked(), 3U);
}

TEST_F(ProductsTest, ColumnSumsAreOwnWhereTheLibraryHasNone) {
  for (const OpKind kind : {OpKind::MatMulBiasGrad, OpKind::MatMulUpdate}) {
    SCOPED_TRACE(name(kind));
    Case product{kind, {17, 65, 33}, true};
    product.sums = true;
    const Products made(Tf32::off);
    cudasim::fail_call("cublasLtMatmulAlgoGetHeuristic", CUBLAS_STATUS_NOT_SUPPORTED);
    EXPECT_EQ(calls(made, product), 2U);
    const Result result = products::run(made, product);  // as it was chosen
    EXPECT_EQ(products::difference(product, result), "");
    EXPECT_EQ(result.counted.own_calls, 1U);
    EXPECT_EQ(calls(Products(Tf32::off), product), 1U);
  }
}

// What the heuristic offers is taken only if the library says of it that it runs: the second here.
TEST_F(ProductsTest, OffersAreChecked) {
  const Products split(Tf32::off, SplitK::on);
  const OpSite site = products::site_of({OpKind::MatMul, {3, 512, 5}});
  cudasim::fail_call("cublasLtMatmulAlgoCheck", CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(split.make(site)->needs().scratch, 0U);
  EXPECT_EQ(cudasim::calls_of("cublasLtMatmulAlgoCheck"), 2U);
  const Products other(Tf32::off, SplitK::on);
  cudasim::fail_call("cublasLtMatmulAlgoCheck", CUBLAS_STATUS_ARCH_MISMATCH);
  EXPECT_EQ(other.make(site)->needs().scratch, 0U);
  EXPECT_EQ(cudasim::calls_of("cublasLtMatmulAlgoCheck"), 4U);
}

// Where all are refused, what the check said; a check that failed is no refusal.
TEST_F(ProductsTest, RefusedOffersTellTheStatusOfTheCheck) {
  const OpSite site = products::site_of({OpKind::MatMul, {3, 512, 5}});
  for (const auto& [status, text] :
       {std::pair{CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED"},
        {CUBLAS_STATUS_ARCH_MISMATCH, "CUBLAS_STATUS_ARCH_MISMATCH"}}) {
    cudasim::fail_call("cublasLtMatmulAlgoCheck", status);
    EXPECT_EQ(error_of([&] { Products(Tf32::off).make(site); }),
              fmt::format("unsupported: cuda-sim: MatMul 3x512x5: cuBLASLt has no algorithm for it "
                          "({}, 1 algorithms)",
                          text));
  }
  cudasim::fail_call("cublasLtMatmulAlgoCheck", CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(error_of([&] { Products(Tf32::off).make(site); }),
            "device: cublasLtMatmulAlgoCheck: CUBLAS_STATUS_INVALID_VALUE (7)");
}

// Relu's mask and the gradient that reads it: a call of the library each, and a bit an element in
// rows of 128.
TEST_F(ProductsTest, MasksAreTheLibrarys) {
  const Products made(Tf32::off);
  const auto f32 = [](Shape shape) { return TensorType{shape, DType::f32}; };
  for (const std::int64_t N : {1, 128, 129}) {
    const TensorType mask{{3, N}, DType::u8};
    const auto forward = made.make({OpKind::LinearReluMask,
                                    MatMulAttrs{.activation = Activation::relu},
                                    {f32({3, 7}), f32({7, N}), f32({N})},
                                    {f32({3, N}), mask}});
    EXPECT_EQ(forward->calls(), 1U);
    EXPECT_EQ(forward->needs().saved, N == 129 ? 3U * 32U : 3U * 16U);
    const auto backward = made.make(
        {OpKind::MatMulMaskGrad, MatMulAttrs{}, {f32({3, 7}), f32({7, N}), mask}, {f32({3, N})}});
    EXPECT_EQ(backward->calls(), 1U);
    EXPECT_EQ(backward->needs().saved, 0U);
  }
}

// A status of the library that hides a lost device says what to do.
TEST_F(ProductsTest, StatusOfALostDeviceSaysSo) {
  EXPECT_EQ(error_of([] { check_lt(CUBLAS_STATUS_EXECUTION_FAILED, "cublasLtMatmul"); }),
            "device: cublasLtMatmul: CUBLAS_STATUS_EXECUTION_FAILED (13)");
  cudasim::fail_call("cudaDeviceSynchronize", cudaErrorIllegalAddress);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(error_of([] { check_lt(CUBLAS_STATUS_EXECUTION_FAILED, "cublasLtMatmul"); }),
            "device: cublasLtMatmul: CUBLAS_STATUS_EXECUTION_FAILED (13); a kernel that was "
            "submitted earlier failed, and this process can use the device no more: start it "
            "again, under compute-sanitizer to find the kernel");
}

TEST_F(ProductsTest, MakesProductsAlone) {
  const TensorType four{{4}, DType::f32};
  EXPECT_EQ(Products(Tf32::off).make({OpKind::Relu, {}, {four}, {four}}), nullptr);
}

TEST_F(ProductsTest, RefusalsNameOpAndReason) {
  const Products made(Tf32::off);
  OpSite site = products::site_of({OpKind::MatMul, {3, 7, 5}});
  site.in[1].dtype = DType::f64;
  EXPECT_EQ(error_of([&] { made.make(site); }),
            "unsupported: cuda-sim: MatMul on f64, only f32 is; take the reference backend");
  site = products::site_of({OpKind::Linear, {3, 7, 5}, false, true, Activation::relu});
  cudasim::fail_call("cublasLtMatmulAlgoGetHeuristic", CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(error_of([&] { made.make(site); }),
            "unsupported: cuda-sim: Linear 3x7x5, b transposed, with a bias and relu: cuBLASLt has "
            "no algorithm for it (CUBLAS_STATUS_NOT_SUPPORTED, 0 algorithms)");
  EXPECT_EQ(error_of([&] { made.make(site); }),  // what was answered once stays
            "unsupported: cuda-sim: Linear 3x7x5, b transposed, with a bias and relu: cuBLASLt has "
            "no algorithm for it (CUBLAS_STATUS_NOT_SUPPORTED, 0 algorithms)");
  cudasim::fail_call("cudaLaunchKernelExC", cudaErrorLaunchOutOfResources);
  EXPECT_EQ(error_of([&] {
              products::run(made, {OpKind::MatMulReluGrad, {3, 7, 5}});
            }),
            "device: own kernel of MatMulReluGrad 3x7x5: too many resources requested for launch "
            "(cudaErrorLaunchOutOfResources, 701)");
  const OpSite large = products::site_of({OpKind::MatMulReluGrad, {1 << 16, 1, 1 << 16}});
  EXPECT_EQ(error_of([&] { made.make(large); }),
            "unsupported: cuda-sim: MatMulReluGrad on {65536, 65536}, own kernels take tensors of "
            "up to 2147483647 elements");
}

// The simulator has no TF32.
TEST_F(ProductsTest, Tf32IsAskedOfTheLibrary) {
  const Products made(Tf32::on);
  EXPECT_EQ(error_of([&] {
              made.make(products::site_of({OpKind::MatMul, {3, 7, 5}}));
            }),
            "unsupported: cuda-sim: MatMul 3x7x5: cuBLASLt has no algorithm for it with TF32 "
            "(CUBLAS_STATUS_NOT_SUPPORTED, 0 algorithms)");
}

TEST_F(ProductsTest, FailuresNameCallOrProduct) {
  constexpr int kInternal = CUBLAS_STATUS_INTERNAL_ERROR;
  cudasim::fail_call("cublasLtCreate", CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(error_of([] { Products(Tf32::off); }),
            "device: cublasLtCreate: CUBLAS_STATUS_NOT_INITIALIZED (1)");
  const Products made(Tf32::off);
  const Case product{OpKind::MatMulUpdate, {3, 7, 5}};
  for (const char* call : {"cublasLtMatmulDescInit", "cublasLtMatmulDescSetAttribute",
                           "cublasLtMatrixLayoutInit", "cublasLtMatmulPreferenceInit",
                           "cublasLtMatmulAlgoGetHeuristic", "cublasLtMatmulAlgoCheck"}) {
    cudasim::fail_call(call, kInternal);
    EXPECT_EQ(error_of([&] { products::run(made, product); }),
              std::string("device: ") + call + ": CUBLAS_STATUS_INTERNAL_ERROR (14)");
  }
  cudasim::fail_call("cublasLtMatmul", kInternal);
  EXPECT_EQ(error_of([&] { products::run(made, product); }),
            "device: cublasLtMatmul of MatMulUpdate 3x7x5, subtracted: "
            "CUBLAS_STATUS_INTERNAL_ERROR (14)");
  EXPECT_EQ(products::difference(product, products::run(made, product)), "");
}

TEST_F(ProductsTest, TellTheVersionOfTheLibrary) {
  EXPECT_EQ(Products(Tf32::off).version(),
            fmt::format("{}.{}.{}", CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH));
}

}  // namespace
}  // namespace stepscope::cuda
