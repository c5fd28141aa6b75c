// PlantedBackend: a backend from outside the tree that is right but for one kind of op.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backends/api/host.h"

namespace stepscope::test {

// What the passes make for any backend: the reference computes it.
inline constexpr Wishes kPlantedWishes{.relu_mask = true, .small_product = 4096};

class PlantedBackend final : public HostBackend {
 public:
  // What happens to the outputs of an op, which are right as it finds them.
  using Change = void (*)(const OpSite& site, std::byte* const* operands);

  PlantedBackend(OpKind kind, Change change);
  std::unique_ptr<Kernel> lower(const OpSite& site) override;
  Wishes wishes() override { return kPlantedWishes; }

 private:
  std::unique_ptr<Backend> right_;
  OpKind kind_;
  Change change_;
};

}  // namespace stepscope::test
