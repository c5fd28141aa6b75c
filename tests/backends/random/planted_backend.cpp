// The kernels of the reference, one of them changed.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/random/planted_backend.h"

#include "backends/reference/reference.h"

namespace stepscope::test {
namespace {

class PlantedKernel final : public Kernel {
 public:
  PlantedKernel(std::unique_ptr<Kernel> right, std::unique_ptr<Stream> aside,
                PlantedBackend::Change change)
      : Kernel(right->site(), right->needs(), launch),
        right_(std::move(right)),
        aside_(std::move(aside)),
        change_(change) {}

 private:
  static void launch(const Launch& call, Stream& stream) {
    const auto& self = static_cast<const PlantedKernel&>(*call.kernel);
    stream.made_call(call, CallBy::own);
    self.aside_->submit(self.right_->bind(call.operands, call.scratch), 0);
    self.change_(self.site(), call.operands);
  }

  std::unique_ptr<Kernel> right_;
  std::unique_ptr<Stream> aside_;  // its calls are not ours to report
  PlantedBackend::Change change_;
};

}  // namespace

PlantedBackend::PlantedBackend(OpKind kind, Change change)
    : HostBackend({.name = "planted", .device = "any"}),
      right_(reference::make_backend({})),
      kind_(kind),
      change_(change) {}

std::unique_ptr<Kernel> PlantedBackend::lower(const OpSite& site) {
  auto right = right_->lower(site);
  if (site.kind != kind_) return right;
  return std::make_unique<PlantedKernel>(std::move(right), right_->make_stream(), change_);
}

}  // namespace stepscope::test
