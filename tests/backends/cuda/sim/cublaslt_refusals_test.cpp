// What the simulated cuBLASLt refuses: sizes, leading dimensions, workspaces, algorithms of other
// products, addresses, and what it does not simulate. A device could differ in the code of some.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <functional>

#include "tests/backends/cuda/sim/cublaslt_run.h"
#include "tests/backends/cuda/sim/fixture.h"

namespace stepscope::cudasim {
namespace {

class CublasLtRefusals : public SimTest {};

constexpr cublasStatus_t kInvalid = CUBLAS_STATUS_INVALID_VALUE;
constexpr cublasStatus_t kUnsupported = CUBLAS_STATUS_NOT_SUPPORTED;

const ProductCase kPlain{.m = 8, .n = 6, .k = 10};

// The product, spoiled in one place, is refused by the heuristic, and by a product that brings the
// algorithm of the unspoiled one.
void expect_both_refused(const ProductCase& product, cublasStatus_t status,
                         const std::function<void(Prepared&)>& spoil) {
  Prepared made(product);
  const auto found = made.algorithms(1);
  ASSERT_EQ(1U, found.size());
  spoil(made);
  ASSERT_EQ(CUBLAS_STATUS_SUCCESS, made.status);
  EXPECT_TRUE(made.algorithms(1).empty());
  EXPECT_EQ(status, made.status);
  EXPECT_EQ(status, made.multiply(&found[0].algo));
}

// It is refused only when it is to run: the heuristic knows no addresses.
void expect_multiply_refused(const ProductCase& product, cublasStatus_t status,
                             const std::function<void(Prepared&)>& spoil) {
  Prepared made(product);
  const auto found = made.algorithms(1);
  ASSERT_EQ(1U, found.size());
  spoil(made);
  ASSERT_EQ(CUBLAS_STATUS_SUCCESS, made.status);
  EXPECT_EQ(status, made.multiply(&found[0].algo));
}

TEST_F(CublasLtRefusals, SizesThatDoNotMeet) {
  const auto resize = [](auto member, cublasLtMatrixLayoutAttribute_t attribute, std::uint64_t to) {
    return [=](Prepared& made) { made.set(made.*member, attribute, to); };
  };
  const auto rows = CUBLASLT_MATRIX_LAYOUT_ROWS, columns = CUBLASLT_MATRIX_LAYOUT_COLS;
  expect_both_refused(kPlain, kInvalid, resize(&Prepared::a_layout, columns, 9));
  expect_both_refused(kPlain, kInvalid, resize(&Prepared::b_layout, rows, 9));
  expect_both_refused(kPlain, kInvalid, resize(&Prepared::b_layout, columns, 5));
  expect_both_refused(kPlain, kInvalid, resize(&Prepared::c_layout, rows, 7));
  expect_both_refused(kPlain, kInvalid, resize(&Prepared::c_layout, columns, 7));
  expect_both_refused(kPlain, kInvalid, resize(&Prepared::d_layout, rows, 7));
  expect_both_refused(kPlain, kInvalid, resize(&Prepared::d_layout, columns, 0));
  expect_both_refused(kPlain, kInvalid, [](Prepared& made) {
    made.set(CUBLASLT_MATMUL_DESC_TRANSA, std::int32_t{CUBLAS_OP_T});
  });
  expect_both_refused(kPlain, kInvalid, [](Prepared& made) {  // C and D agree with each other
    made.set(made.c_layout, CUBLASLT_MATRIX_LAYOUT_ROWS, std::uint64_t{7});
    made.set(made.d_layout, CUBLASLT_MATRIX_LAYOUT_ROWS, std::uint64_t{7});
  });
  expect_both_refused(kPlain, kInvalid, [](Prepared& made) {  // nothing times nothing
    for (auto layout : {made.b_layout, made.c_layout, made.d_layout}) {
      made.set(layout, CUBLASLT_MATRIX_LAYOUT_COLS, std::uint64_t{0});
    }
  });
}

TEST_F(CublasLtRefusals, LeadingDimensions) {
  for (const bool rows_first : {false, true}) {
    ProductCase product = kPlain;
    product.rows_first = rows_first;
    for (auto member :
         {&Prepared::a_layout, &Prepared::b_layout, &Prepared::c_layout, &Prepared::d_layout}) {
      expect_both_refused(product, kInvalid, [&](Prepared& made) {
        made.set(made.*member, CUBLASLT_MATRIX_LAYOUT_LD, std::int64_t{5});
      });
    }
  }
}

TEST_F(CublasLtRefusals, MasksNeedALeadingDimensionOf128BitsThatHoldsARow) {
  for (const auto epilogue : {CUBLASLT_EPILOGUE_RELU_AUX, CUBLASLT_EPILOGUE_RELU_AUX_BIAS,
                              CUBLASLT_EPILOGUE_DRELU, CUBLASLT_EPILOGUE_DRELU_BGRAD}) {
    ProductCase product{.m = 130, .n = 3, .k = 4, .epilogue = epilogue};
    for (const std::int64_t ld : {0, 128, 130, 192, -256}) {
      expect_both_refused(product, kInvalid, [&](Prepared& made) {
        made.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, ld);
      });
    }
  }
}

TEST_F(CublasLtRefusals, WhatIsNotSimulatedSaysSo) {
  const auto in_operation = [](cublasLtMatmulDescAttributes_t attribute, std::int32_t value) {
    return [=](Prepared& made) { made.set(attribute, value); };
  };
  const auto in_layout = [](cublasLtMatrixLayoutAttribute_t attribute, std::int32_t value) {
    return [=](Prepared& made) { made.set(made.a_layout, attribute, value); };
  };
  expect_both_refused(kPlain, kUnsupported,
                      in_operation(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_GELU));
  expect_both_refused(kPlain, kUnsupported, in_operation(CUBLASLT_MATMUL_DESC_EPILOGUE, 3));
  expect_both_refused(
      kPlain, kUnsupported,
      in_operation(CUBLASLT_MATMUL_DESC_POINTER_MODE, CUBLASLT_POINTER_MODE_DEVICE));
  expect_both_refused(
      kPlain, kUnsupported,
      in_operation(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, CUBLAS_COMPUTE_32F_FAST_TF32));
  expect_both_refused(kPlain, kUnsupported,
                      in_operation(CUBLASLT_MATMUL_DESC_SCALE_TYPE, CUDA_R_64F));
  expect_both_refused(kPlain, kUnsupported,
                      in_operation(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, CUDA_R_16F));
  expect_both_refused(kPlain, kUnsupported, in_operation(CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_C));
  expect_both_refused(kPlain, kUnsupported, in_layout(CUBLASLT_MATRIX_LAYOUT_TYPE, CUDA_R_16F));
  expect_both_refused(kPlain, kUnsupported, in_layout(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 2));
  expect_both_refused(kPlain, kUnsupported,
                      in_layout(CUBLASLT_MATRIX_LAYOUT_ORDER, CUBLASLT_ORDER_COL32));
}

TEST_F(CublasLtRefusals, MixedOrdersAndRowOrderWithAVectorOrAMask) {
  ProductCase square{.m = 8, .n = 8, .k = 8};
  expect_both_refused(square, kUnsupported, [](Prepared& made) {
    made.set(made.b_layout, CUBLASLT_MATRIX_LAYOUT_ORDER, std::int32_t{CUBLASLT_ORDER_ROW});
  });
  square.rows_first = true;
  for (const auto epilogue : {CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_RELU_AUX,
                              CUBLASLT_EPILOGUE_DRELU, CUBLASLT_EPILOGUE_BGRADB}) {
    expect_both_refused(square, kUnsupported, [&](Prepared& made) {
      made.set(CUBLASLT_MATMUL_DESC_EPILOGUE, std::uint32_t{epilogue});
    });
  }
}

TEST_F(CublasLtRefusals, TheHeuristicsArguments) {
  Prepared made(kPlain);
  cublasLtMatmulHeuristicResult_t result;
  int count = 0;
  const auto ask = [&](cublasLtHandle_t handle, cublasLtMatrixLayout_t a, int room, int* counted) {
    return cublasLtMatmulAlgoGetHeuristic(handle, made.operation, a, made.b_layout, made.c_layout,
                                          made.d_layout, made.preference, room, &result, counted);
  };
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, ask(made.handle, made.a_layout, 1, &count));
  EXPECT_EQ(CUBLAS_STATUS_NOT_INITIALIZED, ask(nullptr, made.a_layout, 1, &count));
  EXPECT_EQ(kInvalid, ask(made.handle, nullptr, 1, &count));
  EXPECT_EQ(kInvalid, ask(made.handle, made.a_layout, 0, &count));
  EXPECT_EQ(kInvalid, ask(made.handle, made.a_layout, 1, nullptr));
  made.set(CUBLASLT_MATMUL_PREF_SEARCH_MODE, std::uint32_t{CUBLASLT_SEARCH_LIMITED_BY_ALGO_ID});
  EXPECT_EQ(kUnsupported, ask(made.handle, made.a_layout, 1, &count));
  EXPECT_EQ(0, count);
}

TEST_F(CublasLtRefusals, TheWorkspaceDecidesWhichAlgorithmsThereAre) {
  Prepared made({.m = 16, .n = 16, .k = 64, .split = true});
  const std::uint64_t needs = 2 * 16 * 16 * 4;
  made.set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, needs - 1);
  EXPECT_EQ(1U, made.algorithms().size());
  made.set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, needs);
  EXPECT_EQ(2U, made.algorithms().size());
  made.set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
           std::uint32_t{CUBLASLT_REDUCTION_SCHEME_NONE});
  EXPECT_EQ(1U, made.algorithms().size());
}

TEST_F(CublasLtRefusals, Workspaces) {
  const ProductCase split{.m = 16, .n = 16, .k = 64, .split = true};
  expect_multiply_refused(split, kInvalid, [](Prepared& made) { made.workspace_bytes = 2047; });
  expect_multiply_refused(split, kInvalid, [](Prepared& made) { made.workspace = nullptr; });
  expect_multiply_refused(split, kInvalid, [](Prepared& made) {
    made.workspace = static_cast<char*>(made.workspace) + 8;
    made.workspace_bytes -= 8;
  });
  expect_multiply_refused(split, kInvalid, [](Prepared& made) {  // over the factor it reads
    made.workspace = const_cast<void*>(made.a);
    made.workspace_bytes = 2048;
  });
}

TEST_F(CublasLtRefusals, AlgorithmsOfOtherProducts) {
  Prepared made(kPlain);
  EXPECT_EQ(kUnsupported, made.multiply(nullptr));  // the library's own choice
  cublasLtMatmulAlgo_t blank;
  std::memset(&blank, 0, sizeof blank);
  EXPECT_EQ(kInvalid, made.multiply(&blank));
  cublasLtMatmulAlgo_t spoiled = made.algorithms(1)[0].algo;
  spoiled.data[2] += 256;
  EXPECT_EQ(kInvalid, made.multiply(&spoiled));
  const auto other = [&](ProductCase product) {
    Prepared foreign(product);
    const auto found = foreign.algorithms(1);
    ASSERT_EQ(1U, found.size());
    EXPECT_EQ(kInvalid, made.multiply(&found[0].algo)) << product.text();
  };
  other({.m = 8, .n = 6, .k = 11});
  other({.m = 8, .n = 6, .k = 10, .transpose_a = true});
  other({.m = 8, .n = 6, .k = 10, .epilogue = CUBLASLT_EPILOGUE_RELU});
  other({.m = 8, .n = 6, .k = 10, .padding = 4});
  made.set(made.b_layout, CUBLASLT_MATRIX_LAYOUT_LD, std::int64_t{10 + 1});
  other(kPlain);
  made.set(made.b_layout, CUBLASLT_MATRIX_LAYOUT_LD, std::int64_t{10});
  Prepared same(kPlain);  // an algorithm may be stored, and used in another process
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, made.multiply(&same.algorithms(1)[0].algo));
}

TEST_F(CublasLtRefusals, AnAlgorithmOfTheTransposedSquare) {
  for (const auto transpose : {CUBLASLT_MATMUL_DESC_TRANSA, CUBLASLT_MATMUL_DESC_TRANSB}) {
    Prepared made({.m = 8, .n = 8, .k = 8});
    const cublasLtMatmulAlgo_t algorithm = made.algorithms(1)[0].algo;
    made.set(transpose, std::int32_t{CUBLAS_OP_T});
    EXPECT_EQ(kInvalid, made.multiply(&algorithm));
  }
}

// The changed product is one that the library takes, with an algorithm of its own.
void expect_algorithm_foreign(const ProductCase& product,
                              const std::function<void(Prepared&)>& change) {
  Prepared made(product);
  const auto found = made.algorithms(1);
  ASSERT_EQ(1U, found.size());
  change(made);
  ASSERT_EQ(CUBLAS_STATUS_SUCCESS, made.status);
  EXPECT_EQ(kInvalid, made.multiply(&found[0].algo));
  EXPECT_EQ(1U, made.algorithms(1).size());
}

TEST_F(CublasLtRefusals, AnAlgorithmOfAnotherOrderLeadingDimensionOrMask) {
  const ProductCase square{.m = 8, .n = 8, .k = 8};
  expect_algorithm_foreign(square, [](Prepared& made) {
    for (auto layout : {made.a_layout, made.b_layout, made.c_layout, made.d_layout}) {
      made.set(layout, CUBLASLT_MATRIX_LAYOUT_ORDER, std::int32_t{CUBLASLT_ORDER_ROW});
    }
  });
  for (auto member : {&Prepared::a_layout, &Prepared::c_layout, &Prepared::d_layout}) {
    expect_algorithm_foreign(kPlain, [&](Prepared& made) {
      made.set(made.*member, CUBLASLT_MATRIX_LAYOUT_LD, std::int64_t{8 + 1});
    });
  }
  ProductCase masked = kPlain;
  masked.epilogue = CUBLASLT_EPILOGUE_RELU_AUX;
  expect_algorithm_foreign(masked, [](Prepared& made) {
    made.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, std::int64_t{256});
  });
}

TEST_F(CublasLtRefusals, InPlaceCAndDHaveOneLayout) {
  for (const float beta : {0.0F, 1.0F}) {
    ProductCase product = kPlain;
    product.in_place = true;
    product.beta = beta;
    Prepared made(product);
    EXPECT_EQ(CUBLAS_STATUS_SUCCESS, made.multiply(&made.algorithms(1)[0].algo));
    made.set(made.c_layout, CUBLASLT_MATRIX_LAYOUT_LD, std::int64_t{8 + 1});
    const auto found = made.algorithms(1);
    ASSERT_EQ(1U, found.size());
    EXPECT_EQ(kInvalid, made.multiply(&found[0].algo)) << "beta " << beta;
  }
}

TEST_F(CublasLtRefusals, Addresses) {
  const auto shifted = [](const void* data) {
    return const_cast<void*>(static_cast<const void*>(static_cast<const float*>(data) + 1));
  };
  expect_multiply_refused(kPlain, kInvalid, [](Prepared& made) { made.a = nullptr; });
  expect_multiply_refused(kPlain, kInvalid, [](Prepared& made) { made.c = nullptr; });
  expect_multiply_refused(kPlain, kInvalid, [](Prepared& made) { made.alpha = nullptr; });
  expect_multiply_refused(kPlain, kInvalid, [](Prepared& made) { made.beta = nullptr; });
  expect_multiply_refused(kPlain, kInvalid, [&](Prepared& made) { made.b = shifted(made.b); });
  expect_multiply_refused(kPlain, kInvalid,
                          [](Prepared& made) { made.d = const_cast<void*>(made.a); });
  ProductCase summed = kPlain;  // C beside D, not on it
  summed.beta = 1;
  expect_multiply_refused(summed, kInvalid,
                          [](Prepared& made) { made.c = static_cast<const float*>(made.d) + 4; });
  ProductCase bias = kPlain;
  bias.epilogue = CUBLASLT_EPILOGUE_RELU_AUX_BIAS;
  const void* none = nullptr;
  for (const auto pointer :
       {CUBLASLT_MATMUL_DESC_BIAS_POINTER, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER}) {
    expect_multiply_refused(bias, kInvalid, [&](Prepared& made) { made.set(pointer, none); });
    expect_multiply_refused(bias, kInvalid, [&](Prepared& made) {
      made.set(pointer, shifted(made.on_workspace.data()));
      made.workspace = nullptr;
      made.workspace_bytes = 0;
    });
  }
}

TEST_F(CublasLtRefusals, APoorerAlignmentMustHaveBeenAskedFor) {
  Prepared made(kPlain);
  const OnDevice wide(nullptr, 4096);
  made.b = static_cast<const float*>(wide.data()) + 1;
  EXPECT_EQ(kInvalid, made.multiply(&made.algorithms(1)[0].algo));
  made.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, std::uint32_t{4});
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, made.multiply(&made.algorithms(1)[0].algo));
  made.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, std::uint32_t{2});
  EXPECT_TRUE(made.algorithms(1).empty());
  EXPECT_EQ(kUnsupported, made.status);
}

TEST_F(CublasLtRefusals, HandlesAndStreams) {
  Prepared made(kPlain);
  const cublasLtMatmulAlgo_t algorithm = made.algorithms(1)[0].algo;
  const cublasLtHandle_t handle = made.handle;
  made.handle = nullptr;
  EXPECT_EQ(CUBLAS_STATUS_NOT_INITIALIZED, made.multiply(&algorithm));
  EXPECT_EQ(kInvalid, cublasLtDestroy(nullptr));
  EXPECT_EQ(kInvalid, cublasLtCreate(nullptr));
  cublasLtHandle_t other = nullptr;
  ASSERT_EQ(CUBLAS_STATUS_SUCCESS, cublasLtCreate(&other));
  ASSERT_EQ(CUBLAS_STATUS_SUCCESS, cublasLtDestroy(other));
  EXPECT_EQ(kInvalid, cublasLtDestroy(other));
  made.handle = handle;
  cudaStream_t stream = nullptr;
  CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CUDA_OK(cudaStreamDestroy(stream));
  made.stream = stream;
  EXPECT_EQ(kInvalid, made.multiply(&algorithm));
}

TEST_F(CublasLtRefusals, Descriptors) {
  Prepared made(kPlain);
  std::int32_t value = CUBLAS_OP_T;
  const auto set = [&](int attribute, const void* from, std::size_t size) {
    return cublasLtMatmulDescSetAttribute(
        made.operation, static_cast<cublasLtMatmulDescAttributes_t>(attribute), from, size);
  };
  EXPECT_EQ(kInvalid, set(CUBLASLT_MATMUL_DESC_TRANSA, &value, 8));
  EXPECT_EQ(kInvalid, set(CUBLASLT_MATMUL_DESC_TRANSA, &value, 0));
  EXPECT_EQ(kInvalid, set(CUBLASLT_MATMUL_DESC_TRANSA, nullptr, 4));
  EXPECT_EQ(kInvalid, set(9, &value, 4));  // no attribute of the library
  EXPECT_EQ(kInvalid, set(39, &value, 4));
  EXPECT_EQ(kUnsupported, set(CUBLASLT_MATMUL_DESC_FILL_MODE, &value, 4));
  EXPECT_EQ(kUnsupported, set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, &value, 1));
  cublasLtMatmulDescOpaque_t operation;
  std::memset(&operation, 0xAA, sizeof operation);
  EXPECT_EQ(kInvalid, cublasLtMatmulDescSetAttribute(&operation, CUBLASLT_MATMUL_DESC_TRANSA,
                                                     &value, sizeof value));
  EXPECT_EQ(CUBLAS_STATUS_ALLOC_FAILED,
            cublasLtMatmulDescInit_internal(&operation, 8, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  EXPECT_EQ(kInvalid, cublasLtMatmulDescCreate(nullptr, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, cublasLtMatmulDescDestroy(nullptr));
  EXPECT_EQ(kInvalid, cublasLtMatmulDescDestroy(&operation));  // not made by Create
}

TEST_F(CublasLtRefusals, ADestroyedDescriptor) {
  Prepared made(kPlain);
  const cublasLtMatmulAlgo_t algorithm = made.algorithms(1)[0].algo;
  cublasLtMatrixLayout_t layout = nullptr;
  ASSERT_EQ(CUBLAS_STATUS_SUCCESS, cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, 8, 6, 8));
  std::swap(layout, made.d_layout);
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, made.multiply(&algorithm));
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, cublasLtMatrixLayoutDestroy(made.d_layout));
  EXPECT_EQ(kInvalid, made.multiply(&algorithm));
  EXPECT_EQ(kInvalid, cublasLtMatrixLayoutDestroy(made.d_layout));
  std::swap(layout, made.d_layout);
}

TEST_F(CublasLtRefusals, DescriptorsOnTheStackAndCopied) {
  const ProductCase product{.m = 8, .n = 6, .k = 10, .transpose_a = true};
  Prepared made(product);
  cublasLtMatmulDescOpaque_t first, operation;
  ASSERT_EQ(CUBLAS_STATUS_SUCCESS, cublasLtMatmulDescInit(&first, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  std::memcpy(&operation, &first, sizeof first);
  const std::int32_t turned = CUBLAS_OP_T;
  ASSERT_EQ(CUBLAS_STATUS_SUCCESS,
            cublasLtMatmulDescSetAttribute(&operation, CUBLASLT_MATMUL_DESC_TRANSA, &turned, 4));
  cublasLtMatrixLayoutOpaque_t d_layout;
  ASSERT_EQ(CUBLAS_STATUS_SUCCESS, cublasLtMatrixLayoutInit(&d_layout, CUDA_R_32F, 8, 6, 8));
  cublasLtMatmulPreferenceOpaque_t preference;
  ASSERT_EQ(CUBLAS_STATUS_SUCCESS, cublasLtMatmulPreferenceInit(&preference));
  cublasLtMatmulHeuristicResult_t result;
  int count = 0;
  ASSERT_EQ(CUBLAS_STATUS_SUCCESS,
            cublasLtMatmulAlgoGetHeuristic(made.handle, &operation, made.a_layout, made.b_layout,
                                           &d_layout, &d_layout, &preference, 1, &result, &count));
  ASSERT_EQ(1, count);
  ASSERT_EQ(CUBLAS_STATUS_SUCCESS,
            cublasLtMatmul(made.handle, &operation, made.alpha, made.a, made.a_layout, made.b,
                           made.b_layout, made.beta, made.d, &d_layout, made.d, &d_layout,
                           &result.algo, nullptr, 0, nullptr));
  ProductData after = made.before;
  made.on_d.read(after.d.data.data());
  EXPECT_EQ("", difference(product, made.before, after));
}

}  // namespace
}  // namespace stepscope::cudasim
