// Reading and writing of schedules.
// SPDX-License-Identifier: Apache-2.0
#include "ops/models/schedule.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

#include "ops/base/check.h"
#include "ops/base/nearest.h"

namespace stepscope {
namespace {

constexpr std::int64_t kMostSteps = std::numeric_limits<std::int32_t>::max();  // of kStepCount
constexpr double kStepFactor = 0.1;  // PyTorch's StepLR has it, too
constexpr std::string_view kWarmup = "warmup";

// The warm-up goes up in equal parts: the first step has the first, the full rate comes behind it.
double default_start(std::int64_t warmup) { return 1.0 / (static_cast<double>(warmup) + 1.0); }

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// One `name:number:...` of the whole text.
class Part {
 public:
  Part(std::string_view whole, std::string_view text) : whole_(whole), words_(split(text, ':')) {}

  std::string_view name() const { return words_[0]; }

  void takes(std::size_t least, std::size_t most, std::string_view syntax) const {
    check(words_.size() > least, Fault::bad_input, "schedule '{}': {} needs more numbers: {}",
          whole_, name(), syntax);
    if (words_.size() <= most + 1) return;
    check(most > 0, Fault::bad_input, "schedule '{}': {} takes no numbers, write {}", whole_,
          name(), syntax);
    fail(Fault::bad_input, "schedule '{}': {} takes {} {} at most: {}", whole_, name(), most,
         most == 1 ? "number" : "numbers", syntax);
  }

  std::int64_t steps() const {
    std::int64_t value = 0;
    check(read(words_[1], value) && value >= 1 && value <= kMostSteps, Fault::bad_input,
          "schedule '{}': '{}' are no steps: a whole number from 1 to {}", whole_, words_[1],
          kMostSteps);
    return value;
  }

  double factor(std::size_t at, double otherwise) const {
    if (words_.size() <= at) return otherwise;
    double value = 0.0;
    check(read(words_[at], value) && std::isfinite(value) && value > 0.0, Fault::bad_input,
          "schedule '{}': '{}' is no factor: a number above 0", whole_, words_[at]);
    return value;
  }

  double share(std::string_view what, double otherwise) const {
    if (words_.size() <= 2) return otherwise;
    double value = 0.0;
    check(read(words_[2], value) && value >= 0.0 && value <= 1.0, Fault::bad_input,
          "schedule '{}': '{}' is no {}: a share of the rate, from 0 to 1", whole_, words_[2],
          what);
    return value;
  }

 private:
  template <class Value>
  static bool read(std::string_view word, Value& value) {
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc() && end == word.data() + word.size();
  }

  std::string_view whole_;
  std::vector<std::string_view> words_;
};

void read_warmup(const Part& part, ScheduleAttrs& schedule) {
  part.takes(1, 2, "warmup:STEPS[:START]");
  schedule.warmup = part.steps();
  schedule.start = part.share("start", default_start(schedule.warmup));
}

constexpr std::array kKinds = {ScheduleKind::constant, ScheduleKind::step,
                               ScheduleKind::exponential, ScheduleKind::cosine};

ScheduleKind kind_of(const Part& part) {
  std::vector<std::string> names;
  for (const ScheduleKind kind : kKinds) {
    if (name(kind) == part.name()) return kind;
    names.emplace_back(name(kind));
  }
  names.emplace_back(kWarmup);
  fail(Fault::bad_input, "{}", unknown_name("schedule", part.name(), names));
}

void read_kind(const Part& part, ScheduleAttrs& schedule) {
  schedule.kind = kind_of(part);
  switch (schedule.kind) {
    case ScheduleKind::constant:
      part.takes(0, 0, "constant");
      break;
    case ScheduleKind::step:
      part.takes(1, 2, "step:STEPS[:FACTOR]");
      schedule.steps = part.steps();
      schedule.factor = part.factor(2, kStepFactor);
      break;
    case ScheduleKind::exponential:
      part.takes(1, 1, "exponential:FACTOR");
      schedule.factor = part.factor(1, 1.0);
      break;
    case ScheduleKind::cosine:
      part.takes(1, 2, "cosine:STEPS[:FLOOR]");
      schedule.steps = part.steps();
      schedule.floor = part.share("floor", 0.0);
      break;
  }
}

std::string kind_text(const ScheduleAttrs& schedule) {
  switch (schedule.kind) {
    case ScheduleKind::constant:
      break;
    case ScheduleKind::step:
      if (schedule.factor == kStepFactor) return fmt::format("step:{}", schedule.steps);
      return fmt::format("step:{}:{}", schedule.steps, schedule.factor);
    case ScheduleKind::exponential:
      return fmt::format("exponential:{}", schedule.factor);
    case ScheduleKind::cosine:
      if (schedule.floor == 0.0) return fmt::format("cosine:{}", schedule.steps);
      return fmt::format("cosine:{}:{}", schedule.steps, schedule.floor);
  }
  return "constant";
}

}  // namespace

ScheduleAttrs parse_schedule(std::string_view text) {
  ScheduleAttrs schedule;
  const std::vector<std::string_view> parts = split(text, ',');
  check(parts.size() <= 2, Fault::bad_input,
        "schedule '{}': {} parts, at most two are: a warmup and what follows it", text,
        parts.size());
  const Part first(text, parts[0]);
  if (first.name() != kWarmup) {
    check(parts.size() == 1, Fault::bad_input,
          "schedule '{}': only a warmup goes before another, as in warmup:100,{}", text, parts[0]);
    read_kind(first, schedule);
    return schedule;
  }
  read_warmup(first, schedule);
  if (parts.size() == 1) return schedule;
  const Part second(text, parts[1]);
  check(second.name() != kWarmup, Fault::bad_input, "schedule '{}': two warmups, one is enough",
        text);
  read_kind(second, schedule);
  return schedule;
}

std::string schedule_text(const ScheduleAttrs& schedule) {
  if (schedule.warmup == 0) return kind_text(schedule);
  std::string text = fmt::format("{}:{}", kWarmup, schedule.warmup);
  if (schedule.start != default_start(schedule.warmup)) {
    text += fmt::format(":{}", schedule.start);
  }
  if (schedule.kind != ScheduleKind::constant) text += fmt::format(",{}", kind_text(schedule));
  return text;
}

}  // namespace stepscope
