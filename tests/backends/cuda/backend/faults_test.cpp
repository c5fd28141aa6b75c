// Every CUDA call from the making of a backend to its end fails once, in turn: the error names the
// call and the op it is about, nothing is left behind, and the next run works.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

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

// What a run did, and how often a call had been made when its end began.
struct Outcome {
  std::string error;  // empty: none
  double loss = 0.0;
  std::uint64_t calls_before_end = 0;
};

// Makes a backend, records, replays three times, reads the loss, destroys everything.
Outcome run(RecordAs record_as, std::string_view call) {
  Outcome outcome;
  try {
    const auto backend = make_backend({.record_as = record_as});
    Session session(*backend, make_model("mlp:5-4-3"),
                    {.mode = Mode::graph, .step_batches = {kRows}, .seed = 3});
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

// A launch of own device code is one of two calls, and its message calls it what it is.
bool names(const std::string& message, std::string_view call) {
  const bool launches = call == "cudaLaunchKernelExC" || call == "cudaGraphAddKernelNode";
  return message.find(launches ? "launch of an own kernel" : call) != std::string::npos;
}

// Calls that are made on behalf of one op, whenever they are made.
bool is_of_an_op(std::string_view call) {
  constexpr std::string_view kOfOps[] = {
      "cudaLaunchKernelExC",          "cublasLtMatmul",
      "cudaGraphAddKernelNode",       "cudaStreamBeginCaptureToGraph",
      "cudaGraphNodeGetType",         "cudaGraphNodeGetDependencies",
      "cudaGraphKernelNodeGetParams", "cudaGraphGetNodes",
      "cudaStreamGetCaptureInfo",     "cudaMemsetAsync"};
  return std::find(std::begin(kOfOps), std::end(kOfOps), call) != std::end(kOfOps);
}

bool names_an_op(const std::string& message) {
  constexpr std::string_view kOps[] = {"MatMul",    "AddBias",   "Relu",    "SoftmaxCrossEntropy",
                                       "ReduceSum", "SgdUpdate", "ReluGrad"};
  return std::any_of(std::begin(kOps), std::end(kOps),
                     [&](std::string_view op) { return message.find(op) != std::string::npos; });
}

class EveryCall : public testing::TestWithParam<RecordAs> {
 protected:
  void check_failure(const NamedCall& call, int nth, const Outcome& outcome) {
    const std::string where = fmt::format("{} {}: {}", call.name, nth, outcome.error);
    const bool in_the_run = outcome.calls_before_end == 0 ||
                            static_cast<std::uint64_t>(nth) <= outcome.calls_before_end;
    if (outcome.error.empty()) {
      EXPECT_TRUE(ends(call.name) || !in_the_run) << "no error: " << where;
    } else {
      EXPECT_TRUE(names(outcome.error, call.name)) << where;
      EXPECT_EQ(outcome.error.find('\n'), std::string::npos) << where;
      EXPECT_TRUE(!is_of_an_op(call.name) || names_an_op(outcome.error)) << where;
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
    while (fail_once(call, nth) && !HasFatalFailure()) ++nth;
    failures += nth - 1;
    if (nth > 1) ++names;
  }
  fmt::print("{} calls of {} names failed in turn\n", failures, names);
  EXPECT_GT(failures, 300);
  EXPECT_GT(names, 25);
  cudasim::reset();
  const Outcome after = run(GetParam(), "cudaMalloc");
  EXPECT_EQ(after.error, "");
  EXPECT_EQ(after.loss, clean.loss);
  EXPECT_TRUE(cudasim::finish().empty());
}

INSTANTIATE_TEST_SUITE_P(As, EveryCall, testing::Values(RecordAs::capture, RecordAs::nodes),
                         [](const auto& each) {
                           return each.param == RecordAs::capture ? "capture" : "nodes";
                         });

// A kernel that faults takes the device with it: every error from then on says so.
TEST(Faults, OfAKernelEndTheRunWithAnErrorThatSaysSo) {
  for (int nth = 1; nth < 60; nth += 7) {
    cudasim::reset();
    cudasim::fault_kernel(cudaErrorIllegalAddress, nth);
    const Outcome outcome = run(RecordAs::capture, "cudaMalloc");
    EXPECT_NE(outcome.error.find("a kernel that was submitted earlier failed"), std::string::npos)
        << nth << ": " << outcome.error;
    cudasim::finish();
  }
  cudasim::reset();
  EXPECT_EQ(run(RecordAs::capture, "cudaMalloc").error, "");
  EXPECT_TRUE(cudasim::finish().empty());
}

}  // namespace
}  // namespace stepscope::cuda
