// A subject on a fake stream, and the timer of its clock: measuring code on times that are known.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "bench/measure/subject.h"
#include "bench/measure/timer.h"
#include "graph/timeline/fake.h"

namespace stepscope::test {

// The stream's stamps, so that its log has them.
class FakeTimer final : public Timer {
 public:
  explicit FakeTimer(FakeStream& stream) : stream_(stream) {}
  std::int64_t now() override { return stream_.stamp(); }

 private:
  FakeStream& stream_;
};

struct FakeStep {
  std::int64_t host_ns = 0, device_ns = 0;            // of the step
  std::int64_t copy_host_ns = 0, copy_device_ns = 0;  // of the batch
  bool synchronous = false;                           // calls return when their work has ended
};

class FakeSubject final : public Subject {
 public:
  FakeSubject(FakeStream& stream, FakeStep step) : stream_(stream), step_(step) {}

  void restart() override { stream_.note("restart"); }
  void load(std::int64_t step) override {
    loaded.push_back(step);
    if (step_.synchronous) {
      stream_.copy(step_.copy_host_ns + step_.copy_device_ns, 0);
    } else {
      stream_.copy(step_.copy_host_ns, step_.copy_device_ns);
    }
  }
  void submit() override {
    // Slower by what the next entry says: a machine that has not settled.
    const std::int64_t more = submitted < extra_ns.size() ? extra_ns[submitted] : 0;
    ++submitted;
    if (step_.synchronous) {
      stream_.submit(step_.host_ns + step_.device_ns + more, 0);
    } else {
      stream_.submit(step_.host_ns + more, step_.device_ns);
    }
  }
  void wait() override { stream_.sync(); }
  bool synchronous() const override { return step_.synchronous; }

  std::vector<std::int64_t> extra_ns;  // of the first steps, in host time
  std::size_t submitted = 0;           // steps
  std::vector<std::int64_t> loaded;    // as load was told

 private:
  FakeStream& stream_;
  FakeStep step_;
};

}  // namespace stepscope::test
