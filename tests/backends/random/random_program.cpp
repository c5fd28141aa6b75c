// The generator of steps.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/random/random_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/base/philox.h"
#include "ops/ir/labels.h"
#include "ops/ir/print.h"
#include "ops/ir/verify.h"
#include "tests/backends/random/program_maker.h"

namespace stepscope::test {

namespace {

constexpr std::uint64_t kPassesStream = ~std::uint64_t{0};  // and the one before: no attempt's

}  // namespace

ProgramMaker::ProgramMaker(Contents contents, std::uint64_t seed, std::uint64_t attempt)
    : real_(contents == Contents::real), draws_(seed, 2 * attempt + (real_ ? 1 : 0)) {
  program_.seed = seed;
  program_.contents = contents;
}

RandomProgram ProgramMaker::run() {
  choose_passes();
  plain_sgd_ = real_ && one_in(3);
  append_forward();
  append_loss();
  append_backward();
  append_readers(pool_);
  append_updates();
  graph_.enter(Phase::readback);
  std::vector<ValueId> after = pool_;
  std::erase_if(after, [&](ValueId id) { return graph_.value(graph_.storage(id)).producer < 0; });
  after.insert(after.end(), updated_.begin(), updated_.end());
  append_readers(after);
  keep_some(after);
  verify(graph_, "random program");
  program_.bounds["labels"] = classes_;
  program_.graph = std::move(graph_);
  return std::move(program_);
}

// By draws apart from all others: a pass more leaves the programs as they are.
void ProgramMaker::choose_passes() {
  Philox choices(program_.seed, kPassesStream - (real_ ? 1 : 0));
  program_.with_passes = choices.below(2) == 0;
  const bool whole = choices.below(2) == 0;
  for (const std::string& name : fusion_names()) {
    if (whole || choices.below(2) == 0) program_.fusion.passes.push_back(name);
  }
}

ValueId ProgramMaker::pick() {
  if (hub_uses_ > 0) {
    --hub_uses_;
    return hub_;
  }
  const std::uint64_t newest = std::min<std::uint64_t>(4, pool_.size());
  return pool_[pool_.size() - 1 - below(one_in(2) ? newest : pool_.size())];
}

ValueId ProgramMaker::parameter(const Shape& of) {
  parameters_.push_back(
      graph_.declare(Role::parameter, f32(of), fmt::format("w{}", parameters_.size())));
  if (one_in(8)) pool_.push_back(parameters_.back());
  return parameters_.back();
}

ValueId ProgramMaker::numbers(const Shape& of, std::string name, std::int64_t bound) {
  program_.bounds[name] = bound;
  return graph_.declare(Role::input, {of, DType::i32}, std::move(name));
}

int ProgramMaker::degree(ValueId id) const {
  return at(id) < degrees_.size() && degrees_[at(id)] > 0 ? degrees_[at(id)] : 1;
}

void ProgramMaker::set_degree(ValueId id, int degree) {
  degrees_.resize(graph_.values().size());
  degrees_[at(id)] = degree;
}

bool ProgramMaker::add(ValueId made, int degree) {
  set_degree(made, degree);
  pool_.push_back(made);
  return true;
}

namespace {

double dyadic_element(Philox& draws, const Value& value) {
  if (value.name == kLearningRate) return std::ldexp(1.0, -1 - static_cast<int>(draws.below(3)));
  const double units = static_cast<double>(draws.below(3)) - 1.0;  // -1, 0 or 1
  return value.role == Role::input ? units : 0.5 * units;
}

double real_element(Philox& draws, const Value& value) {
  const auto in = [&](double low, double high) {
    return static_cast<double>(static_cast<float>(draws.uniform(low, high)));
  };
  if (value.name == kLearningRate) return in(0.01, 0.2);
  if (value.name.ends_with(".v")) return in(0.0, 0.5);  // a mean of squares
  if (value.role == Role::state) return in(-0.1, 0.1);
  // So that values neither grow nor fall from layer to layer, and bounds stay narrow.
  const Shape& shape = value.type.shape;
  const auto elements = static_cast<double>(shape.elements());
  double terms = 1.0;
  if (value.role == Role::parameter && shape.rank() == 2) terms = std::sqrt(elements);
  if (value.role == Role::parameter && shape.rank() == 4) {
    terms = elements / static_cast<double>(shape[0]);
  }
  const double most = std::min(1.0, 2.0 / std::sqrt(terms));
  return in(-most, most);
}

}  // namespace

RandomProgram make_program(Contents contents, std::uint64_t seed, std::uint64_t attempt) {
  return ProgramMaker(contents, seed, attempt).run();
}

bool leaves_rows_out(const RandomProgram& program) { return program.seed % 3 == 0; }

std::vector<double> elements_of(const RandomProgram& program, ValueId id, std::uint64_t step) {
  const Value& value = program.graph.value(id);
  Philox draws(program.seed, static_cast<std::uint64_t>(id.index) << 32 | (step + 1) << 16);
  std::vector<double> elements(static_cast<std::size_t>(value.type.shape.elements()));
  for (double& element : elements) {
    if (value.type.dtype == DType::i32) {
      // A state of this kind is the count of steps.
      const std::int64_t bound = value.role == Role::input ? program.bounds.at(value.name) : 4;
      element = static_cast<double>(draws.below(static_cast<std::uint64_t>(bound)));
    } else {
      element = program.contents == Contents::dyadic ? dyadic_element(draws, value)
                                                     : real_element(draws, value);
    }
  }
  if (value.name == "labels" && leaves_rows_out(program)) {
    Philox chosen(program.seed, (step + 1) << 8 | 1U);
    for (std::size_t row = 1; row < elements.size(); ++row) {  // the first stays: no empty mean
      if (chosen.below(4) == 0) elements[row] = kLeftOut;
    }
  }
  return elements;
}

std::string describe(const RandomProgram& program) {
  return fmt::format("STEPSCOPE_RANDOM_SEED={} ({}, {} passes, fusion {})\n{}", program.seed,
                     program.contents == Contents::dyadic ? "dyadic" : "real",
                     program.with_passes ? "with" : "without", to_string(program.fusion),
                     to_text(program.graph));
}

}  // namespace stepscope::test
