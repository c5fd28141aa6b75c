// What the tests of execution share: the backends of this build, batches, runs to be compared.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/execution/session.h"
#include "tests/support/backends.h"

namespace stepscope::test {

struct BackendCase {
  std::string name;
  int threads = 1;
};

// Names of the backends of this build that run these models, without null, which computes nothing.
std::vector<std::string> computing_backends(const std::vector<std::string>& models);
std::unique_ptr<Backend> make_backend(const BackendCase& backend);

struct Rows {
  std::vector<float> x;
  std::vector<std::int32_t> labels;
};
// Random rows; the same (model, rows, step) gives the same ones.
Rows make_rows(const Model& model, std::int64_t rows, std::uint64_t step);
void load(Session& session, const Rows& rows);

// What training left behind: everything that must be equal between modes.
struct Trace {
  std::vector<double> losses;                         // one per step, and those of evaluations
  std::map<std::string, std::vector<std::byte>> end;  // parameters and states
};

// Trains `steps` steps on rows of their own each and appends to the trace; numbers its batches from
// the losses the trace has already.
void train(Session& session, std::int64_t rows, int steps, Trace& trace);
// Evaluates and appends loss and count.
void evaluate(Session& session, std::int64_t rows, Trace& trace);

// The first thing in which two runs differ by a bit; empty when they do not.
std::string first_difference(const Trace& a, const Trace& b);

}  // namespace stepscope::test
