// A model without labels is trained on x alone: it has a loss and no accuracy.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "bench/record/json.h"
#include "ops/ir/parse.h"
#include "ops/models/step_model.h"
#include "tests/bench/train/small_runs.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::run;
using test::RunResult;

constexpr std::string_view kAutoencoder = R"(stepscope-ir 1
input x : f32{B, 16}
parameter w1 : f32{16, 4} = he
parameter w2 : f32{4, 16} = he
code = MatMul(x, w1)
picture = MatMul(code, w2)
error = Sub(picture, x) @ loss
square = Mul(error, error) @ loss
of_row = ReduceSum(square) {axis = 1} @ loss
total = ReduceSum(of_row) {axis = 0} @ loss
loss = Scale(total) {factor = 1/B/16} @ loss
keep loss
)";

TrainSpec autoencoder() {
  TrainSpec spec = test::small_spec();
  spec.model =
      make_step_model(parse_step(kAutoencoder, "autoencoder"), "autoencoder", spec.optimizer);
  spec.loss_every = 1;
  return spec;
}

TEST(WithoutLabels, TrainsOnXAlone) {
  const Data data = test::small_data();
  TrainSpec spec = autoencoder();
  spec.epochs = 30;
  const RunResult result = run("reference", data, spec);
  EXPECT_LT(result.epochs.back().training_loss, 0.8 * result.epochs.front().training_loss);
  EXPECT_LT(result.epochs.back().validation_loss, result.epochs.front().validation_loss);
  EXPECT_GT(result.epochs.back().validation_loss, 0.0);
  for (const EpochRecord& epoch : result.epochs) {
    EXPECT_FALSE(epoch.validation_accuracy.has_value());
  }
  EXPECT_NE(to_json(result.epochs).find("\"validation_accuracy\":null"), std::string::npos);
}

TEST(WithoutLabels, GoesOnBitForBitWithAnyLoader) {
  const Data data = test::small_data();
  for (const std::string& backend : test::computing_backends()) {
    TrainSpec spec = autoencoder();
    spec.checkpoint_every = 5;
    const RunResult whole = run(backend, data, spec);
    spec.loader_workers = 2;
    const RunResult resumed = run(backend, data, spec, &whole.checkpoints.front());
    EXPECT_EQ(whole.end, resumed.end) << backend;
    for (std::size_t i = 0; i < whole.epochs.size(); ++i) {
      EXPECT_EQ(whole.epochs[i].training_loss, resumed.epochs[i].training_loss);
      EXPECT_EQ(whole.epochs[i].validation_loss, resumed.epochs[i].validation_loss);
      EXPECT_FALSE(resumed.epochs[i].validation_accuracy.has_value());
    }
  }
}

TEST(WithoutLabels, CannotBePadded) {
  TrainSpec spec = autoencoder();
  spec.partial = PartialBatch::pad_masked;
  const std::string why = test::error_of([&] { run("reference", test::small_data(), spec); });
  EXPECT_TRUE(
      why.starts_with("bad input: pad_masked: no row of model 'autoencoder' can be left "
                      "out: "))
      << why;
}

}  // namespace
}  // namespace stepscope
