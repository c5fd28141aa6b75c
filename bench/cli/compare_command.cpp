// stepscope compare: one process per backend, since the thread pools of two backends disturb each
// other. With one backend the process is this one; with several, each has a child that hands over
// its record.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "bench/cli/commands.h"
#include "bench/cli/progress.h"
#include "bench/cli/tune.h"
#include "bench/compare/compare.h"
#include "bench/files/files.h"
#include "bench/record/json.h"
#include "bench/report/text.h"
#include "bench/train/train.h"
#include "ops/base/check.h"

namespace stepscope::cli {
namespace {

// A file that is gone when the object is.
class ScratchFile {
 public:
  ScratchFile() {
    std::string pattern = (std::filesystem::temp_directory_path() / "stepscope-XXXXXX").string();
    const int descriptor = ::mkstemp(pattern.data());
    check(descriptor >= 0, Fault::io, "{}: cannot be made: {}", pattern, std::strerror(errno));
    ::close(descriptor);
    path_ = pattern;
  }
  ~ScratchFile() { ::unlink(path_.c_str()); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::vector<std::string> child_arguments(const Options& options, const std::string& backend,
                                         double seconds, const std::string& json) {
  const Flags& flags = options.flags;
  std::vector<std::string> arguments = {
      "stepscope",   "compare",
      "--model",     flags.model,
      "--backend",   backend,
      "--mode",      fmt::format("{}", fmt::join(flags.modes, ",")),
      "--batch",     fmt::format("{}", fmt::join(flags.batches, ",")),
      "--threads",   fmt::to_string(flags.threads),
      "--seed",      fmt::to_string(flags.seed),
      "--optimizer", flags.optimizer,
      "--lr",        fmt::to_string(flags.rate),
      "--partial",   flags.partial,
      "--budget",    fmt::format("{}s", seconds),
      "--json",      json};
  for (const FusionChoice& fusion : options.fusions) {
    if (!flags.ablate) arguments.push_back("--fusion=" + to_string(fusion));
  }
  if (flags.ablate) arguments.emplace_back("--ablate");
  if (!flags.tune.empty()) arguments.push_back("--tune=" + flags.tune);
  if (!flags.data.empty()) arguments.push_back("--data=" + flags.data);
  if (!flags.weights.empty()) arguments.push_back("--weights=" + flags.weights);
  if (!flags.weights_map.empty()) arguments.push_back("--weights-map=" + flags.weights_map);
  if (flags.quiet) arguments.emplace_back("--quiet");
  return arguments;
}

// Keeps SIGINT and SIGTERM waiting, so that none comes between a look at the flag and the wait for
// what comes next.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t held;
    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    sigaddset(&held, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &held, &before_);
  }
  ~HeldSignals() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  const sigset_t& before() const { return before_; }

 private:
  sigset_t before_{};
};

// A pipe whose writing end a child inherits: it is closed when the child has ended.
class LifeLine {
 public:
  LifeLine() {
    check(::pipe(ends_) == 0, Fault::device, "compare: no pipe: {}", std::strerror(errno));
    ::fcntl(ends_[0], F_SETFD, FD_CLOEXEC);
  }
  ~LifeLine() {
    ::close(ends_[0]);
    let_go();
  }
  LifeLine(const LifeLine&) = delete;
  LifeLine& operator=(const LifeLine&) = delete;

  void let_go() {  // of the writing end
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }
  // Until the child has ended, or a signal came.
  void wait(const HeldSignals& signals, bool& ended) const {
    pollfd line{.fd = ends_[0], .events = POLLIN, .revents = 0};
    ended = ::ppoll(&line, 1, nullptr, &signals.before()) > 0;
  }

 private:
  int ends_[2] = {-1, -1};
};

// In the child. Whatever ends the parent ends it as well.
[[noreturn]] void become(const std::vector<char*>& argv, pid_t parent, const sigset_t& signals) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(127);  // it ended before
  ::sigprocmask(SIG_SETMASK, &signals, nullptr);
  const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  ::dup2(null, STDOUT_FILENO);
  ::execv("/proc/self/exe", argv.data());
  ::_exit(127);
}

// Runs this program with other arguments and returns its exit status. Its standard error is ours,
// its standard output dropped. A signal that ends this process is handed on to the child first.
int run_child(const std::vector<std::string>& arguments, const std::string& backend) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  int status = 0;
  {
    const HeldSignals signals;
    LifeLine line;
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    check(child >= 0, Fault::device, "compare: no process for {}: {}", backend,
          std::strerror(errno));
    if (child == 0) become(argv, parent, signals.before());
    line.let_go();
    bool told = false;
    for (bool ended = false; !ended; line.wait(signals, ended)) {
      if (told || !is_interrupted()) continue;
      ::kill(child, SIGTERM);
      told = true;
    }
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  }
  stop_if_interrupted();
  check(WIFEXITED(status), Fault::device, "compare: the process of {} ended by signal {}", backend,
        WTERMSIG(status));
  return WEXITSTATUS(status);
}

// The record of one backend, from a process of its own.
Record run_apart(const Options& options, const std::string& backend, double seconds) {
  const ScratchFile json;
  const int status = run_child(child_arguments(options, backend, seconds, json.path()), backend);
  const std::string text = read_file(json.path());
  // With status 1 and a record, a gate failed: the record tells. Without one, the child has said
  // why.
  check(status == 0 || (status == kUnequalWork && !text.empty()), Fault::device,
        "compare: the process of {} ended with status {}, see above", backend, status);
  return record_from_json(text, json.path());
}

template <class T>
void append(std::vector<T>& to, std::vector<T>&& from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

void add_part(Record& record, Record&& part) {
  append(record.backends, std::move(part.backends));
  append(record.gates, std::move(part.gates));
  append(record.arms, std::move(part.arms));
}

Record run_here(const Options& options, const Context& context, const Data* data) {
  const Flags& flags = options.flags;
  ProgressLine line(flags.quiet ? ProgressLine::Show::never : ProgressLine::Show::on_terminal);
  const CompareSpec spec{
      .model = options.model,
      .optimizer = options.optimizer,
      .backend = flags.backends.front(),
      .modes = options.modes,
      .fusions = options.fusions,
      .ablate = flags.ablate,
      .batches = flags.batches,
      .threads = flags.threads,
      .tune_file = choices_file(options),
      .tune_digest = choices_digest(options),
      .seed = flags.seed,
      .partial = options.partial,
      .budget = std::chrono::nanoseconds(static_cast<std::int64_t>(options.budget_seconds * 1e9))};
  return compare_backend(spec, context.registry, data,
                         [&](const std::string& what, double done) { line.update(what, done); });
}

void add_notes(Record& record, const Options& options) {
  if (options.flags.backends.size() > 1) {
    record.notes.emplace_back(
        "backends ran one after the other, each in a process of its own: no ratio between them");
  }
  for (const std::string& backend : options.flags.backends) {
    if (backend != "null") continue;
    record.notes.emplace_back("null computes nothing: its times are those of dispatch alone");
  }
  record.notes.emplace_back(
      "step: submitted and waited for, one by one; the copy of the batch is timed apart");
}

}  // namespace

int run_compare(const Options& options, const Context& context) {
  const Flags& flags = options.flags;
  check_outputs(flags);
  for (const std::int64_t batch : flags.batches) {
    const std::string why = why_not_partial(options.model, batch, options.partial);
    if (!why.empty()) throw UsageError("--partial: " + why);
  }
  Record record = begin_record(context);
  std::optional<Data> data;
  if (options.model.classes > 0) data = data_for(options);
  record.work = {
      options.model.name, flags.optimizer, flags.rate, data ? data->source : "noise", "f32",
      flags.seed};
  std::vector<Graph> steps;
  for (const std::int64_t batch : flags.batches) steps.push_back(options.model.step(batch));
  make_choices(options, context.registry, steps);
  if (flags.backends.size() == 1) {
    add_part(record, run_here(options, context, data ? &*data : nullptr));
  } else {
    const double seconds = options.budget_seconds / static_cast<double>(flags.backends.size());
    for (const std::string& backend : flags.backends) {
      add_part(record, run_apart(options, backend, seconds));
    }
  }
  add_notes(record, options);
  if (!json_on_stdout(flags)) fmt::print("{}", compare_text(record));
  std::fflush(stdout);  // before what deliver says on standard error
  deliver(record, flags);
  const bool equal = std::all_of(record.gates.begin(), record.gates.end(),
                                 [](const GateRecord& gate) { return gate.passed; });
  return equal ? 0 : kUnequalWork;
}

}  // namespace stepscope::cli
