// What a reader of the output wants to know: which cells a backend cannot do and why, and whose
// bits depend on the address. The tables go to standard output.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

#include "tests/conformance/cells.h"
#include "tests/conformance/compare.h"

namespace stepscope::conformance {
namespace {

// Cells that a backend refuses, by reason. Numbers in a reason (sizes, mostly) count as equal, so
// that one refusal is one line however many shapes meet it.
struct Refusals {
  struct Cells {
    std::string reason;  // of the first
    std::string first;
    std::size_t count = 0;
  };
  std::map<std::string, Cells> by_reason;
  std::size_t supported = 0;
  std::size_t whole_ops = 0;  // with every case supported

  void add(Backend& under_test, const OpEntry& op) {
    bool whole = true;
    for (const OpCase& op_case : op.table.cases) {
      const std::string reason = lower(under_test, op, op_case).reason;
      if (reason.empty()) {
        ++supported;
        continue;
      }
      whole = false;
      Cells& cells = by_reason[without_numbers(reason)];
      if (cells.count++ == 0) cells = {reason, op.name + "/" + op_case.name, 1};
    }
    if (whole) ++whole_ops;
  }

  static std::string without_numbers(const std::string& text) {
    std::string kept;
    std::copy_if(text.begin(), text.end(), std::back_inserter(kept),
                 [](char c) { return c < '0' || c > '9'; });
    return kept;
  }
};

TEST(Summary, UnsupportedCells) {
  for (const std::string& name : backend_names()) {
    Refusals refused;
    for (const OpEntry& op : all_ops()) refused.add(backend(name), op);
    fmt::print("{}: {} cells supported; every case of {} of {} ops\n", name, refused.supported,
               refused.whole_ops, all_ops().size());
    for (const auto& [_, cells] : refused.by_reason) {
      fmt::print("  {} not: {} ({}{})\n", cells.count, cells.reason, cells.first,
                 cells.count == 1 ? "" : ", ...");
    }
    const bool complete = name == "reference" || name == "null";
    EXPECT_TRUE(!complete || refused.by_reason.empty()) << name << " must support every case";
  }
}

// Cases of an op whose bits change when every operand lies four bytes off an aligned address.
// Kernels may require alignment, so this runs in a process of its own.
struct Sensitivity {
  std::string cases;  // separated by blanks
  bool died = false;
};

void write_sensitive_cases(Backend& under_test, const OpEntry& op, int pipe_end) {
  for (const OpCase& op_case : op.table.cases) {
    const OpSite site = site_of(op, op_case);
    const Lowered lowered = lower(under_test, op, op_case);
    if (lowered.kernel == nullptr) continue;
    const std::vector<Bytes> inputs = input_bytes(under_test, op, op_case);
    const RunResult plain = run_op(under_test, *lowered.kernel, inputs);
    const RunResult moved = run_op(under_test, *lowered.kernel, inputs, {.offset = 4});
    if (same_bits(site, moved.outputs, plain.outputs)) continue;
    const std::string line = op_case.name + " ";
    if (::write(pipe_end, line.data(), line.size()) < 0) ::_exit(1);
  }
}

Sensitivity sensitivity_of(Backend& under_test, const OpEntry& op) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    write_sensitive_cases(under_test, op, ends[1]);
    ::_exit(0);
  }
  ::close(ends[1]);
  Sensitivity result;
  std::array<char, 512> text{};
  for (ssize_t count = 0; (count = ::read(ends[0], text.data(), text.size())) > 0;) {
    result.cases.append(text.data(), static_cast<std::size_t>(count));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  result.died = status != 0;
  return result;
}

TEST(Summary, AddressSensitivity) {
  for (const std::string& name : backend_names()) {
    Backend& under_test = backend(name);
    if (under_test.records_as() != RecordAs::tape || name == "null") continue;
    std::size_t insensitive = 0;
    for (const OpEntry& op : all_ops()) {
      const Sensitivity found = sensitivity_of(under_test, op);
      if (found.died) fmt::print("{} {}: requires alignment\n", name, op.name);
      if (!found.cases.empty()) {
        fmt::print("{} {}: other bits at +4 bytes in {}\n", name, op.name, found.cases);
        RecordProperty(name + "_" + op.name, found.cases);
      }
      if (!found.died && found.cases.empty()) ++insensitive;
    }
    fmt::print("{}: {} of {} ops give the same bits at +4 bytes\n", name, insensitive,
               all_ops().size());
    EXPECT_TRUE(name != "reference" || insensitive == all_ops().size());
  }
}

}  // namespace
}  // namespace stepscope::conformance
