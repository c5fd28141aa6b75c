// Eager, planned and graph are one computation: equal bits, equal launches, whatever the addresses.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "backends/execution/reconcile.h"
#include "tests/backends/execution/training.h"

namespace stepscope {
namespace {

using test::BackendCase;
using test::Trace;

struct ModeCase {
  BackendCase backend;
  std::string model;
  std::int64_t rows;
  OptimizerSpec::Kind optimizer;
};

struct Variant {
  std::string_view what;
  Mode mode;
  InPlace in_place = InPlace::on;
  std::size_t offset = 0;  // of all addresses, in bytes
  bool misaligned = false;
};

struct Net {
  std::string_view model;
  std::int64_t rows;
};

// Odd sizes leave remainders in every vector loop; one row and one feature are the smallest net.
constexpr std::array kSmallNets = {Net{"mlp:7-5-3", 3}, Net{"mlp:17-65-3-2", 7},
                                   Net{"mlp:1-1-2", 1}, Net{"mlp_tanh:13-9-4", 5}};
constexpr std::array kLargeNets = {Net{"mlp:784-128-10", 32}, Net{"mlp_tanh:784-128-10", 20}};
// For the reference: a row or two are enough.
constexpr std::array kLargeNetsInPlainLoops = {Net{"mlp:784-128-10", 2},
                                               Net{"mlp_tanh:784-128-10", 1}};
constexpr std::array kOptimizers = {OptimizerSpec::Kind::sgd, OptimizerSpec::Kind::momentum,
                                    OptimizerSpec::Kind::adam};

void add_cases(std::vector<ModeCase>& cases, const BackendCase& backend, std::span<const Net> nets,
               std::span<const OptimizerSpec::Kind> kinds = kOptimizers) {
  for (const auto& [model, rows] : nets) {
    for (const auto kind : kinds) cases.push_back({backend, std::string(model), rows, kind});
  }
}

std::vector<ModeCase> all_cases() {
  std::vector<ModeCase> cases;
  for (const std::string& backend : test::computing_backends({"mlp:7-5-3", "mlp_tanh:13-9-4"})) {
    const bool plain = backend == "reference";
    add_cases(cases, {backend, 1}, kSmallNets);
    add_cases(cases, {backend, 1}, plain ? kLargeNetsInPlainLoops : kLargeNets);
    add_cases(cases, {backend, 2}, kSmallNets);
    // Only large products are shared among threads, and no update is: one optimizer will do. On a
    // machine with one free core each such product waits for a time slice.
    if (plain) continue;
    add_cases(cases, {backend, 2}, std::span(kLargeNets).first(1), std::span(kOptimizers).last(1));
  }
  return cases;
}

std::string name_of(const testing::TestParamInfo<ModeCase>& info) {
  const ModeCase& each = info.param;
  return test::case_name(fmt::format("{}_{}threads_{}_{}", each.backend.name, each.backend.threads,
                                     each.model, name(each.optimizer)));
}

class Modes : public testing::TestWithParam<ModeCase> {
 protected:
  static constexpr int kSteps = 100;
  static constexpr std::array kModes = {Mode::eager, Mode::planned, Mode::graph};

  std::int64_t rows() const { return GetParam().rows; }
  std::int64_t fewer_rows() const { return std::max<std::int64_t>(1, rows() / 2); }

  // All batch sizes are prepared at once, so their steps share one model segment.
  std::unique_ptr<Session> session(const Variant& variant) {
    SessionOptions options{.mode = variant.mode,
                           .step_batches = {rows(), fewer_rows()},
                           .evaluation_batches = {rows(), fewer_rows()},
                           .seed = 7,
                           .in_place = variant.in_place,
                           .model_offset = variant.offset};
    options.executor.address_offset = variant.offset;
    options.executor.misaligned = variant.misaligned;
    const double rate = GetParam().optimizer == OptimizerSpec::Kind::adam ? 0.01 : 0.05;
    return std::make_unique<Session>(
        *backend_, make_model(GetParam().model, {.kind = GetParam().optimizer, .rate = rate}),
        std::move(options));
  }

  Trace train(const Variant& variant, int steps = kSteps) {
    const auto trained = session(variant);
    Trace trace;
    test::train(*trained, rows(), steps, trace);
    return trace;
  }

  // Full batches, the smaller last one, the validation, and full ones again.
  Trace train_in_turn(Mode mode) {
    const auto trained = session({"", mode});
    Trace trace;
    for (int epoch = 0; epoch < 2; ++epoch) {
      test::train(*trained, rows(), 3, trace);
      test::train(*trained, fewer_rows(), 1, trace);
      test::evaluate(*trained, rows(), trace);
      test::evaluate(*trained, fewer_rows(), trace);
    }
    test::train(*trained, rows(), 3, trace);
    return trace;
  }

  std::unique_ptr<Backend> backend_ = test::make_backend(GetParam().backend);
};

TEST_P(Modes, AgreeBitForBit) {
  const Trace eager = train({"eager", Mode::eager});
  constexpr std::array kVariants = {
      Variant{"planned", Mode::planned},
      Variant{"graph", Mode::graph},
      Variant{"planned, not in place", Mode::planned, InPlace::off},
      Variant{"graph, not in place", Mode::graph, InPlace::off},
      Variant{"eager, other addresses", Mode::eager, InPlace::on, 64},
      Variant{"planned, other addresses", Mode::planned, InPlace::on, 64},
      Variant{"graph, other addresses", Mode::graph, InPlace::on, 64},
  };
  for (const Variant& variant : kVariants) {
    EXPECT_EQ(first_difference(eager, train(variant)), "") << "eager against " << variant.what;
  }
}

// Equal runs prove nothing if nothing was trained.
TEST_P(Modes, Train) {
  const auto trained = session({"", Mode::graph});
  const auto before = trained->parameters_and_states();
  Trace trace;
  test::train(*trained, rows(), kSteps, trace);
  EXPECT_NE(trace.losses.front(), trace.losses.back());
  for (const double loss : trace.losses) EXPECT_TRUE(std::isfinite(loss));
  for (const auto& [value, bytes] : trace.end) {
    EXPECT_EQ(bytes == before.at(value), value == kLearningRate) << value;
  }
  EXPECT_EQ(trained->read(kStepCount), std::vector<double>{kSteps});
}

TEST_P(Modes, AgreeAcrossBatchSizesAndEvaluations) {
  const Trace eager = train_in_turn(Mode::eager);
  EXPECT_EQ(first_difference(eager, train_in_turn(Mode::planned)), "");
  EXPECT_EQ(first_difference(eager, train_in_turn(Mode::graph)), "");
}

TEST_P(Modes, WarmUpDoesNotTrain) {
  const auto fresh = session({"", Mode::eager});
  const auto initial = fresh->parameters_and_states();
  Trace cold;
  test::train(*fresh, rows(), 1, cold);
  for (const Mode mode : kModes) {
    const auto warmed = session({"", mode});
    test::load(*warmed, test::make_rows(warmed->model(), rows(), 99));  // something to train on
    warmed->warm_up();
    EXPECT_GT(warmed->stream().counters().steps, 0U);
    EXPECT_EQ(warmed->parameters_and_states(), initial) << name(mode);
    Trace warm;
    test::train(*warmed, rows(), 1, warm);
    EXPECT_EQ(first_difference(cold, warm), "") << name(mode);
  }
}

// A call as the log has it, without addresses.
struct Call {
  OpSite site;
  std::uint32_t op;
  std::uint32_t step;
  CallBy by;
  friend bool operator==(const Call&, const Call&) = default;
};

std::vector<Call> calls_of(Session& session, std::int64_t rows, int steps) {
  session.stream().keep_log(512, LogOperands::copied);
  const Counters before = session.stream().counters();
  Trace trace;
  test::train(session, rows, steps, trace);
  reconcile(session.step(rows).program(), session.stream().counters() - before,
            session.stream().log(),
            {.mode = session.options().mode,
             .steps = static_cast<std::uint64_t>(steps),
             .memory = &session.memory()});
  std::vector<Call> calls;
  for (const LogEntry& entry : session.stream().log()) {
    calls.push_back({entry.kernel->site(), entry.op, entry.step, entry.by});
  }
  return calls;
}

TEST_P(Modes, LogTheSameLaunches) {
  constexpr int kLogged = 3;
  const auto eager = session({"", Mode::eager});
  const std::vector<Call> calls = calls_of(*eager, rows(), kLogged);
  const Graph& graph = eager->step(rows()).graph();
  ASSERT_EQ(calls.size(), kLogged * graph.ops().size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::size_t op = i % graph.ops().size();
    EXPECT_EQ(calls[i].site, site_of(graph, op)) << i;
    EXPECT_EQ(calls[i].op, op);
    EXPECT_EQ(calls[i].step, 1 + i / graph.ops().size());
  }
  for (const Mode mode : {Mode::planned, Mode::graph}) {
    const auto other = session({"", mode});
    EXPECT_TRUE(calls == calls_of(*other, rows(), kLogged)) << name(mode);
  }
}

// What four bytes do to the bits is told, not judged: kernels promise nothing off their alignment.
// They must run there, and the modes still see the same addresses, modulo the alignment.
TEST_P(Modes, RunMisaligned) {
  constexpr int kFew = 20;
  const Trace aligned = train({"eager", Mode::eager}, kFew);
  for (const Mode mode : kModes) {
    const Trace trace = train({"", mode, InPlace::on, 4, true}, kFew);
    const std::string difference = first_difference(aligned, trace);
    const std::string told = difference.empty() ? "equal bits" : "differs in " + difference;
    RecordProperty(fmt::format("misaligned_{}", name(mode)), told);
    fmt::print("{} at +4 bytes: {}\n", name(mode), told);
    ASSERT_EQ(trace.losses.size(), aligned.losses.size());
    for (std::size_t i = 0; i < trace.losses.size(); ++i) {
      EXPECT_NEAR(trace.losses[i], aligned.losses[i], 1e-3 * (1.0 + std::abs(aligned.losses[i])));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Modes, testing::ValuesIn(all_cases()), name_of);

}  // namespace
}  // namespace stepscope
