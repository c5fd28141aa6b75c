// lint: what was noted so far, which kernels are warm, and which errors nobody collected.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/sim/lint.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "backends/cuda/sim/call.h"
#include "backends/cuda/sim/graph.h"
#include "backends/cuda/sim/library.h"
#include "backends/cuda/sim/memory.h"
#include "backends/cuda/sim/stream.h"

namespace stepscope::cudasim {
namespace {

struct Lints {
  std::vector<LintFound> found;
  std::unordered_set<std::uint64_t> used;
  // Errors that a thread was given and did not collect, oldest first.
  std::map<std::uint64_t, std::vector<std::string>> pending;  // by this_thread()
};

Lints& state() {
  static Lints& lints = *new Lints;
  return lints;
}

void add(std::vector<LintFound>& found, Lint lint, std::string text) {
  for (const LintFound& other : found) {
    if (other.lint == lint && other.text == text) return;
  }
  found.push_back({lint, std::move(text)});
}

void judge_errors(std::vector<LintFound>& found) {
  for (const auto& [thread, texts] : state().pending) {
    for (const std::string& text : texts) {
      // Equal texts are one lint, but not fewer errors.
      const auto same = std::count(texts.begin(), texts.end(), text);
      add(found, Lint::unchecked_error,
          same == 1
              ? fmt::format("{}, and cudaGetLastError never collected it", text)
              : fmt::format("{} {} times, and cudaGetLastError never collected it", text, same));
    }
  }
}

// A device that faulted refuses every call, those that would destroy things too.
void judge_leaks(std::vector<LintFound>& found) {
  if (sticky() != cudaSuccess) return;
  for (const auto& lines :
       {live_stream_objects(), live_graphs(), live_library_objects(), live_blocks()}) {
    for (const std::string& line : lines) {
      add(found, Lint::leak, fmt::format("left behind: {}", line));
    }
  }
}

}  // namespace

std::string_view name_of(Lint lint) {
  switch (lint) {
    case Lint::pageable_async:
      return "pageable_async";
    case Lint::pageable_captured:
      return "pageable_captured";
    case Lint::unchecked_error:
      return "unchecked_error";
    case Lint::first_use_in_capture:
      return "first_use_in_capture";
    case Lint::leak:
      return "leak";
    case Lint::freed_before_exec:
      return "freed_before_exec";
  }
  return "?";
}

void note(Lint lint, std::string text) { add(state().found, lint, std::move(text)); }

void note_use(std::uint64_t what) { state().used.insert(what); }
bool was_used(std::uint64_t what) { return state().used.contains(what); }

void error_handed_out(std::string text) {
  state().pending[this_thread()].push_back(std::move(text));
}

void error_collected() {
  auto& texts = state().pending[this_thread()];
  if (!texts.empty()) texts.pop_back();  // the last one is what cudaGetLastError told
}

void reset_lints() { state() = {}; }

std::vector<LintFound> lints() {
  const std::lock_guard lock(state_lock());
  return state().found;
}

std::vector<LintFound> finish() {
  const std::lock_guard lock(state_lock());
  std::vector<LintFound> found = state().found;
  judge_errors(found);
  judge_leaks(found);
  return found;
}

}  // namespace stepscope::cudasim
