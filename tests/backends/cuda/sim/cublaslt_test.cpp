// Products of the simulated cuBLASLt against a double reference: every epilogue, transposes, sizes
// that are a multiple of nothing, gaps, in place, both algorithms.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <limits>

#include "ops/base/philox.h"
#include "tests/backends/cuda/sim/cublaslt_case.h"
#include "tests/backends/cuda/sim/cublaslt_run.h"
#include "tests/backends/cuda/sim/fixture.h"

namespace stepscope::cudasim {
namespace {

class CublasLt : public SimTest {};

constexpr cublasLtEpilogue_t kEpilogues[] = {
    CUBLASLT_EPILOGUE_DEFAULT,  CUBLASLT_EPILOGUE_RELU,        CUBLASLT_EPILOGUE_BIAS,
    CUBLASLT_EPILOGUE_RELU_AUX, CUBLASLT_EPILOGUE_RELU_BIAS,   CUBLASLT_EPILOGUE_RELU_AUX_BIAS,
    CUBLASLT_EPILOGUE_DRELU,    CUBLASLT_EPILOGUE_DRELU_BGRAD, CUBLASLT_EPILOGUE_BGRADA,
    CUBLASLT_EPILOGUE_BGRADB,
};

void expect_right(const ProductCase& product) {
  SCOPED_TRACE(product.text());
  ProductData after;
  ASSERT_EQ(CUBLAS_STATUS_SUCCESS, run_product(product, after));
  EXPECT_EQ("", difference(product, data_of(product), after));
}

TEST_F(CublasLt, EpiloguesTransposesAndOddSizes) {
  const int sizes[][3] = {{1, 1, 1}, {5, 3, 7}, {4, 4, 4}, {9, 130, 33}, {131, 2, 65}};
  for (const cublasLtEpilogue_t epilogue : kEpilogues) {
    for (const auto& [m, n, k] : sizes) {
      for (int turned = 0; turned < 4; ++turned) {
        ProductCase product{.m = m, .n = n, .k = k};
        product.transpose_a = (turned & 1) != 0;
        product.transpose_b = (turned & 2) != 0;
        product.epilogue = epilogue;
        product.padding = turned;
        expect_right(product);
      }
    }
  }
}

TEST_F(CublasLt, AlphaAndBetaInPlaceAndApart) {
  for (const cublasLtEpilogue_t epilogue : kEpilogues) {
    for (const bool in_place : {false, true}) {
      ProductCase product{.m = 13, .n = 10, .k = 21, .epilogue = epilogue};
      product.alpha = -1.5F;
      product.beta = 0.75F;
      product.in_place = in_place;
      product.padding = 2;
      expect_right(product);
    }
  }
}

TEST_F(CublasLt, RowOrder) {
  for (const cublasLtEpilogue_t epilogue : {CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_RELU}) {
    for (int turned = 0; turned < 4; ++turned) {
      ProductCase product{.m = 6, .n = 11, .k = 9, .rows_first = true, .epilogue = epilogue};
      product.transpose_a = (turned & 1) != 0;
      product.transpose_b = (turned & 2) != 0;
      product.beta = 0.5F;
      product.padding = 3;
      expect_right(product);
    }
  }
}

TEST_F(CublasLt, RandomProducts) {
  Philox random(20);
  const auto below = [&](int end) {
    return static_cast<int>(random.below(static_cast<std::uint64_t>(end)));
  };
  for (int round = 0; round < 150; ++round) {
    ProductCase product{.m = 1 + below(40), .n = 1 + below(40), .k = 1 + below(150)};
    product.transpose_a = below(2) == 0;
    product.transpose_b = below(2) == 0;
    product.epilogue = kEpilogues[below(10)];
    product.alpha = below(2) == 0 ? 1.0F : 0.01F * static_cast<float>(below(200) - 100);
    product.beta = below(2) == 0 ? 0.0F : 0.01F * static_cast<float>(below(200) - 100);
    product.in_place = below(2) == 0;
    product.padding = below(4);
    product.split = below(2) == 0;
    product.seed = random.next_u64();
    expect_right(product);
  }
}

TEST_F(CublasLt, TheSplitSumIsAnotherAlgorithmWithOtherBits) {
  const ProductCase product{.m = 32, .n = 32, .k = 300, .split = true};
  Prepared made(product);
  const auto found = made.algorithms();
  ASSERT_EQ(2U, found.size());
  EXPECT_EQ(std::size_t{2 * 32 * 32 * 4}, found[0].workspaceSize);
  EXPECT_EQ(0U, found[1].workspaceSize);
  std::vector<float> split(made.before.d.data), whole(split);
  ASSERT_EQ(CUBLAS_STATUS_SUCCESS, made.multiply(&found[0].algo));
  made.on_d.read(split.data());
  ASSERT_EQ(CUBLAS_STATUS_SUCCESS, made.multiply(&found[1].algo));
  made.on_d.read(whole.data());
  EXPECT_NE(split, whole);
  std::vector<float> again(whole);
  ASSERT_EQ(CUBLAS_STATUS_SUCCESS, made.multiply(&found[0].algo));
  made.on_d.read(again.data());
  EXPECT_EQ(split, again);
}

TEST_F(CublasLt, TheWorkspaceHoldsNothingAfterwards) {
  Prepared made({.m = 8, .n = 8, .k = 128, .split = true});
  const auto found = made.algorithms(1);
  std::vector<float> workspace(made.workspace_bytes / sizeof(float), 1.0F);
  CUDA_OK(cudaMemcpy(made.workspace, workspace.data(), workspace.size() * sizeof(float),
                     cudaMemcpyHostToDevice));
  ASSERT_EQ(CUBLAS_STATUS_SUCCESS, made.multiply(&found[0].algo));
  made.on_workspace.read(workspace.data());
  EXPECT_TRUE(std::isnan(workspace[0]));
  EXPECT_TRUE(std::isnan(workspace[127]));
  EXPECT_EQ(1.0F, workspace[128]);  // 2 * 8 * 8 were asked for
}

TEST_F(CublasLt, CIsNotReadWhenBetaIsZero) {
  Prepared made({.m = 3, .n = 3, .k = 3});
  const std::vector<float> nans(9, std::numeric_limits<float>::quiet_NaN());
  CUDA_OK(cudaMemcpy(made.on_c.data(), nans.data(), 36, cudaMemcpyHostToDevice));
  ASSERT_EQ(CUBLAS_STATUS_SUCCESS, made.multiply(&made.algorithms(1)[0].algo));
  ProductData after = made.before;
  made.on_d.read(after.d.data.data());
  EXPECT_EQ("", difference(made.product, made.before, after));
}

TEST_F(CublasLt, ReluLetsNaNThroughAndItsMaskHoldsNeitherNaNNorZero) {
  Prepared made({.m = 4, .n = 1, .k = 1, .epilogue = CUBLASLT_EPILOGUE_RELU_AUX});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> left = {nan, 0.0F, -1.0F, 2.0F}, right = {1.0F};
  CUDA_OK(cudaMemcpy(made.on_a.data(), left.data(), 16, cudaMemcpyHostToDevice));
  CUDA_OK(cudaMemcpy(made.on_b.data(), right.data(), 4, cudaMemcpyHostToDevice));
  ASSERT_EQ(CUBLAS_STATUS_SUCCESS, made.multiply(&made.algorithms(1)[0].algo));
  std::vector<float> d(4);
  made.on_d.read(d.data());
  EXPECT_TRUE(std::isnan(d[0]));
  EXPECT_EQ(0.0F, d[1]);
  EXPECT_EQ(0.0F, d[2]);
  EXPECT_EQ(2.0F, d[3]);
  std::vector<std::uint8_t> mask(16);
  made.on_mask.read(mask.data());
  EXPECT_EQ(0x8, mask[0] & 0xF);
}

TEST_F(CublasLt, AlphaAndBetaAreReadAtTheCall) {
  Prepared made({.m = 2, .n = 2, .k = 2});
  float alpha = 1;
  made.alpha = &alpha;
  ASSERT_EQ(CUBLAS_STATUS_SUCCESS, made.multiply(&made.algorithms(1)[0].algo));
  alpha = 100;  // nothing has run yet
  ProductData after = made.before;
  made.on_d.read(after.d.data.data());
  EXPECT_EQ("", difference(made.product, made.before, after));
}

TEST_F(CublasLt, ACapturedProductReadsMemoryAtEachReplay) {
  cudaStream_t stream = nullptr;
  CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  ProductCase product{.m = 5, .n = 6, .k = 7, .epilogue = CUBLASLT_EPILOGUE_RELU_AUX_BIAS};
  Prepared made(product);
  made.stream = stream;
  const cublasLtMatmulAlgo_t algorithm = made.algorithms(1)[0].algo;
  ASSERT_EQ(CUBLAS_STATUS_SUCCESS, made.multiply(&algorithm));  // warm
  CUDA_OK(cudaStreamSynchronize(stream));
  CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  ASSERT_EQ(CUBLAS_STATUS_SUCCESS, made.multiply(&algorithm));
  cudaGraph_t graph = nullptr;
  CUDA_OK(cudaStreamEndCapture(stream, &graph));
  std::size_t nodes = 0;
  CUDA_OK(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT_EQ(1U, nodes);
  cudaGraphExec_t exec = nullptr;
  CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
  CUDA_OK(cudaGraphDestroy(graph));
  for (std::uint64_t seed = 7; seed < 10; ++seed) {
    product.seed = seed;
    const ProductData fresh = data_of(product);
    CUDA_OK(cudaMemcpy(made.on_a.data(), fresh.a.data.data(), fresh.a.data.size() * 4,
                       cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemcpy(made.on_b.data(), fresh.b.data.data(), fresh.b.data.size() * 4,
                       cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemcpy(made.on_bias.data(), fresh.bias.data(), fresh.bias.size() * 4,
                       cudaMemcpyHostToDevice));
    CUDA_OK(cudaStreamSynchronize(nullptr));  // copies from pageable memory may be under way
    CUDA_OK(cudaGraphLaunch(exec, stream));
    CUDA_OK(cudaStreamSynchronize(stream));
    ProductData after = fresh;
    made.on_d.read(after.d.data.data());
    made.on_mask.read(after.mask.data());
    EXPECT_EQ("", difference(product, fresh, after)) << "seed " << seed;
  }
  CUDA_OK(cudaGraphExecDestroy(exec));
  CUDA_OK(cudaStreamDestroy(stream));
  EXPECT_EQ(4U, totals().library_calls);
}

}  // namespace
}  // namespace stepscope::cudasim
