// An op from outside the tree that saves opaque bytes for its gradient and needs scratch, on a
// backend that learns it at run time: sizes come from the kernel, memory from plan or pool, in
// every mode.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "backends/api/host.h"
#include "backends/api/output_bytes.h"
#include "backends/execution/reconcile.h"
#include "backends/null/null.h"
#include "backends/reference/reference.h"
#include "ops/autodiff/backward.h"
#include "ops/base/check.h"
#include "ops/ir/build.h"
#include "ops/models/optimizer.h"
#include "tests/backends/execution/rig.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;
using test::Rig;

constexpr std::array kModes = {Mode::eager, Mode::planned, Mode::graph};

// The saved bytes: a seal, then 2 x for each element. 13 bytes, so that nothing is a round number.
constexpr std::array<char, 13> kSeal = {'o', 'p', 'a', 'q', 'u', 'e', ' ',
                                        'b', 'y', 't', 'e', 's', '.'};

std::size_t elements(const Launch& call) {
  return static_cast<std::size_t>(call.kernel->site().in[0].shape.elements());
}

// Operands and scratch at 64 bytes; a view of the model segment, too.
void check_alignment(const Launch& call) {
  const OpSite& site = call.kernel->site();
  for (std::size_t i = 0; i < site.in.size() + site.out.size(); ++i) {
    check(reinterpret_cast<std::uintptr_t>(call.operands[i]) % kHostAlignment == 0, Fault::device,
          "{}: operand {} is not aligned", name(site.kind), i);
  }
  check(reinterpret_cast<std::uintptr_t>(call.scratch) % kHostAlignment == 0, Fault::device,
        "{}: scratch is not aligned", name(site.kind));
  check((call.scratch != nullptr) == (call.kernel->needs().scratch > 0), Fault::device,
        "{}: scratch was not what it asked for", name(site.kind));
}

// x f32{n} -> y = x x, saved (seal, 2 x); scratch holds x meanwhile. Two calls: copy, compute.
void square(const Launch& call, Stream& stream) {
  check_alignment(call);
  const std::size_t n = elements(call);
  stream.made_call(call, CallBy::own);
  std::memcpy(call.scratch, call.operands[0], n * sizeof(float));
  stream.made_call(call, CallBy::library);
  std::memcpy(call.operands[2], kSeal.data(), kSeal.size());
  for (std::size_t i = 0; i < n; ++i) {
    float x;
    std::memcpy(&x, call.scratch + i * sizeof x, sizeof x);
    const float slope = 2 * x;
    const float y = x * x;
    std::memcpy(call.operands[1] + i * sizeof y, &y, sizeof y);
    std::memcpy(call.operands[2] + kSeal.size() + i * sizeof slope, &slope, sizeof slope);
  }
}

// dy f32{n}, saved -> dx
void square_grad(const Launch& call, Stream& stream) {
  check_alignment(call);
  stream.made_call(call, CallBy::own);
  check(std::memcmp(call.operands[1], kSeal.data(), kSeal.size()) == 0, Fault::device,
        "TestSquareGrad: what was saved is broken");
  for (std::size_t i = 0; i < elements(call); ++i) {
    float dy, slope;
    std::memcpy(&dy, call.operands[0] + i * sizeof dy, sizeof dy);
    std::memcpy(&slope, call.operands[1] + kSeal.size() + i * sizeof slope, sizeof slope);
    const float dx = dy * slope;
    std::memcpy(call.operands[2] + i * sizeof dx, &dx, sizeof dx);
  }
}

struct TestKernel final : Kernel {
  TestKernel(const OpSite& site, Needs needs, Function function, std::uint32_t calls)
      : Kernel(site, std::move(needs), function, calls) {}
};

std::unique_ptr<Kernel> make_square(const OpSite& site) {
  const std::size_t bytes = site.in[0].bytes();
  return std::make_unique<TestKernel>(
      site, Needs{.scratch = bytes, .saved = kSeal.size() + bytes, .in_place = ~0U}, square, 2);
}

std::unique_ptr<Kernel> make_square_grad(const OpSite& site) {
  return std::make_unique<TestKernel>(site, Needs{.in_place = ~0U}, square_grad, 1);
}

// Promises one call and makes two.
std::unique_ptr<Kernel> make_dishonest_square(const OpSite& site) {
  const std::size_t bytes = site.in[0].bytes();
  return std::make_unique<TestKernel>(site, Needs{.scratch = bytes, .saved = kSeal.size() + bytes},
                                      square, 1);
}

Work no_work(std::span<const TensorType>, std::span<const TensorType>, const Attrs&) { return {}; }

OpKind square_grad_op() {
  static const OpKind kind = add_op({.name = "TestSquareGrad",
                                     .infer = [](std::span<const TensorType> in, const Attrs&,
                                                 TypeList& out) { out.push_back(in[0]); },
                                     .work = no_work,
                                     .in_place = 0b01});
  return kind;
}

OpKind square_op() {
  static const OpKind kind =
      add_op({.name = "TestSquare",
              .infer =
                  [](std::span<const TensorType> in, const Attrs&, TypeList& out) {
                    out.push_back(in[0]);
                    out.push_back({{1}, DType::u8});  // the kernel tells the size
                  },
              .vjp =
                  [](GradientRequest& request) {
                    request.input_grads[0] = request.graph.apply1(
                        square_grad_op(), {request.output_grads[0], request.op.outputs[1]});
                  },
              .work = no_work,
              .in_place = 0b01,
              .saved_outputs = 0b10});
  return kind;
}

// loss = sum((x + w)^2)^2, squared twice so that two saved values live at once; dw = 2 s 2 (x + w).
Graph squaring_step() {
  Graph graph;
  const ValueId x = graph.declare(Role::input, {{7}, DType::f32}, "x");
  const ValueId w = graph.declare(Role::parameter, {{7}, DType::f32}, "w");
  const ValueId inner = graph.apply(square_op(), {build::add(graph, x, w)})[0];
  const ValueId sum = build::reduce_sum(graph, inner, 0);
  const ValueId loss = graph.apply(square_op(), {sum})[0];
  graph.keep(loss, "loss");
  graph.enter(Phase::backward);
  const std::array wrt = {w};
  append_updates(graph, wrt, add_backward(graph, loss, wrt), {});
  return graph;
}

std::unique_ptr<Backend> extended_reference() {
  auto backend = reference::make_backend({});
  auto& host = dynamic_cast<HostBackend&>(*backend);
  host.set_maker(square_op(), make_square);
  host.set_maker(square_grad_op(), make_square_grad);
  return backend;
}

TEST(ExtensionOp, SavesAndGetsScratchInEveryMode) {
  const auto backend = extended_reference();
  for (const Mode mode : kModes) {
    for (const InPlace in_place : {InPlace::on, InPlace::off}) {
      for (const std::size_t offset : {std::size_t{0}, kHostAlignment}) {
        Rig rig(*backend, squaring_step(), in_place, offset);
        rig.stream().keep_log(1024, LogOperands::copied);
        // Binary fractions of few digits: every mode and we ourselves are exact.
        rig.write("x", std::vector<double>{1, 0, -1, 0.5, 2, 0, 0.25});
        rig.write("w", std::vector<double>(7, 0.5));
        rig.write(kLearningRate, std::vector<double>{0.0078125});
        const auto executor = rig.executor(mode, {.address_offset = offset});
        const Counters before = rig.stream().counters();
        executor->enqueue(rig.stream());
        // x + w = 1.5 .5 -.5 1 2.5 .5 .75; squares sum up to 10.8125; rate 2 s 2 = 0.337890625
        EXPECT_EQ(rig.read(*executor, "loss"), std::vector<double>{10.8125 * 10.8125});
        const std::array sums = {1.5, 0.5, -0.5, 1.0, 2.5, 0.5, 0.75};
        std::vector<double> w;
        for (const double sum : sums) w.push_back(0.5 - 0.337890625 * sum);
        EXPECT_EQ(rig.read("w"), w) << name(mode);
        executor->enqueue(rig.stream());
        EXPECT_EQ(error_of([&] {
                    reconcile(*rig.program(), rig.stream().counters() - before, rig.stream().log(),
                              {.mode = mode, .steps = 2, .memory = &rig.memory()});
                  }),
                  "no error");
      }
    }
  }
}

TEST(ExtensionOp, MayNotMakeMoreCallsThanItSays) {
  const auto backend = extended_reference();
  dynamic_cast<HostBackend&>(*backend).set_maker(square_op(), make_dishonest_square);
  Rig rig(*backend, squaring_step());
  for (const Mode mode : kModes) {
    const auto executor = rig.executor(mode);
    const Counters before = rig.stream().counters();
    executor->enqueue(rig.stream());
    EXPECT_EQ(error_of([&] {
                reconcile(*rig.program(), rig.stream().counters() - before, rig.stream().log(),
                          {.mode = mode, .steps = 1});
              }),
              "device: reconcile: op 1 (TestSquare) made 2 calls in 1 steps, 1 were expected");
  }
}

// null saves nothing: a value of no bytes needs no block, and the pool must not grow for it.
TEST(ExtensionOp, MaySaveNothing) {
  const auto backend = null::make_backend({});
  Rig rig(*backend, squaring_step());
  for (const Mode mode : kModes) {
    const auto executor = rig.executor(mode);
    executor->enqueue(rig.stream());
    const std::size_t held = executor->bytes_reserved();
    for (int step = 0; step < 5; ++step) executor->enqueue(rig.stream());
    EXPECT_EQ(executor->bytes_reserved(), held) << name(mode);
  }
}

// A layout wider than dense goes for the outputs that somebody reads; saved ones go by `saved`.
TEST(ExtensionOp, GetsTheBytesItsKernelAsksFor) {
  const OpSite site{square_op(), {}, {{{7}}}, {{{7}}, {{1}, DType::u8}}};
  const TestKernel dense(site, {.saved = 41}, square, 1);
  EXPECT_EQ(output_bytes(dense, 0), 28U);
  EXPECT_EQ(output_bytes(dense, 1), 41U);
  const TestKernel wide(site, {.saved = 41, .output_bytes = {64, 1}}, square, 1);
  EXPECT_EQ(output_bytes(wide, 0), 64U);
  EXPECT_EQ(output_bytes(wide, 1), 41U);
}

}  // namespace
}  // namespace stepscope
