// What a training run is, as facts: for the hash of its work, and for going on from a checkpoint.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "bench/data/sha256.h"
#include "bench/train/train.h"
#include "ops/base/check.h"
#include "ops/ir/print.h"
#include "ops/models/masking.h"
#include "ops/models/schedule.h"

namespace stepscope {
namespace {

// Of how every parameter and state starts, and of the elements where a file gave them. Not of the
// control block: what it starts with is named apart (rate).
std::string initial_digest(const Model& model) {
  Sha256 hash;
  for (const Initial& initial : model.initial) {
    if (initial.name.starts_with("control.")) continue;
    const std::string text = fmt::format("{} kind {} value {} fan_in {} low {} high {}\n",
                                         initial.name, static_cast<int>(initial.kind),
                                         initial.value, initial.fan_in, initial.low, initial.high);
    hash.update(std::as_bytes(std::span(text)));
    if (initial.values) hash.update(std::as_bytes(std::span(*initial.values)));
  }
  return to_hex(hash.finish());
}

// Of a backend's detail. Bits are equal however a graph is recorded; TF32 is part of the work.
bool decides_bits(std::string_view detail) {
  return detail != "record as" && detail != "tf32" && !detail.ends_with("clock rate");
}

}  // namespace

std::string why_not_partial(const Model& model, std::int64_t batch, PartialBatch policy) {
  if (policy != PartialBatch::pad_masked) return {};
  const std::string why =
      why_rows_cannot_be_left_out(model.step(batch), model.step(batch == 1 ? 2 : 1));
  if (why.empty()) return {};
  return fmt::format("pad_masked: no row of model '{}' can be left out: {}", model.name, why);
}

std::int64_t steps_per_epoch(const Data& data, const TrainSpec& spec) {
  const std::int64_t all = epoch_counts(data.training().count, spec.batch, spec.partial).steps;
  return spec.most_steps > 0 ? std::min(spec.most_steps, all) : all;
}

Facts work_of(const Data& data, const TrainSpec& spec) {
  const OptimizerSpec& optimizer = spec.optimizer;
  const auto number = [](double value) { return fmt::format("{}", value); };
  Facts facts{
      {"model", spec.model.name},
      {"model_text", sha256_of(to_text(spec.model.step(spec.batch)))},
      {"initial", initial_digest(spec.model)},
      {"optimizer", std::string(name(optimizer.kind))},
      {"rate", number(optimizer.rate)},
      {"momentum", number(optimizer.mu)},
      {"adam", fmt::format("{} {} {}", optimizer.beta1, optimizer.beta2, optimizer.epsilon)},
      {"seed", fmt::to_string(spec.seed)},
      {"batch", fmt::to_string(spec.batch)},
      {"partial", std::string(name(spec.partial))},
      {"training_data", to_hex(digest(data.training()))},
      {"validation_data", to_hex(digest(data.validation()))},
      {"steps", spec.most_steps > 0 ? fmt::to_string(spec.most_steps) : "all"},
      {"loss_every", fmt::to_string(spec.loss_every)},
  };
  // Where there is one: checkpoints from before there were any stay those of a constant rate.
  const std::string schedule = schedule_text(optimizer.schedule);
  if (schedule != schedule_text({})) facts.emplace_back("schedule", schedule);
  if (spec.tf32) facts.emplace_back("tf32", "on");  // as the schedule
  return facts;
}

Facts conditions_of(const Backend& backend, const TrainSpec& spec) {
  Facts facts{{"stepscope", STEPSCOPE_VERSION},
              {"backend", std::string(backend.name())},
              {"threads", fmt::to_string(backend.info().threads)},
              {"fusion", spec.fusion},
              {"choices", spec.choices_digest}};
  for (const auto& [what, value] : backend.info().details) {
    if (decides_bits(what)) facts.emplace_back(what, value);
  }
  return facts;
}

}  // namespace stepscope
