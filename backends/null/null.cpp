// The null backend: kernels whose launch only reports itself.
// SPDX-License-Identifier: Apache-2.0
#include "backends/null/null.h"

#include "backends/api/host.h"

namespace stepscope::null {
namespace {

void launch(const Launch& call, Stream& stream) { stream.made_call(call, CallBy::own); }

class NullKernel final : public Kernel {
 public:
  explicit NullKernel(const OpSite& site) : Kernel(site, {.saved = 0, .in_place = ~0U}, launch) {}
};

class NullBackend final : public HostBackend {
 public:
  explicit NullBackend(const BackendOptions& options)
      : HostBackend(
            {.name = "null", .device = "none", .threads = options.threads, .computes = false}) {}

  std::unique_ptr<Kernel> lower(const OpSite& site) override {
    return std::make_unique<NullKernel>(site);
  }
};

}  // namespace

std::unique_ptr<Backend> make_backend(const BackendOptions& options) {
  return std::make_unique<NullBackend>(options);
}

}  // namespace stepscope::null
