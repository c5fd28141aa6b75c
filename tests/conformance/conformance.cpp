// The suite: all cells of some ops, one after the other.
// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/conformance.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>

#include "tests/conformance/gradient.h"

namespace stepscope::conformance {
namespace {

class Suite {
 public:
  Suite(Backend& backend, const SuiteOptions& options) : backend_(backend), options_(options) {
    report_.backend = backend.name();
  }

  void run(const OpEntry& op) {
    if (!is_complete(op)) return;
    for (const OpCase& each : op.table.cases) {
      add(CellKind::drawn, op, each.name, [&] { return check_case(backend_, op, each); });
    }
    if (backend_.info().computes) {
      for (const SpecialCase& each : op.table.specials) {
        add(CellKind::special, op, each.name, [&] { return check_special(backend_, op, each); });
      }
    }
    if (!options_.gradients) return;
    for (const OpCase& each : op.table.cases) {
      if (!has_gradient(op, each)) continue;
      add(CellKind::gradient, op, each.name, [&] { return check_gradient(op, each); });
    }
  }

  Report take() { return std::move(report_); }

 private:
  bool is_complete(const OpEntry& op) {
    std::vector<std::string> missing;
    if (op.table.cases.empty()) missing.emplace_back("no cases: nothing would be checked");
    if (op.table.bound == nullptr) missing.emplace_back("no bound: no value would be checked");
    if (op.table.specials.empty()) missing.emplace_back("no special values");
    if (missing.empty()) return true;
    finish({CellKind::drawn, op.name, "table", {.unsupported = {}, .failures = missing}});
    return false;
  }

  template <class Check>
  void add(CellKind kind, const OpEntry& op, const std::string& op_case, Check check) {
    CellReport cell{kind, op.name, op_case, {}};
    try {
      cell.findings = check();
    } catch (const std::exception& error) {
      cell.findings.failures.push_back(fmt::format("threw: {}", error.what()));
    }
    finish(std::move(cell));
  }

  void finish(CellReport cell) {
    report_.cells.push_back(std::move(cell));
    if (options_.finished) options_.finished(report_.cells.back());
  }

  Backend& backend_;
  const SuiteOptions& options_;
  Report report_;
};

}  // namespace

std::string_view name(CellKind kind) {
  switch (kind) {
    case CellKind::drawn:
      return "drawn";
    case CellKind::special:
      return "special";
    case CellKind::gradient:
      return "gradient";
  }
  return "unknown";
}

std::size_t Report::count(Outcome outcome) const {
  return static_cast<std::size_t>(std::count_if(
      cells.begin(), cells.end(),
      [outcome](const CellReport& cell) { return cell.findings.outcome() == outcome; }));
}

bool Report::passed() const {
  const bool ran = std::any_of(cells.begin(), cells.end(), [](const CellReport& cell) {
    return cell.kind != CellKind::gradient && cell.findings.outcome() == Outcome::passed;
  });
  return ran && count(Outcome::failed) == 0;
}

Report run(Backend& backend, std::span<const OpEntry> ops, const SuiteOptions& options) {
  Suite suite(backend, options);
  for (const OpEntry& op : ops) suite.run(op);
  return suite.take();
}

std::string to_text(const Report& report) {
  std::string text = fmt::format("{}: {} cells: {} passed, {} unsupported, {} failed\n",
                                 report.backend, report.cells.size(), report.count(Outcome::passed),
                                 report.count(Outcome::unsupported), report.count(Outcome::failed));
  std::map<std::string, std::size_t> reasons;
  for (const CellReport& cell : report.cells) {
    for (const std::string& failure : cell.findings.failures) {
      text +=
          fmt::format("  failed: {} {}, {}: {}\n", cell.op, cell.op_case, name(cell.kind), failure);
    }
    if (cell.findings.outcome() == Outcome::unsupported) ++reasons[cell.findings.unsupported];
  }
  for (const auto& [reason, count] : reasons) {
    text += fmt::format("  unsupported, {} cells: {}\n", count, reason);
  }
  return text;
}

}  // namespace stepscope::conformance
