// Faults: every call fails when it is told to, kernels end in each of the device's faults, and
// those stick (rules 34 and 35).
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/cuda/sim/runtime_support.h"
//
#include <set>
#include <stdexcept>
#include <thread>

#include "backends/cuda/sim/call.h"
#include "tests/backends/cuda/sim/fault_rows.h"

namespace stepscope::cudasim {
namespace {

class Faults : public RuntimeTest {};

std::vector<FaultRow> all_rows() {
  std::vector<FaultRow> rows;
  for (const auto& some : {runtime_rows(), graph_rows(), library_rows()}) {
    rows.insert(rows.end(), some.begin(), some.end());
  }
  return rows;
}

int injected_code(std::string_view call) {
  switch (info_of(*call_named(call)).library) {
    case Library::runtime:
      return cudaErrorMemoryAllocation;
    case Library::cublaslt:
      return CUBLAS_STATUS_INTERNAL_ERROR;
    case Library::cudnn:
      return CUDNN_STATUS_INTERNAL_ERROR;
    case Library::cupti:
      return CUPTI_ERROR_UNKNOWN;
  }
  return 0;
}

bool tells_errors(std::string_view call) {
  return call == "cudaGetLastError" || call == "cudaPeekAtLastError";
}

TEST_F(Faults, RowsAreTheCalls) {
  std::multiset<std::string_view> rows, calls;
  for (const FaultRow& row : all_rows()) rows.insert(row.call);
  for (std::size_t id = 0; id < call_count(); ++id) {
    calls.insert(info_of(static_cast<CallId>(id)).name);
  }
  EXPECT_EQ(calls, rows);
}

// The fault does nothing but answer: the same call then does what it should have.
TEST_F(Faults, EveryCallFailsOnceWhenItIsToldTo) {
  for (const FaultRow& row : all_rows()) {
    SCOPED_TRACE(row.call);
    reset();
    FaultScene scene;
    if (row.prepare != nullptr) row.prepare(scene);
    const int code = injected_code(row.call);
    const std::uint64_t made = calls_of(row.call);
    fail_call(row.call, code);
    EXPECT_EQ(code, row.make(scene));
    const bool of_runtime = info_of(*call_named(row.call)).library == Library::runtime;
    if (of_runtime && !tells_errors(row.call)) {
      EXPECT_EQ(code, cudaGetLastError());
    }
    EXPECT_EQ(row.then, row.make(scene));
    EXPECT_EQ(made + 2, calls_of(row.call));
  }
  reset();
}

TEST_F(Faults, Rule34_ACallToldToFailAsTheDeviceWouldLosesIt) {
  const cudaStream_t s = stream();
  std::size_t free = 0, total = 0;
  CUDA_OK(set(s, device(), 1));
  fail_call("cudaMemGetInfo", cudaErrorIllegalAddress);
  EXPECT_EQ(cudaErrorIllegalAddress, cudaMemGetInfo(&free, &total));
  EXPECT_EQ("planned by the test: 700 (cudaErrorIllegalAddress)", device_fault());
  EXPECT_EQ(cudaErrorIllegalAddress, cudaGetLastError());
  EXPECT_EQ(cudaErrorIllegalAddress, cudaMemGetInfo(&free, &total));
  EXPECT_EQ(cudaErrorIllegalAddress, cudaStreamSynchronize(s));
  EXPECT_EQ(0u, totals().kernels);
}

TEST_F(Faults, Rule21_LibrariesAreRefusedInHostFunctionsToo) {
  struct Answers {
    cublasStatus_t made = CUBLAS_STATUS_SUCCESS, described = CUBLAS_STATUS_INTERNAL_ERROR;
    cudnnStatus_t dnn = CUDNN_STATUS_SUCCESS;
  } answers;
  const cudaStream_t s = stream();
  CUDA_OK(cudaLaunchHostFunc(
      s,
      [](void* data) {
        auto& told = *static_cast<Answers*>(data);
        cublasLtHandle_t lt = nullptr;
        cudnnHandle_t dnn = nullptr;
        cublasLtMatrixLayout_t layout = nullptr;
        told.made = cublasLtCreate(&lt);
        told.dnn = cudnnCreate(&dnn);
        told.described = cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, 4, 4, 4);
        EXPECT_EQ(CUBLAS_STATUS_SUCCESS, cublasLtMatrixLayoutDestroy(layout));
      },
      &answers));
  CUDA_OK(cudaStreamSynchronize(s));
  EXPECT_EQ(CUBLAS_STATUS_NOT_INITIALIZED, answers.made);
  EXPECT_EQ(CUDNN_STATUS_NOT_INITIALIZED, answers.dnn);
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, answers.described);  // the host's alone
}

TEST_F(Faults, TheNthCallIsCounted) {
  int n = 0;
  fail_call("cudaGetDeviceCount", cudaErrorUnknown, 3);
  fail_call("cudaGetDeviceCount", cudaErrorNoDevice, 2);
  CUDA_OK(cudaGetDevice(&n));  // another call is none of it
  CUDA_OK(cudaGetDeviceCount(&n));
  n = 7;
  expect_refused(cudaErrorNoDevice, cudaGetDeviceCount(&n));
  expect_refused(cudaErrorUnknown, cudaGetDeviceCount(&n));
  EXPECT_EQ(7, n);
  CUDA_OK(cudaGetDeviceCount(&n));
  EXPECT_EQ(4u, calls_of("cudaGetDeviceCount"));
}

TEST_F(Faults, UnknownNamesAndCodesAreRefused) {
  EXPECT_THROW(fail_call("cudaNoSuchCall", 1), std::invalid_argument);
  EXPECT_THROW((void)calls_of("cudaNoSuchCall"), std::invalid_argument);
  EXPECT_THROW(fail_call("cudaMalloc", 2, 0), std::invalid_argument);
  EXPECT_THROW(fault_kernel(cudaErrorInvalidValue), std::invalid_argument);
  EXPECT_THROW(fault_kernel(cudaErrorAssert, 0), std::invalid_argument);
}

TEST_F(Faults, Rule34_TheDevicesFaultsStick) {
  for (const cudaError_t code : {cudaErrorIllegalAddress, cudaErrorAssert,
                                 cudaErrorMisalignedAddress, cudaErrorLaunchFailure}) {
    reset();
    forget();
    const cudaStream_t s = stream();
    float* const data = device();
    fault_kernel(code, 2);
    CUDA_OK(set(s, data, 1));
    CUDA_OK(cudaStreamSynchronize(s));
    CUDA_OK(set(s, data, 2));  // the launch itself knows nothing of it
    CUDA_OK(set(s, data, 3));
    EXPECT_EQ(code, cudaStreamSynchronize(s));
    EXPECT_EQ(2u, totals().kernels);  // the third never ran
    EXPECT_EQ(0u, totals().waiting);
    EXPECT_NE("", device_fault());
    for (int again = 0; again < 2; ++again) {
      EXPECT_EQ(code, cudaStreamSynchronize(s));
      EXPECT_EQ(code, set(s, data, 1));
      EXPECT_EQ(code, cudaFree(data));
      EXPECT_EQ(code, cudaGetLastError());
      EXPECT_EQ(code, cudaPeekAtLastError());
    }
  }
}

TEST_F(Faults, Rule34_EveryCallOfTheRuntimeTellsOfIt) {
  const std::set<std::string_view> free{"cudaDriverGetVersion", "cudaRuntimeGetVersion",
                                        "cudaGetDriverEntryPointByVersion"};
  FaultScene scene;
  fault_kernel(cudaErrorAssert);
  EXPECT_EQ(cudaSuccess, set(scene.stream, scene.device, 1));
  EXPECT_EQ(cudaErrorAssert, cudaDeviceSynchronize());
  for (const auto& rows : {runtime_rows(), graph_rows()}) {
    for (const FaultRow& row : rows) {
      EXPECT_EQ(free.contains(row.call) ? 0 : cudaErrorAssert, row.make(scene)) << row.call;
    }
  }
  for (const FaultRow& row : library_rows()) {
    if (row.call == "cublasLtMatmul") {
      EXPECT_EQ(CUBLAS_STATUS_EXECUTION_FAILED, row.make(scene));
    }
    if (row.call == "cublasLtCreate") {
      EXPECT_EQ(CUBLAS_STATUS_NOT_INITIALIZED, row.make(scene));
    }
    if (row.call == "cudnnCreate") {
      EXPECT_EQ(CUDNN_STATUS_NOT_INITIALIZED, row.make(scene));
    }
  }
}

TEST_F(Faults, Rule34_OfALibrarysKernelToo) {
  FaultScene scene;
  fault_kernel(cudaErrorLaunchFailure);
  for (const FaultRow& row : library_rows()) {
    if (row.call == "cublasLtMatmul") {
      EXPECT_EQ(0, row.make(scene));
    }
  }
  EXPECT_EQ(cudaErrorLaunchFailure, cudaStreamSynchronize(scene.stream));
  EXPECT_EQ(1u, totals().library_calls);
}

TEST_F(Faults, Rule34_InEachThread) {
  fault_kernel(cudaErrorAssert);
  CUDA_OK(set(nullptr, device(), 1));
  EXPECT_EQ(cudaErrorAssert, cudaDeviceSynchronize());
  std::thread other([] {
    EXPECT_EQ(cudaErrorAssert, cudaGetLastError());
    EXPECT_EQ(cudaErrorAssert, cudaDeviceSynchronize());
  });
  other.join();
}

TEST_F(Faults, Rule34_EagerWorkFaultsBehindItsLaunch) {
  set_schedule(Schedule::eager);
  fault_kernel(cudaErrorAssert);
  CUDA_OK(set(nullptr, device(), 1));
  EXPECT_EQ(cudaErrorAssert, cudaPeekAtLastError());
}

TEST_F(Faults, Rule35_OtherErrorsAreCollectedOnce) {
  CUDA_OK(cudaGetLastError());
  EXPECT_EQ(cudaErrorInvalidValue, cudaMalloc(nullptr, 8));
  CUDA_OK(cudaDeviceSynchronize());  // a success does not clear it
  EXPECT_EQ(cudaErrorInvalidValue, cudaPeekAtLastError());
  EXPECT_EQ(cudaErrorInvalidValue, cudaPeekAtLastError());
  EXPECT_EQ(cudaErrorInvalidValue, cudaGetLastError());
  CUDA_OK(cudaGetLastError());
  CUDA_OK(cudaPeekAtLastError());
}

TEST_F(Faults, Rule35_TheLastErrorIsAThreadsOwn) {
  EXPECT_EQ(cudaErrorInvalidValue, cudaMalloc(nullptr, 8));
  std::thread other([] {
    EXPECT_EQ(cudaSuccess, cudaGetLastError());
    EXPECT_EQ(cudaErrorInvalidDevice, cudaSetDevice(3));
    EXPECT_EQ(cudaErrorInvalidDevice, cudaGetLastError());
  });
  other.join();
  EXPECT_EQ(cudaErrorInvalidValue, cudaGetLastError());
}

TEST_F(Faults, NamesAreTheRuntimesOwn) {
  EXPECT_STREQ("cudaErrorIllegalAddress", cudaGetErrorName(cudaErrorIllegalAddress));
  EXPECT_STREQ("an illegal memory access was encountered",
               cudaGetErrorString(cudaErrorIllegalAddress));
  EXPECT_STREQ("no error", cudaGetErrorString(cudaSuccess));
  EXPECT_STREQ("unrecognized error code", cudaGetErrorName(static_cast<cudaError_t>(12345)));
  EXPECT_STREQ("unrecognized error code", cudaGetErrorString(static_cast<cudaError_t>(12345)));
}

}  // namespace
}  // namespace stepscope::cudasim
