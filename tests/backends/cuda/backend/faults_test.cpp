// Every CUDA call from the making of a backend to its end fails once, in turn: the error names the
// call, the op and the phase it is about, nothing is left behind, and the next run works.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

#include "graph/passes/fusion.h"
#include "tests/backends/cuda/backend/bodies.h"
#include "tests/backends/cuda/backend/fixture.h"
#include "tests/backends/cuda/backend/session_support.h"

namespace stepscope::cuda {
namespace {

struct NamedCall {
  std::string_view name;
  std::string_view library;
};
constexpr NamedCall kCalls[] = {
#define CALL(name, library, legality) {#name, #library},
#include "backends/cuda/sim/calls.inc"
};

constexpr std::int64_t kRows = 2;

// What is trained, and how it is recorded.
struct Walk {
  std::string_view name;
  RecordAs record_as;
  bool fused;
  OptimizerSpec::Kind optimizer;
  InputCopy input_copy;
};
void PrintTo(const Walk& walk, std::ostream* out) { *out << walk.name; }

constexpr auto kSgd = OptimizerSpec::Kind::sgd;
constexpr auto kAdam = OptimizerSpec::Kind::adam;
constexpr Walk kWalks[] = {
    {"capture", RecordAs::capture, false, kSgd, InputCopy::outside},
    {"capture_fused", RecordAs::capture, true, kSgd, InputCopy::outside},
    {"capture_inside", RecordAs::capture, true, kSgd, InputCopy::inside},
    {"capture_adam", RecordAs::capture, true, kAdam, InputCopy::outside},
    {"nodes", RecordAs::nodes, false, kSgd, InputCopy::outside},
    {"nodes_fused", RecordAs::nodes, true, kSgd, InputCopy::outside},
    {"nodes_inside", RecordAs::nodes, true, kSgd, InputCopy::inside},
    {"nodes_adam", RecordAs::nodes, true, kAdam, InputCopy::outside},
};

// What a run did, and how often a call had been made when its end began.
struct Outcome {
  std::string error;  // empty: none
  double loss = 0.0;
  std::uint64_t calls_before_end = 0;
};

SessionOptions options_of(const Walk& walk, Backend& backend) {
  return {.mode = Mode::graph,
          .step_batches = {kRows},
          .seed = 3,
          .passes = passes_for(parse_fusion(walk.fused ? "on" : "off"), backend.wishes()),
          .input_copy = walk.input_copy};
}

// Makes a backend, records, replays three times, reads the loss, destroys everything.
Outcome run(const Walk& walk, std::string_view call) {
  Outcome outcome;
  try {
    const auto backend = make_backend({.record_as = walk.record_as});
    Session session(*backend, make_model("mlp:5-4-3", {.kind = walk.optimizer}),
                    options_of(walk, *backend));
    for (std::uint64_t step = 0; step < 3; ++step) {
      stepscope::test::load(session, stepscope::test::make_rows(session.model(), kRows, step));
      session.enqueue_step(kRows);
    }
    outcome.loss = session.loss(kRows);
    outcome.calls_before_end = cudasim::calls_of(call);
  } catch (const Error& error) {
    outcome.error = error.what();
  }
  return outcome;
}

bool destroys(std::string_view call) {
  return call.find("Destroy") != std::string_view::npos || call == "cudaFree" ||
         call == "cudaFreeHost";
}

// Calls of destructors alone: who destroys has no use for their errors.
bool ends(std::string_view call) { return destroys(call) || call == "cudaDeviceSynchronize"; }

// The call's whole name. A launch of own device code is one of two calls, and its message calls it
// what it is.
bool names(const std::string& message, std::string_view call) {
  if (call == "cudaLaunchKernelExC" || call == "cudaGraphAddKernelNode") {
    call = message.find("own kernel of") != std::string::npos ? "own kernel of"
                                                              : "launch of an own kernel";
  }
  const auto goes_on = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t at = message.find(call); at != std::string::npos;
       at = message.find(call, at + 1)) {
    const std::size_t behind = at + call.size();
    if (behind >= message.size() || !goes_on(message[behind])) return true;
  }
  return false;
}

// What a message says the call was about.
enum class About : unsigned { op = 1, input_copy = 2, readback = 4, no_op = 8 };
constexpr unsigned operator|(About a, About b) {
  return static_cast<unsigned>(a) | static_cast<unsigned>(b);
}
constexpr unsigned operator|(unsigned a, About b) { return a | static_cast<unsigned>(b); }

struct MayBeAbout {
  std::string_view call;
  unsigned about;
};
constexpr unsigned kOp = static_cast<unsigned>(About::op);
constexpr unsigned kNoOp = static_cast<unsigned>(About::no_op);
constexpr unsigned kCopy = About::input_copy | About::readback;
// All other calls are about no op: those that make, end or launch something for the whole step.
constexpr MayBeAbout kMayBeAbout[] = {
    {"cudaLaunchKernelExC", kOp},
    {"cudaGraphAddKernelNode", kOp},
    {"cudaGraphKernelNodeGetParams", kOp},
    {"cudaStreamBeginCaptureToGraph", kOp},
    {"cudaMemset", kOp},
    {"cudaMemsetAsync", kOp},
    {"cublasLtMatmul", kOp},
    {"cublasLtMatmulDescInit", kOp},
    {"cublasLtMatmulDescSetAttribute", kOp},
    {"cublasLtMatrixLayoutInit", kOp},
    {"cublasLtMatrixLayoutSetAttribute", kOp},
    {"cublasLtMatmulPreferenceInit", kOp},
    {"cublasLtMatmulPreferenceSetAttribute", kOp},
    {"cublasLtMatmulAlgoGetHeuristic", kOp},
    {"cublasLtMatmulAlgoCheck", kOp},
    {"cudaGraphNodeGetType", About::op | About::input_copy},
    {"cudaGraphNodeGetDependencies", About::op | About::input_copy},
    {"cudaGraphGetNodes", About::op | About::input_copy},
    {"cudaStreamGetCaptureInfo", About::op | About::input_copy},
    {"cudaGraphAddMemcpyNode1D", static_cast<unsigned>(About::input_copy)},
    {"cudaMemcpyAsync", kCopy},
    {"cudaMallocHost", kCopy | kNoOp},  // an input's source is made with the session
    {"cudaEventRecord", static_cast<unsigned>(About::input_copy)},
    {"cudaEventSynchronize", static_cast<unsigned>(About::input_copy)},
    {"cudaStreamWaitEvent", static_cast<unsigned>(About::input_copy)},
    {"cudaMalloc", kOp | kNoOp},
    {"cudaStreamEndCapture", kOp | kNoOp},
    {"cudaStreamSynchronize", kOp | kNoOp | About::readback},
};

unsigned may_be_about(std::string_view call) {
  const auto* const found = std::find_if(std::begin(kMayBeAbout), std::end(kMayBeAbout),
                                         [&](const MayBeAbout& each) { return each.call == call; });
  return found == std::end(kMayBeAbout) ? kNoOp : found->about;
}

bool begins(std::string_view message, std::string_view with) { return message.rfind(with, 0) == 0; }

class EveryCall : public testing::TestWithParam<Walk> {
 protected:
  // The step whose ops errors must name: index, kind and phases.
  void SetUp() override {
    cudasim::reset();
    const auto backend = make_backend({.record_as = GetParam().record_as});
    Session session(*backend, make_model("mlp:5-4-3", {.kind = GetParam().optimizer}),
                    options_of(GetParam(), *backend));
    const Graph& graph = session.step(kRows).graph();
    for (std::size_t i = 0; i < graph.ops().size(); ++i) {
      const Op& op = graph.ops()[i];
      places_.push_back(fmt::format("op {} {} ({}): ", i, name(op.kind), to_string(op.phases)));
    }
  }

  About about(const std::string& message) const {
    for (const std::string& place : places_) {
      if (begins(message, place)) return About::op;
    }
    if (begins(message, "input_copy: ") || begins(message, "cuda: recording input_copy of ")) {
      return About::input_copy;
    }
    return begins(message, "readback: ") ? About::readback : About::no_op;
  }

  void check_failure(const NamedCall& call, int nth, const Outcome& outcome) {
    const std::string where = fmt::format("{} {}: {}", call.name, nth, outcome.error);
    const bool in_the_run = outcome.calls_before_end == 0 ||
                            static_cast<std::uint64_t>(nth) <= outcome.calls_before_end;
    if (outcome.error.empty()) {
      EXPECT_TRUE(ends(call.name) || !in_the_run) << "no error: " << where;
    } else {
      const About said = about(outcome.error);
      EXPECT_TRUE(names(outcome.error, call.name)) << where;
      EXPECT_EQ(outcome.error.find('\n'), std::string::npos) << where;
      EXPECT_NE(may_be_about(call.name) & static_cast<unsigned>(said), 0U) << where;
      of_ops_ += said == About::op ? 1 : 0;
    }
    check_lints(call, where);
  }

  // A call that should have destroyed something and did nothing leaves that one thing; of an
  // executable also that memory is freed before it.
  static void check_lints(const NamedCall& call, const std::string& where) {
    EXPECT_EQ(test::fault_at_the_end(), "") << where;
    std::size_t leaks = 0;
    for (const auto& lint : cudasim::finish()) {
      leaks += lint.lint == cudasim::Lint::leak ? 1 : 0;
      EXPECT_TRUE(
          lint.lint == cudasim::Lint::leak ||
          (lint.lint == cudasim::Lint::freed_before_exec && call.name == "cudaGraphExecDestroy"))
          << where << ": " << lint.text;
    }
    EXPECT_LE(leaks, destroys(call.name) ? 1U : 0U) << where;
  }

  // False: the nth call of that name is never made.
  bool fail_once(const NamedCall& call, int nth) {
    cudasim::reset();
    const bool runtime = call.library == "runtime";
    cudasim::fail_call(call.name,
                       runtime ? static_cast<int>(cudaErrorUnknown)
                               : static_cast<int>(CUBLAS_STATUS_INTERNAL_ERROR),
                       nth);
    const Outcome outcome = run(GetParam(), call.name);
    if (cudasim::calls_of(call.name) < static_cast<std::uint64_t>(nth)) {
      EXPECT_EQ(outcome.error, "") << call.name << ' ' << nth;
      return false;
    }
    check_failure(call, nth, outcome);
    return true;
  }

  // On the same device, with whatever the failure left.
  void check_next_run(const NamedCall& call, double loss) {
    const Outcome next = run(GetParam(), call.name);
    EXPECT_EQ(next.error, "") << "behind a failed " << call.name;
    EXPECT_EQ(next.loss, loss) << "behind a failed " << call.name;
  }

  std::vector<std::string> places_;
  int of_ops_ = 0;  // errors that named one
};

TEST_P(EveryCall, FailsOnce) {
  cudasim::reset();
  const Outcome clean = run(GetParam(), "cudaMalloc");
  ASSERT_EQ(clean.error, "");
  ASSERT_EQ(test::fault_at_the_end(), "");
  ASSERT_TRUE(cudasim::finish().empty());
  int failures = 0, names = 0;
  for (const NamedCall& call : kCalls) {
    if (call.library != "runtime" && call.library != "cublaslt") continue;
    int nth = 1;
    while (fail_once(call, nth) && !HasFatalFailure()) {
      if (nth == 1) check_next_run(call, clean.loss);
      ++nth;
    }
    failures += nth - 1;
    if (nth > 1) ++names;
  }
  fmt::print("{} calls of {} names failed in turn; {} errors named an op\n", failures, names,
             of_ops_);
  EXPECT_GT(failures, 200);
  EXPECT_GT(names, 25);
  EXPECT_GT(of_ops_, failures / 2);
}

INSTANTIATE_TEST_SUITE_P(Of, EveryCall, testing::ValuesIn(kWalks),
                         [](const auto& each) { return std::string(each.param.name); });

// A kernel that faults takes the device with it: every error from then on says so.
TEST(Faults, OfAKernelEndTheRunWithAnErrorThatSaysSo) {
  for (int nth = 1; nth < 60; nth += 7) {
    cudasim::reset();
    cudasim::fault_kernel(cudaErrorIllegalAddress, nth);
    const Outcome outcome = run(kWalks[0], "cudaMalloc");
    EXPECT_NE(outcome.error.find("a kernel that was submitted earlier failed"), std::string::npos)
        << nth << ": " << outcome.error;
    cudasim::finish();
  }
  cudasim::reset();
  EXPECT_EQ(run(kWalks[0], "cudaMalloc").error, "");
  EXPECT_TRUE(cudasim::finish().empty());
}

}  // namespace
}  // namespace stepscope::cuda
