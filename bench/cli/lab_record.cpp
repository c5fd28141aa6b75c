// From a report of the lab to a record.
// SPDX-License-Identifier: Apache-2.0
#include "bench/cli/lab_record.h"

#include <fmt/format.h>

#include "bench/measure/facts_hash.h"
#include "bench/measure/sampler.h"
#include "bench/report/numbers.h"
#include "bench/report/sentences.h"

namespace stepscope::cli {
namespace {

Facts protocol_of(const LabReport& report) {
  return {{"preset", report.preset},
          {"warm_up_steps", fmt::to_string(report.warmup)},
          {"repeat", fmt::to_string(report.repeat)},
          {"clock", "steady"},
          {"shuffle", std::string(kLabShuffle)},
          {"loss_readback", std::string(kLabReadback)}};
}

Facts work_of(const LabReport& report) {
  return {{"model", report.model},
          {"optimizer", report.optimizer},
          {"rate", fmt::to_string(report.rate)},
          {"dtype", report.dtype},
          {"data", report.data},
          {"batch", fmt::to_string(report.batch_size)},
          {"seed", fmt::to_string(report.seed)}};
}

ArmRecord arm_of(const LabReport& report, const std::string& mode_executed) {
  ArmRecord arm{.name = fmt::format("{}/{}/off/{}", report.backend, report.mode, report.batch_size),
                .backend = report.backend,
                .mode_requested = report.mode,
                .mode_executed = mode_executed,
                .batch = report.batch_size,
                .threads = report.threads,
                .work = work_of(report),
                .work_hash = hash_of(work_of(report)),
                .scope = "pipeline",
                .includes = {"loader", "input_copy", "readback"}};
  if (report.total.elapsed_ns.empty()) return arm;
  arm.latency = {report.total};
  arm.warmup = {report.warmup_total};
  arm.latency_summary = summarize(arm.latency);
  return arm;
}

std::string sentence_of(const LabReport& report) {
  constexpr double kNsPerMs = 1e6;
  return fmt::format(
      "A batch of {} takes {}, from its making to the reading of its loss (median of {} repeats of "
      "one process); of the stages within, timed one by one, making it takes {} and its step {}.",
      report.batch_size, time_text(kNsPerMs * report.total_ms.median), report.total_ms.ms.size(),
      time_text(kNsPerMs * report.data_ms.median), time_text(kNsPerMs * report.step_ms.median));
}

}  // namespace

void complete_lab_record(Record& record, const LabReport& report,
                         const std::string& mode_executed) {
  const bool ran = report.status == "complete";
  record.status = ran ? "exploratory" : report.status;
  record.status_reason =
      ran ? "the lab: single batches of one process, no verdict" : report.status_reason;
  record.work = {report.model, report.optimizer, report.rate,
                 report.data,  report.dtype,     report.seed};
  record.protocol = protocol_of(report);
  record.protocol_hash = hash_of(record.protocol);
  record.arms = {arm_of(report, mode_executed)};
  record.arms.front().protocol_hash = record.protocol_hash;
  record.notes.emplace_back(
      "the times of data and step, and what the total holds beside them: measure_report.json");
  if (!ran) {
    record.summary = sentences(record);
    return;
  }
  record.processes = {{.backend = report.backend}};
  record.summary = {sentence_of(report), scope_sentence(record)};
}

}  // namespace stepscope::cli
