// Copies and fills: directions, sizes, pageable memory (rules 29 and 30), batches.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/cuda/sim/runtime_support.h"
//
#include <memory>

namespace stepscope::cudasim {
namespace {

class Copies : public RuntimeTest {};

TEST_F(Copies, ComeBackAsTheyWent) {
  std::vector<float> out(kCount), in(kCount, 4);
  float *const data = device(), *const other = device();
  CUDA_OK(cudaMemcpy(data, in.data(), kBytes, cudaMemcpyHostToDevice));
  CUDA_OK(cudaMemcpy(other, data, kBytes, cudaMemcpyDeviceToDevice));
  CUDA_OK(cudaMemcpy(out.data(), other, kBytes, cudaMemcpyDeviceToHost));
  EXPECT_EQ(in, out);
  std::fill(out.begin(), out.end(), 0);
  CUDA_OK(cudaMemcpy(out.data(), other, kBytes, cudaMemcpyDefault));
  EXPECT_EQ(in, out);
  EXPECT_EQ(4u, totals().copies);
}

TEST_F(Copies, Rule29_SynchronousOnesFromPageableMemoryWaitForTheStreamAndStage) {
  const cudaStream_t before = stream(cudaStreamDefault), t = stream();
  float *const data = device(), *const out = device(), *const mark = pinned(-1);
  std::vector<float> in = all(5);
  CUDA_OK(set(before, mark, 1));
  CUDA_OK(cudaMemcpy(data, in.data(), kBytes, cudaMemcpyHostToDevice));
  EXPECT_EQ(1, mark[0]);
  EXPECT_EQ(1u, totals().waiting);  // the copy itself
  std::fill(in.begin(), in.end(), 6.0f);
  CUDA_OK(copy(t, out, data));  // does not follow the legacy stream
  CUDA_OK(cudaStreamSynchronize(t));
  EXPECT_TRUE(all_nan(read(out)));
  EXPECT_EQ(all(5), read(data));
}

TEST_F(Copies, Rule29_SynchronousOnesWithinTheDeviceDoNotWait) {
  float *const data = device(), *const other = device(), *const host = pinned(3);
  CUDA_OK(cudaMemcpy(data, host, kBytes, cudaMemcpyHostToDevice));  // from pinned memory: waits
  EXPECT_EQ(1u, totals().copies);
  CUDA_OK(cudaMemcpy(other, data, kBytes, cudaMemcpyDeviceToDevice));
  EXPECT_EQ(1u, totals().copies);
  CUDA_OK(cudaMemcpy(host, other, kBytes, cudaMemcpyDeviceToHost));  // waits
  EXPECT_EQ(3u, totals().copies);
}

TEST_F(Copies, OntoThemselvesAreTheDevicesFault) {
  float* const data = device(2 * kBytes);
  CUDA_OK(cudaMemcpy(data + kCount, data, kBytes, cudaMemcpyDeviceToDevice));  // side by side
  CUDA_OK(cudaDeviceSynchronize());
  CUDA_OK(cudaMemcpy(data + 1, data, kBytes, cudaMemcpyDeviceToDevice));
  EXPECT_EQ(cudaErrorIllegalAddress, cudaDeviceSynchronize());
  EXPECT_NE(std::string::npos, device_fault().find("the areas overlap")) << device_fault();
}

TEST_F(Copies, FromMemoryThatWasUnregisteredMeanwhileFault) {
  const cudaStream_t s = stream();
  float* const data = device();
  std::vector<float> host = all(5);
  CUDA_OK(cudaHostRegister(host.data(), kBytes, 0));
  CUDA_OK(cudaHostUnregister(host.data()));
  CUDA_OK(cudaMemcpy(host.data(), data, kBytes, cudaMemcpyDefault));  // it is pageable, and good
  CUDA_OK(cudaHostRegister(host.data(), kBytes, 0));
  CUDA_OK(cudaMemcpyAsync(data, host.data(), kBytes, cudaMemcpyHostToDevice, s));
  CUDA_OK(cudaHostUnregister(host.data()));
  EXPECT_EQ(cudaErrorIllegalAddress, cudaStreamSynchronize(s));
  EXPECT_NE(std::string::npos, device_fault().find("unregistered while work that uses it"))
      << device_fault();
}

TEST_F(Copies, OfNothingTouchNothing) {
  CUDA_OK(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToHost));
  CUDA_OK(cudaMemcpyAsync(device(), pinned(), 0, cudaMemcpyHostToDevice, nullptr));
  CUDA_OK(cudaMemset(device(), 0, 0));
  CUDA_OK(cudaDeviceSynchronize());
}

TEST_F(Copies, OfTheWrongDirectionAreRefused) {
  float *const data = device(), *const host = pinned();
  float pageable[kCount] = {};
  for (const auto kind : {cudaMemcpyHostToDevice, cudaMemcpyHostToHost, cudaMemcpyDeviceToDevice}) {
    expect_refused(cudaErrorInvalidValue, cudaMemcpy(pageable, data, kBytes, kind));
  }
  expect_refused(cudaErrorInvalidValue, cudaMemcpy(data, pageable, kBytes, cudaMemcpyDeviceToHost));
  expect_refused(cudaErrorInvalidMemcpyDirection,
                 cudaMemcpy(data, host, kBytes, static_cast<cudaMemcpyKind>(7)));
  expect_refused(cudaErrorInvalidValue, cudaMemcpy(nullptr, host, kBytes, cudaMemcpyDefault));
  expect_refused(
      cudaErrorInvalidResourceHandle,
      cudaMemcpyAsync(data, host, kBytes, cudaMemcpyDefault, reinterpret_cast<cudaStream_t>(host)));
  // Pinned memory is the device's, too.
  CUDA_OK(cudaMemcpy(data, host, kBytes, cudaMemcpyDeviceToDevice));
}

TEST_F(Copies, BeyondABlockAreRefused) {
  float *const data = device(), *const host = pinned();
  EXPECT_NE(nullptr, device());  // stands right behind
  for (const std::size_t bytes : {kBytes + 1, std::size_t{512}}) {
    std::vector<char> pageable(bytes);
    expect_refused(cudaErrorInvalidValue,
                   cudaMemcpy(data, pageable.data(), bytes, cudaMemcpyHostToDevice));
    expect_refused(cudaErrorInvalidValue, cudaMemcpy(host, data, bytes, cudaMemcpyDefault));
    expect_refused(cudaErrorInvalidValue, cudaMemset(data, 0, bytes));
    expect_refused(cudaErrorInvalidValue, cudaMemsetAsync(host, 0, bytes, nullptr));
  }
  expect_refused(cudaErrorInvalidValue, cudaMemcpy(data + 1, host, kBytes, cudaMemcpyDefault));
  float pageable = 0;
  expect_refused(cudaErrorInvalidValue, cudaMemset(&pageable, 0, sizeof(pageable)));
}

TEST_F(Copies, FromMemoryThatWasFreedFault) {
  const cudaStream_t s = stream();
  void* host = nullptr;
  CUDA_OK(cudaMallocHost(&host, kBytes));
  CUDA_OK(cudaMemcpyAsync(device(), host, kBytes, cudaMemcpyHostToDevice, s));
  CUDA_OK(cudaFreeHost(host));  // nobody promises that this waits
  EXPECT_EQ(cudaErrorIllegalAddress, cudaStreamSynchronize(s));
  EXPECT_NE(std::string::npos, device_fault().find("from freed pinned memory")) << device_fault();
}

TEST_F(Copies, FillsWriteTheirBytesAlone) {
  float* const data = device();
  CUDA_OK(cudaMemset(data, 0, kBytes - 4));
  const std::vector<float> values = read(data);
  EXPECT_EQ(0, values[kCount - 2]);
  EXPECT_TRUE(std::isnan(values[kCount - 1]));
  EXPECT_EQ(1u, totals().fills);
  CUDA_OK(cudaMemset(data, 0x101, kBytes));  // its lowest byte
  unsigned char byte = 0;
  CUDA_OK(cudaMemcpy(&byte, data, 1, cudaMemcpyDefault));
  EXPECT_EQ(1, byte);
}

TEST_F(Copies, AFillOfPinnedMemoryIsWaitedFor) {
  float *const host = pinned(1), *const data = device();
  CUDA_OK(cudaMemset(data, 0, kBytes));
  EXPECT_EQ(1u, totals().waiting);  // of device memory: asynchronous
  CUDA_OK(cudaMemset(host, 0, kBytes));
  EXPECT_EQ(0, host[0]);
}

TEST_F(Copies, Rule29_PageableSourcesAreStaged) {
  const cudaStream_t s = stream();
  float* const data = device();
  auto source = std::make_unique<std::vector<float>>(all(3));
  CUDA_OK(cudaMemcpyAsync(data, source->data(), kBytes, cudaMemcpyHostToDevice, s));
  std::fill(source->begin(), source->end(), 4.0f);
  source.reset();
  CUDA_OK(cudaStreamSynchronize(s));
  EXPECT_EQ(all(3), read(data));
  expect_lints({Lint::pageable_async});
}

TEST_F(Copies, Rule29_NothingIsPromisedOfPageableTargets) {
  const cudaStream_t s = stream();
  float* const data = device();
  std::vector<float> target = all(-1);
  CUDA_OK(set(s, data, 2));
  CUDA_OK(cudaMemcpyAsync(target.data(), data, kBytes, cudaMemcpyDeviceToHost, s));
  EXPECT_EQ(all(-1), target);  // may be asynchronous, so it is
  CUDA_OK(cudaStreamSynchronize(s));
  EXPECT_EQ(all(2), target);
  expect_lints({Lint::pageable_async});
}

TEST_F(Copies, Rule30_ACapturedPageableCopyKeepsTheAddress) {
  const cudaStream_t s = stream();
  float* const data = device();
  std::vector<float> source = all(1);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  CUDA_OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  CUDA_OK(cudaMemcpyAsync(data, source.data(), kBytes, cudaMemcpyHostToDevice, s));
  CUDA_OK(cudaStreamEndCapture(s, &graph));
  CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
  for (const float value : {5.0f, 6.0f}) {
    std::fill(source.begin(), source.end(), value);
    CUDA_OK(cudaGraphLaunch(exec, s));
    CUDA_OK(cudaStreamSynchronize(s));
    EXPECT_EQ(all(value), read(data));
  }
  CUDA_OK(cudaGraphExecDestroy(exec));
  CUDA_OK(cudaGraphDestroy(graph));
  expect_lints({Lint::pageable_captured});
}

TEST_F(Copies, BetweenHostBuffersAreDoneAtOnce) {
  std::vector<float> from = all(1), to = all(0);
  CUDA_OK(cudaMemcpyAsync(to.data(), from.data(), kBytes, cudaMemcpyHostToHost, stream()));
  EXPECT_EQ(from, to);
  expect_lints({Lint::pageable_async});
}

// --- batches -------------------------------------------------------------------------------------

cudaError_t copy_batch(cudaStream_t stream, std::vector<void*> to, std::vector<const void*> from,
                       cudaMemcpySrcAccessOrder order) {
  const std::vector<std::size_t> bytes(to.size(), kBytes);
  cudaMemcpyAttributes attributes{};
  attributes.srcAccessOrder = order;
  std::size_t begin = 0;
  return cudaMemcpyBatchAsync(to.data(), from.data(), bytes.data(), to.size(), &attributes, &begin,
                              1, stream);
}

TEST_F(Copies, BatchesCopyEach) {
  const cudaStream_t s = stream();
  float *const a = device(), *const b = device();
  const float *const in = pinned(1), *const more = pinned(2);
  CUDA_OK(copy_batch(s, {a, b}, {in, more}, cudaMemcpySrcAccessOrderStream));
  CUDA_OK(cudaStreamSynchronize(s));
  EXPECT_EQ(all(1), read(a));
  EXPECT_EQ(all(2), read(b));
}

TEST_F(Copies, BatchesHaveNoOrder) {
  const cudaStream_t s = stream();
  float *const a = device(), *const b = device();
  const float* const in = pinned(1);
  CUDA_OK(copy_batch(s, {a, b}, {in, a}, cudaMemcpySrcAccessOrderStream));
  CUDA_OK(add(s, a, 1));  // behind all of them
  CUDA_OK(cudaStreamSynchronize(s));
  EXPECT_EQ(all(2), read(a));
  EXPECT_TRUE(all_nan(read(b)));
}

TEST_F(Copies, BatchesMayReadTheirSourcesDuringTheCall) {
  const cudaStream_t s = stream();
  float *const a = device(), *const b = device();
  std::vector<float> pageable = all(1);
  float* const host = pinned(3);
  CUDA_OK(copy_batch(s, {a, b}, {pageable.data(), host}, cudaMemcpySrcAccessOrderDuringApiCall));
  std::fill(pageable.begin(), pageable.end(), 9.0f);
  std::fill_n(host, kCount, 9.0f);
  CUDA_OK(cudaStreamSynchronize(s));
  EXPECT_EQ(all(1), read(a));
  EXPECT_EQ(all(3), read(b));
}

TEST_F(Copies, BadBatchesAreRefused) {
  const cudaStream_t s = stream();
  float *const a = device(), *const in = pinned(1);
  expect_refused(cudaErrorInvalidValue,
                 copy_batch(nullptr, {a}, {in}, cudaMemcpySrcAccessOrderStream));
  expect_refused(cudaErrorInvalidValue, copy_batch(s, {a}, {in}, cudaMemcpySrcAccessOrderInvalid));
  expect_refused(cudaErrorInvalidValue, copy_batch(s, {}, {}, cudaMemcpySrcAccessOrderStream));
  expect_refused(cudaErrorInvalidValue,
                 copy_batch(s, {a, a + 1}, {in, in}, cudaMemcpySrcAccessOrderStream));
  EXPECT_EQ(0u, totals().waiting);  // all or nothing
}

}  // namespace
}  // namespace stepscope::cudasim
