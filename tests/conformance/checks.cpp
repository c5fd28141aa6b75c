// The checks of a cell.
// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/base/check.h"
#include "ops/ir/op_def.h"
#include "tests/conformance/differences.h"
#include "tests/conformance/op_graph.h"

namespace stepscope::conformance {
namespace {

// A case, lowered, and the failures found so far.
class Bench {
 public:
  Bench(Backend& backend, const OpEntry& op, const OpCase& op_case, const Kernel& kernel)
      : backend_(backend),
        op_(op),
        op_case_(op_case),
        kernel_(kernel),
        site_(site_of(op, op_case)),
        bytes_(input_bytes(backend, op, op_case)) {}

  Findings findings() {
    plain_ = run();
    add_damage("plain run", plain_);
    check_counts();
    if (backend_.info().computes) {
      check_values();
      check_in_place();
      check_other_addresses();
    }
    check_modes();
    return std::move(found_);
  }

 private:
  RunResult run(const RunOptions& options = {}) const {
    return run_op(backend_, kernel_, bytes_, options);
  }

  // `difference` empty: nothing to tell.
  void add(const std::string& where, const std::string& difference) {
    if (!difference.empty()) found_.failures.push_back(fmt::format("{}: {}", where, difference));
  }
  void add_damage(const std::string& where, const RunResult& result) {
    for (const std::string& damage : result.damage) add(where, damage);
  }
  void add_other_bits(const std::string& where, const RunResult& got, const RunResult& expected) {
    add(where, different_bits(site_, got.outputs, expected.outputs));
  }

  void check_counts() {
    const Counters& counted = plain_.counted;
    const auto expect = [this](const char* what, std::uint64_t got, std::uint64_t expected) {
      if (got != expected) add("counts", fmt::format("{} {}, expected {}", got, what, expected));
    };
    expect("launches", counted.submitted, 1);
    expect("calls of a launch, which is not what Kernel::calls() says", counted.calls_submitted,
           kernel_.calls());
    expect("calls of library and own kernels", counted.library_calls + counted.own_calls,
           kernel_.calls());
  }

  void check_values() {
    check(op_.table.bound != nullptr, Fault::bad_input, "conformance: {} has no bound", op_.name);
    const Elements inputs = draw_inputs(op_, op_case_);
    add("value", beyond_bound(op_, site_, inputs, output_elements(site_, plain_.outputs),
                              oracle_outputs(op_, op_case_, inputs), &found_.share_of_bound));
    if (op_.table.agreement != Agreement::equal_bits) return;
    Backend& reference = oracle_backend();
    const std::unique_ptr<Kernel> kernel = reference.lower(site_);
    const std::vector<Bytes> bytes = input_bytes(reference, op_, op_case_);
    add_other_bits("against the reference in f32", plain_, run_op(reference, *kernel, bytes));
  }

  // Output 0 over each input that op and kernel allow.
  void check_in_place() {
    const std::uint32_t allowed = op_def(site_.kind).in_place & kernel_.needs().in_place;
    for (std::size_t i = 0; i < std::min<std::size_t>(32, site_.in.size()); ++i) {
      if ((allowed >> i & 1U) == 0 || site_.in[i].bytes() < site_.out[0].bytes()) continue;
      const RunResult result = run({.in_place = static_cast<int>(i)});
      const std::string where = fmt::format("in place of input {}", i);
      add_other_bits(where, result, plain_);
      add_damage(where, result);
    }
    if (site_.in.size() == 2 && site_.in[0] == site_.in[1]) check_shared(allowed);
  }

  // Both inputs one operand, where they can be.
  void check_shared(std::uint32_t allowed) {
    Bench twice(*this);
    twice.bytes_[1] = twice.bytes_[0];
    const RunResult apart = twice.run();
    add_other_bits("one operand as both inputs", twice.run({.shared_inputs = true}), apart);
    if ((allowed & 0b11) != 0b11) return;
    add_other_bits("in place of an operand that is both inputs",
                   twice.run({.in_place = 0, .shared_inputs = true}), apart);
  }

  void check_other_addresses() {
    for (const std::size_t gap : {std::size_t{2}, std::size_t{5}}) {
      const RunResult moved = run({.gap = gap});
      const std::string where = fmt::format("at other addresses, gap {}", gap);
      add_other_bits(where, moved, plain_);
      add_damage(where, moved);
    }
  }

  void check_modes() {
    OpGraph made = make_op_graph(op_, op_case_);
    for (std::size_t k = 0; k < made.out.size(); ++k) {
      if (!is_saved(site_, k)) made.graph.keep(made.out[k], fmt::format("out{}", k));
    }
    for (const Mode mode : {Mode::eager, Mode::planned, Mode::graph}) check_mode(mode, made);
  }

  void check_mode(Mode mode, const OpGraph& made) {
    const std::string where = fmt::format("mode {}", stepscope::name(mode));
    GraphRun run(backend_, mode, made.graph);
    run.write(made.leaves);
    run.step();
    const Mode executed = executed_mode(run.counters());
    if (executed != mode) add(where, fmt::format("{} was executed", stepscope::name(executed)));
    if (!backend_.info().computes) return;
    RunResult result;
    for (std::size_t k = 0; k < made.out.size(); ++k) {
      result.outputs.push_back(is_saved(site_, k) ? Bytes() : run.read(fmt::format("out{}", k)));
    }
    add_other_bits(where, result, plain_);
  }

  Backend& backend_;
  const OpEntry& op_;
  const OpCase& op_case_;
  const Kernel& kernel_;
  OpSite site_;
  std::vector<Bytes> bytes_;
  RunResult plain_;
  Findings found_;
};

}  // namespace

std::string_view name(Outcome outcome) {
  switch (outcome) {
    case Outcome::passed:
      return "passed";
    case Outcome::unsupported:
      return "unsupported";
    case Outcome::failed:
      return "failed";
  }
  return "unknown";
}

Outcome Findings::outcome() const {
  if (!failures.empty()) return Outcome::failed;
  return unsupported.empty() ? Outcome::passed : Outcome::unsupported;
}

Findings check_case(Backend& backend, const OpEntry& op, const OpCase& op_case) {
  const Lowered lowered = lower(backend, op, op_case);
  if (lowered.kernel == nullptr) return {.unsupported = lowered.reason, .failures = {}};
  return Bench(backend, op, op_case, *lowered.kernel).findings();
}

Findings check_special(Backend& backend, const OpEntry& op, const SpecialCase& special) {
  const OpCase op_case = as_case(special);
  const Lowered lowered = lower(backend, op, op_case);
  Findings found;
  if (lowered.kernel == nullptr) {
    found.unsupported = lowered.reason;
    return found;
  }
  const RunResult result = run_op(backend, *lowered.kernel, input_bytes(backend, op, op_case));
  const Agreement agreement = std::max(op.table.agreement, special.agreement);
  const Elements outputs = output_elements(site_of(op, op_case), result.outputs);
  const std::string difference = unlike_written(agreement, outputs, special.out);
  if (!difference.empty()) found.failures.push_back(difference);
  found.failures.insert(found.failures.end(), result.damage.begin(), result.damage.end());
  return found;
}

}  // namespace stepscope::conformance
