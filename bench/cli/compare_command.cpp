// stepscope compare: a pilot, the schedule that the budget affords, and processes of one backend
// each, since thread pools of two backends disturb each other, and since what a process happens to
// be (addresses, pages, cores) is as large an effect as many that are looked for.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "bench/cli/child.h"
#include "bench/cli/color.h"
#include "bench/cli/commands.h"
#include "bench/cli/made.h"
#include "bench/cli/progress.h"
#include "bench/cli/tune.h"
#include "bench/cli/worker.h"
#include "bench/compare/analysis.h"
#include "bench/compare/baseline.h"
#include "bench/compare/budget.h"
#include "bench/compare/compare.h"
#include "bench/compare/merge.h"
#include "bench/compare/schedule.h"
#include "bench/compare/slower.h"
#include "bench/files/files.h"
#include "bench/measure/timer.h"
#include "bench/measure/validate.h"
#include "bench/record/json.h"
#include "bench/record/simulated.h"
#include "bench/report/sentences.h"
#include "bench/report/text.h"
#include "bench/train/train.h"
#include "ops/base/check.h"
#include "ops/models/schedule.h"

namespace stepscope::cli {
namespace {

constexpr std::int64_t kPilotBlocks = 2;
constexpr double kShortBudget = 3.0;  // seconds; below it the machine is not probed

CompareSpec spec_of(const Options& options, const std::string& backend) {
  const Flags& flags = options.flags;
  return {.model = options.model,
          .optimizer = options.optimizer,
          .backend = backend,
          .modes = options.modes,
          .fusions = options.fusions,
          .ablate = flags.ablate,
          .batches = flags.batches,
          .threads = flags.threads,
          .tune_file = choices_file(options),
          .tune_digest = choices_digest(options),
          .record_as = options.record_as,
          .tf32 = options.tf32,
          .input_copy = options.input_copy,
          .seed = flags.seed,
          .partial = options.partial,
          .self_check = flags.self_check ? SelfCheck::on : SelfCheck::off};
}

ProgressLine::Show show_of(const Flags& flags) {
  return flags.quiet ? ProgressLine::Show::never : ProgressLine::Show::on_terminal;
}

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

bool all_passed(const Record& record) {
  return std::all_of(record.gates.begin(), record.gates.end(),
                     [](const GateRecord& gate) { return gate.passed; });
}

// The comparison as its parent process runs it.
class Comparison {
 public:
  Comparison(const Options& options, const Context& context, Record& record, const Data* data)
      : options_(options), flags_(options.flags), context_(context), record_(record), data_(data) {}

  // The pilot of each backend: what it costs, and whether the work is equal.
  void run_pilots() {
    for (const std::string& backend : flags_.backends) {
      const std::int64_t begin = timer_.now();
      const ScratchFile costs;
      WorkerOrder order{.backend = backend,
                        .plan = {.process = 0,
                                 .blocks = kPilotBlocks,
                                 .seed = flags_.seed,
                                 .extras = Extras::all,
                                 .calibration = {.machine = !is_short()}},
                        .costs = costs.path(),
                        .label = "pilot",
                        .share = before_the_plan()};
      Record part = run_worker(order, fmt::format("the pilot of {}", backend));
      if (is_simulated(part)) {  // it has no blocks: this is all of it
        add_process(record_, std::move(part));
        continue;
      }
      timed_.push_back(backend);
      add_pilot(record_, std::move(part));
      const double all = seconds(timer_.now() - begin);
      const ProcessCosts known = costs_from(read_file(costs.path()), costs.path());
      costs_.push_back({.fixed_s = std::max(0.0, all - known.rounds_s - known.extras_s),
                        .round_s = known.rounds_s / kPilotBlocks});
    }
  }

  void plan() {
    if (timed_.empty()) return;
    record_.schedule =
        plan_schedule(options_.budget_seconds, seconds(timer_.now()), costs_, flags_.seed);
  }

  void run_processes() {
    if (timed_.empty()) return;
    const ScheduleRecord& schedule = *record_.schedule;
    const double pilots = seconds(timer_.now());
    const auto count = static_cast<double>(schedule.processes) * static_cast<double>(timed_.size());
    double done = 0.0;
    for (std::int64_t process = 0; process < schedule.processes; ++process) {
      for (const std::size_t at : backend_order(timed_.size(), schedule.seed, process)) {
        const std::string& backend = timed_[at];
        const double started = seconds(timer_.now());
        WorkerOrder order{
            .backend = backend,
            .plan = {.process = process + 1, .blocks = schedule.blocks, .seed = schedule.seed},
            .label = fmt::format("process {} of {}", process + 1, schedule.processes),
            .share = share_of(pilots, done++, count)};
        Record part = run_worker(order, fmt::format("process {} of {}", process + 1, backend));
        part.processes.front().started_s = started;
        add_process(record_, std::move(part));
      }
    }
  }

  // All of it in this process: no interval and no verdict.
  void run_quick() {
    const CompareSpec spec = spec_of(options_, flags_.backends.front());
    ProgressLine line(show_of(flags_), before_the_plan());
    const Progress progress = [&](const std::string& what, double done) {
      line.update(what, done);
    };
    const bool equal = run_pilot_here(spec, progress);
    if (!equal || flags_.dry_run || is_simulated(record_)) return;
    line.set_share(share_of(seconds(timer_.now()), 0.0, 1.0));
    add_process(record_,
                run_process(spec, context_.registry, data_,
                            {.process = 1, .blocks = record_.schedule->blocks, .seed = flags_.seed},
                            timer_, progress));
  }

 private:
  // Whether the work is equal.
  bool run_pilot_here(const CompareSpec& spec, const Progress& progress) {
    ProcessCosts costs;
    Record pilot = run_process(spec, context_.registry, data_,
                               {.process = 0,
                                .blocks = kPilotBlocks,
                                .seed = flags_.seed,
                                .extras = Extras::all,
                                .calibration = {.machine = !is_short()}},
                               timer_, progress, &costs);
    const double spent = seconds(timer_.now());
    const bool equal = all_passed(pilot);
    if (is_simulated(pilot)) {
      add_process(record_, std::move(pilot));
      return equal;
    }
    add_pilot(record_, std::move(pilot));
    costs_.push_back({.fixed_s = std::max(0.0, spent - costs.rounds_s - costs.extras_s),
                      .round_s = costs.rounds_s / kPilotBlocks});
    record_.schedule = quick_schedule(spent);
    return equal;
  }

  // Runs this program for one part and reads what it found.
  Record run_worker(WorkerOrder& order, const std::string& who) {
    const ScratchFile file;
    const ScratchFile part;
    order.record = part.path();
    write_file(file.path(), to_text(order));
    std::vector<std::string> arguments = context_.arguments;
    arguments.insert(arguments.end(), {"--worker", file.path()});
    stop_if_interrupted();
    const int status = run_child(arguments, who);
    check(status == 0, Fault::device, "compare: {} ended with status {}, see above", who, status);
    return record_from_json(read_file(part.path()), part.path());
  }

  // How long it all takes is not known yet: as long as it may, or, of a pilot alone, nothing.
  RunShare before_the_plan() {
    RunShare share{.from = 0.0, .to = 0.0};
    if (!flags_.dry_run) share.left_s = options_.budget_seconds - seconds(timer_.now());
    return share;
  }

  // Of one of `count` processes, behind pilots of so many seconds and `done` others: those that
  // come take as long as those that were.
  RunShare share_of(double pilots_s, double done, double count) {
    const double total = std::max(pilots_s, record_.schedule->expected_s);
    const auto at = [&](double n) { return (pilots_s + (total - pilots_s) * n / count) / total; };
    const double each =
        done > 0.0 ? (seconds(timer_.now()) - pilots_s) / done : (total - pilots_s) / count;
    return {.from = at(done), .to = at(done + 1.0), .left_s = each * (count - done)};
  }

  bool is_short() const { return options_.budget_seconds < kShortBudget; }

  // One process with the blocks that are left of the budget.
  ScheduleRecord quick_schedule(double spent) const {
    const PilotCosts& costs = costs_.front();
    const double left = options_.budget_seconds - spent - costs.fixed_s;
    const auto rounds =
        costs.round_s > 0.0 ? static_cast<std::int64_t>(left / costs.round_s) / 2 * 2 : kMostBlocks;
    const std::int64_t blocks = std::clamp(rounds, kFewestBlocks, kMostBlocks);
    return {.budget_s = options_.budget_seconds,
            .expected_s = spent + costs.fixed_s + static_cast<double>(blocks) * costs.round_s,
            .processes = 1,
            .blocks = blocks,
            .slot_ms = kSlotMs,
            .seed = flags_.seed,
            .claim = "exploratory"};
  }

  const Options& options_;
  const Flags& flags_;
  const Context& context_;
  Record& record_;
  const Data* data_;
  SteadyTimer timer_;
  std::vector<std::string> timed_;  // backends that are not simulated
  std::vector<PilotCosts> costs_;   // of each of them
};

// The work of a child: its part of the record, and what it cost, in the files that the order names.
int run_worker_process(const Options& options, const Context& context, const Data* data) {
  const WorkerOrder order =
      worker_order_from(read_file(options.flags.worker), options.flags.worker);
  ProgressLine line(show_of(options.flags), order.share);
  SteadyTimer timer;
  ProcessCosts costs;
  const Record part = run_process(
      spec_of(options, order.backend), context.registry, data, order.plan, timer,
      [&](const std::string& what, double done) {
        line.update(fmt::format("{}, {}", order.label, what), done);
      },
      &costs);
  write_file(order.record, to_json(part));
  if (!order.costs.empty()) write_file(order.costs, to_text(costs));
  return 0;
}

void add_notes(Record& record, const Options& options) {
  if (options.flags.backends.size() > 1) {
    record.notes.emplace_back(
        "backends ran in processes of their own, in turn; between them only graph arms are paired");
  }
  for (const std::string& backend : options.flags.backends) {
    if (backend != "null") continue;
    record.notes.emplace_back("null computes nothing: its times are those of dispatch alone");
  }
  add_simulated_note(record);
}

// What was planned and not run has no numbers.
void make_plan_only(Record& record) {
  record.status = "not-run";
  record.status_reason = "--dry-run: the schedule alone";
  record.arms.clear();
  record.pairs.clear();
  record.processes.clear();
  record.calibration.clear();
  record.gates.clear();
  record.baseline.clear();
}

void check_batches(const Options& options) {
  for (const std::int64_t batch : options.flags.batches) {
    const std::string why = why_not_partial(options.model, batch, options.partial);
    if (!why.empty()) throw UsageError(fmt::format("--partial: {}", why));
  }
}

// Everything that follows from what was measured. Whether the record agrees with itself.
bool conclude(Record& record, const Options& options, const std::optional<Record>& baseline) {
  complete_record(record);
  analyze(record);
  if (baseline) record.baseline = compare_with_baseline(record, *baseline);
  if (options.flags.dry_run) make_plan_only(record);
  add_notes(record, options);
  record.summary = sentences(record);
  const std::vector<std::string> wrong = problems(record);
  // What was measured is not thrown away: it is kept, with what is wrong with it.
  for (const std::string& problem : wrong) {
    record.notes.push_back(fmt::format("the record contradicts itself: {}", problem));
  }
  return wrong.empty();
}

// Before the first timing, not behind it.
void tell_schedule(const Record& record, const Flags& flags) {
  const std::string text = record.schedule
                               ? schedule_text(*record.schedule)
                               : fmt::format("no schedule: {}, and nothing is compared by time\n",
                                             why_simulated(simulated_backends(record)));
  if (!json_on_stdout(flags)) fmt::print("{}", text);
  std::fflush(stdout);
}

int status_of(const Record& record, const Flags& flags, const std::string& program) {
  if (flags.fail_on != "slower" || flags.dry_run) return 0;
  if (record.status != "complete") {
    fmt::print(stderr, "{}: --fail-on: cannot tell: {}: {}\n", program, record.status,
               record.status_reason);
    return kSlower;
  }
  const std::vector<std::string> slower = slower_of(record);
  if (slower.empty()) {
    const std::vector<std::string> untold = untold_of(record);
    if (untold.empty()) return 0;
    fmt::print(stderr, "{}: --fail-on: cannot tell: {}\n", program, fmt::join(untold, "; "));
    return kSlower;
  }
  fmt::print(stderr, "{}: SLOWER: {}\n", program, fmt::join(slower, "; "));
  return kSlower;
}

}  // namespace

int run_compare(const Options& options, const Context& context) {
  const Flags& flags = options.flags;
  const bool worker = !flags.worker.empty();
  if (!worker) check_outputs(flags);
  check_batches(options);
  if (!worker) check_backends(options, context.registry);
  std::optional<Record> baseline;
  if (!worker && !flags.baseline.empty()) baseline = read_baseline(flags.baseline);
  std::optional<Data> data;
  const auto load = [&] {
    if (options.model.classes > 0 && !data) data = data_for(options);
    return data ? &*data : nullptr;
  };
  if (worker) return run_worker_process(options, context, load());
  Record record = begin_record(context);
  load();
  record.work = {options.model.name,
                 flags.optimizer,
                 flags.rate,
                 data ? data->source : "noise",
                 "f32",
                 flags.seed,
                 schedule_text(options.optimizer.schedule),
                 options.tf32};
  std::vector<Graph> steps;
  for (const std::int64_t batch : flags.batches) steps.push_back(options.model.step(batch));
  make_choices(options, context.registry, steps);
  Comparison comparison(options, context, record, data ? &*data : nullptr);
  if (flags.quick) {
    comparison.run_quick();
    if (flags.dry_run) tell_schedule(record, flags);
  } else {
    comparison.run_pilots();
    comparison.plan();
    tell_schedule(record, flags);
    if (!flags.dry_run && all_passed(record)) comparison.run_processes();
  }
  const bool equal = all_passed(record);
  const bool sound = conclude(record, options, baseline);
  if (!json_on_stdout(flags) && !flags.dry_run) print_text(compare_text(record), flags.color);
  std::fflush(stdout);  // before what deliver says on standard error
  deliver(record, flags);
  check(sound, Fault::device, "compare: {}", record.notes.back());
  return equal ? status_of(record, flags, context.program) : kUnequalWork;
}

}  // namespace stepscope::cli
