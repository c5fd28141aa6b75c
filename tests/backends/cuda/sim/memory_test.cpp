// Device, pinned, registered and stream-ordered memory: what is allocated where, freed when, and
// who may touch it.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/cuda/sim/runtime_support.h"
//
#include "backends/cuda/sim/memory.h"

namespace stepscope::cudasim {
namespace {

class Memory : public RuntimeTest {};

TEST_F(Memory, BlocksAreAlignedAndBeginAsNaN) {
  for (const std::size_t bytes : {1u, 32u, 255u, 256u, 1000u, 100'000u}) {
    const float* const data = device(bytes);
    EXPECT_EQ(0u, reinterpret_cast<std::uintptr_t>(data) % 256);
    std::vector<unsigned char> values(bytes);
    CUDA_OK(cudaMemcpy(values.data(), data, bytes, cudaMemcpyDeviceToHost));
    EXPECT_EQ(std::vector<unsigned char>(bytes, 0xFF), values);
  }
  void* fresh = nullptr;
  CUDA_OK(cudaMallocHost(&fresh, 100));
  EXPECT_EQ(0xFF, static_cast<unsigned char*>(fresh)[99]);
  CUDA_OK(cudaFreeHost(fresh));
}

TEST_F(Memory, AddressesAreNotUsedAgain) {
  void *first = nullptr, *second = nullptr;
  CUDA_OK(cudaMalloc(&first, 64));
  CUDA_OK(cudaFree(first));
  CUDA_OK(cudaMalloc(&second, 64));
  EXPECT_NE(first, second);
  CUDA_OK(cudaFree(second));
}

TEST_F(Memory, EndsWhereTheDeviceDoes) {
  reset({.device_bytes = 1000});
  void *all = nullptr, *more = nullptr;
  expect_refused(cudaErrorMemoryAllocation, cudaMalloc(&all, 1001));
  CUDA_OK(cudaMalloc(&all, 1000));
  expect_refused(cudaErrorMemoryAllocation, cudaMalloc(&more, 1));
  expect_refused(cudaErrorMemoryAllocation, cudaMallocAsync(&more, 1, nullptr));
  EXPECT_EQ(nullptr, more);
  std::size_t free = 1, total = 0;
  CUDA_OK(cudaMemGetInfo(&free, &total));
  EXPECT_EQ(0u, free);
  EXPECT_EQ(1000u, total);
  CUDA_OK(cudaFree(all));
  CUDA_OK(cudaMemGetInfo(&free, &total));
  EXPECT_EQ(1000u, free);
}

TEST_F(Memory, NothingIsAllocatedForNothing) {
  void* data = &data;
  CUDA_OK(cudaMalloc(&data, 0));
  EXPECT_EQ(nullptr, data);
  CUDA_OK(cudaFree(nullptr));
  CUDA_OK(cudaFreeHost(nullptr));
  expect_refused(cudaErrorInvalidValue, cudaMalloc(nullptr, 8));
  expect_refused(cudaErrorInvalidValue, cudaMallocHost(nullptr, 8));
  expect_refused(cudaErrorInvalidValue, cudaMallocAsync(nullptr, 8, nullptr));
}

TEST_F(Memory, Rule31_FreeDoesNotWaitAndWhatUsesTheMemoryFaults) {
  const cudaStream_t s = stream();
  void* data = nullptr;
  CUDA_OK(cudaMalloc(&data, kBytes));
  CUDA_OK(set(s, static_cast<float*>(data), 3));
  CUDA_OK(cudaFree(data));
  EXPECT_EQ(1u, totals().waiting);
  EXPECT_EQ(cudaErrorIllegalAddress, cudaStreamSynchronize(s));
  EXPECT_NE(std::string::npos,
            device_fault().find("freed or unregistered while work that uses it was waiting"))
      << device_fault();
}

TEST_F(Memory, Rule31_ASecondFreeIsRefused) {
  void *data = nullptr, *host = nullptr;
  CUDA_OK(cudaMalloc(&data, 64));
  expect_refused(cudaErrorInvalidValue, cudaFree(static_cast<char*>(data) + 1));
  CUDA_OK(cudaFree(data));
  expect_refused(cudaErrorInvalidValue, cudaFree(data));
  CUDA_OK(cudaMallocHost(&host, 64));
  expect_refused(cudaErrorInvalidValue, cudaFree(host));
  CUDA_OK(cudaFreeHost(host));
  expect_refused(cudaErrorInvalidValue, cudaFreeHost(host));
  CUDA_OK(cudaMallocAsync(&data, 64, nullptr));
  CUDA_OK(cudaFreeAsync(data, nullptr));
  expect_refused(cudaErrorInvalidValue, cudaFreeAsync(data, nullptr));
  expect_refused(cudaErrorInvalidValue, cudaFree(data));
}

TEST_F(Memory, Rule31_FreeAsyncDoesNotWait) {
  const cudaStream_t s = stream();
  void* data = nullptr;
  CUDA_OK(cudaMallocAsync(&data, kBytes, s));
  CUDA_OK(set(s, static_cast<float*>(data), 3));
  CUDA_OK(cudaFreeAsync(data, s));
  EXPECT_EQ(0u, totals().kernels);
  EXPECT_EQ(kBytes, totals().device_bytes);
  CUDA_OK(cudaStreamSynchronize(s));
  EXPECT_EQ(1u, totals().kernels);
  EXPECT_EQ(0u, totals().device_bytes);
}

TEST_F(Memory, Rule31_FreeOfStreamOrderedMemoryDoesNotWaitEither) {
  const cudaStream_t s = stream();
  void* data = nullptr;
  CUDA_OK(cudaMallocAsync(&data, kBytes, s));
  CUDA_OK(set(s, static_cast<float*>(data), 3));
  CUDA_OK(cudaFree(data));  // the kernel has not run, and now it cannot
  EXPECT_EQ(cudaErrorIllegalAddress, cudaStreamSynchronize(s));
}

TEST_F(Memory, StreamOrderedMemoryIsNotThereForOtherStreams) {
  const cudaStream_t s = stream(), t = stream();
  const cudaEvent_t allocated = event();
  for (const bool waits : {true, false}) {
    void* data = nullptr;
    CUDA_OK(cudaMallocAsync(&data, kBytes, s));
    CUDA_OK(cudaEventRecord(allocated, s));
    if (waits) {
      CUDA_OK(cudaStreamWaitEvent(t, allocated, 0));
    }
    CUDA_OK(set(t, static_cast<float*>(data), 3));
    EXPECT_EQ(waits ? cudaSuccess : cudaErrorIllegalAddress, cudaStreamSynchronize(t));
    if (waits) {
      CUDA_OK(cudaFreeAsync(data, t));
    }
  }
  EXPECT_NE(std::string::npos, device_fault().find("outside its stream-ordered life"))
      << device_fault();
}

TEST_F(Memory, OnlyStreamOrderedMemoryIsFreedInAStream) {
  expect_refused(cudaErrorInvalidValue, cudaFreeAsync(device(), nullptr));
  expect_refused(cudaErrorInvalidValue, cudaFreeAsync(pinned(), nullptr));
  CUDA_OK(cudaFreeAsync(nullptr, nullptr));
}

TEST_F(Memory, HostMemoryIsRegisteredOnce) {
  std::vector<float> host(100, 2);
  CUDA_OK(cudaHostRegister(host.data(), 400, cudaHostRegisterDefault));
  expect_refused(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(host.data(), 400, 0));
  expect_refused(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(&host[99], 4, 0));
  CUDA_OK(set(nullptr, host.data(), 7));  // the device may write it
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQ(7, host[0]);
  EXPECT_EQ(2, host[kCount]);
  expect_refused(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(&host[1]));
  CUDA_OK(cudaHostUnregister(host.data()));
  expect_refused(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(host.data()));
  expect_refused(cudaErrorInvalidValue, cudaHostRegister(nullptr, 4, 0));
  expect_refused(cudaErrorInvalidValue, cudaHostRegister(host.data(), 0, 0));
  expect_refused(cudaErrorInvalidValue, cudaHostRegister(device(), 4, 0));
}

TEST_F(Memory, PointersTellWhatTheyAre) {
  float *const on_device = device(), *const on_host = pinned();
  float pageable = 0;
  cudaPointerAttributes found{};
  CUDA_OK(cudaPointerGetAttributes(&found, on_device + 1));
  EXPECT_EQ(cudaMemoryTypeDevice, found.type);
  EXPECT_EQ(0, found.device);
  EXPECT_EQ(on_device + 1, found.devicePointer);
  EXPECT_EQ(nullptr, found.hostPointer);
  CUDA_OK(cudaPointerGetAttributes(&found, on_host));
  EXPECT_EQ(cudaMemoryTypeHost, found.type);
  EXPECT_EQ(on_host, found.devicePointer);
  EXPECT_EQ(on_host, found.hostPointer);
  CUDA_OK(cudaPointerGetAttributes(&found, &pageable));
  EXPECT_EQ(cudaMemoryTypeUnregistered, found.type);
  EXPECT_EQ(nullptr, found.devicePointer);
  expect_refused(cudaErrorInvalidValue, cudaPointerGetAttributes(nullptr, &pageable));
}

TEST_F(Memory, DescriptionsNameTheBlock) {
  float* const data = device(4096);
  EXPECT_EQ("a null pointer", describe(nullptr));
  EXPECT_NE(std::string::npos, describe(data + 4).find("(block 1 of 4096 bytes, byte 16)"));
  EXPECT_EQ(0u, describe(data + 4).find("device memory 0x"));
  EXPECT_NE(std::string::npos, describe(data + 1024).find("byte 4096), its end"));
  EXPECT_NE(std::string::npos, describe(data + 1025).find("between the blocks"));
  void* freed = nullptr;
  CUDA_OK(cudaMalloc(&freed, 8));
  CUDA_OK(cudaFree(freed));
  EXPECT_EQ(0u, describe(freed).find("freed device memory"));
  EXPECT_EQ(0u, describe(&freed).find("pageable host memory"));
  EXPECT_EQ(0u, describe(pinned()).find("pinned memory"));
}

// --- what the host may not touch -----------------------------------------------------------------

using MemoryDeath = Memory;

TEST_F(MemoryDeath, AHostReadOfDeviceMemoryStopsTheProgram) {
  const volatile float* const data = device(4096);
  EXPECT_DEATH((void)data[5],
               "stepscope cudasim: host code touched device memory 0x[0-9a-f]+ \\(block 1 of 4096 "
               "bytes, byte 20\\); copy it with cudaMemcpyAsync first");
}

TEST_F(MemoryDeath, SoDoesAHostWriteAfterWorkRan) {
  float* const data = device();
  CUDA_OK(set(nullptr, data, 1));
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_DEATH(*static_cast<volatile float*>(data) = 1, "host code touched device memory");
}

TEST_F(MemoryDeath, SoDoesAHostFunction) {
  const cudaStream_t s = stream();
  float* const data = device();
  CUDA_OK(set(s, data, 1));
  CUDA_OK(cudaLaunchHostFunc(
      s, [](void* at) { *static_cast<volatile float*>(at) = 2; }, data));
  EXPECT_DEATH((void)cudaStreamSynchronize(s), "host code touched device memory");
  reset();
  forget();
}

TEST_F(MemoryDeath, FreedMemoryIsNamedAsSuch) {
  void* data = nullptr;
  CUDA_OK(cudaMalloc(&data, 8));
  CUDA_OK(cudaFree(data));
  // AddressSanitizer, where it looks at host code too, comes first.
  EXPECT_DEATH(*static_cast<volatile char*>(data) = 2,
               "host code touched freed device memory|use-after-poison");
}

__global__ void far_away(float* data) { data[std::size_t{1} << 28] = 1; }

TEST_F(MemoryDeath, ADeviceAccessFarOutsideNamesTheThread) {
  float* const data = device();
  CUDA_OK(cuda::launch(nullptr, 1, 1, 0, far_away, data));
  EXPECT_DEATH((void)cudaDeviceSynchronize(),
               "touched device memory 0x[0-9a-f]+ \\(between the "
               "blocks\\), where no block is");
  reset();
  forget();
}

}  // namespace
}  // namespace stepscope::cudasim
