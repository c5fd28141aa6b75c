// Judging by the oracle, running through executors, comparing.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/random/judged_program.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "backends/execution/reconcile.h"
#include "graph/passes/pass.h"
#include "tests/backends/execution/rig.h"
#include "tests/backends/random/error_bound.h"
#include "tests/backends/random/exactness.h"
#include "tests/backends/random/oracle.h"
#include "tests/support/tensor_bytes.h"

namespace stepscope::test {
namespace {

constexpr std::uint64_t kSteps = 3;  // from the second on they read what was updated

bool is_declared(const Value& value) { return value.producer < 0 && value.sharing == Sharing::own; }

// Where the value of this name can be seen after a step; invalid when it cannot.
std::string visible_name(const Graph& graph, ValueId id) {
  const Value& value = graph.value(id);
  const bool survives = is_declared(value) && value.role != Role::input;
  return value.kept || survives ? value.name : std::string();
}

class Judge {
 public:
  Judge(const RandomProgram& program, const Graph& graph)
      : program_(program), graph_(graph), oracle_(graph_), bound_(oracle_) {}

  // Nothing when the program cannot be judged.
  std::optional<std::vector<ExpectedStep>> run() {
    std::vector<ExpectedStep> steps;
    for (std::uint64_t step = 0; step < kSteps; ++step) {
      write_declared(step);
      oracle_.step([&](const Op& op) { follow(op); });
      if (!can_be_judged_) return std::nullopt;
      oracle_.finish_step();
      bound_.finish_step();
      steps.push_back(expected());
    }
    return steps;
  }

 private:
  void write_declared(std::uint64_t step) {
    for (const ValueId id : graph_.ids()) {
      const Value& value = graph_.value(id);
      if (!is_declared(value) || (step > 0 && value.role != Role::input)) continue;
      // The draws belong to the program as it was made: passes number values anew.
      oracle_.write(id, elements_of(program_, *program_.graph.find(value.name), step));
    }
  }

  void follow(const Op& op) {
    if (!can_be_judged_) return;
    if (program_.contents == Contents::dyadic) {
      can_be_judged_ = exact_in_f32(oracle_, op);
    } else {
      bound_.follow(op);
      can_be_judged_ = !bound_.ambiguous();
    }
  }

  ExpectedStep expected() const {
    ExpectedStep step;
    for (const ValueId id : graph_.ids()) {
      const std::string name = visible_name(graph_, id);
      if (name.empty()) continue;
      Expected& each = step[name];
      each.value = oracle_.as_doubles(id);
      const auto errors = bound_.errors(id);
      each.bound.assign(errors.begin(), errors.end());
      each.bound.resize(each.value.size());  // integers have none
    }
    return step;
  }

  const RandomProgram& program_;
  const Graph& graph_;
  Oracle oracle_;
  ErrorBound bound_;
  bool can_be_judged_ = true;
};

// An element in f64 is off by no more than the bound on what f32 may be off by, in the unit of f64,
// which is 2^29 times smaller: twice that, since both are in f64.
std::string disagreement_of(const std::vector<ExpectedStep>& a,
                            const std::vector<ExpectedStep>& b) {
  for (std::size_t step = 0; step < a.size(); ++step) {
    if (a[step].size() != b[step].size()) return fmt::format("step {}: other values", step);
    for (const auto& [name, one] : a[step]) {
      const Expected& other = b[step].at(name);
      for (std::size_t i = 0; i < one.value.size(); ++i) {
        const double allowed = std::ldexp(one.bound[i] + other.bound[i], -28);
        if (std::abs(one.value[i] - other.value[i]) <= allowed) continue;
        return fmt::format("step {}: {}[{}] is {} unfused, {} fused, allowed {}", step, name, i,
                           one.value[i], other.value[i], allowed);
      }
    }
  }
  return {};
}

Observed run_in_mode(Rig& rig, const JudgedProgram& judged, Variant variant, Mode mode) {
  const RandomProgram& program = judged.program;
  std::size_t calls = 0;
  for (const Kernel* kernel : rig.program()->kernels) calls += kernel->calls();
  rig.stream().keep_log(calls * kSteps, LogOperands::copied);
  const auto executor = rig.executor(mode);
  const Counters before = rig.stream().counters();
  Observed observed;
  for (std::uint64_t step = 0; step < kSteps; ++step) {
    for (const ValueId id : program.graph.ids()) {
      const Value& value = program.graph.value(id);
      if (!is_declared(value) || (step > 0 && value.role != Role::input)) continue;
      rig.write(value.name, elements_of(program, id, step));
    }
    executor->enqueue(rig.stream());
    observed.emplace_back();
    for (const auto& [name, expected] : judged.steps(variant)[step]) {
      observed.back()[name] = rig.read_bytes(*executor, name);
    }
  }
  reconcile(*rig.program(), rig.stream().counters() - before, rig.stream().log(),
            {.mode = mode, .steps = kSteps, .memory = &rig.memory()});
  return observed;
}

}  // namespace

JudgedProgram make_judged(Contents contents, std::uint64_t seed) {
  for (std::uint64_t attempt = 0;; ++attempt) {
    RandomProgram program = make_program(contents, seed, attempt);
    auto unfused = Judge(program, program.graph).run();
    if (!unfused) continue;
    const Graph graph = executed_graph(program, Variant::fused);
    auto fused = Judge(program, graph).run();
    if (!fused) continue;
    std::string disagreement = disagreement_of(*unfused, *fused);
    return {std::move(program), std::move(*unfused), std::move(*fused), std::move(disagreement),
            attempt + 1};
  }
}

Graph executed_graph(const RandomProgram& program, Variant variant, const Wishes& wishes) {
  if (variant == Variant::fused) {
    return run_passes(program.graph, passes_for(program.fusion, wishes)).graph;
  }
  if (!program.with_passes) return program.graph;
  return run_passes(program.graph, standard_passes()).graph;
}

std::vector<Observed> run_program(Backend& backend, const JudgedProgram& judged, Variant variant,
                                  std::span<const Mode> modes) {
  Rig rig(backend, executed_graph(judged.program, variant, backend.wishes()));
  std::vector<Observed> observed;
  for (const Mode mode : modes) observed.push_back(run_in_mode(rig, judged, variant, mode));
  return observed;
}

std::string first_violation(const JudgedProgram& judged, Variant variant,
                            const Observed& observed) {
  for (std::size_t step = 0; step < observed.size(); ++step) {
    for (const auto& [name, expected] : judged.steps(variant)[step]) {
      const Graph& graph = judged.program.graph;
      const std::vector<double> seen =
          to_doubles(observed[step].at(name), graph.type(*graph.find(name)).dtype);
      for (std::size_t i = 0; i < seen.size(); ++i) {
        const double off = std::abs(seen[i] - expected.value[i]);
        if (off <= expected.bound[i]) continue;  // a NaN is not
        return fmt::format("step {}: {}[{}] is {}, expected {}, off by {}, bound {}", step, name, i,
                           seen[i], expected.value[i], off, expected.bound[i]);
      }
    }
  }
  return {};
}

std::string first_difference(const Observed& a, const Observed& b) {
  for (std::size_t step = 0; step < a.size(); ++step) {
    for (const auto& [name, bytes] : a[step]) {
      if (bytes != b[step].at(name)) return fmt::format("step {}: {}", step, name);
    }
  }
  return {};
}

}  // namespace stepscope::test
