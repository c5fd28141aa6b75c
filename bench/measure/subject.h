// Subject: what is timed, in the pieces that an interval holds or leaves out: a session's step, or
// one of a fake stream.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "backends/execution/session.h"
#include "bench/data/input_ring.h"

namespace stepscope {

class Subject {
 public:
  virtual ~Subject() = default;

  // To where every timing of it begins: parameters and states of the snapshot. Never timed.
  virtual void restart() = 0;
  // Copies in the batch of that step, counted from the restart.
  virtual void load(std::int64_t step) = 0;
  virtual void submit() = 0;  // one step
  virtual void wait() = 0;    // until all that was submitted has ended
  // Whether submit returns when its work has ended: then there is no time of submission alone.
  virtual bool synchronous() const = 0;
  // The device's own clock; null where there is none.
  virtual Stopwatch* stopwatch() { return nullptr; }
};

// The step of `batch` rows of a session, on the batches of a ring. Borrows all that it is given.
class SessionSubject final : public Subject {
 public:
  // `start`: a snapshot of the session's model segment. `twice_every`: of so many steps behind a
  // restart the last is done twice, its input copy too: a slow-down of known size for checks of the
  // comparison itself, on a machine of any speed. 0: none.
  // Throws bad_input when the session was not made for that batch size, or for a negative number.
  SessionSubject(Session& session, const InputRing& ring, std::int64_t batch,
                 std::span<const std::byte> start, std::int64_t twice_every = 0);

  void restart() override;
  void load(std::int64_t step) override;
  void submit() override;
  void wait() override;
  bool synchronous() const override { return synchronous_; }
  Stopwatch* stopwatch() override { return stopwatch_.get(); }

 private:
  Session& session_;
  Executor& executor_;
  const InputRing& ring_;
  std::span<const std::byte> start_;
  std::int64_t twice_every_;
  std::int64_t step_ = 0;  // that was loaded last
  bool synchronous_;
  std::unique_ptr<Stopwatch> stopwatch_;
};

}  // namespace stepscope
