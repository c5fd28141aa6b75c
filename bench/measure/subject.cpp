// The pieces of a session's step.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/subject.h"

#include "bench/measure/clock.h"

namespace stepscope {
namespace {

void spin(std::chrono::nanoseconds time) {
  const Stamp begin = now();
  while (now() - begin < time) {
  }
}

}  // namespace

SessionSubject::SessionSubject(Session& session, const InputRing& ring, std::int64_t batch,
                               std::span<const std::byte> start, std::int64_t planted_ns)
    : session_(session),
      executor_(session.step(batch)),
      ring_(ring),
      start_(start),
      planted_ns_(planted_ns),
      // What records a tape runs its launches within submit; a device runs behind it.
      synchronous_(session.backend().records_as() == RecordAs::tape) {}

void SessionSubject::restart() { session_.memory().restore(session_.stream(), start_); }

void SessionSubject::load(std::int64_t step) {
  const Batch& batch = ring_.at(step);
  session_.load(batch.x, batch.labels);
}

void SessionSubject::submit() {
  executor_.enqueue(session_.stream());
  if (planted_ns_ == 0) return;
  // Paid in pieces that are long against a stamp: a step may take no longer than two of them.
  constexpr std::int64_t kPieceNs = 2'000;
  owed_ns_ += planted_ns_;
  if (owed_ns_ < kPieceNs) return;
  spin(std::chrono::nanoseconds(owed_ns_));
  owed_ns_ = 0;
}

void SessionSubject::wait() { session_.stream().wait(); }

}  // namespace stepscope
