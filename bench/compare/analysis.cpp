// Voids, ratios, controls, verdicts, flags, status: in this order, each from what came before.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/analysis.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/compare/blocks.h"
#include "bench/compare/break_even.h"
#include "bench/compare/budget.h"
#include "bench/compare/comparable.h"
#include "bench/compare/drift.h"
#include "bench/compare/ratio.h"
#include "bench/compare/verdict.h"
#include "bench/record/simulated.h"
#include "ops/base/check.h"

namespace stepscope {
namespace {

constexpr std::string_view kSentinelCause = "sentinel";

// Blind to the arms: it reads no slot. Causes that others set stay.
void void_by_sentinels(TimedBlock& block) {
  if (block.void_cause.starts_with(kSentinelCause)) block.void_cause.clear();
  const auto before = static_cast<double>(block.sentinel_before_ns);
  const auto after = static_cast<double>(block.sentinel_after_ns);
  if (!block.void_cause.empty() || before <= 0.0 || after <= 0.0) return;
  const double low = std::min(before, after), high = std::max(before, after);
  if (high <= (1.0 + kSentinelTolerance) * low) return;
  block.void_cause =
      fmt::format("{}: {:.1f} us before and {:.1f} us after, {:.1f} % apart", kSentinelCause,
                  before / 1000.0, after / 1000.0, 100.0 * (high / low - 1.0));
}

// One pair, and what was found of it so far.
struct Work {
  PairRecord* pair = nullptr;
  const ArmRecord* base = nullptr;
  const ArmRecord* of = nullptr;
  std::string refused;  // why there is no ratio
  std::vector<Evidence> evidence;
  std::vector<std::optional<Interval>> judged;  // of each stratum, for a control
  std::vector<std::string> thin;                // of each stratum: why it cannot be judged

  bool is_control() const { return pair->kind == "control"; }
  bool between_backends() const { return base->backend != of->backend; }
  // Its work may be equal: it is its times that are none.
  bool is_simulated() const { return base->simulated || of->simulated; }
};

class Analysis {
 public:
  Analysis(Record& record, const AnalysisOptions& options) : record_(record), options_(options) {}

  void run() {
    void_blocks();
    collect();
    estimate();
    judge_controls();
    judge_pairs();
    flag_arms();
    set_status();
    for (Work& work : works_) break_even(work);
  }

 private:
  void void_blocks() {
    for (PairRecord& pair : record_.pairs) {
      for (ProcessBlocks& process : pair.processes) {
        for (TimedBlock& block : process.blocks) {
          void_by_sentinels(block);
          ++blocks_;
          voided_ += block.void_cause.empty() ? 0 : 1;
        }
      }
    }
    if (static_cast<double>(voided_) > kMostVoided * static_cast<double>(blocks_)) {
      voids_.push_back(fmt::format("{} of {} blocks are voided, above {:.0f} %", voided_, blocks_,
                                   100.0 * kMostVoided));
    }
  }

  const ArmRecord& arm(const std::string& name) const {
    const auto found = std::find_if(record_.arms.begin(), record_.arms.end(),
                                    [&](const ArmRecord& arm) { return arm.name == name; });
    check(found != record_.arms.end(), Fault::bad_input,
          "analysis: a pair names the arm \"{}\", which the record does not have", name);
    return *found;
  }

  static std::string text_of(const GateRecord& gate) {
    return fmt::format("the gate {} the timing failed for {} {} {} batch {}: {}", gate.when,
                       gate.backend, gate.mode, gate.fusion, gate.batch, gate.detail);
  }

  // A gate of the batch of either arm: an arm that it failed stands on the same baseline.
  std::string failed_gate(const ArmRecord& base, const ArmRecord& of) const {
    for (const GateRecord& gate : record_.gates) {
      if (gate.passed) continue;
      for (const ArmRecord* arm : {&base, &of}) {
        if (gate.backend != arm->backend || gate.batch != arm->batch) continue;
        return text_of(gate);
      }
    }
    return "";
  }

  void collect() {
    for (PairRecord& pair : record_.pairs) {
      Work work{.pair = &pair, .base = &arm(pair.base), .of = &arm(pair.of)};
      work.refused = why_no_ratio(record_, *work.base, record_, *work.of);
      if (work.refused.empty()) work.refused = failed_gate(*work.base, *work.of);
      const bool copies = work.refused == copies_differ(*work.base, *work.of);  // of equal work
      if (!work.refused.empty() && !copies && unequal_.empty() && !work.is_simulated()) {
        unequal_ = fmt::format("{} and {}: {}", pair.base, pair.of, work.refused);
      }
      if (work.refused.empty()) {
        work.evidence = pair.processes.empty() && work.between_backends()
                            ? evidence_of_lists(record_, *work.base, *work.of)
                            : evidence_of_blocks(pair);
      }
      works_.push_back(std::move(work));
    }
  }

  // Empty: enough was measured in this stratum to judge by. Blocks of few processes, or few blocks
  // of many, let one accident decide.
  static std::string why_thin(const Evidence& evidence, const std::string& of) {
    if (!evidence.paired) return "";
    const auto trusted = std::count_if(
        evidence.processes.begin(), evidence.processes.end(), [](const ProcessTimes& times) {
          return static_cast<std::int64_t>(times.of_ns.size()) >= kTrustedBlocks;
        });
    if (trusted >= kWorkingProcesses) return "";
    return fmt::format("{} has {} or more trusted blocks in {} of {} processes; a verdict needs {}",
                       of, kTrustedBlocks, trusted, evidence.processes.size(), kWorkingProcesses);
  }

  // Several tests of one run share 5 %: otherwise a run with many controls is void by chance alone.
  double shared_confidence(std::size_t tests) const {
    return 1.0 - (1.0 - kConfidence) / static_cast<double>(std::max<std::size_t>(1, tests));
  }

  void estimate() {
    std::size_t controls = 0, paired = 0;
    for (const Work& work : works_) {
      if (work.is_control()) {
        controls += static_cast<std::size_t>(
            std::count_if(work.evidence.begin(), work.evidence.end(),
                          [](const Evidence& evidence) { return why_thin(evidence, "").empty(); }));
      }
      paired += work.between_backends() ? 0 : work.evidence.size();
    }
    for (Work& work : works_) {
      work.pair->ratios.clear();
      for (const Evidence& evidence : work.evidence) {
        RatioEstimate estimate = estimate_ratio(evidence, options_, shared_confidence(controls));
        estimate.record.flags = flags_of_ratio(evidence, shared_confidence(paired));
        work.thin.push_back(why_thin(evidence, work.pair->of));
        any_interval_ |= estimate.judged.has_value();
        work.pair->ratios.push_back(std::move(estimate.record));
        work.judged.push_back(work.thin.back().empty() ? estimate.judged : std::nullopt);
      }
      if (work.pair->ratios.empty()) {
        work.pair->ratios.push_back(
            {.reason = work.refused.empty() ? "not measured" : work.refused});
      }
      work.thin.resize(work.pair->ratios.size());
      for (std::size_t i = 0; i < work.pair->ratios.size(); ++i) {
        set_default_verdict(work.pair->ratios[i], work.thin[i]);
      }
    }
  }

  static void set_default_verdict(RatioRecord& ratio, const std::string& thin) {
    if (!ratio.reason.empty()) {
      ratio.verdict = "void";
      ratio.verdict_reason = ratio.reason;
      return;
    }
    ratio.verdict_reason = fmt::format("{} process{}; a verdict needs {}", ratio.processes,
                                       ratio.processes == 1 ? "" : "es", kWorkingProcesses);
    if (ratio.processes >= kWorkingProcesses && !thin.empty()) ratio.verdict_reason = thin;
  }

  void judge_controls() {
    for (Work& work : works_) {
      if (!work.is_control()) continue;
      for (std::size_t i = 0; i < work.judged.size(); ++i) {
        if (work.judged[i]) judge_control(work, work.pair->ratios[i], *work.judged[i]);
      }
    }
  }

  void judge_control(const Work& work, RatioRecord& ratio, const Interval& judged) {
    const double floor = floor_of(*ratio.time_ratio);
    ratio.delta = std::max(kLeastDelta, floor);
    const std::string what =
        fmt::format("A/A control {} (stratum {})", work.pair->of, ratio.stratum);
    std::string broken;
    if (*judged.low > 1.0 || *judged.high < 1.0) {
      broken = fmt::format("{}: the interval {:.4f} to {:.4f} excludes 1", what, *judged.low,
                           *judged.high);
    } else if (floor > kMostFloor) {
      broken = fmt::format("{}: its floor is {:.1f} %, above {:.0f} %", what, 100.0 * floor,
                           100.0 * kMostFloor);
    }
    ++judged_controls_;
    if (!broken.empty()) {
      broken_.push_back(broken);
      ratio.verdict = "void";
      ratio.verdict_reason = broken;
      return;
    }
    ratio.verdict = "SAME";
    ratio.verdict_reason = fmt::format("the control holds; its floor is {:.2f} %", 100.0 * floor);
  }

  // What the controls of an arm's backend and batch say of a stratum.
  struct ControlView {
    std::string thin;    // why one of them cannot judge
    std::string broken;  // why one of them does not hold
    std::optional<double> delta;
  };
  ControlView controls_of(const ArmRecord& arm, const std::string& stratum) const {
    ControlView view;
    for (const Work& work : works_) {
      if (!work.is_control() || work.base->backend != arm.backend ||
          work.base->batch != arm.batch) {
        continue;
      }
      for (std::size_t i = 0; i < work.pair->ratios.size(); ++i) {
        const RatioRecord& ratio = work.pair->ratios[i];
        if (ratio.stratum != stratum) continue;
        if (view.thin.empty()) view.thin = work.thin[i];
        if (ratio.verdict == "void" && view.broken.empty()) view.broken = ratio.verdict_reason;
        if (ratio.delta) view.delta = std::max(view.delta.value_or(0.0), *ratio.delta);
      }
    }
    return view;
  }

  // Whether a verdict can be given; else the ratio says why not.
  bool is_judged(Work& work, std::size_t i) const {
    RatioRecord& ratio = work.pair->ratios[i];
    const ControlView base = controls_of(*work.base, ratio.stratum);
    const ControlView of = controls_of(*work.of, ratio.stratum);
    for (const std::string& thin : {work.thin[i], base.thin, of.thin}) {
      if (thin.empty()) continue;
      if (ratio.processes >= kWorkingProcesses) ratio.verdict_reason = thin;
      return false;
    }
    for (const std::string& broken : {base.broken, of.broken}) {
      if (broken.empty()) continue;
      ratio.verdict = "void";
      if (ratio.reason.empty()) ratio.verdict_reason = broken;
      return false;
    }
    if (base.delta && of.delta) ratio.delta = std::max(*base.delta, *of.delta);
    return true;
  }

  void judge_pairs() {
    std::vector<RatioRecord*> family;
    for (Work& work : works_) {
      if (work.is_control()) continue;
      for (std::size_t i = 0; i < work.pair->ratios.size(); ++i) {
        if (is_judged(work, i)) family.push_back(&work.pair->ratios[i]);
      }
    }
    judge(family);
    const bool controls_alone = std::all_of(works_.begin(), works_.end(),
                                            [](const Work& work) { return work.is_control(); });
    any_judged_ = controls_alone ? judged_controls_ > broken_.size()
                                 : std::any_of(family.begin(), family.end(), [](const auto* ratio) {
                                     return ratio->p_holm.has_value();
                                   });
  }

  void flag_arms() {
    for (ArmRecord& arm : record_.arms) {
      drop_flags_of_arm(arm.flags);
      if (arm.simulated) continue;  // they would tell of its times
      for (std::string& flag : flags_of_arm(record_, arm)) arm.flags.push_back(std::move(flag));
    }
  }

  void set_status() {
    // Where no control holds, the machine was not fit; one that does not voids its own pairs.
    const bool none_holds = judged_controls_ > 0 && broken_.size() == judged_controls_;
    if (none_holds) voids_.insert(voids_.end(), broken_.begin(), broken_.end());
    record_.status_reason = fmt::format("{}", fmt::join(voids_.empty() ? broken_ : voids_, "; "));
    // Where no pair has an interval there is no verdict to void: the run is exploratory anyway.
    const bool is_void = !voids_.empty() && any_interval_;
    if (is_void) void_verdicts();
    // Unequal work weighs more than an unquiet machine: another try would not mend it.
    const auto failed = std::find_if(record_.gates.begin(), record_.gates.end(),
                                     [](const GateRecord& gate) { return !gate.passed; });
    if (failed != record_.gates.end()) {
      record_.status = "unequal-work";
      record_.status_reason = text_of(*failed);
    } else if (is_void) {
      record_.status = options_.reruns >= kMostReruns ? "inconclusive-environment" : "void";
    } else if (!unequal_.empty()) {
      record_.status = "unequal-work";
      record_.status_reason = unequal_;
    } else if (is_simulated(record_)) {
      record_.status = kSimulated;
      record_.status_reason = why_simulated(simulated_backends(record_));
    } else if (!record_.pairs.empty() && !any_judged_) {
      record_.status = "exploratory";
      std::vector<std::string> why{why_no_verdict()};
      why.insert(why.end(), voids_.begin(), voids_.end());
      why.insert(why.end(), broken_.begin(), broken_.end());
      record_.status_reason = fmt::format("{}", fmt::join(why, "; "));
    } else {
      record_.status = "complete";
    }
  }

  std::string why_no_verdict() const {
    if (!any_interval_) {
      return fmt::format("fewer than {} processes: ratios and their spread, no verdict",
                         kWorkingProcesses);
    }
    return fmt::format("no pair has {} trusted blocks in each of {} processes: no verdict",
                       kTrustedBlocks, kWorkingProcesses);
  }

  void void_verdicts() {
    for (Work& work : works_) {
      for (RatioRecord& ratio : work.pair->ratios) {
        ratio.verdict = "void";
        if (ratio.reason.empty()) ratio.verdict_reason = record_.status_reason;
      }
    }
  }

  // Of the stratum with the most blocks.
  void break_even(Work& work) {
    work.pair->break_even.reset();
    if (work.is_control() || work.is_simulated()) return;
    const auto most = std::max_element(
        work.pair->ratios.begin(), work.pair->ratios.end(),
        [](const RatioRecord& a, const RatioRecord& b) { return a.blocks < b.blocks; });
    work.pair->break_even = break_even_of(*work.base, *work.of, *most);
  }

  Record& record_;
  const AnalysisOptions& options_;
  std::vector<Work> works_;
  std::vector<std::string> voids_;   // why the run is void
  std::vector<std::string> broken_;  // controls that do not hold, and why
  std::size_t judged_controls_ = 0;
  std::string unequal_;  // the first pair that was refused, and why
  std::int64_t blocks_ = 0, voided_ = 0;
  bool any_interval_ = false, any_judged_ = false;
};

}  // namespace

void analyze(Record& record, const AnalysisOptions& options) {
  if (record.status == "not-run") return;
  Analysis(record, options).run();
}

}  // namespace stepscope
