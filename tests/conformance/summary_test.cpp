// What a reader of the output wants to know: which cells a backend cannot do and why, and whose
// bits depend on the address. The tables go to standard output.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <map>

#include "tests/conformance/cells.h"
#include "tests/conformance/compare.h"

namespace stepscope::conformance {
namespace {

TEST(Summary, UnsupportedCells) {
  for (const std::string& name : backend_names()) {
    std::size_t supported = 0;
    std::map<std::string, std::vector<std::string>> by_reason;
    for (const OpEntry& op : all_ops()) {
      for (const OpCase& op_case : op.table.cases) {
        const std::string reason = lower(backend(name), site_of(op, op_case)).reason;
        if (reason.empty()) ++supported;
        if (!reason.empty()) by_reason[reason].push_back(op.name + "/" + op_case.name);
      }
    }
    fmt::print("{}: {} cells supported\n", name, supported);
    for (const auto& [reason, cells] : by_reason) {
      fmt::print("  {} not: {} ({}, ...)\n", cells.size(), reason, cells.front());
    }
    const bool complete = name == "reference" || name == "null";
    EXPECT_TRUE(!complete || by_reason.empty()) << name << " must support every case";
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
    const Lowered lowered = lower(under_test, site);
    if (lowered.kernel == nullptr) continue;
    const std::vector<Bytes> inputs = input_bytes(site, draw_inputs(op, op_case));
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
