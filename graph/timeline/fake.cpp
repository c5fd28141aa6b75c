// Time that is told to pass.
// SPDX-License-Identifier: Apache-2.0
#include "graph/timeline/fake.h"

#include <algorithm>

#include "ops/base/check.h"

namespace stepscope {

void FakeClock::advance(std::int64_t ns) {
  check(ns >= 0, Fault::bad_input, "fake clock: {} ns to pass, expected 0 or more", ns);
  now_ += ns;
}

void FakeStream::run(std::string_view what, std::int64_t host_ns, std::int64_t device_ns) {
  check(device_ns >= 0, Fault::bad_input, "fake stream: {} runs for {} ns, expected 0 or more",
        what, device_ns);
  const std::int64_t begin = clock_.now();
  clock_.advance(host_ns + (durations_.empty() ? costs_.first_call_ns : 0));
  const std::int64_t launch = costs_.start == StartRule::at_call_begin ? begin : clock_.now();
  last_completion_ = std::max(last_completion_, launch) + device_ns;
  launches_.push_back(launch);
  durations_.push_back(device_ns);
  note(what);
}

void FakeStream::sync() {
  clock_.advance(pending() + costs_.sync_ns);
  note("sync");
}

std::int64_t FakeStream::stamp() {
  note("stamp");
  return clock_.now();
}

std::int64_t FakeStream::pending() const {
  return std::max<std::int64_t>(0, last_completion_ - clock_.now());
}

std::vector<std::string_view> FakeStream::event_names() const {
  std::vector<std::string_view> names;
  names.reserve(events_.size());
  for (const FakeEvent& event : events_) names.push_back(event.what);
  return names;
}

Timeline<std::int64_t> FakeStream::timeline() const {
  return run_fifo<std::int64_t>(launches_, durations_);
}

}  // namespace stepscope
