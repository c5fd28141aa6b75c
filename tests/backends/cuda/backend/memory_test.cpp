// Blocks of the device, pinned memory, and what errors of CUDA look like.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/memory.h"

#include <cstdint>
#include <utility>

#include "tests/backends/cuda/backend/bodies.h"
#include "tests/backends/cuda/backend/fixture.h"

namespace stepscope::cuda {
namespace {

class DeviceBlocks : public test::DeviceTest {};

TEST_F(DeviceBlocks, AreAlignedAndFreed) {
  {
    DeviceMemory one(1), other(1000);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(one.data()) % kAlignment, 0U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(other.data()) % kAlignment, 0U);
    EXPECT_EQ(other.bytes(), 1000U);
    EXPECT_GE(cudasim::totals().device_bytes, 1001U);
  }
  EXPECT_EQ(cudasim::totals().device_bytes, 0U);
}

TEST_F(DeviceBlocks, OfNothingAskForNothing) {
  DeviceMemory none(0);
  EXPECT_EQ(none.data(), nullptr);
  EXPECT_EQ(cudasim::calls_of("cudaMalloc"), 0U);
}

TEST_F(DeviceBlocks, SayWhatWasAskedForAndFree) {
  cudasim::reset({.device_bytes = std::size_t{1} << 20});
  const std::string message = test::message_of([] { DeviceMemory large(std::size_t{1} << 21); });
  EXPECT_EQ(message,
            "cudaMalloc of 2097152 bytes, with 1048576 of 1048576 free: out of memory "
            "(cudaErrorMemoryAllocation, 2)");
}

TEST_F(DeviceBlocks, PinnedMemoryGrowsOnly) {
  PinnedMemory memory;
  EXPECT_EQ(memory.bytes(), 0U);
  const std::byte* first = memory.reserve(100);
  EXPECT_EQ(memory.reserve(50), first);
  EXPECT_EQ(memory.bytes(), 100U);
  memory.reserve(200);
  EXPECT_EQ(memory.bytes(), 200U);
  PinnedMemory moved = std::move(memory);
  EXPECT_EQ(moved.bytes(), 200U);
  EXPECT_EQ(cudasim::totals().pinned_bytes, 200U);
}

TEST_F(DeviceBlocks, OfTheHostArePinned) {
  {
    PinnedBlock block(300);
    EXPECT_EQ(block.bytes(), 300U);
    block.data()[299] = std::byte{1};
    EXPECT_EQ(cudasim::totals().pinned_bytes, 300U);
  }
  EXPECT_EQ(cudasim::totals().pinned_bytes, 0U);
}

TEST_F(DeviceBlocks, PinnedMemoryThatWasRefusedIsEmpty) {
  PinnedMemory memory;
  memory.reserve(100);
  cudasim::fail_call("cudaMallocHost", cudaErrorMemoryAllocation);
  EXPECT_EQ(test::message_of([&] { memory.reserve(200); }),
            "cudaMallocHost of 200 bytes: out of memory (cudaErrorMemoryAllocation, 2)");
  EXPECT_EQ(memory.bytes(), 0U);
  memory.reserve(10);
  EXPECT_EQ(memory.bytes(), 10U);
}

TEST_F(DeviceBlocks, ErrorsOfTheLibraryAreNamed) {
  EXPECT_EQ(test::message_of([] { check_lt(CUBLAS_STATUS_INVALID_VALUE, "cublasLtMatmul"); }),
            "cublasLtMatmul: CUBLAS_STATUS_INVALID_VALUE (7)");
}

// A kernel's fault shows itself somewhere else, so the message says that it may not be this call's.
TEST_F(DeviceBlocks, FaultsOfEarlierKernelsAreCalledThat) {
  plan_a_fault();
  CudaStream stream;
  DeviceMemory x(256);
  cudasim::fault_kernel(cudaErrorIllegalAddress);
  const test::BodyKernel kernel(test::twice_plus_one(8));
  std::byte* operands[] = {x.data()};
  stream.submit(kernel.bind(operands, nullptr), 0);
  const std::string message = test::message_of([&] { stream.wait(); });
  EXPECT_NE(message.find("cudaStreamSynchronize: an illegal memory access"), std::string::npos);
  EXPECT_NE(message.find("a kernel that was submitted earlier failed"), std::string::npos);
}

}  // namespace
}  // namespace stepscope::cuda
