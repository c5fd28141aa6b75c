// Records of training as text.
// SPDX-License-Identifier: Apache-2.0
#include "bench/cli/run_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/record/simulated.h"
#include "bench/report/numbers.h"
#include "bench/report/renderers.h"
#include "bench/report/sentences.h"
#include "bench/report/statements.h"
#include "bench/report/tables.h"
#include "bench/report/text.h"
#include "bench/report/wrap.h"

namespace stepscope::cli {
namespace {

// The epoch with the best validation: by accuracy, else by loss.
const EpochRecord& best_epoch(const std::vector<EpochRecord>& epochs) {
  return *std::max_element(epochs.begin(), epochs.end(),
                           [](const EpochRecord& a, const EpochRecord& b) {
                             if (a.validation_accuracy && b.validation_accuracy) {
                               return *a.validation_accuracy < *b.validation_accuracy;
                             }
                             return a.validation_loss > b.validation_loss;
                           });
}

std::string reached(const EpochRecord& epoch) {
  return epoch.validation_accuracy
             ? fmt::format("validation accuracy {:.2f} %", 100.0 * *epoch.validation_accuracy)
         : std::isnan(epoch.validation_loss)
             ? std::string("validation loss nan")
             : fmt::format("validation loss {:.5f}", epoch.validation_loss);
}

std::string arms_text(const Record& record) {
  std::vector<std::string> names;
  names.reserve(record.arms.size());
  for (const ArmRecord& arm : record.arms) names.push_back(labelled(arm.name, arm.simulated));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string train_text(const Record& record) {
  std::string text = fmt::format("{}: {}\n", work_line(record), arms_text(record));
  text += epoch_header();
  for (const EpochRecord& epoch : record.epochs) text += epoch_row(epoch);
  const Table submissions = submissions_table(record.submissions);
  if (!submissions.empty()) text += fmt::format("\n{}", terminal_text(submissions));
  std::string notes;
  for (const std::string& note : record.notes) notes += fmt::format("note: {}\n", note);
  for (const std::string& line : record.summary) notes += fmt::format("{}\n", line);
  if (!notes.empty()) text += fmt::format("\n{}", wrapped(notes));
  return text;
}

}  // namespace

std::string record_text(const Record& record) {
  return record.epochs.empty() ? compare_text(record) : train_text(record);
}

std::vector<std::string> train_summary(const Record& record) {
  std::vector<std::string> said;
  if (record.epochs.empty()) return said;
  const EpochRecord& last = record.epochs.back();
  const EpochRecord& best = best_epoch(record.epochs);
  std::string first = fmt::format("After {} {}: {}", record.epochs.size(),
                                  record.epochs.size() == 1 ? "epoch" : "epochs", reached(last));
  if (&best != &last)
    first += fmt::format("; the best was {} in epoch {}", reached(best), best.epoch);
  said.push_back(first + ".");
  double wall = 0.0;
  for (const EpochRecord& epoch : record.epochs) wall += static_cast<double>(epoch.wall_ns);
  said.push_back(fmt::format("The epochs took {} together{}.", time_text(wall),
                             is_simulated(record) ? ", simulated: no time of a device" : ""));
  said.push_back(scope_sentence(record));
  return said;
}

}  // namespace stepscope::cli
