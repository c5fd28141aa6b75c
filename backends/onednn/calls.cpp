// The calls, and the kernel that makes them.
// SPDX-License-Identifier: Apache-2.0
#include "backends/onednn/calls.h"

#include <algorithm>
#include <array>
#include <utility>

#include "backends/api/host.h"
#include "backends/onednn/layouts.h"
#include "backends/onednn/team.h"

namespace stepscope::onednn {
namespace {

float* f32(std::byte* bytes) { return reinterpret_cast<float*>(bytes); }

class PrimitiveCall final : public Call {
 public:
  explicit PrimitiveCall(Primitive primitive)
      : Call(CallBy::library, primitive.scratch_bytes()), primitive_(std::move(primitive)) {}
  void run(std::byte* const* operands, std::byte* scratch) const override {
    primitive_.run(operands, scratch);
  }

 private:
  Primitive primitive_;
};

class SgemmCall final : public Call {
 public:
  SgemmCall(const Product& site, float alpha, float beta)
      : Call(CallBy::library, 0), site_(site), alpha_(alpha), beta_(beta) {}
  void run(std::byte* const* operands, std::byte*) const override {
    sgemm(site_, alpha_, f32(operands[0]), f32(operands[1]), beta_, f32(operands[2]));
  }

 private:
  Product site_;
  float alpha_, beta_;
};

class OwnCall final : public Call {
 public:
  explicit OwnCall(const cpu::Body& body) : Call(CallBy::own, body.scratch_bytes()), body_(body) {}
  void run(std::byte* const* operands, std::byte* scratch) const override {
    body_(operands, scratch);
  }

 private:
  cpu::Body body_;
};

class SubtractCall final : public Call {
 public:
  SubtractCall(const Shape& shape, LayoutId layout)
      : Call(CallBy::own, 0), offsets_(weight_offsets(shape, layout)) {}
  void run(std::byte* const* operands, std::byte*) const override {
    const float* dw = f32(operands[0]);
    float* w = f32(operands[1]);
    for (std::size_t i = 0; i < offsets_.size(); ++i) w[i] -= dw[offsets_[i]];
  }

 private:
  std::vector<std::int64_t> offsets_;  // per element of w: where dw has it
};

std::size_t rounded(std::size_t bytes) {
  return (bytes + kHostAlignment - 1) / kHostAlignment * kHostAlignment;
}

Needs needs_of(const OpSite& site, const std::vector<Step>& steps, std::size_t between) {
  std::size_t scratch = 0;
  for (const Step& step : steps) scratch = std::max(scratch, step.call->scratch_bytes());
  return {.scratch = rounded(between) + scratch, .output_bytes = output_bytes(site)};
}

}  // namespace

std::unique_ptr<Call> primitive_call(Primitive primitive) {
  return std::make_unique<PrimitiveCall>(std::move(primitive));
}

std::unique_ptr<Call> sgemm_call(const Product& site, float alpha, float beta) {
  return std::make_unique<SgemmCall>(site, alpha, beta);
}

std::unique_ptr<Call> own_call(const cpu::Body& body) { return std::make_unique<OwnCall>(body); }

std::unique_ptr<Call> subtract_call(const Shape& shape, LayoutId layout) {
  return std::make_unique<SubtractCall>(shape, layout);
}

CallsKernel::CallsKernel(const OpSite& site, int threads, std::vector<Step> steps,
                         std::size_t between)
    : Kernel(site, needs_of(site, steps, between), launch,
             static_cast<std::uint32_t>(steps.size())),
      threads_(threads),
      steps_(std::move(steps)),
      between_(rounded(between)) {}

void CallsKernel::launch(const Launch& call, Stream& stream) {
  const auto& self = static_cast<const CallsKernel&>(*call.kernel);
  std::byte* const between = call.scratch;
  std::byte* const scratch = call.scratch == nullptr ? nullptr : call.scratch + self.between_;
  const Team team(self.threads_);
  for (const Step& step : self.steps_) {
    std::array<std::byte*, 6> operands;
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
      const int at = step.operands[i];
      operands[i] = at == kBetween ? between : call.operands[at];
    }
    stream.made_call(call, step.call->by());
    step.call->run(operands.data(), scratch);
  }
}

}  // namespace stepscope::onednn
