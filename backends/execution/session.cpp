// Making, feeding and reading a session.
// SPDX-License-Identifier: Apache-2.0
#include "backends/execution/session.h"

#include <chrono>
#include <cstring>

#include "ops/base/check.h"
#include "ops/ir/copy.h"
#include "ops/ir/labels.h"

namespace stepscope {
namespace {

template <class T>
void append(std::vector<double>& values, std::span<const std::byte> bytes) {
  for (std::size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + i, sizeof(T));
    values.push_back(static_cast<double>(value));
  }
}

std::vector<double> as_doubles(std::span<const std::byte> bytes, DType dtype) {
  std::vector<double> values;
  switch (dtype) {
    case DType::f64:
      append<double>(values, bytes);
      return values;
    case DType::f32:
      append<float>(values, bytes);
      return values;
    case DType::i32:
      append<std::int32_t>(values, bytes);
      return values;
    case DType::u8:
      append<std::uint8_t>(values, bytes);
      return values;
    case DType::bf16:
    case DType::f16:
      break;
  }
  fail(Fault::unsupported, "read: {} cannot be read back yet", name(dtype));
}

// Time since the last call, or since it was made.
class Laps {
 public:
  std::int64_t next() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::nanoseconds(now - std::exchange(last_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

void add(std::optional<std::int64_t>& sum, const std::optional<std::int64_t>& more) {
  if (more) sum = sum.value_or(0) + *more;
}

}  // namespace

Session::Session(Backend& backend, const Model& model, SessionOptions options)
    : backend_(backend), model_(model), options_(std::move(options)), cache_(backend) {
  check(options_.executor.misaligned || options_.model_offset % backend.alignment() == 0,
        Fault::bad_input, "session: a model offset of {} bytes breaks the alignment of {}",
        options_.model_offset, backend.alignment());
  Laps laps;
  stream_ = backend.make_stream();
  add_setup_times({.init_ns = laps.next()});
  compile_all();
  laps.next();
  reset();
  add_setup_times({.init_ns = laps.next()});
}

void Session::compile_all() {
  Laps laps;
  std::map<std::int64_t, PipelineResult> steps;
  std::map<std::int64_t, PipelineResult> evaluations;
  std::vector<const Graph*> graphs;
  for (const std::int64_t batch : options_.step_batches) {
    graphs.push_back(&steps.try_emplace(batch, prepare(model_.step(batch))).first->second.graph);
  }
  for (const std::int64_t batch : options_.evaluation_batches) {
    check(static_cast<bool>(model_.evaluation), Fault::bad_input,
          "model '{}' has no loss, so it cannot be evaluated", model_.name);
    graphs.push_back(
        &evaluations.try_emplace(batch, prepare(model_.evaluation(batch))).first->second.graph);
  }
  ModelLayout layout(graphs, backend_.alignment());
  add_setup_times({.compile_ns = laps.next()});
  memory_ =
      std::make_unique<ModelMemory>(backend_, *stream_, std::move(layout), options_.model_offset);
  if (options_.mode == Mode::graph && options_.input_copy == InputCopy::inside) {
    inputs_ = std::make_unique<InputSource>(backend_, *stream_, memory_->layout());
    options_.executor.inputs = inputs_.get();
  }
  add_setup_times({.init_ns = laps.next()});
  for (auto& [batch, result] : steps) steps_[batch] = compiled(std::move(result));
  for (auto& [batch, result] : evaluations) evaluations_[batch] = compiled(std::move(result));
}

Session::Compiled Session::compiled(PipelineResult result) {
  Laps laps;
  auto program = std::make_shared<const Program>(
      compile(cache_, std::move(result.graph), memory_->layout(), options_.in_place));
  Compiled made{make_executor(options_.mode, std::move(program), cache_, *memory_, *stream_,
                              options_.executor),
                std::move(result.reports)};
  SetupTimes times = made.executor->setup_times();
  times.compile_ns = laps.next() - times.capture_ns.value_or(0) - times.instantiate_ns.value_or(0) -
                     times.upload_ns.value_or(0);
  add_setup_times(times);
  return made;
}

void Session::add_setup_times(const SetupTimes& more) {
  add(setup_times_.init_ns, more.init_ns);
  add(setup_times_.compile_ns, more.compile_ns);
  add(setup_times_.capture_ns, more.capture_ns);
  add(setup_times_.instantiate_ns, more.instantiate_ns);
  add(setup_times_.upload_ns, more.upload_ns);
}

PipelineResult Session::prepare(const Graph& graph) const {
  return run_passes(options_.dtype == DType::f32 ? graph : with_dtype(graph, options_.dtype),
                    options_.passes);
}

void Session::reset() {
  for (std::size_t i = 0; i < model_.initial.size(); ++i) {
    const Initial& initial = model_.initial[i];
    const auto entry = memory_->layout().entries().find(initial.name);
    if (entry == memory_->layout().entries().end()) continue;  // an evaluation has no optimizer
    memory_->write(*stream_, initial.name,
                   initial_bytes(initial, entry->second.type, options_.seed, i));
  }
}

void Session::warm_up(int rounds, const std::function<void()>& after_each) {
  const std::vector<std::byte> before = memory_->snapshot(*stream_);
  const auto run = [&](std::map<std::int64_t, Compiled>& programs) {
    for (auto& [batch, compiled] : programs) {
      compiled.executor->enqueue(*stream_);
      if (after_each) after_each();
    }
  };
  for (int round = 0; round < rounds; ++round) {
    run(steps_);
    run(evaluations_);
  }
  stream_->wait();
  memory_->restore(*stream_, before);
}

// Labels name classes, or leave their rows out.
void Session::check_labels(std::span<const std::int32_t> labels) const {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    check(labels[i] >= kLeftOut && labels[i] < model_.classes, Fault::bad_input,
          "load: label {} of row {} is not in [{}, {})", labels[i], i, kLeftOut, model_.classes);
  }
}

void Session::write_input(std::string_view name, std::span<const std::byte> bytes) {
  if (inputs_ != nullptr) {
    inputs_->write(name, bytes);
  } else {
    memory_->write(*stream_, name, bytes);
  }
}

void Session::load(std::span<const float> x, std::span<const std::int32_t> labels) {
  const auto features = static_cast<std::size_t>(model_.features);
  const std::size_t expected_labels = model_.classes == 0 ? 0 : x.size() / features;
  check(!x.empty() && x.size() % features == 0 && labels.size() == expected_labels,
        Fault::bad_input, "load: {} elements and {} labels are no batch of {} features{}", x.size(),
        labels.size(), features, model_.classes == 0 ? " without labels" : "");
  check_labels(labels);
  if (options_.dtype == DType::f64) {
    const std::vector<double> wide(x.begin(), x.end());
    write_input("x", std::as_bytes(std::span(wide)));
  } else {
    write_input("x", std::as_bytes(x));
  }
  if (model_.classes > 0) write_input("labels", std::as_bytes(labels));
  loaded_rows_ = static_cast<std::int64_t>(x.size() / features);
}

void Session::check_loaded(std::int64_t batch, std::string_view what) const {
  check(loaded_rows_ != 0, Fault::bad_input,
        "session: no rows were loaded, so there is nothing for the {} of batch {}", what, batch);
  check(loaded_rows_ == batch, Fault::bad_input, "session: {} rows were loaded, the {} takes {}",
        loaded_rows_, what, batch);
}

Executor& Session::find(std::map<std::int64_t, Compiled>& programs, std::int64_t batch,
                        std::string_view what) {
  const auto found = programs.find(batch);
  check(found != programs.end(), Fault::bad_input, "session: no {} of batch {} was prepared", what,
        batch);
  return *found->second.executor;
}

Executor& Session::step(std::int64_t batch) { return find(steps_, batch, "step"); }

Executor& Session::evaluation(std::int64_t batch) {
  return find(evaluations_, batch, "evaluation");
}

void Session::enqueue_step(std::int64_t batch) {
  Executor& executor = step(batch);
  check_loaded(batch, "step");
  executor.enqueue(*stream_);
}

Evaluation Session::evaluate(std::int64_t batch) {
  Executor& executor = evaluation(batch);
  check_loaded(batch, "evaluation");
  executor.enqueue(*stream_);
  const Graph& graph = executor.graph();
  Evaluation result{.loss = read_value(executor, *graph.find("loss")).front()};
  if (const std::optional<ValueId> correct = graph.find("correct")) {
    result.correct = static_cast<std::int64_t>(read_value(executor, *correct).front());
  }
  return result;
}

std::vector<double> Session::read_value(const Executor& executor, ValueId id) {
  const TensorType& type = executor.graph().type(id);
  std::vector<std::byte> bytes(type.bytes());
  stream_->copy_out(bytes, executor.address(id));
  return as_doubles(bytes, type.dtype);
}

double Session::loss(std::int64_t batch) {
  Executor& executor = step(batch);
  const std::optional<ValueId> id = executor.graph().find("loss");
  if (!id) {
    stream_->wait();
    return 0.0;
  }
  return read_value(executor, *id).front();
}

std::vector<double> Session::read(std::string_view value_name) {
  return as_doubles(memory_->read(*stream_, value_name),
                    memory_->layout().at(value_name).type.dtype);
}

std::vector<double> Session::read_kept(std::int64_t batch, std::string_view value_name) {
  Executor& executor = step(batch);
  const std::optional<ValueId> id = executor.graph().find(value_name);
  check(id && executor.graph().value(*id).kept, Fault::bad_input, "session: the step keeps no '{}'",
        value_name);
  return read_value(executor, *id);
}

std::map<std::string, std::vector<std::byte>> Session::parameters_and_states() {
  std::map<std::string, std::vector<std::byte>> all;
  for (const auto& [value_name, entry] : memory_->layout().entries()) {
    if (entry.role != Role::input) all[value_name] = memory_->read(*stream_, value_name);
  }
  return all;
}

MemoryUse Session::memory_use(std::int64_t batch) {
  MemoryUse use = step(batch).memory_use();
  std::size_t allocated = 0;
  for (const auto& [value_name, entry] : memory_->layout().entries()) allocated += entry.bytes;
  use.allocated += allocated;
  use.peak_allocated += allocated;
  use.reserved += memory_->layout().bytes();
  use.peak_reserved += memory_->layout().bytes();
  return use;
}

std::vector<MemoryPart> Session::memory_parts(std::int64_t batch) {
  std::vector<MemoryPart> parts{{"model segment", memory_->layout().bytes()}};
  for (const MemoryPart& part : step(batch).memory_parts()) parts.push_back(part);
  return parts;
}

const std::vector<PassReport>& Session::pass_reports(std::int64_t batch) const {
  const auto found = steps_.find(batch);
  check(found != steps_.end(), Fault::bad_input, "session: no step of batch {} was prepared",
        batch);
  return found->second.reports;
}

}  // namespace stepscope
