// Sessions of cuda-sim for tests: a model, a mode, a way of recording.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/cuda/cuda.h"
#include "graph/passes/fusion.h"
#include "ops/models/schedule.h"
#include "tests/backends/execution/training.h"

namespace stepscope::cuda::test {

struct Case {
  std::string model = "mlp:5-4-3";
  std::int64_t rows = 3;
  std::int64_t fewer = 2;  // of the partial batch
  Mode mode = Mode::graph;
  RecordAs record_as = RecordAs::capture;
  OptimizerSpec::Kind optimizer = OptimizerSpec::Kind::sgd;
  bool fused = false;
  std::string schedule = "constant";
};

// Backend and session, destroyed in the right order.
class Trainee {
 public:
  explicit Trainee(const Case& each) : backend_(make_backend({.record_as = each.record_as})) {
    SessionOptions options{
        .mode = each.mode,
        .step_batches = {each.rows, each.fewer},
        .evaluation_batches = {each.rows, each.fewer},
        .seed = 7,
        .passes = passes_for(parse_fusion(each.fused ? "on" : "off"), backend_->wishes())};
    const OptimizerSpec optimizer{
        .kind = each.optimizer, .rate = 0.05, .schedule = parse_schedule(each.schedule)};
    session_ =
        std::make_unique<Session>(*backend_, make_model(each.model, optimizer), std::move(options));
  }
  Session& session() { return *session_; }
  Session* operator->() { return session_.get(); }

 private:
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Session> session_;
};

}  // namespace stepscope::cuda::test
