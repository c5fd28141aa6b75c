// A process of a comparison, as its parent asks for it: the parent's own command line, and a file
// that says which part to do and where to put it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bench/cli/progress.h"
#include "bench/compare/compare.h"

namespace stepscope::cli {

struct WorkerOrder {
  std::string backend;
  ProcessPlan plan;
  std::string record;  // file for the part of the record
  std::string costs;   // file for ProcessCosts; empty: nobody asks
  std::string label;   // of its line of progress: process 3 of 10
  RunShare share;      // of the whole comparison
};

std::string to_text(const WorkerOrder& order);
// Throws bad_input, naming `source`, for text that is no order.
WorkerOrder worker_order_from(const std::string& text, const std::string& source);

std::string to_text(const ProcessCosts& costs);
ProcessCosts costs_from(const std::string& text, const std::string& source);

}  // namespace stepscope::cli
