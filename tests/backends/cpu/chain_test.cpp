// PointwiseChain computes the bits of the single ops, whatever the length, whoever shares memory.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <vector>

#include "tests/backends/cpu/own_backend.h"

namespace stepscope::cpu {
namespace {

using enum OpKind;

// All kinds of steps; four further inputs.
const ChainAttrs kChain{.count = 11,
                        .steps = {ChainStep{Add, ChainOperands::current_first, 0.0},
                                  ChainStep{Tanh, ChainOperands::current, 0.0},
                                  ChainStep{Sub, ChainOperands::current_second, 0.0},
                                  ChainStep{Scale, ChainOperands::current, 1.7},
                                  ChainStep{Mul, ChainOperands::both, 0.0},
                                  ChainStep{Sigmoid, ChainOperands::current, 0.0},
                                  ChainStep{TanhGrad, ChainOperands::current_second, 0.0},
                                  ChainStep{SigmoidGrad, ChainOperands::current_first, 0.0},
                                  ChainStep{ReluGrad, ChainOperands::both, 0.0},
                                  ChainStep{Relu, ChainOperands::current, 0.0},
                                  ChainStep{Sub, ChainOperands::both, 0.0}}};

Bytes run_single(const ChainStep& step, const std::vector<Bytes>& in, const TensorType& type) {
  const Attrs attrs = step.kind == Scale ? Attrs{ScaleAttrs{step.factor}} : Attrs{};
  return run(site_of(step.kind, attrs, std::vector<TensorType>(in.size(), type)), in, Isa::v2)[0];
}

// The chain cut after `count` steps, op by op.
Bytes op_by_op(const ChainAttrs& chain, const std::vector<Bytes>& in, const TensorType& type) {
  Bytes current = in[0];
  std::size_t next = 1;
  for (std::int64_t s = 0; s < chain.count; ++s) {
    const ChainStep& step = chain.steps[static_cast<std::size_t>(s)];
    std::vector<Bytes> operands = {current};
    if (step.operands == ChainOperands::both) operands.push_back(current);
    if (step.operands == ChainOperands::current_first) operands.push_back(in[next++]);
    if (step.operands == ChainOperands::current_second) {
      operands.insert(operands.begin(), in[next++]);
    }
    current = run_single(step, operands, type);
  }
  return current;
}

ChainAttrs cut(std::int64_t count) {
  ChainAttrs chain;
  chain.count = count;
  for (std::size_t s = 0; s < static_cast<std::size_t>(count); ++s)
    chain.steps[s] = kChain.steps[s];
  return chain;
}

std::size_t inputs_of(const ChainAttrs& chain) {
  std::size_t inputs = 1;
  for (std::size_t s = 0; s < static_cast<std::size_t>(chain.count); ++s) {
    const ChainOperands operands = chain.steps[s].operands;
    if (operands == ChainOperands::current_first || operands == ChainOperands::current_second) {
      ++inputs;
    }
  }
  return inputs;
}

TEST(CpuChain, HasTheBitsOfTheSingleOps) {
  for (const std::int64_t elements : {1, 7, 1023, 1024, 1025, 5000}) {
    const TensorType type = tensor({elements});
    for (std::int64_t count = 1; count <= kChain.count; ++count) {
      const ChainAttrs chain = cut(count);
      std::vector<Bytes> in;
      for (std::size_t i = 0; i < inputs_of(chain); ++i) {
        in.push_back(drawn(elements, static_cast<std::uint32_t>(i)));
      }
      const OpSite site = site_of(PointwiseChain, chain, std::vector<TensorType>(in.size(), type));
      const Bytes expected = op_by_op(chain, in, type);
      for (const Isa isa : runnable_isas()) {
        for (const int in_place : {-1, 0}) {
          EXPECT_EQ(run(site, in, isa, {.in_place = in_place})[0], expected)
              << count << " steps on " << elements << " elements, " << name(isa)
              << (in_place == 0 ? " in place" : "");
        }
      }
    }
  }
}

// x dies here and is read twice: y lies over both.
TEST(CpuChain, MayBeWrittenOverAnInputThatItReadsAgain) {
  ChainAttrs chain;
  chain.count = 3;
  chain.steps[0] = {Scale, ChainOperands::current, 3.0};
  chain.steps[1] = {Add, ChainOperands::current_first, 0.0};
  chain.steps[2] = {Tanh, ChainOperands::current, 0.0};
  const TensorType type = tensor({3000});
  const Bytes x = drawn(3000, 5);
  const Bytes expected = op_by_op(chain, {x, x}, type);
  for (const Isa isa : runnable_isas()) {
    EXPECT_EQ(run(site_of(PointwiseChain, chain, {type, type}), {x, x}, isa,
                  {.in_place = 0, .shared_inputs = true})[0],
              expected)
        << name(isa);
  }
}

}  // namespace
}  // namespace stepscope::cpu
