// The facts in which two arms must agree.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/comparable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "bench/record/simulated.h"

namespace stepscope {
namespace {

constexpr std::string_view kNotApplicable = "not applicable";

std::string shown(const std::string& value) { return value.empty() ? "not stated" : value; }

std::string differ(std::string_view fact, const std::string& a, const std::string& b) {
  return a == b ? "" : fmt::format("{} differs: {} and {}", fact, shown(a), shown(b));
}

std::string value_of(const Facts& facts, const std::string& name) {
  const auto found = std::find_if(facts.begin(), facts.end(),
                                  [&](const auto& fact) { return fact.first == name; });
  return found == facts.end() ? "" : found->second;
}

// The first fact of either list in which they differ.
std::string facts_differ(std::string_view what, const Facts& a, const Facts& b) {
  for (const Facts* facts : {&a, &b}) {
    for (const auto& [name, value] : *facts) {
      const std::string of_a = value_of(a, name), of_b = value_of(b, name);
      if (of_a == kNotApplicable || of_b == kNotApplicable) continue;
      if (std::string why = differ(fmt::format("{}: {}", what, name), of_a, of_b); !why.empty()) {
        return why;
      }
    }
  }
  return "";
}

std::string names_of(const std::vector<std::string>& names) {
  const std::set<std::string> sorted(names.begin(), names.end());
  return sorted.empty() ? "the step alone" : fmt::format("{}", fmt::join(sorted, " + "));
}

std::string number(std::optional<std::int64_t> value) {
  return value ? std::to_string(*value) : "";
}

std::string batches_differ(const ArmRecord& a, const ArmRecord& b) {
  if (a.batch != b.batch) {
    return fmt::format(
        "batch size differs: {} and {}; the size changes what is learned, so these are two "
        "different pieces of work",
        a.batch, b.batch);
  }
  for (const auto& [fact, of_a, of_b] :
       {std::tuple("partial batches", a.partial_policy, b.partial_policy),
        std::tuple("steps of an epoch", number(a.steps), number(b.steps)),
        std::tuple("samples seen in an epoch", number(a.samples_seen), number(b.samples_seen)),
        std::tuple("samples dropped in an epoch", number(a.samples_dropped),
                   number(b.samples_dropped))}) {
    if (std::string why = differ(fact, of_a, of_b); !why.empty()) return why;
  }
  return "";
}

// How the lists of an arm that a ratio may rest on were taken: method and what it covers.
std::string methods_of(const ArmRecord& arm) {
  std::set<std::string> methods;
  for (const Samples& samples : arm.throughput) methods.insert(samples.method);
  return fmt::format("{}", fmt::join(methods, " + "));
}

std::string barred(const ArmRecord& arm) {
  for (const Samples& samples : arm.throughput) {
    if (!may_enter_ratio(samples.method)) {
      return fmt::format(
          "{} was measured by the method instrumented, which waits for each operation: no ratio of "
          "speed",
          arm.name);
    }
    if (samples.covers != kComplete) {
      return fmt::format("{} covers {}, not complete: work may have run on after the last stamp",
                         arm.name, shown(samples.covers));
    }
  }
  return "";
}

std::string methods_differ(const ArmRecord& a, const ArmRecord& b) {
  for (const ArmRecord* arm : {&a, &b}) {
    if (std::string why = barred(*arm); !why.empty()) return why;
  }
  if (a.throughput.empty() || b.throughput.empty()) return "";
  return differ("method", methods_of(a), methods_of(b));
}

}  // namespace

std::string modelled(const ArmRecord& a, const ArmRecord& b) {
  std::vector<std::string> names;
  for (const ArmRecord* arm : {&a, &b}) {
    const bool known = std::find(names.begin(), names.end(), arm->backend) != names.end();
    if (arm->simulated && !known) names.push_back(arm->backend);
  }
  return names.empty() ? "" : why_simulated(names);
}

// Where all facts that are shown agree, the hashes may still differ. "not applicable" on one side
// makes hashes differ and facts equal.
std::string hashes_differ(std::string_view what, const Facts& a, const Facts& b,
                          const std::string& hash_a, const std::string& hash_b) {
  if (std::string why = facts_differ(what, a, b); !why.empty()) return why;
  const auto open = [](const Facts& facts) {
    return std::any_of(facts.begin(), facts.end(),
                       [](const auto& fact) { return fact.second == kNotApplicable; });
  };
  if (open(a) || open(b)) return "";
  return differ(fmt::format("hash of the {}", what), hash_a, hash_b);
}

std::string copies_differ(const ArmRecord& a, const ArmRecord& b) {
  const std::string why =
      differ("where inputs are copied, of the recording,", a.inputs_copied, b.inputs_copied);
  if (why.empty()) return "";
  return fmt::format("{}; a ratio of the two would not be that of their modes alone", why);
}

std::string why_no_ratio(const Record& record_a, const ArmRecord& a, const Record& record_b,
                         const ArmRecord& b) {
  std::string why = modelled(a, b);
  if (why.empty()) why = differ("experiment", record_a.experiment_id, record_b.experiment_id);
  if (why.empty()) why = batches_differ(a, b);
  if (why.empty()) why = hashes_differ("work", a.work, b.work, a.work_hash, b.work_hash);
  if (why.empty()) {
    why = hashes_differ("protocol", record_a.protocol, record_b.protocol, a.protocol_hash,
                        b.protocol_hash);
  }
  if (why.empty()) why = differ("scope", a.scope, b.scope);
  if (why.empty()) {
    why = differ("what is timed beside the step", names_of(a.includes), names_of(b.includes));
  }
  if (why.empty()) why = methods_differ(a, b);
  if (why.empty()) why = copies_differ(a, b);
  return why;
}

}  // namespace stepscope
