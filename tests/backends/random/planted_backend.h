// PlantedBackend: a backend from outside the tree that is right but for one kind of op.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backends/api/host.h"

namespace stepscope::test {

class PlantedBackend final : public HostBackend {
 public:
  // How the first output of an op comes out, given what it should be.
  using Change = void (*)(std::span<float> elements);

  PlantedBackend(OpKind kind, Change change);
  std::unique_ptr<Kernel> lower(const OpSite& site) override;

 private:
  std::unique_ptr<Backend> right_;
  OpKind kind_;
  Change change_;
};

}  // namespace stepscope::test
