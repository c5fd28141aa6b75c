// A training step with one op that a graph cannot hold: planned it runs, as a graph it is refused
// with the op's place, name and phase, and the backend goes on.
// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <utility>

#include "tests/backends/cuda/backend/bodies.h"
#include "tests/backends/cuda/backend/fixture.h"
#include "tests/backends/cuda/backend/session_support.h"

namespace stepscope::cuda {
namespace {

// What the op does in front of its own call, to which it gives these operands.
using Intrusion = std::function<void(CudaStream&, std::vector<std::byte*>&)>;

class IntrudedKernel final : public Kernel {
 public:
  IntrudedKernel(std::unique_ptr<Kernel> kernel, const Intrusion& intrusion)
      : Kernel(kernel->site(), kernel->needs(), launch, kernel->calls()),
        kernel_(std::move(kernel)),
        intrusion_(intrusion) {}

 private:
  static void launch(const Launch& call, Stream& stream) {
    const auto& self = static_cast<const IntrudedKernel&>(*call.kernel);
    const OpSite& site = self.site();
    std::vector<std::byte*> operands(call.operands,
                                     call.operands + site.in.size() + site.out.size());
    self.intrusion_(static_cast<CudaStream&>(stream), operands);
    const Launch inner = self.kernel_->bind(operands.data(), call.scratch);
    inner.fn(inner, stream);
  }

  std::unique_ptr<Kernel> kernel_;
  const Intrusion& intrusion_;
};

// The CUDA backend with an intrusion into each ReLU.
class IntrudedBackend final : public Backend {
 public:
  IntrudedBackend(RecordAs record_as, Intrusion intrusion)
      : cuda_(make_backend({.record_as = record_as})), intrusion_(std::move(intrusion)) {}

  const BackendInfo& info() const override { return cuda_->info(); }
  std::size_t alignment() const override { return cuda_->alignment(); }
  std::unique_ptr<Memory> allocate(std::size_t bytes) override { return cuda_->allocate(bytes); }
  std::unique_ptr<Stream> make_stream() override { return cuda_->make_stream(); }
  RecordAs records_as() const override { return cuda_->records_as(); }
  std::unique_ptr<Kernel> lower(const OpSite& site) override {
    std::unique_ptr<Kernel> kernel = cuda_->lower(site);
    if (site.kind != OpKind::Relu) return kernel;
    return std::make_unique<IntrudedKernel>(std::move(kernel), intrusion_);
  }

 private:
  std::unique_ptr<Backend> cuda_;
  Intrusion intrusion_;
};

class RefusedSteps : public testing::WithParamInterface<RecordAs>, public test::DeviceTest {
 protected:
  static constexpr std::int64_t kRows = 3;

  // One step of the net in the mode; what it says.
  static std::string message(Backend& backend, Mode mode) {
    return test::message_of([&] {
      Session session(backend, make_model("mlp:5-4-3"), {.mode = mode, .step_batches = {kRows}});
      stepscope::test::load(session, stepscope::test::make_rows(session.model(), kRows, 1));
      session.enqueue_step(kRows);
      session.stream().wait();
    });
  }

  // Of the graph; the same step is no trouble launch by launch.
  static std::string refusal(const Intrusion& intrusion) {
    bool intrudes = true;
    IntrudedBackend backend(GetParam(), [&](CudaStream& stream, std::vector<std::byte*>& operands) {
      if (intrudes) intrusion(stream, operands);
    });
    EXPECT_EQ(message(backend, Mode::planned), "");
    const std::string refused = message(backend, Mode::graph);
    intrudes = false;
    EXPECT_EQ(message(backend, Mode::graph), "") << "behind it";
    return refused;
  }

  static void expect_named(const std::string& message, std::string_view reason) {
    EXPECT_EQ(message.rfind("op 2 Relu (forward): cuda: recording: " + std::string(reason), 0), 0U)
        << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
};

TEST_P(RefusedSteps, ThatAllocate) {
  expect_named(refusal([](CudaStream&, std::vector<std::byte*>&) { DeviceMemory more(256); }),
               "cudaMalloc of 256 bytes");
}

TEST_P(RefusedSteps, ThatWaitForTheStream) {
  expect_named(refusal([](CudaStream& stream, std::vector<std::byte*>&) {
                 check_cuda(cudaStreamSynchronize(stream.submission().stream), "its wait");
               }),
               "its wait: ");
}

TEST_P(RefusedSteps, ThatWaitForTheDevice) {
  expect_named(refusal([](CudaStream&, std::vector<std::byte*>&) {
                 check_cuda(cudaDeviceSynchronize(), "its wait");
               }),
               "its wait: ");
}

TEST_P(RefusedSteps, ThatUseTheLegacyStream) {
  DeviceMemory aside(256);
  expect_named(refusal([&](CudaStream&, std::vector<std::byte*>&) {
                 check_cuda(
                     test::stray_twice_plus_one(nullptr, reinterpret_cast<float*>(aside.data()), 4),
                     "its launch");
               }),
               "its launch: ");
}

// Where it reads is chosen anew each time; a replay would read where it was once.
TEST_P(RefusedSteps, WhosePointersMove) {
  constexpr std::size_t kBlock = 256;
  DeviceMemory inputs(64 * kBlock);
  std::size_t runs = 0;
  expect_named(refusal([&](CudaStream&, std::vector<std::byte*>& operands) {
                 operands[0] = inputs.data() + kBlock * (runs++ % 64);
               }),
               "its calls are not those of the rehearsal: its kernel was given other addresses");
}

INSTANTIATE_TEST_SUITE_P(As, RefusedSteps, testing::Values(RecordAs::capture, RecordAs::nodes),
                         [](const auto& each) {
                           return each.param == RecordAs::capture ? "capture" : "nodes";
                         });

}  // namespace
}  // namespace stepscope::cuda
