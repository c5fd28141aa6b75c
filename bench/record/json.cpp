// JSON of a record. Every struct lists its fields once, in fields(); both directions use the list.
// SPDX-License-Identifier: Apache-2.0
#include "bench/record/json.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "ops/base/check.h"

namespace stepscope {
namespace {

using nlohmann::ordered_json;

template <class R, class V>
void fields(V&& visit, R& record) requires std::is_same_v<std::remove_const_t<R>, WorkFacts> {
  visit("model", record.model);
  visit("optimizer", record.optimizer);
  visit("rate", record.rate);
  visit("data", record.data);
  visit("dtype", record.dtype);
  visit("seed", record.seed);
}

template <class R, class V>
void fields(V&& visit, R& record) requires std::is_same_v<std::remove_const_t<R>, SlotSamples> {
  visit("round", record.round);
  visit("position", record.position);
  visit("wall_ns", record.wall_ns);
  visit("input_copy_ns", record.input_copy_ns);
}

template <class R, class V>
void fields(V&& visit, R& record) requires std::is_same_v<std::remove_const_t<R>, TimeSummary> {
  visit("count", record.count);
  visit("min_ns", record.min_ns);
  visit("q1_ns", record.q1_ns);
  visit("median_ns", record.median_ns);
  visit("q3_ns", record.q3_ns);
  visit("max_ns", record.max_ns);
  visit("mean_ns", record.mean_ns);
}

template <class R, class V>
void fields(V&& visit, R& record) requires std::is_same_v<std::remove_const_t<R>, StepCounts> {
  visit("ops", record.ops);
  visit("reorders", record.reorders);
  visit("submissions", record.submissions);
  visit("calls", record.calls);
  visit("library_calls", record.library_calls);
  visit("own_calls", record.own_calls);
  visit("lookups", record.lookups);
  visit("input_bytes", record.input_bytes);
  visit("intermediate_bytes", record.intermediate_bytes);
}

template <class R, class V>
void fields(V&& visit, R& record) requires std::is_same_v<std::remove_const_t<R>, PassRecord> {
  visit("name", record.name);
  visit("fusion", record.fusion);
  visit("changed", record.changed);
  visit("ops_before", record.ops_before);
  visit("ops_after", record.ops_after);
  visit("intermediate_bytes_removed", record.intermediate_bytes_removed);
  visit("time_ns", record.time_ns);
  visit("notes", record.notes);
}

template <class R, class V>
void fields(V&& visit, R& record) requires std::is_same_v<std::remove_const_t<R>, RatioRecord> {
  visit("mode", record.mode);
  visit("fusion", record.fusion);
  visit("medians", record.medians);
  visit("q1", record.q1);
  visit("q3", record.q3);
}

template <class R, class V>
void fields(V&& visit, R& record) requires std::is_same_v<std::remove_const_t<R>, ArmRecord> {
  visit("backend", record.backend);
  visit("mode_requested", record.mode_requested);
  visit("mode_executed", record.mode_executed);
  visit("fusion", record.fusion);
  visit("batch", record.batch);
  visit("threads", record.threads);
  visit("work_hash", record.work_hash);
  visit("steps", record.steps);
  visit("samples_seen", record.samples_seen);
  visit("samples_dropped", record.samples_dropped);
  visit("partial_policy", record.partial_policy);
  visit("counts_per_step", record.counts);
  visit("reserved_bytes", record.reserved_bytes);
  visit("model_bytes", record.model_bytes);
  visit("flops_per_step", record.flops);
  visit("library_flops_per_step", record.library_flops);
  visit("setup_ns", record.setup_ns);
  visit("passes", record.passes);
  visit("wall", record.wall);
  visit("input_copy", record.input_copy);
  visit("ratios", record.ratios);
  visit("dispatch_empty_kernels", record.dispatch_empty_kernels);
  visit("slots", record.slots);
}

template <class R, class V>
void fields(V&& visit, R& record) requires std::is_same_v<std::remove_const_t<R>, GateRecord> {
  visit("backend", record.backend);
  visit("baseline_mode", record.baseline_mode);
  visit("baseline_fusion", record.baseline_fusion);
  visit("mode", record.mode);
  visit("fusion", record.fusion);
  visit("batch", record.batch);
  visit("criterion", record.criterion);
  visit("steps", record.steps);
  visit("passed", record.passed);
  visit("detail", record.detail);
}

template <class R, class V>
void fields(V&& visit, R& record) requires std::is_same_v<std::remove_const_t<R>, EpochRecord> {
  visit("epoch", record.epoch);
  visit("training_loss", record.training_loss);
  visit("validation_loss", record.validation_loss);
  visit("validation_accuracy", record.validation_accuracy);
  visit("steps", record.steps);
  visit("samples_seen", record.samples_seen);
  visit("samples_dropped", record.samples_dropped);
  visit("partial_policy", record.partial_policy);
  visit("loader_workers", record.loader_workers);
  visit("wall_ns", record.wall_ns);
  visit("data_ns", record.data_ns);
  visit("transfer_ns", record.transfer_ns);
  visit("step_ns", record.step_ns);
  visit("readback_ns", record.readback_ns);
  visit("validation_ns", record.validation_ns);
}

template <class R, class V>
void fields(V&& visit, R& record) requires std::is_same_v<std::remove_const_t<R>, Record> {
  visit("schema", record.schema);
  visit("version", record.version);
  visit("command", record.command);
  visit("created", record.created);
  visit("work", record.work);
  visit("environment", record.environment);
  visit("backends", record.backends);
  visit("gates", record.gates);
  visit("arms", record.arms);
  visit("epochs", record.epochs);
  visit("notes", record.notes);
}

// Declared first: they call one another.
template <class T>
ordered_json write(const T& value);
template <class T>
ordered_json write(const std::optional<T>& value);
template <class T>
requires(!std::is_arithmetic_v<T>) ordered_json write(const std::vector<T>& values);
template <class T>
void read(const ordered_json& json, T& value);
template <class T>
void read(const ordered_json& json, std::optional<T>& value);
template <class T>
requires(!std::is_arithmetic_v<T>) void read(const ordered_json& json, std::vector<T>& values);

// JSON has no NaN and no infinity: both become null, and null becomes NaN.
ordered_json write(const double& value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json();
}

void read(const ordered_json& json, double& value) {
  value = json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

ordered_json write(const Facts& facts) {
  ordered_json json = ordered_json::object();
  for (const auto& [name, value] : facts) json[name] = value;
  return json;
}

ordered_json write(const std::vector<std::pair<std::string, Facts>>& groups) {
  ordered_json json = ordered_json::object();
  for (const auto& [name, facts] : groups) json[name] = write(facts);
  return json;
}

template <class T>
ordered_json write(const T& value) {
  if constexpr (requires { fields([](const char*, const auto&) {}, value); }) {
    ordered_json json = ordered_json::object();
    fields([&json](const char* name, const auto& field) { json[name] = write(field); }, value);
    return json;
  } else {
    return value;
  }
}

template <class T>
ordered_json write(const std::optional<T>& value) {
  return value ? write(*value) : ordered_json();
}

template <class T>
requires(!std::is_arithmetic_v<T>) ordered_json write(const std::vector<T>& values) {
  ordered_json json = ordered_json::array();
  for (const T& value : values) json.push_back(write(value));
  return json;
}

void read(const ordered_json& json, Facts& facts) {
  for (const auto& [name, value] : json.items()) facts.emplace_back(name, value.get<std::string>());
}

void read(const ordered_json& json, std::vector<std::pair<std::string, Facts>>& groups) {
  for (const auto& [name, value] : json.items())
    read(value, groups.emplace_back(name, Facts{}).second);
}

template <class T>
void read(const ordered_json& json, T& value) {
  if constexpr (requires { fields([](const char*, auto&) {}, value); }) {
    fields([&json](const char* name, auto& field) { read(json.at(name), field); }, value);
  } else {
    value = json.get<T>();
  }
}

template <class T>
void read(const ordered_json& json, std::optional<T>& value) {
  if (!json.is_null()) read(json, value.emplace());
}

template <class T>
requires(!std::is_arithmetic_v<T>) void read(const ordered_json& json, std::vector<T>& values) {
  for (const ordered_json& each : json) read(each, values.emplace_back());
}

}  // namespace

std::string to_json(const Record& record) { return write(record).dump(1) + "\n"; }

std::string to_json(const std::vector<EpochRecord>& epochs) { return write(epochs).dump(); }

std::vector<EpochRecord> epochs_from_json(std::string_view text, std::string_view source) {
  try {
    std::vector<EpochRecord> epochs;
    read(ordered_json::parse(text), epochs);
    return epochs;
  } catch (const nlohmann::json::exception& error) {
    fail(Fault::bad_input, "{}: are no epochs of a {}: {}", source, kRecordSchema, error.what());
  }
}

Record record_from_json(std::string_view text, std::string_view source) {
  try {
    const ordered_json json = ordered_json::parse(text);
    const auto schema = json.at("schema").get<std::string>();
    check(schema == kRecordSchema, Fault::bad_input, "{}: is '{}', this program reads '{}'", source,
          schema, kRecordSchema);
    Record record;
    read(json, record);
    return record;
  } catch (const nlohmann::json::exception& error) {
    fail(Fault::bad_input, "{}: is no {}: {}", source, kRecordSchema, error.what());
  }
}

}  // namespace stepscope
