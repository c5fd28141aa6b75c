// The conformance suite for backends and ops from outside the tree: run it, read the report.
//
//   const OpKind kind = add_op(def);                          // the op
//   oracle_backend().set_maker(kind, make_plain_kernel);      // what it computes: the oracle
//   const OpEntry entry{kind, "Softplus", {Agreement::bounded, relative(12), cases, specials}};
//   const Report report = run(backend, std::array{entry});
//   if (!report.passed()) fmt::print("{}", to_text(report));
//
// all_ops() (op_cases.h) has the entries of the built-in ops.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tests/conformance/checks.h"

namespace stepscope::conformance {

enum class CellKind : std::uint8_t {
  drawn,     // an op case on the backend: check_case
  special,   // values written by hand on the backend: check_special
  gradient,  // the rule of the op, on the oracle: check_gradient
};
std::string_view name(CellKind kind);

struct CellReport {
  CellKind kind = CellKind::drawn;
  std::string op, op_case;
  Findings findings;
};

struct Report {
  std::string backend;
  std::vector<CellReport> cells;  // op by op, in the order of their tables

  std::size_t count(Outcome outcome) const;
  // Nothing failed, and something passed that ran on the backend: one that supports nothing has
  // proven nothing, whatever the rules of the ops are worth.
  bool passed() const;
};

struct SuiteOptions {
  bool gradients = true;                            // rules do not depend on the backend
  std::function<void(const CellReport&)> finished;  // called behind each cell
};

// All cells of these ops. What a check throws becomes a failure of its cell. An op without cases,
// without a bound, or without special values fails by name: nothing would be checked.
Report run(Backend& backend, std::span<const OpEntry> ops, const SuiteOptions& options = {});

// Counts in one line, then a line for each failure and for each reason of `unsupported`.
std::string to_text(const Report& report);

}  // namespace stepscope::conformance
