// Pointwise ops and chains of them. On a blocked layout they run over the padding as well, where
// zeros stay zeros; Sigmoid alone makes a half of them and sets them to zero again.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/loops.h"

namespace stepscope::cpu::STEPSCOPE_CPU_ISA {
namespace {

void clear_padding(float* y, const Padding& padding) {
  const auto [images, image_elements, inner, block, used] = padding;
  for (std::int64_t n = 1; n <= images; ++n) {
    float* last = y + n * image_elements - inner * block;
    for (std::int64_t i = 0; i < inner; ++i) {
      for (std::int64_t l = used; l < block; ++l) last[i * block + l] = 0.0F;
    }
  }
}

void run(const LoopStep& step, const float* a, const float* b, float* y, std::int64_t n) {
  switch (step.loop) {
    case Loop::relu:
      return relu(a, y, n);
    case Loop::tanh:
      return tanh(a, y, n);
    case Loop::sigmoid:
      return sigmoid(a, y, n);
    case Loop::scale:
      return scale(a, step.factor, y, n);
    case Loop::add:
      return add(a, b, y, n);
    case Loop::sub:
      return sub(a, b, y, n);
    case Loop::mul:
      return mul(a, b, y, n);
    case Loop::relu_grad:
      return relu_grad(a, b, y, n);
    case Loop::tanh_grad:
      return tanh_grad(a, b, y, n);
    case Loop::sigmoid_grad:
      return sigmoid_grad(a, b, y, n);
  }
}

// The steps on elements [begin, begin + n). What lies between two steps stays in `between`, not in
// y: y may be x, and x may be another input as well.
void run_block(Operands operands, const Chain& chain, std::int64_t begin, std::int64_t n,
               float* between) {
  const float* current = f32(operands, 0) + begin;
  int next = 1;
  for (int s = 0; s < chain.count; ++s) {
    const LoopStep& step = chain.steps[s];
    float* y = s + 1 < chain.count ? between : f32(operands, chain.inputs) + begin;
    const float* a = current;
    const float* b = current;
    if (step.operands == LoopOperands::current_first) b = f32(operands, next++) + begin;
    if (step.operands == LoopOperands::current_second) a = f32(operands, next++) + begin;
    run(step, a, b, y, n);
    current = y;
  }
}

}  // namespace

// a, b, y {elements}
void Add(Operands operands, std::byte*, const Numbers& numbers) {
  add(f32(operands, 0), f32(operands, 1), f32(operands, 2), numbers.elements.elements);
}

void Sub(Operands operands, std::byte*, const Numbers& numbers) {
  sub(f32(operands, 0), f32(operands, 1), f32(operands, 2), numbers.elements.elements);
}

void Mul(Operands operands, std::byte*, const Numbers& numbers) {
  mul(f32(operands, 0), f32(operands, 1), f32(operands, 2), numbers.elements.elements);
}

void Scale(Operands operands, std::byte*, const Numbers& numbers) {
  scale(f32(operands, 0), numbers.scaled.factor, f32(operands, 1), numbers.scaled.elements);
}

void Fill(Operands operands, std::byte*, const Numbers& numbers) {
  const auto [elements, value] = numbers.scaled;
  float* y = f32(operands, 0);
  for (std::int64_t i = 0; i < elements; ++i) y[i] = value;
}

void Relu(Operands operands, std::byte*, const Numbers& numbers) {
  relu(f32(operands, 0), f32(operands, 1), numbers.elements.elements);
}

void Tanh(Operands operands, std::byte*, const Numbers& numbers) {
  tanh(f32(operands, 0), f32(operands, 1), numbers.elements.elements);
}

void Sigmoid(Operands operands, std::byte*, const Numbers& numbers) {
  sigmoid(f32(operands, 0), f32(operands, 1), numbers.elements.elements);
  clear_padding(f32(operands, 1), numbers.elements.padding);
}

// dy, y -> dx
void ReluGrad(Operands operands, std::byte*, const Numbers& numbers) {
  relu_grad(f32(operands, 0), f32(operands, 1), f32(operands, 2), numbers.elements.elements);
}

void TanhGrad(Operands operands, std::byte*, const Numbers& numbers) {
  tanh_grad(f32(operands, 0), f32(operands, 1), f32(operands, 2), numbers.elements.elements);
}

void SigmoidGrad(Operands operands, std::byte*, const Numbers& numbers) {
  sigmoid_grad(f32(operands, 0), f32(operands, 1), f32(operands, 2), numbers.elements.elements);
}

// x, others -> y, all {elements}
void PointwiseChain(Operands operands, std::byte*, const Numbers& numbers) {
  constexpr std::int64_t kBlock = 1024;  // 4 KiB: what lies between two steps stays in the L1 cache
  alignas(64) float between[kBlock];
  const Chain& chain = numbers.chain;
  for (std::int64_t begin = 0; begin < chain.elements; begin += kBlock) {
    const std::int64_t rest = chain.elements - begin;
    run_block(operands, chain, begin, rest < kBlock ? rest : kBlock, between);
  }
  clear_padding(f32(operands, chain.inputs), chain.padding);
}

}  // namespace stepscope::cpu::STEPSCOPE_CPU_ISA
