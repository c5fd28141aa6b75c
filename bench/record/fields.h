// Every struct of a record lists its fields here, once, under the names that they have in JSON;
// reading, writing and tests use the list. Within bench/record.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "bench/record/record.h"

namespace stepscope::record_fields {

template <class R, class Struct>
concept Is = std::is_same_v<std::remove_const_t<R>, Struct>;

// visit(name, field) for each field in the order of JSON. `R` is the struct, const or not.

template <Is<WorkFacts> R, class V>
void fields(V&& visit, R& record) {
  visit("model", record.model);
  visit("optimizer", record.optimizer);
  visit("rate", record.rate);
  visit("data", record.data);
  visit("dtype", record.dtype);
  visit("seed", record.seed);
  visit("rate_schedule", record.rate_schedule);
  visit("tf32", record.tf32);
}

template <Is<PhaseCalls> R, class V>
void fields(V&& visit, R& record) {
  visit("phases", record.phases);
  visit("ops", record.ops);
  visit("calls", record.calls);
  visit("library_calls", record.library_calls);
  visit("own_calls", record.own_calls);
}

template <Is<StepCounts> R, class V>
void fields(V&& visit, R& record) {
  visit("ops", record.ops);
  visit("reorders", record.reorders);
  visit("submissions", record.submissions);
  visit("graph_launches", record.graph_launches);
  visit("nodes_executed", record.nodes_executed);
  visit("calls", record.calls);
  visit("library_calls", record.library_calls);
  visit("own_calls", record.own_calls);
  visit("lookups", record.lookups);
  visit("input_bytes", record.input_bytes);
  visit("intermediate_bytes", record.intermediate_bytes);
  visit("by_phase", record.by_phase);
}

template <Is<SubmissionRecord> R, class V>
void fields(V&& visit, R& record) {
  visit("activity", record.activity);
  visit("steps", record.steps);
  visit("submissions", record.submissions);
  visit("graph_launches", record.graph_launches);
  visit("least", record.least);
  visit("most", record.most);
  visit("median", record.median);
}

template <Is<PassRecord> R, class V>
void fields(V&& visit, R& record) {
  visit("name", record.name);
  visit("fusion", record.fusion);
  visit("changed", record.changed);
  visit("ops_before", record.ops_before);
  visit("ops_after", record.ops_after);
  visit("intermediate_bytes_removed", record.intermediate_bytes_removed);
  visit("time_ns", record.time_ns);
  visit("notes", record.notes);
}

template <Is<OneOffRecord> R, class V>
void fields(V&& visit, R& record) {
  visit("process", record.process);
  visit("init_ns", record.init_ns);
  visit("compile_ns", record.compile_ns);
  visit("capture_ns", record.capture_ns);
  visit("instantiate_ns", record.instantiate_ns);
  visit("upload_ns", record.upload_ns);
  visit("first_step_ns", record.first_step_ns);
  visit("warmup_ns", record.warmup_ns);
  visit("warmup_steps", record.warmup_steps);
  visit("warmup_rule", record.warmup_rule);
  visit("compilations_in_steady", record.compilations_in_steady);
}

template <Is<MemoryWindow> R, class V>
void fields(V&& visit, R& record) {
  visit("allocated", record.allocated);
  visit("reserved", record.reserved);
  visit("peak_allocated", record.peak_allocated);
  visit("peak_reserved", record.peak_reserved);
}

template <Is<MemoryOwner> R, class V>
void fields(V&& visit, R& record) {
  visit("owner", record.owner);
  visit("layer", record.layer);
  visit("reserved", record.reserved);
}

template <Is<MemoryRecord> R, class V>
void fields(V&& visit, R& record) {
  visit("first", record.first);
  visit("steady", record.steady);
  visit("owners", record.owners);
  visit("process_rss", record.process_rss);
  visit("process_peak_rss", record.process_peak_rss);
}

template <Is<UtilizationRecord> R, class V>
void fields(V&& visit, R& record) {
  visit("device_busy_us", record.device_busy_us);
  visit("kernel_active_fraction", record.kernel_active_fraction);
  visit("occupancy", record.occupancy);
  visit("active_sm_fraction", record.active_sm_fraction);
  visit("source", record.source);
  visit("reason", record.reason);
  visit("arith_lower_bound_us", record.arith_lower_bound_us);
  visit("bandwidth_lower_bound_us", record.bandwidth_lower_bound_us);
}

template <Is<Samples> R, class V>
void fields(V&& visit, R& record) {
  visit("process", record.process);
  visit("method", record.method);
  visit("covers", record.covers);
  visit("steps_per_sample", record.steps_per_sample);
  visit("start_ns", record.start_ns);
  visit("elapsed_ns", record.elapsed_ns);
}

template <Is<TimeSummary> R, class V>
void fields(V&& visit, R& record) {
  visit("count", record.count);
  visit("min_ns", record.min_ns);
  visit("q1_ns", record.q1_ns);
  visit("median_ns", record.median_ns);
  visit("q3_ns", record.q3_ns);
  visit("max_ns", record.max_ns);
  visit("mean_ns", record.mean_ns);
  visit("iqr_ns", record.iqr_ns);
  visit("mild_outliers", record.mild_outliers);
  visit("severe_outliers", record.severe_outliers);
  visit("median_low_ns", record.median_low_ns);
  visit("median_high_ns", record.median_high_ns);
  visit("median_coverage", record.median_coverage);
}

template <Is<CalibrationRow> R, class V>
void fields(V&& visit, R& record) {
  visit("name", record.name);
  visit("unit", record.unit);
  visit("value", record.value);
  visit("low", record.low);
  visit("high", record.high);
  visit("count", record.count);
  visit("note", record.note);
  visit("reason", record.reason);
}

template <Is<ArmRecord> R, class V>
void fields(V&& visit, R& record) {
  visit("name", record.name);
  visit("role", record.role);
  visit("backend", record.backend);
  visit("simulated", record.simulated);
  visit("mode_requested", record.mode_requested);
  visit("mode_executed", record.mode_executed);
  visit("recorded_as", record.recorded_as);
  visit("inputs_copied", record.inputs_copied);
  visit("fusion", record.fusion);
  visit("batch", record.batch);
  visit("threads", record.threads);
  visit("work", record.work);
  visit("work_hash", record.work_hash);
  visit("protocol_hash", record.protocol_hash);
  visit("scope", record.scope);
  visit("includes", record.includes);
  visit("steps", record.steps);
  visit("samples_seen", record.samples_seen);
  visit("samples_dropped", record.samples_dropped);
  visit("partial_policy", record.partial_policy);
  visit("counts_per_step", record.counts);
  visit("reserved_bytes", record.reserved_bytes);
  visit("model_bytes", record.model_bytes);
  visit("flops_per_step", record.flops);
  visit("library_flops_per_step", record.library_flops);
  visit("fewest_bytes_per_step", record.fewest_bytes);
  visit("passes", record.passes);
  visit("one_off", record.one_off);
  visit("memory", record.memory);
  visit("utilization", record.utilization);
  visit("latency", record.latency);
  visit("input_copy", record.input_copy);
  visit("throughput", record.throughput);
  visit("submission", record.submission);
  visit("device", record.device);
  visit("warmup", record.warmup);
  visit("latency_summary", record.latency_summary);
  visit("input_copy_summary", record.input_copy_summary);
  visit("throughput_summary", record.throughput_summary);
  visit("device_summary", record.device_summary);
  visit("dispatch_empty_kernels", record.dispatch_empty_kernels);
  visit("flags", record.flags);
}

template <Is<TimedSlot> R, class V>
void fields(V&& visit, R& record) {
  visit("start_ns", record.start_ns);
  visit("elapsed_ns", record.elapsed_ns);
  visit("thread_cpu_ns", record.thread_cpu_ns);
  visit("process_cpu_ns", record.process_cpu_ns);
  visit("voluntary_switches", record.voluntary_switches);
  visit("involuntary_switches", record.involuntary_switches);
  visit("page_faults", record.page_faults);
}

template <Is<TimedBlock> R, class V>
void fields(V&& visit, R& record) {
  visit("order", record.order);
  visit("stratum", record.stratum);
  visit("slots", record.slots);
  visit("sentinel_before_ns", record.sentinel_before_ns);
  visit("sentinel_after_ns", record.sentinel_after_ns);
  visit("void_cause", record.void_cause);
}

template <Is<ProcessBlocks> R, class V>
void fields(V&& visit, R& record) {
  visit("process", record.process);
  visit("base_steps", record.base_steps);
  visit("of_steps", record.of_steps);
  visit("blocks", record.blocks);
}

template <Is<Interval> R, class V>
void fields(V&& visit, R& record) {
  visit("estimate", record.estimate);
  visit("low", record.low);
  visit("high", record.high);
}

template <Is<RatioRecord> R, class V>
void fields(V&& visit, R& record) {
  visit("stratum", record.stratum);
  visit("reason", record.reason);
  visit("time_ratio", record.time_ratio);
  visit("bootstrap", record.bootstrap);
  visit("t_interval", record.t_interval);
  visit("interval_method", record.interval_method);
  visit("base_us", record.base_us);
  visit("of_us", record.of_us);
  visit("difference_us", record.difference_us);
  visit("ratio_of_medians", record.ratio_of_medians);
  visit("wins", record.wins);
  visit("q1", record.q1);
  visit("q3", record.q3);
  visit("per_process", record.per_process);
  visit("processes", record.processes);
  visit("blocks", record.blocks);
  visit("voided", record.voided);
  visit("delta", record.delta);
  visit("p", record.p);
  visit("p_holm", record.p_holm);
  visit("verdict", record.verdict);
  visit("verdict_reason", record.verdict_reason);
  visit("flags", record.flags);
}

template <Is<BreakEven> R, class V>
void fields(V&& visit, R& record) {
  visit("extra_us", record.extra_us);
  visit("steps", record.steps);
  visit("text", record.text);
}

template <Is<PairRecord> R, class V>
void fields(V&& visit, R& record) {
  visit("base", record.base);
  visit("of", record.of);
  visit("kind", record.kind);
  visit("processes", record.processes);
  visit("ratios", record.ratios);
  visit("break_even", record.break_even);
}

template <Is<GateRecord> R, class V>
void fields(V&& visit, R& record) {
  visit("process", record.process);
  visit("when", record.when);
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

template <Is<ProcessRecord> R, class V>
void fields(V&& visit, R& record) {
  visit("process", record.process);
  visit("backend", record.backend);
  visit("started_s", record.started_s);
  visit("address_offset", record.address_offset);
  visit("core_distance", record.core_distance);
  visit("core_round_trip_ns", record.core_round_trip_ns);
  visit("peak_rss", record.peak_rss);
  visit("steal_ns", record.steal_ns);
  visit("sentinel_ns", record.sentinel_ns);
}

template <Is<ScheduleRecord> R, class V>
void fields(V&& visit, R& record) {
  visit("budget_s", record.budget_s);
  visit("expected_s", record.expected_s);
  visit("processes", record.processes);
  visit("blocks", record.blocks);
  visit("slot_ms", record.slot_ms);
  visit("seed", record.seed);
  visit("claim", record.claim);
}

template <Is<BaselineRecord> R, class V>
void fields(V&& visit, R& record) {
  visit("arm", record.arm);
  visit("reason", record.reason);
  visit("then_us", record.then_us);
  visit("now_us", record.now_us);
  visit("change", record.change);
  visit("verdict", record.verdict);
}

template <Is<EpochRecord> R, class V>
void fields(V&& visit, R& record) {
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

template <Is<Record> R, class V>
void fields(V&& visit, R& record) {
  visit("schema", record.schema);
  visit("version", record.version);
  visit("command", record.command);
  visit("created", record.created);
  visit("experiment_id", record.experiment_id);
  visit("status", record.status);
  visit("status_reason", record.status_reason);
  visit("work", record.work);
  visit("protocol", record.protocol);
  visit("protocol_hash", record.protocol_hash);
  visit("schedule", record.schedule);
  visit("environment", record.environment);
  visit("backends", record.backends);
  visit("calibration", record.calibration);
  visit("processes", record.processes);
  visit("arms", record.arms);
  visit("pairs", record.pairs);
  visit("gates", record.gates);
  visit("baseline", record.baseline);
  visit("epochs", record.epochs);
  visit("submissions", record.submissions);
  visit("summary", record.summary);
  visit("notes", record.notes);
}

}  // namespace stepscope::record_fields
