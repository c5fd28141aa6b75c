// BodyKernel: a kernel whose launch is a function of a test.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backends/cuda/error.h"
#include "backends/cuda/memory.h"
#include "backends/cuda/stream.h"
#include "ops/base/error.h"
#include "tests/backends/cuda/backend/step_kernels.h"

namespace stepscope::cuda::test {

class BodyKernel final : public Kernel {
 public:
  using Body = std::function<void(const Launch&, CudaStream&)>;

  explicit BodyKernel(Body body, std::uint32_t calls = 1)
      : Kernel({.kind = OpKind::Relu, .attrs = {}, .in = {}, .out = {}}, {}, launch, calls),
        body_(std::move(body)) {}

 private:
  static void launch(const Launch& call, Stream& stream) {
    static_cast<const BodyKernel&>(*call.kernel).body_(call, static_cast<CudaStream&>(stream));
  }

  Body body_;
};

// x = 2 x + 1 over the first operand, with `elements` of it.
inline BodyKernel::Body twice_plus_one(int elements) {
  return [elements](const Launch& call, CudaStream& stream) {
    stream.report(call, CallBy::own);
    check_cuda(run_twice_plus_one(stream.submission(), reinterpret_cast<float*>(call.operands[0]),
                                  elements),
               "twice plus one");
  };
}

// The message of the error that the call throws; empty: it throws none.
template <class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

inline std::vector<float> floats(std::size_t count, float value) {
  return std::vector<float>(count, value);
}
inline std::vector<float> read(Stream& stream, const std::byte* from, std::size_t count) {
  std::vector<float> values(count);
  stream.copy_out(std::as_writable_bytes(std::span(values)), from);
  return values;
}
inline void write(Stream& stream, std::byte* to, const std::vector<float>& values) {
  stream.copy_in(to, std::as_bytes(std::span(values)));
}

}  // namespace stepscope::cuda::test
