// Binding the launches of a program apart from each other.
// SPDX-License-Identifier: Apache-2.0
#include "bench/suites/step_launches.h"

#include <algorithm>

#include "bench/data/input_ring.h"

namespace stepscope::suites {

StepLaunches::StepLaunches(const stepscope::Program& program, Session& session)
    : bound_(program, session.backend(), session.memory(), {}) {
  std::size_t scratch = 1;
  for (const Kernel* kernel : program.kernels) {
    scratch = std::max(scratch, kernel->needs().scratch);
  }
  scratch_ = session.backend().allocate(scratch);
  operands_.resize(program.kernels.size());
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    const Op& op = program.graph->ops()[i];
    for (const ValueId id : op.inputs) operands_[i].push_back(bound_.address(id));
    for (const ValueId id : op.outputs) operands_[i].push_back(bound_.address(id));
    launches_.push_back(program.kernels[i]->bind(operands_[i].data(), scratch_->data()));
  }
}

void load_noise(Session& session, std::int64_t batch, std::uint64_t seed) {
  const Model& model = session.model();
  const InputRing ring = InputRing::noise(model.features, batch, seed);
  std::vector<std::int32_t> labels(model.classes > 0 ? static_cast<std::size_t>(batch) : 0);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    labels[i] = static_cast<std::int32_t>(static_cast<std::int64_t>(i) % model.classes);
  }
  session.load(ring.at(0).x, labels);
}

}  // namespace stepscope::suites
