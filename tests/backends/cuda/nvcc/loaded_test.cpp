// cuBLASLt as the backend loads it: what is said where it is missing, and that the forwards reach
// it.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/cublaslt_loaded.h"

#include <gtest/gtest.h>

#include "backends/cuda/build.h"

namespace stepscope::cuda {
namespace {

TEST(LoadedCublasLt, SaysWhatIsMissing) {
  const CublasLt none = load_cublaslt("libthere-is-no-such.so.13");
  EXPECT_EQ(none.why_not.rfind("libthere-is-no-such.so.13: cannot open shared object file", 0), 0U)
      << none.why_not;
  EXPECT_EQ(none.cublasLtMatmul, nullptr);
}

// A library of that name and of another kind: no function of it is used.
TEST(LoadedCublasLt, NamesAFunctionThatTheLibraryLacks) {
  const CublasLt other = load_cublaslt("libm.so.6");
  EXPECT_NE(other.why_not.find("undefined symbol: cublasLtCreate"), std::string::npos)
      << other.why_not;
  EXPECT_EQ(other.cublasLtCreate, nullptr);
}

TEST(LoadedCublasLt, ForwardsReachIt) {
  if (const auto why = why_no_library()) GTEST_SKIP() << *why;
  EXPECT_EQ(loaded_cublaslt().why_not, "");
  EXPECT_EQ(cublasLtGetVersion() / 10000, static_cast<std::size_t>(kCublasLtMajor));
  EXPECT_STREQ(cublasLtGetStatusName(CUBLAS_STATUS_NOT_SUPPORTED), "CUBLAS_STATUS_NOT_SUPPORTED");
  cublasLtMatmulDescOpaque_t operation{};
  EXPECT_EQ(cublasLtMatmulDescInit(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F),
            CUBLAS_STATUS_SUCCESS);
  const std::int32_t transposed = CUBLAS_OP_T;
  EXPECT_EQ(cublasLtMatmulDescSetAttribute(&operation, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                           sizeof transposed),
            CUBLAS_STATUS_SUCCESS);
  cublasLtMatrixLayoutOpaque_t layout{};
  EXPECT_EQ(cublasLtMatrixLayoutInit(&layout, CUDA_R_32F, 4, 3, 4), CUBLAS_STATUS_SUCCESS);
  cublasLtMatmulPreferenceOpaque_t preference{};
  EXPECT_EQ(cublasLtMatmulPreferenceInit(&preference), CUBLAS_STATUS_SUCCESS);
  const std::uint64_t workspace = 1024;
  EXPECT_EQ(
      cublasLtMatmulPreferenceSetAttribute(&preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                           &workspace, sizeof workspace),
      CUBLAS_STATUS_SUCCESS);
}

TEST(LoadedCublasLt, TheBuildIsForAGpu) {
  EXPECT_EQ(kBuild.name, "cuda");
  EXPECT_FALSE(kBuild.simulated);
}

}  // namespace
}  // namespace stepscope::cuda
