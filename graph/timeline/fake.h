// A clock that moves only when told, and a stream on it: what measuring code is tested against,
// exactly and without waiting. It runs nothing.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "graph/timeline/fifo.h"

namespace stepscope {

// Two clocks of one machine, in nanoseconds: the steady one, and the wall clock that anybody may
// set.
class FakeClock {
 public:
  std::int64_t now() const { return now_; }  // steady: since the beginning
  std::int64_t wall() const { return now_ + wall_offset_; }

  // Throws bad_input for a negative time.
  void advance(std::int64_t ns);
  void set_wall(std::int64_t ns) { wall_offset_ = ns - now_; }

 private:
  std::int64_t now_ = 0;
  std::int64_t wall_offset_ = 0;
};

// When work may begin on the stream: two models of a call, and every result says which it used.
enum class StartRule : std::uint8_t {
  when_call_returns,  // the launch is handed over at the end of the call
  at_call_begin,      // the stream runs beside the rest of the call
};

struct FakeStreamCosts {
  StartRule start = StartRule::when_call_returns;
  std::int64_t sync_ns = 0;        // of a wait, after the work has ended
  std::int64_t first_call_ns = 0;  // host time that the first submission takes on top, once
};

struct FakeEvent {
  std::string_view what;  // work, copy, sync, stamp; or what note() was given
  std::int64_t at = 0;    // when it returned
  friend bool operator==(const FakeEvent&, const FakeEvent&) = default;
};

// One FIFO stream (fifo.h): submissions take host time, run behind it in order, and are waited for
// by sync alone.
class FakeStream {
 public:
  explicit FakeStream(FakeClock& clock, FakeStreamCosts costs = {})
      : clock_(clock), costs_(costs) {}

  // Throw bad_input for a negative time.
  void submit(std::int64_t host_ns, std::int64_t device_ns) { run("work", host_ns, device_ns); }
  // A copy that does not block: an operation of the stream as any other.
  void copy(std::int64_t host_ns, std::int64_t device_ns) { run("copy", host_ns, device_ns); }
  // Until all work has ended.
  void sync();
  std::int64_t stamp();  // the steady clock
  void note(std::string_view what) { events_.push_back({what, clock_.now()}); }

  FakeClock& clock() { return clock_; }
  std::int64_t last_completion() const { return last_completion_; }
  std::int64_t pending() const;  // how long after now the last work ends
  // Everything since the beginning, in order.
  const std::vector<FakeEvent>& events() const { return events_; }
  std::vector<std::string_view> event_names() const;
  void clear_events() { events_.clear(); }
  // Of all submissions, copies included.
  Timeline<std::int64_t> timeline() const;

 private:
  void run(std::string_view what, std::int64_t host_ns, std::int64_t device_ns);

  FakeClock& clock_;
  FakeStreamCosts costs_;
  std::int64_t last_completion_ = 0;
  std::vector<std::int64_t> launches_, durations_;
  std::vector<FakeEvent> events_;
};

}  // namespace stepscope
