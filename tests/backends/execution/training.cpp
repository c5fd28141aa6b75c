// Batches from Philox, training loops, comparison by bits.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/execution/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "backends/registry/registry.h"
#include "ops/base/philox.h"

namespace stepscope::test {

std::vector<std::string> computing_backends(const std::vector<std::string>& models) {
  std::vector<std::string> names = backends_that_run(Registry::builtin(), models);
  std::erase(names, "null");
  return names;
}

std::unique_ptr<Backend> make_backend(const BackendCase& backend) {
  return Registry::builtin().make(backend.name, {.threads = backend.threads});
}

Rows make_rows(const Model& model, std::int64_t rows, std::uint64_t step) {
  Philox draws(2024, step);
  Rows made;
  for (std::int64_t i = 0; i < rows * model.features; ++i) {
    made.x.push_back(static_cast<float>(draws.normal()));
  }
  for (std::int64_t i = 0; i < rows && model.classes > 0; ++i) {
    const auto classes = static_cast<std::uint64_t>(model.classes);
    made.labels.push_back(static_cast<std::int32_t>(draws.below(classes)));
  }
  return made;
}

void load(Session& session, const Rows& rows) { session.load(rows.x, rows.labels); }

void train(Session& session, std::int64_t rows, int steps, Trace& trace) {
  for (int step = 0; step < steps; ++step) {
    load(session, make_rows(session.model(), rows, trace.losses.size()));
    session.enqueue_step(rows);
    trace.losses.push_back(session.loss(rows));
  }
  trace.end = session.parameters_and_states();
}

void evaluate(Session& session, std::int64_t rows, Trace& trace) {
  load(session, make_rows(session.model(), rows, trace.losses.size()));
  const Evaluation evaluation = session.evaluate(rows);
  trace.losses.push_back(evaluation.loss);
  trace.losses.push_back(static_cast<double>(evaluation.correct));
}

std::string first_difference(const Trace& a, const Trace& b) {
  if (a.losses.size() != b.losses.size()) {
    return fmt::format("{} losses and {}", a.losses.size(), b.losses.size());
  }
  for (std::size_t i = 0; i < a.losses.size(); ++i) {
    if (std::bit_cast<std::uint64_t>(a.losses[i]) != std::bit_cast<std::uint64_t>(b.losses[i])) {
      return fmt::format("loss {}: {} and {}", i, a.losses[i], b.losses[i]);
    }
  }
  if (a.end.size() != b.end.size()) return fmt::format("{} and {}", a.end.size(), b.end.size());
  for (const auto& [name, bytes] : a.end) {
    const auto other = b.end.find(name);
    if (other == b.end.end()) return fmt::format("there is only one '{}'", name);
    const auto [at, ignored] =
        std::mismatch(bytes.begin(), bytes.end(), other->second.begin(), other->second.end());
    if (at != bytes.end() || bytes.size() != other->second.size()) {
      return fmt::format("'{}', byte {} of {}", name, at - bytes.begin(), bytes.size());
    }
  }
  return {};
}

}  // namespace stepscope::test
