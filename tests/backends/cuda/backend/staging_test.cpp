// The ring of pinned slots: order against the work around a copy, reuse, pieces.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/staging.h"

#include <numeric>

#include "tests/backends/cuda/backend/bodies.h"
#include "tests/backends/cuda/backend/fixture.h"

namespace stepscope::cuda {
namespace {

using test::floats;
using test::read;
using test::write;

// Under `lazy` work runs as late as it may: whatever is not waited for is missed. Under `eager` a
// copy that does not wait for the readers before it comes too early.
class Copies : public testing::WithParamInterface<cudasim::Schedule>, public test::DeviceTest {
 protected:
  Copies() { settings_.schedule = GetParam(); }
};

TEST_P(Copies, ArriveBeforeTheWorkBehindThem) {
  CudaStream stream;
  DeviceMemory x(1024);
  const test::BodyKernel kernel(test::twice_plus_one(5));
  std::byte* operands[] = {x.data()};
  write(stream, x.data(), floats(5, 3));
  stream.submit(kernel.bind(operands, nullptr), 0);
  EXPECT_EQ(read(stream, x.data(), 5), floats(5, 7));
  EXPECT_EQ(stream.counters().copies_in, 1U);
  EXPECT_EQ(stream.counters().bytes_in, 20U);
  EXPECT_EQ(stream.counters().copies_out, 1U);
}

// Ten batches through two slots, none of them waited for; the result of each is kept apart by what
// it adds to a sum that depends on their order.
TEST_P(Copies, DoNotOverwriteWhatIsStillRead) {
  CudaStream stream;
  DeviceMemory x(1024), kept(10 * 256);
  const test::BodyKernel kernel([&](const Launch& call, CudaStream& cuda) {
    cuda.report(call, CallBy::own);
    check_cuda(
        cudaMemcpyAsync(call.operands[0], x.data(), 20, cudaMemcpyDeviceToDevice, cuda.live()),
        "keeping");
  });
  std::vector<std::byte*> places;
  for (std::size_t i = 0; i < 10; ++i) places.push_back(kept.data() + 256 * i);
  for (std::size_t i = 0; i < 10; ++i) {
    write(stream, x.data(), floats(5, static_cast<float>(i)));
    stream.submit(kernel.bind(&places[i], nullptr), 0);
  }
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(read(stream, places[i], 5), floats(5, static_cast<float>(i))) << i;
  }
}

TEST_P(Copies, SlotsGrow) {
  CudaStream stream;
  DeviceMemory x(1 << 20);
  for (const std::size_t count : {1U, 1000U, 10U, 5000U, 20000U, 3U}) {
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), static_cast<float>(count));
    write(stream, x.data(), values);
    EXPECT_EQ(read(stream, x.data(), count), values);
  }
}

TEST_P(Copies, OfMoreThanASlotGoInPieces) {
  CudaStream stream;
  const std::size_t count = 2 * Staging::kPieceBytes / sizeof(float) + 3;
  DeviceMemory x(count * sizeof(float));
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0F);
  write(stream, x.data(), values);
  EXPECT_TRUE(read(stream, x.data(), count) == values);
  EXPECT_LE(cudasim::totals().pinned_bytes, 3 * Staging::kPieceBytes);
  EXPECT_EQ(cudasim::totals().copies, 6U);
  EXPECT_EQ(stream.counters().copies_in, 1U);
}

TEST_P(Copies, OfNothingDoNothing) {
  CudaStream stream;
  stream.copy_in(nullptr, {});
  stream.copy_out({}, nullptr);
  EXPECT_EQ(cudasim::calls_of("cudaMemcpyAsync"), 0U);
}

// The stream goes while a copy is under way: its pinned memory must not.
TEST_P(Copies, AreWaitedForAtTheEnd) {
  DeviceMemory x(1024);
  {
    CudaStream stream;
    write(stream, x.data(), floats(200, 4));
  }
  CudaStream other;
  EXPECT_EQ(read(other, x.data(), 200), floats(200, 4));
}

TEST_P(Copies, ThatFailLeaveTheStreamUsable) {
  CudaStream stream;
  DeviceMemory x(1024);
  for (const auto* call : {"cudaEventRecord", "cudaStreamWaitEvent", "cudaMemcpyAsync"}) {
    for (int nth = 1; nth <= 2; ++nth) {
      cudasim::fail_call(call, cudaErrorUnknown, nth);
      std::string message;
      for (int i = 0; i < 3 && message.empty(); ++i) {
        message = test::message_of([&] { write(stream, x.data(), floats(7, 1)); });
      }
      EXPECT_EQ(message.rfind(std::string("input_copy: ") + call, 0), 0U) << message;
      write(stream, x.data(), floats(7, 2));
      write(stream, x.data() + 512, floats(7, 3));
      EXPECT_EQ(read(stream, x.data(), 7), floats(7, 2)) << call << nth;
    }
  }
}

// The copy may be under way when the wait for it fails, and the next one needs more memory.
TEST_P(Copies, WhoseWaitFailsLeaveTheStreamUsable) {
  CudaStream stream;
  DeviceMemory x(4096);
  write(stream, x.data(), floats(1000, 4));
  EXPECT_EQ(read(stream, x.data(), 7), floats(7, 4));
  cudasim::fail_call("cudaStreamSynchronize", cudaErrorUnknown);
  const std::string message = test::message_of([&] { read(stream, x.data(), 7); });
  EXPECT_EQ(message.rfind("readback: cudaStreamSynchronize behind a copy to the host", 0), 0U)
      << message;
  EXPECT_EQ(cudasim::totals().waiting, 0U);
  EXPECT_EQ(read(stream, x.data(), 1000), floats(1000, 4));
}

std::string name_of(const testing::TestParamInfo<cudasim::Schedule>& schedule) {
  switch (schedule.param) {
    case cudasim::Schedule::lazy:
      return "lazy";
    case cudasim::Schedule::eager:
      return "eager";
    case cudasim::Schedule::seeded:
      return "seeded";
    case cudasim::Schedule::others_first:
      return "others_first";
  }
  return "?";
}

INSTANTIATE_TEST_SUITE_P(All, Copies,
                         testing::Values(cudasim::Schedule::lazy, cudasim::Schedule::eager,
                                         cudasim::Schedule::seeded,
                                         cudasim::Schedule::others_first),
                         name_of);

}  // namespace
}  // namespace stepscope::cuda
