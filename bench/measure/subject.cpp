// The pieces of a session's step.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/subject.h"

#include "ops/base/check.h"

namespace stepscope {

SessionSubject::SessionSubject(Session& session, const InputRing& ring, std::int64_t batch,
                               std::span<const std::byte> start, std::int64_t twice_every)
    : session_(session),
      executor_(session.step(batch)),
      ring_(ring),
      start_(start),
      twice_every_(twice_every),
      // What records a tape runs its launches within submit; a device runs behind it.
      synchronous_(session.backend().records_as() == RecordAs::tape),
      stopwatch_(session.stream().make_stopwatch()) {
  check(twice_every >= 0, Fault::bad_input, "subject: one step of {} twice, expected 0 or more",
        twice_every);
}

void SessionSubject::restart() { session_.memory().restore(session_.stream(), start_); }

void SessionSubject::load(std::int64_t step) {
  const Batch& batch = ring_.at(step);
  session_.load(batch.x, batch.labels);
  step_ = step;
}

void SessionSubject::submit() {
  executor_.enqueue(session_.stream());
  if (twice_every_ == 0 || (step_ + 1) % twice_every_ != 0) return;
  load(step_);
  executor_.enqueue(session_.stream());
}

void SessionSubject::wait() { session_.stream().wait(); }

}  // namespace stepscope
