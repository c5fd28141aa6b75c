// Machines without a driver and with the stub library: each call answers as measured
// (docs/cuda-simulator.md). With an old driver and without a device: as assumed.
// SPDX-License-Identifier: Apache-2.0
#include <cupti.h>
#include <stdlib.h>

#include <set>

#include "backends/cuda/sim/call.h"
#include "backends/cuda/sim/driver.h"
#include "tests/backends/cuda/sim/fault_rows.h"
#include "tests/backends/cuda/sim/fixture.h"

namespace stepscope::cudasim {
namespace {

struct Machine {
  Driver driver;
  cudaError_t code;
  int version;
};

constexpr Machine kMachines[] = {{Driver::none, cudaErrorInsufficientDriver, 0},
                                 {Driver::old, cudaErrorInsufficientDriver, 12'080},
                                 {Driver::stub, cudaErrorStubLibrary, 0},
                                 {Driver::no_device, cudaErrorNoDevice, 13'000}};

class Drivers : public SimTest {};

TEST_F(Drivers, EveryCallOfTheRuntimeIsRefusedAlike) {
  for (const Machine& machine : kMachines) {
    reset();
    FaultScene scene;  // its handles are none after the next line
    reset({.driver = machine.driver});
    for (const auto& rows : {runtime_rows(), graph_rows()}) {
      for (const FaultRow& row : rows) {
        const bool versions =
            row.call == "cudaDriverGetVersion" || row.call == "cudaRuntimeGetVersion";
        EXPECT_EQ(versions ? 0 : machine.code, row.make(scene)) << row.call;
      }
    }
  }
}

TEST_F(Drivers, NothingIsWrittenByARefusedCall) {
  for (const Machine& machine : kMachines) {
    reset({.driver = machine.driver});
    int n = 7;
    void* data = &n;
    cudaStream_t stream = nullptr;
    EXPECT_EQ(machine.code, cudaGetDeviceCount(&n));
    EXPECT_EQ(machine.code, cudaMalloc(&data, 8));
    EXPECT_EQ(machine.code, cudaStreamCreate(&stream));
    EXPECT_EQ(7, n);
    EXPECT_EQ(&n, data);
    EXPECT_EQ(nullptr, stream);
    EXPECT_TRUE(finish().empty());  // nobody could collect these errors
  }
}

TEST_F(Drivers, TheirErrorCannotBeCleared) {
  for (const Machine& machine : kMachines) {
    reset({.driver = machine.driver});
    for (int again = 0; again < 3; ++again) {
      EXPECT_EQ(machine.code, cudaGetLastError());
      EXPECT_EQ(machine.code, cudaPeekAtLastError());
    }
  }
}

TEST_F(Drivers, VersionsAreAlwaysTold) {
  for (const Machine& machine : kMachines) {
    reset({.driver = machine.driver});
    int version = -1;
    CUDA_OK(cudaDriverGetVersion(&version));
    EXPECT_EQ(machine.version, version);
    CUDA_OK(cudaRuntimeGetVersion(&version));
    EXPECT_EQ(13'000, version);
  }
  reset();
  int version = -1;
  CUDA_OK(cudaDriverGetVersion(&version));
  EXPECT_GE(version, 13'000);
}

TEST_F(Drivers, HandlesOfLibrariesAreNotInitialized) {
  for (const Machine& machine : kMachines) {
    reset({.driver = machine.driver});
    cublasLtHandle_t lt = nullptr;
    cudnnHandle_t dnn = nullptr;
    EXPECT_EQ(CUBLAS_STATUS_NOT_INITIALIZED, cublasLtCreate(&lt));
    EXPECT_EQ(nullptr, lt);
    EXPECT_EQ(CUDNN_STATUS_NOT_INITIALIZED, cudnnCreate(&dnn));
    EXPECT_EQ(nullptr, dnn);
  }
}

TEST_F(Drivers, DescriptorsAreMadeAnywhere) {
  for (const Machine& machine : kMachines) {
    reset({.driver = machine.driver});
    cublasLtMatmulDesc_t product = nullptr;
    cublasLtMatrixLayout_t layout = nullptr;
    cublasLtMatmulPreference_t preference = nullptr;
    cudnnTensorDescriptor_t tensor = nullptr;
    EXPECT_EQ(0, cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    EXPECT_EQ(0, cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, 4, 4, 4));
    EXPECT_EQ(0, cublasLtMatmulPreferenceCreate(&preference));
    EXPECT_EQ(0, cudnnCreateTensorDescriptor(&tensor));
    cublasLtMatmulHeuristicResult_t result{};
    int count = 0;
    EXPECT_EQ(CUBLAS_STATUS_NOT_INITIALIZED,
              cublasLtMatmulAlgoGetHeuristic(nullptr, product, layout, layout, layout, layout,
                                             preference, 1, &result, &count));
    EXPECT_EQ(0, cublasLtMatmulDescDestroy(product));
    EXPECT_EQ(0, cublasLtMatrixLayoutDestroy(layout));
    EXPECT_EQ(0, cublasLtMatmulPreferenceDestroy(preference));
    EXPECT_EQ(0, cudnnDestroyTensorDescriptor(tensor));
  }
}

TEST_F(Drivers, WhatCuptiSays) {
  FaultScene scene;
  for (const Machine& machine : kMachines) {
    reset({.driver = machine.driver});
    for (const FaultRow& row : library_rows()) {
      if (info_of(*call_named(row.call)).library != Library::cupti) continue;
      const bool registers = row.call == "cuptiActivityRegisterCallbacks";
      const bool works = row.call == "cuptiGetVersion" || row.call == "cuptiGetTimestamp" ||
                         (registers && machine.driver != Driver::stub);
      EXPECT_EQ(works ? 0 : CUPTI_ERROR_UNKNOWN, row.make(scene)) << row.call;
    }
  }
  reset();
}

// The search for a device that the backend makes, on each machine.
std::string search() {
  int version = 0, count = 0;
  if (cudaDriverGetVersion(&version) == cudaSuccess && version == 0) return "no driver";
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaErrorInsufficientDriver) return "old driver";
  if (error == cudaErrorNoDevice) return "no device";
  return error == cudaSuccess && count == 1 ? "a device" : "?";
}

TEST_F(Drivers, CanBeToldApart) {
  const auto on = [](Driver driver) {
    reset({.driver = driver});
    return search();
  };
  EXPECT_EQ("no driver", on(Driver::none));
  EXPECT_EQ("no driver", on(Driver::stub));
  EXPECT_EQ("old driver", on(Driver::old));
  EXPECT_EQ("no device", on(Driver::no_device));
  EXPECT_EQ("a device", on(Driver::present));
}

TEST_F(Drivers, TheEnvironmentNamesOne) {
  const auto named = [](const char* name) {
    setenv("STEPSCOPE_CUDASIM_DRIVER", name, 1);
    const Driver driver = driver_of_environment();
    unsetenv("STEPSCOPE_CUDASIM_DRIVER");
    return driver;
  };
  EXPECT_EQ(Driver::none, named("none"));
  EXPECT_EQ(Driver::old, named("old"));
  EXPECT_EQ(Driver::stub, named("stub"));
  EXPECT_EQ(Driver::no_device, named("no_device"));
  EXPECT_EQ(Driver::present, named("present"));
  EXPECT_EQ(Driver::present, driver_of_environment());
  EXPECT_EXIT(named("windows"), testing::ExitedWithCode(2),
              "STEPSCOPE_CUDASIM_DRIVER is \"windows\"; set it to present, none, old, stub or "
              "no_device");
}

}  // namespace
}  // namespace stepscope::cudasim
