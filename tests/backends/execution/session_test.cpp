// Sessions: what they refuse, word by word, and what they restore.
// SPDX-License-Identifier: Apache-2.0
#include "backends/execution/session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "backends/execution/recording_dot.h"
#include "backends/null/null.h"
#include "backends/reference/reference.h"
#include "tests/backends/execution/training.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;

class Sessions : public testing::Test {
 protected:
  Session session(SessionOptions options = {.step_batches = {4, 2}, .evaluation_batches = {3}}) {
    return Session(*backend_, make_model("mlp:5-3-2", {.kind = OptimizerSpec::Kind::momentum}),
                   std::move(options));
  }

  std::unique_ptr<Backend> backend_ = reference::make_backend({});
};

TEST_F(Sessions, KnowTheirBatchSizes) {
  Session made = session();
  EXPECT_EQ(error_of([&] { made.enqueue_step(3); }),
            "bad input: session: no step of batch 3 was prepared");
  EXPECT_EQ(error_of([&] { (void)made.evaluate(4); }),
            "bad input: session: no evaluation of batch 4 was prepared");
  EXPECT_EQ(error_of([&] { (void)made.loss(7); }),
            "bad input: session: no step of batch 7 was prepared");
  EXPECT_EQ(error_of([&] { (void)made.pass_reports(7); }),
            "bad input: session: no step of batch 7 was prepared");
}

TEST_F(Sessions, RefuseRowsThatAreNoBatch) {
  Session made = session();
  const std::vector<float> x(20);
  const std::vector<std::int32_t> labels(4);
  EXPECT_EQ(error_of([&] { made.load(std::span(x).first(19), labels); }),
            "bad input: load: 19 elements and 4 labels are no batch of 5 features");
  EXPECT_EQ(error_of([&] { made.load(x, std::span(labels).first(3)); }),
            "bad input: load: 20 elements and 3 labels are no batch of 5 features");
  EXPECT_EQ(error_of([&] { made.load({}, {}); }),
            "bad input: load: 0 elements and 0 labels are no batch of 5 features");
  EXPECT_EQ(error_of([&] { made.load(std::vector<float>(25), std::vector<std::int32_t>(5)); }),
            "bad input: write 'x': 100 bytes given, its slot holds 80");
  EXPECT_EQ(error_of([&] { made.load(x, labels); }), "no error");
}

TEST_F(Sessions, RefuseLabelsOutsideTheClasses) {
  Session made = session();
  const std::vector<float> x(20);
  EXPECT_EQ(error_of([&] {
              made.load(x, std::vector<std::int32_t>{0, 1, 2, 0});
            }),
            "bad input: load: label 2 of row 2 is not in [-1, 2)");
  EXPECT_EQ(error_of([&] {
              made.load(x, std::vector<std::int32_t>{-2, 1, 1, 0});
            }),
            "bad input: load: label -2 of row 0 is not in [-1, 2)");
  EXPECT_EQ(error_of([&] { made.load(x, std::vector<std::int32_t>{0, 1, 1, -1}); }), "no error");
}

TEST_F(Sessions, RunOnTheRowsThatWereLoadedAlone) {
  Session made = session();
  EXPECT_EQ(error_of([&] { made.enqueue_step(4); }),
            "bad input: session: no rows were loaded, so there is nothing for the step of batch 4");
  EXPECT_EQ(error_of([&] { (void)made.evaluate(3); }),
            "bad input: session: no rows were loaded, so there is nothing for the evaluation of "
            "batch 3");
  made.warm_up(1);  // on whatever there is
  test::load(made, test::make_rows(made.model(), 2, 0));
  EXPECT_EQ(error_of([&] { made.enqueue_step(4); }),
            "bad input: session: 2 rows were loaded, the step takes 4");
  EXPECT_EQ(error_of([&] { (void)made.evaluate(3); }),
            "bad input: session: 2 rows were loaded, the evaluation takes 3");
  EXPECT_EQ(error_of([&] { made.enqueue_step(2); }), "no error");
}

// A batch padded with rows of label -1 trains as the batch without them.
TEST_F(Sessions, TrainAsIfPaddingWereNotThere) {
  Session padded = session({.step_batches = {4}, .dtype = DType::f64});
  Session exact = session({.step_batches = {2}, .dtype = DType::f64});
  for (std::uint64_t step = 0; step < 5; ++step) {
    test::Rows rows = test::make_rows(exact.model(), 2, step);
    test::load(exact, rows);
    exact.enqueue_step(2);
    rows.x.resize(20);
    rows.labels.resize(4, -1);
    test::load(padded, rows);
    padded.enqueue_step(4);
    EXPECT_NEAR(padded.loss(4), exact.loss(2), 1e-14);
  }
  for (const Initial& each : exact.model().initial) {
    const std::vector<double> a = padded.read(each.name);
    const std::vector<double> b = exact.read(each.name);
    for (std::size_t i = 0; i < b.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-14) << each.name;
  }
}

TEST_F(Sessions, RefuseLabelsWhereThereAreNone) {
  Session made(*backend_, make_model("chain:3:4"), {.step_batches = {2}});
  const std::vector<float> x(8);
  EXPECT_EQ(error_of([&] { made.load(x, std::vector<std::int32_t>(2)); }),
            "bad input: load: 8 elements and 2 labels are no batch of 4 features without labels");
  EXPECT_EQ(error_of([&] { made.load(x, {}); }), "no error");
  made.enqueue_step(2);
  EXPECT_EQ(made.loss(2), 0.0);
  EXPECT_EQ(
      error_of([&] { Session(*backend_, make_model("chain:3:4"), {.evaluation_batches = {2}}); }),
      "bad input: model 'chain:3:4' has no loss, so it cannot be evaluated");
}

TEST_F(Sessions, RefuseWhatIsNotInTheModel) {
  Session made = session();
  EXPECT_EQ(error_of([&] { (void)made.read("w9"); }),
            "bad graph: model layout: there is no 'w9' in it");
  EXPECT_EQ(error_of([&] { (void)made.read_kept(4, "logits"); }),
            "bad input: session: the step keeps no 'logits'");
  EXPECT_EQ(error_of([&] { (void)made.read_kept(4, "w1"); }),
            "bad input: session: the step keeps no 'w1'");
}

TEST_F(Sessions, WriteWholeParametersOnly) {
  Session made = session();
  const std::vector<std::byte> bytes(100);
  const auto write = [&](std::string_view name, std::size_t count) {
    return error_of(
        [&] { made.memory().write(made.stream(), name, std::span(bytes).first(count)); });
  };
  EXPECT_EQ(write("w1", 60), "no error");
  EXPECT_EQ(write("w1", 56), "bad input: write 'w1': 56 bytes given, its slot holds 60");
  EXPECT_EQ(write("w1", 64), "bad input: write 'w1': 64 bytes given, its slot holds 60");
  EXPECT_EQ(write("x", 40), "no error");  // two rows of four
  EXPECT_EQ(write("x", 84), "bad input: write 'x': 84 bytes given, its slot holds 80");
  EXPECT_EQ(error_of([&] { made.memory().restore(made.stream(), bytes); }),
            fmt::format("bad input: restore: the snapshot has 100 bytes, the model segment {}",
                        made.memory().layout().bytes()));
}

TEST_F(Sessions, RefuseAnOffsetThatBreaksTheAlignment) {
  EXPECT_EQ(error_of([&] { session({.step_batches = {2}, .model_offset = 4}); }),
            "bad input: session: a model offset of 4 bytes breaks the alignment of 64");
  EXPECT_EQ(error_of([&] { session({.step_batches = {2}, .model_offset = 64}); }), "no error");
  SessionOptions meant{.step_batches = {2}, .model_offset = 4};
  meant.executor.misaligned = true;
  EXPECT_EQ(error_of([&] { session(meant); }), "no error");
}

TEST_F(Sessions, StartFromTheSeedAgainWhenReset) {
  Session made = session();
  const auto initial = made.parameters_and_states();
  EXPECT_EQ(made.read(kLearningRate), std::vector<double>{static_cast<double>(0.1F)});
  EXPECT_EQ(made.read(kStepCount), std::vector<double>{0.0});
  test::Trace first, second;
  test::train(made, 4, 5, first);
  made.reset();
  EXPECT_EQ(made.parameters_and_states(), initial);
  test::train(made, 4, 5, second);
  EXPECT_EQ(first_difference(first, second), "");

  Session other = session({.step_batches = {4}, .seed = 2});
  EXPECT_NE(other.parameters_and_states().at("w1"), initial.at("w1"));
  EXPECT_EQ(other.parameters_and_states().at("b1"), initial.at("b1"));
}

TEST_F(Sessions, CountTheRowsThatAreRight) {
  Session made = session();
  std::vector<double> w1(15), w2(6);
  w1[0] = w1[4] = 1.0;  // hidden 0 = x0, hidden 1 = x1
  w2[0] = w2[3] = 1.0;  // logit 0 = hidden 0, logit 1 = hidden 1
  const auto write = [&](std::string_view name, const std::vector<double>& values) {
    const std::vector<float> narrow(values.begin(), values.end());
    made.memory().write(made.stream(), name, std::as_bytes(std::span(narrow)));
  };
  write("w1", w1);
  write("w2", w2);
  // Rows won by class 0, by class 1, and by nobody: the first class takes a tie.
  const std::vector<float> x = {2, 1, 0, 0, 0, 1, 2, 0, 0, 0, 1, 1, 0, 0, 0};
  made.load(x, std::vector<std::int32_t>{0, 1, 0});
  const Evaluation all = made.evaluate(3);
  EXPECT_EQ(all.correct, 3);
  const double won = std::log1p(std::exp(-1.0));
  EXPECT_NEAR(all.loss, (2 * won + std::log(2.0)) / 3, 1e-6);
  made.load(x, std::vector<std::int32_t>{1, 1, 1});
  EXPECT_EQ(made.evaluate(3).correct, 1);
}

TEST_F(Sessions, RunInDoubleOnTheReference) {
  Session wide = session({.step_batches = {4}, .dtype = DType::f64});
  Session narrow = session({.step_batches = {4}});
  test::Trace in_f64, in_f32;
  test::train(wide, 4, 20, in_f64);
  test::train(narrow, 4, 20, in_f32);
  EXPECT_EQ(wide.memory().layout().at("w1").type.dtype, DType::f64);
  for (std::size_t i = 0; i < in_f64.losses.size(); ++i) {
    EXPECT_NEAR(in_f64.losses[i], in_f32.losses[i], 1e-5 * in_f64.losses[i]);
  }
}

TEST_F(Sessions, CountOneUploadForEachInput) {
  Session made = session();
  const Counters before = made.stream().counters();
  test::load(made, test::make_rows(made.model(), 4, 0));
  made.enqueue_step(4);
  (void)made.loss(4);
  const Counters counted = made.stream().counters() - before;
  EXPECT_EQ(counted.copies_in, 2U);
  EXPECT_EQ(counted.bytes_in, 4 * 5 * 4U + 4 * 4U);
  EXPECT_EQ(counted.copies_out, 1U);
  EXPECT_EQ(counted.bytes_out, 4U);
  EXPECT_EQ(counted.steps, 1U);
}

// A tape holds no copies; the modes that record nothing do not ask for any.
TEST_F(Sessions, RefuseCopiesInsideWhereRecordingsHoldNone) {
  const auto inside = [this](Mode mode) {
    return error_of(
        [&] { session({.mode = mode, .step_batches = {4}, .input_copy = InputCopy::inside}); });
  };
  EXPECT_EQ(
      inside(Mode::graph),
      "unsupported: reference: its recordings hold no copies, so inputs are copied outside of "
      "them alone");
  EXPECT_EQ(inside(Mode::planned), "no error");
  EXPECT_EQ(inside(Mode::eager), "no error");
  Session made = session({.mode = Mode::graph, .step_batches = {4}});
  EXPECT_EQ(made.stream().make_copy_source(8), nullptr);
  EXPECT_EQ(made.stream().make_stopwatch(), nullptr);
}

TEST_F(Sessions, KnowWaysOfCopyingByName) {
  for (const InputCopy each : {InputCopy::outside, InputCopy::inside}) {
    EXPECT_EQ(input_copy_from(name(each)), each);
  }
  EXPECT_NE(error_of([] { (void)input_copy_from("insid"); }).find("inside"), std::string::npos);
}

// Where there is one memory, a transfer is a copy, and any memory will do.
TEST_F(Sessions, TransferAsTheyCopy) {
  Session made = session();
  const auto host = backend_->allocate_host(8), memory = backend_->allocate(8);
  std::fill_n(host->data(), 8, std::byte{7});
  const Counters before = made.stream().counters();
  made.stream().transfer_in(memory->data(), {host->data(), 8}, HostPages::pinned);
  std::array<std::byte, 8> back{};
  made.stream().transfer_out(back, memory->data(), HostPages::pageable);
  made.stream().wait();
  EXPECT_EQ(back[7], std::byte{7});
  const Counters counted = made.stream().counters() - before;
  EXPECT_EQ(counted.copies_in, 1U);
  EXPECT_EQ(counted.bytes_in, 8U);
  EXPECT_EQ(counted.copies_out, 1U);
  EXPECT_EQ(counted.bytes_out, 8U);
}

TEST_F(Sessions, DrawWhatTheyRecorded) {
  EXPECT_EQ(session().step(4).recording(), nullptr);
  Session made = session({.mode = Mode::graph, .step_batches = {4}});
  Executor& step = made.step(4);
  ASSERT_NE(step.recording(), nullptr);
  const std::string dot = to_dot(*step.recording(), step.graph());
  EXPECT_EQ(dot.rfind("digraph recording {", 0), 0U) << dot;
  EXPECT_NE(dot.find("n0 [label=\"op 0 MatMul\\nforward\\na record of the tape\""),
            std::string::npos)
      << dot;
  const std::size_t last = step.graph().ops().size() - 1;
  EXPECT_NE(dot.find(fmt::format("n{} -> n{};", last - 1, last)), std::string::npos) << dot;
  EXPECT_EQ(dot.find(fmt::format("n{} [", last + 1)), std::string::npos) << dot;
  // Of another graph: its last op is not there.
  EXPECT_EQ(error_of([&] { (void)to_dot(*step.recording(), Graph()); }),
            "bad input: dot: a node of the recording is of op 0, the graph has 0");
}

}  // namespace
}  // namespace stepscope
