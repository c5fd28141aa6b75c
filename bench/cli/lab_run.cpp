// One batch at a time, with stamps around its stages.
// SPDX-License-Identifier: Apache-2.0
#include "bench/cli/lab_run.h"

#include <vector>

#include "bench/data/batches.h"
#include "bench/measure/statistics.h"
#include "ops/base/check.h"
#include "ops/base/nearest.h"

namespace stepscope::cli {
namespace {

double ms_of(std::int64_t ns) { return static_cast<double>(ns) * 1e-6; }

// The stages of one repeat, in nanoseconds.
struct Repeat {
  std::int64_t begin = 0, data = 0, step = 0, total = 0;
};

class LabBatch {
 public:
  LabBatch(Session& session, const Data& data, std::int64_t rows, std::uint64_t seed)
      : session_(session),
        batcher_(data.training()),
        rows_(rows),
        seed_(seed),
        x_(static_cast<std::size_t>(rows * data.train.features())),
        labels_(static_cast<std::size_t>(rows)) {}

  Repeat time(std::uint64_t repeat, Timer& timer) {
    const std::vector<std::uint32_t> order =
        epoch_order(batcher_.data().count, seed_, repeat);  // outside, as the report says
    session_.stream().wait();
    const std::int64_t total_begin = timer.now();
    const std::int64_t data_begin = timer.now();
    batcher_.fill(std::span(order).first(labels_.size()), x_, labels_);
    const std::int64_t data_end = timer.now();
    const std::int64_t step_begin = timer.now();
    session_.load(x_, labels_);
    session_.enqueue_step(rows_);
    session_.stream().wait();
    static_cast<void>(session_.loss(rows_));
    const std::int64_t step_end = timer.now();
    const std::int64_t total_end = timer.now();
    return {total_begin, data_end - data_begin, step_end - step_begin, total_end - total_begin};
  }

 private:
  Session& session_;
  Batcher batcher_;
  std::int64_t rows_;
  std::uint64_t seed_;
  std::vector<float> x_;
  std::vector<std::int32_t> labels_;
};

}  // namespace

const LabPreset& lab_preset(std::string_view name) {
  std::vector<std::string> names;
  for (const LabPreset& preset : kLabPresets) {
    if (preset.name == name) return preset;
    names.emplace_back(preset.name);
  }
  fail(Fault::bad_input, "{}", unknown_name("preset", name, names));
}

void time_lab(Session& session, const Data& data, LabReport& report, Timer& timer,
              const std::function<void()>& before_each) {
  const std::int64_t count = data.training().count;
  check(report.batch_size <= count, Fault::bad_input, "--batch: {} rows, the training data have {}",
        report.batch_size, count);
  LabBatch batch(session, data, report.batch_size, report.seed);
  report.total.method = report.warmup_total.method = method::kLatency;
  for (std::int64_t i = -report.warmup; i < report.repeat; ++i) {
    before_each();
    const Repeat times = batch.time(static_cast<std::uint64_t>(i + report.warmup), timer);
    Samples& samples = i < 0 ? report.warmup_total : report.total;
    samples.start_ns.push_back(times.begin);
    samples.elapsed_ns.push_back(times.total);
    if (i < 0) continue;
    report.data_ms.ms.push_back(ms_of(times.data));
    report.step_ms.ms.push_back(ms_of(times.step));
    report.total_ms.ms.push_back(ms_of(times.total));
    report.residual_ms.ms.push_back(ms_of(times.total - times.data - times.step));
  }
  for (LabList* list : {&report.data_ms, &report.step_ms, &report.total_ms, &report.residual_ms}) {
    summarize(*list);
  }
}

void summarize(LabList& list) {
  const Summary summary = stepscope::summarize(std::span<const double>(list.ms));
  list.min = summary.min;
  list.q1 = summary.q1;
  list.median = summary.median;
  list.q3 = summary.q3;
  list.max = summary.max;
}

}  // namespace stepscope::cli
