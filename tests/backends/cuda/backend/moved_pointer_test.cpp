// A launch that goes to other addresses in the graph than in its rehearsal is refused: replays
// would go where it went once.
// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "backends/cuda/device/run.h"
#include "tests/backends/cuda/backend/bodies.h"
#include "tests/backends/cuda/backend/fixture.h"

namespace stepscope::cuda {
namespace {

using test::BodyKernel;

class MovedPointers : public testing::WithParamInterface<RecordAs>, public test::DeviceTest {
 protected:
  static constexpr std::size_t kApart = 1024;

  // Records a kernel at op 0 and `moving` at op 1, whose body is told what to add to its addresses
  // each time it runs.
  template <class Body>
  std::string refusal(const Body& body) {
    CudaStream stream;
    DeviceMemory memory(std::size_t{1} << 16);
    std::byte* operands[] = {memory.data(), memory.data() + 16 * kApart};
    std::size_t move = 0;
    std::size_t moves_by = 0;
    const BodyKernel moving([&](const Launch& call, CudaStream& to) {
      to.report(call, CallBy::own);
      move += moves_by;
      check_cuda(body(to.submission(), call.operands, move), "the moving kernel");
    });
    const BodyKernel still(test::twice_plus_one(4));
    stream.submit(moving.bind(operands, nullptr), 0);  // so that no recording meets it first
    stream.submit(still.bind(operands, nullptr), 0);
    stream.wait();
    const auto record = [&] {
      stream.begin_recording(GetParam());
      stream.submit(still.bind(operands, nullptr), 0);
      stream.submit(moving.bind(operands, nullptr), 1);
      stream.end_recording();
    };
    EXPECT_EQ(test::message_of(record), "") << "while it does not move";
    moves_by = kApart;
    return test::message_of(record);
  }
};

constexpr const char* kRefusal =
    "cuda: recording op 1 Relu: its calls are not those of the rehearsal: its kernel was given "
    "other addresses there, and replays go to those of the graph alone";

TEST_P(MovedPointers, OfAnArgumentAreRefused) {
  EXPECT_EQ(refusal([](Submission& to, std::byte* const* operands, std::size_t move) {
              return test::run_twice_plus_one(to, reinterpret_cast<float*>(operands[0] + move), 40);
            }),
            kRefusal);
}

// An update's addresses are members of an argument.
TEST_P(MovedPointers, WithinAnArgumentAreRefused) {
  EXPECT_EQ(refusal([](Submission& to, std::byte* const* operands, std::size_t move) {
              std::byte* const w = operands[0];
              std::byte* const g = operands[1] + kApart + move;
              std::byte* const rate = operands[1];
              std::byte* const moved[] = {w, g, rate, w};
              Update update{};
              update.tensors = 1;
              update.elements[0] = 40;
              return run_sgd(to, moved, update);
            }),
            kRefusal);
}

INSTANTIATE_TEST_SUITE_P(As, MovedPointers, testing::Values(RecordAs::capture, RecordAs::nodes),
                         [](const auto& each) {
                           return each.param == RecordAs::capture ? "capture" : "nodes";
                         });

}  // namespace
}  // namespace stepscope::cuda
