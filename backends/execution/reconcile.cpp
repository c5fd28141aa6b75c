// Three looks at the same steps: the counters, the log entry by entry, the addresses.
// SPDX-License-Identifier: Apache-2.0
#include "backends/execution/reconcile.h"

#include <algorithm>
#include <vector>

#include "backends/execution/input_source.h"
#include "backends/execution/reconcile_addresses.h"
#include "ops/base/check.h"

namespace stepscope {
namespace {

std::string text(const OpSite& site) {
  std::vector<std::string> types;
  for (const TensorType& type : site.in) types.push_back(to_string(type));
  const std::string attrs = to_string(site.attrs);
  return fmt::format("{}({}){}", name(site.kind), fmt::join(types, ", "),
                     attrs.empty() ? std::string() : fmt::format(" {{{}}}", attrs));
}

class Reconciler {
 public:
  Reconciler(const Program& program, const Counters& counted, std::span<const LogEntry> log,
             const Requested& requested)
      : program_(program), counted_(counted), requested_(requested) {
    for (std::size_t op = 0; op < program.kernels.size(); ++op) {
      order_.insert(order_.end(), program.kernels[op]->calls(), static_cast<std::uint32_t>(op));
    }
    calls_ = counted.calls_submitted + counted.calls_replayed;
    log_ = log.last(static_cast<std::size_t>(std::min<std::uint64_t>(calls_, log.size())));
  }

  void run() const {
    check_counters();
    check_calls();
    for (std::size_t i = 0; i < log_.size(); ++i) check_entry(i);
    if (requested_.memory != nullptr) {
      check_addresses(program_, log_, requested_.mode, *requested_.memory);
    }
  }

 private:
  std::string op_text(std::uint32_t op) const {
    if (op >= program_.kernels.size()) return fmt::format("op {} (the program has none)", op);
    return fmt::format("op {} ({})", op, name(program_.kernels[op]->site().kind));
  }

  void check_counters() const {
    check(counted_.steps == requested_.steps && requested_.steps > 0, Fault::device,
          "reconcile: {} steps were asked for, {} were counted", requested_.steps, counted_.steps);
    const Mode executed = executed_mode(counted_);
    check(
        executed == requested_.mode, Fault::device,
        "reconcile: {} was asked for, {} was executed ({} steps: {} look-ups, {} single launches, "
        "{} replays)",
        name(requested_.mode), name(executed), counted_.steps, counted_.lookups, counted_.submitted,
        counted_.replays);
    const bool inside = executed == Mode::graph && requested_.input_copy == InputCopy::inside;
    const std::uint64_t copies = inside ? counted_.steps * inputs_of(*program_.graph).size() : 0;
    check(counted_.copies_replayed == copies, Fault::device,
          "reconcile: replays made {} copies of inputs in {} steps, {} were expected",
          counted_.copies_replayed, counted_.steps, copies);
    const bool complete = log_.size() == calls_;
    check(complete || log_.size() >= order_.size(), Fault::device,
          "reconcile: the log holds {} calls, one step makes {}: keep_log({}) before the steps",
          log_.size(), order_.size(), order_.size());
  }

  // Per op where the log holds all steps, since that names the culprit; the total in any case.
  void check_calls() const {
    const std::uint64_t steps = requested_.steps;
    if (log_.size() == calls_) {
      std::vector<std::uint64_t> made(program_.kernels.size());
      for (const LogEntry& entry : log_) {
        if (entry.op < made.size()) ++made[entry.op];
      }
      for (std::uint32_t op = 0; op < made.size(); ++op) {
        const std::uint64_t expected = steps * program_.kernels[op]->calls();
        check(made[op] == expected, Fault::device,
              "reconcile: {} made {} calls in {} steps, {} were expected", op_text(op), made[op],
              steps, expected);
      }
    }
    check(calls_ == steps * order_.size(), Fault::device,
          "reconcile: {} calls were made in {} steps, the program makes {} a step", calls_, steps,
          order_.size());
    const std::uint64_t launches = steps * program_.kernels.size();
    check(counted_.replays > 0 || counted_.submitted == launches, Fault::device,
          "reconcile: {} launches were submitted in {} steps, the program has {} ops",
          counted_.submitted, steps, program_.kernels.size());
  }

  // The log is the end of the steps' calls, so its last entry is the last call of the last step.
  void check_entry(std::size_t i) const {
    const std::size_t per_step = order_.size();
    const std::size_t left_out = per_step - log_.size() % per_step;
    const std::size_t place = (left_out + i) % per_step;
    const LogEntry& entry = log_[i];
    const std::uint32_t op = order_[place];
    check(entry.op == op, Fault::device,
          "reconcile: call {} of step {} is of {}, the program has {} there", place, entry.step,
          op_text(entry.op), op_text(op));
    if (i > 0) {
      const std::uint32_t expected = log_[i - 1].step + (place == 0 ? 1U : 0U);
      check(entry.step == expected, Fault::device,
            "reconcile: {} was called in step {}, expected was step {}", op_text(op), entry.step,
            expected);
    }
    if (requested_.eager_cache == EagerCache::on) check_kernel(entry);
  }

  // The kernel of an entry is looked into only where it is one that the program holds.
  void check_kernel(const LogEntry& entry) const {
    const Kernel* expected = program_.kernels[entry.op];
    if (entry.kernel == expected) return;
    const auto& known = program_.kernels;
    const auto other = std::find(known.begin(), known.end(), entry.kernel);
    fail(Fault::device, "reconcile: op {} is {}, but {} ran in step {}", entry.op,
         text(expected->site()),
         other != known.end() ? "the kernel of " + text((*other)->site())
                              : "a kernel that is not of the program",
         entry.step);
  }

  const Program& program_;
  const Counters& counted_;
  const Requested& requested_;
  std::vector<std::uint32_t> order_;  // op of each call of a step
  std::uint64_t calls_ = 0;           // that the stream counted
  std::span<const LogEntry> log_;     // of these steps, as far as there is one
};

}  // namespace

void reconcile(const Program& program, const Counters& counted, std::span<const LogEntry> log,
               const Requested& requested) {
  Reconciler(program, counted, log, requested).run();
}

}  // namespace stepscope
