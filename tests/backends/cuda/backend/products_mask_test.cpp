// LinearReluMask and MatMulMaskGrad where the library has their epilogues and where it has not: the
// same bits, whoever writes the mask and whoever reads it.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <vector>

#include "backends/cuda/memory.h"
#include "backends/cuda/products.h"
#include "backends/cuda/stream.h"
#include "backends/cuda/trials.h"
#include "ops/base/philox.h"
#include "tests/backends/cuda/backend/fixture.h"
#include "tests/support/errors.h"

namespace stepscope::cuda {
namespace {

using Values = std::vector<float>;

constexpr std::int64_t kM = 5, kK = 7;

TensorType f32(Shape shape) { return {shape, DType::f32}; }

Values drawn(std::int64_t elements, std::uint64_t stream) {
  Philox random(11, stream);
  Values values(static_cast<std::size_t>(elements));
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

class Masks : public test::DeviceTest, public testing::WithParamInterface<std::int64_t> {
 protected:
  enum class By : std::uint8_t { library, own };

  struct Pass {
    Values y, dx;
    std::vector<std::uint8_t> bits;  // of the elements, one a byte
    Counters counted;
  };

  std::int64_t N() const { return GetParam(); }
  OpSite forward_site() const {
    return {OpKind::LinearReluMask,
            MatMulAttrs{.activation = Activation::relu},
            {f32({kM, kK}), f32({kK, N()}), f32({N()})},
            {f32({kM, N()}), {{kM, N()}, DType::u8}}};
  }
  OpSite backward_site() const {
    return {OpKind::MatMulMaskGrad,
            MatMulAttrs{},
            {f32({kM, kK}), f32({kK, N()}), {{kM, N()}, DType::u8}},
            {f32({kM, N()})}};
  }

  // The kernel of a site whose epilogue the library has, or refuses when it is asked for it.
  static std::unique_ptr<Kernel> made(const Products& products, const OpSite& site, By by) {
    if (by == By::own) {
      cudasim::fail_call("cublasLtMatmulAlgoGetHeuristic", CUBLAS_STATUS_NOT_SUPPORTED);
    }
    std::unique_ptr<Kernel> kernel = products.make(site);
    EXPECT_EQ(kernel->calls(), by == By::own ? 2U : 1U);
    return kernel;
  }

  DeviceMemory& placed(CudaStream& stream, const Values& values) {
    memory_.push_back(std::make_unique<DeviceMemory>(values.size() * sizeof(float)));
    stream.copy_in(memory_.back()->data(), std::as_bytes(std::span(values)));
    return *memory_.back();
  }

  // Row 0 of x is zero, and so is the first bias: an element that is exactly zero.
  Pass pass(By forward_by, By backward_by) {
    const Products products(Tf32::off);
    const auto forward = made(products, forward_site(), forward_by);
    const auto backward = made(products, backward_site(), backward_by);
    EXPECT_EQ(forward->needs().saved, mask_bytes(kM, N()));
    CudaStream stream;
    Values x = drawn(kM * kK, 1), bias = drawn(N(), 3);
    std::fill_n(x.begin(), kK, 0.0F);
    bias[0] = 0;
    const auto elements = static_cast<std::size_t>(kM * N());
    const Values nothing(elements, 77.0F);
    DeviceMemory& y = placed(stream, nothing);
    DeviceMemory& dx = placed(stream, nothing);
    DeviceMemory& mask = placed(stream, Values(mask_bytes(kM, N()) / sizeof(float), -1.0F));
    std::byte* ahead[] = {placed(stream, x).data(), placed(stream, drawn(kK * N(), 2)).data(),
                          placed(stream, bias).data(), y.data(), mask.data()};
    std::byte* back[] = {placed(stream, drawn(kM * kK, 4)).data(),
                         placed(stream, drawn(kK * N(), 5)).data(), mask.data(), dx.data()};
    stream.submit(forward->bind(ahead, nullptr), 0);
    stream.submit(backward->bind(back, nullptr), 1);
    Pass pass{Values(elements), Values(elements), {}, stream.counters()};
    std::vector<std::uint8_t> words(mask_bytes(kM, N()));
    stream.copy_out(std::as_writable_bytes(std::span(pass.y)), y.data());
    stream.copy_out(std::as_writable_bytes(std::span(pass.dx)), dx.data());
    stream.copy_out(std::as_writable_bytes(std::span(words)), mask.data());
    const std::size_t row = mask_bytes(1, N());
    for (std::size_t i = 0; i < elements; ++i) {
      const std::size_t m = i / static_cast<std::size_t>(N()),
                        n = i % static_cast<std::size_t>(N());
      pass.bits.push_back(words[m * row + n / 8] >> n % 8 & 1U);
    }
    memory_.clear();
    return pass;
  }

 private:
  std::vector<std::unique_ptr<DeviceMemory>> memory_;
};

TEST_P(Masks, AreTheSameWhoeverWritesThemAndReadsThem) {
  const Pass librarys = pass(By::library, By::library);
  EXPECT_EQ(librarys.counted.own_calls, 0U);
  EXPECT_EQ(librarys.counted.library_calls, 2U);
  std::size_t stopped = 0;
  for (std::size_t i = 0; i < librarys.y.size(); ++i) {
    EXPECT_EQ(librarys.bits[i], librarys.y[i] > 0 ? 1 : 0);
    if (librarys.bits[i] != 0) continue;
    EXPECT_EQ(librarys.dx[i], 0.0F);
    ++stopped;
  }
  EXPECT_EQ(librarys.y[0], 0.0F);
  EXPECT_GT(stopped, 0U);
  EXPECT_LT(stopped, librarys.y.size());
  for (const auto& [forward, backward] :
       {std::pair{By::own, By::library}, {By::library, By::own}, {By::own, By::own}}) {
    SCOPED_TRACE(fmt::format("own: {}{}", forward == By::own ? "mask " : "",
                             backward == By::own ? "gate" : ""));
    const Pass mixed = pass(forward, backward);
    EXPECT_EQ(mixed.y, librarys.y);
    EXPECT_EQ(mixed.bits, librarys.bits);
    EXPECT_EQ(mixed.dx, librarys.dx);
    EXPECT_EQ(mixed.counted.library_calls, 2U);
    EXPECT_EQ(mixed.counted.own_calls,
              (forward == By::own ? 1U : 0U) + (backward == By::own ? 1U : 0U));
  }
}

// Of two blocks, of rows of several words, of words that are full and that are not.
INSTANTIATE_TEST_SUITE_P(Columns, Masks, testing::Values(1, 31, 32, 33, 128, 129, 200),
                         [](const auto& made) { return fmt::format("N{}", made.param); });

// A trial gives a saved input as many bytes as its kernel reads, which are more than its type has.
TEST(MaskTrial, HasTheWholeMask) {
  cudasim::reset();
  for (const bool own : {false, true}) {
    const Products products(Tf32::off);
    if (own) cudasim::fail_call("cublasLtMatmulAlgoGetHeuristic", CUBLAS_STATUS_NOT_SUPPORTED);
    const auto kernel = products.make({OpKind::MatMulMaskGrad,
                                       MatMulAttrs{},
                                       {f32({4096, 1}), f32({1, 1}), {{4096, 1}, DType::u8}},
                                       {f32({4096, 1})}});
    Trials trials;
    EXPECT_EQ(stepscope::test::error_of([&] { trials.run(*kernel); }), "no error") << own;
    EXPECT_EQ(cudasim::device_fault(), "");
  }
  cudasim::reset();
}

// Without the plainer product there is none.
TEST(MaskRefusal, TellsThePlainerProduct) {
  cudasim::reset();
  {
    const Products products(Tf32::on);  // the simulator has none of these
    const OpSite site{OpKind::MatMulMaskGrad,
                      MatMulAttrs{},
                      {f32({3, 7}), f32({7, 5}), {{3, 5}, DType::u8}},
                      {f32({3, 5})}};
    EXPECT_EQ(stepscope::test::error_of([&] { products.make(site); }),
              "unsupported: cuda-sim: MatMulMaskGrad 3x7x5: cuBLASLt has no algorithm for it with "
              "TF32 (CUBLAS_STATUS_NOT_SUPPORTED, 0 algorithms)");
  }
  cudasim::reset();
}

}  // namespace
}  // namespace stepscope::cuda
