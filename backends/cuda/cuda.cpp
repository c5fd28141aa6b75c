// The cuda backend: from an op to own device code or to the library's product.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/cuda.h"

#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "backends/cuda/build.h"
#include "backends/cuda/capture_lock.h"
#include "backends/cuda/error.h"
#include "backends/cuda/kernels.h"
#include "backends/cuda/memory.h"
#include "backends/cuda/probe.h"
#include "backends/cuda/products.h"
#include "backends/cuda/stream.h"
#include "backends/cuda/trials.h"
#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope::cuda {
namespace {

RecordAs wanted(const BackendOptions& options) {
  const RecordAs as = options.record_as.value_or(RecordAs::capture);
  check(as == RecordAs::capture || as == RecordAs::nodes, Fault::unsupported,
        "{}: a recording is a graph, by capture or of nodes; it has no tape", kBuild.name);
  return as;
}

BackendInfo info_of(const BackendOptions& options, const Products& products) {
  DeviceFacts facts = device_facts();
  facts.details.emplace_back("cublasLt", products.version());
  facts.details.emplace_back("record as", wanted(options) == RecordAs::nodes ? "nodes" : "capture");
  facts.details.emplace_back("tf32", options.tf32 ? "on" : "off");
  return {.name = std::string(kBuild.name),
          .device = std::move(facts.name),
          .threads = options.threads,
          .simulated = kBuild.simulated,
          .tf32 = options.tf32,
          .details = std::move(facts.details)};
}

// Elements of a weight whose product the step's last own kernel makes. It takes any; this bound is
// chosen, not measured: a weight of three times the mlp's.
constexpr std::int64_t kSmallProduct = 4096;

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(const BackendOptions& options) : record_as_(wanted(options)) {
    const std::lock_guard lock(capture_lock());  // a handle's making would break a capture
    products_.emplace(options.tf32 ? Tf32::on : Tf32::off);
    info_ = info_of(options, *products_);
  }
  ~CudaBackend() override {
    const std::lock_guard lock(capture_lock());
    products_.reset();
  }

  const BackendInfo& info() const override { return info_; }
  std::size_t alignment() const override { return kAlignment; }
  std::unique_ptr<Memory> allocate(std::size_t bytes) override {
    return std::make_unique<DeviceMemory>(bytes);
  }
  std::unique_ptr<Memory> allocate_host(std::size_t bytes) override {
    return std::make_unique<PinnedBlock>(bytes);
  }
  std::unique_ptr<Stream> make_stream() override { return std::make_unique<CudaStream>(); }
  RecordAs records_as() const override { return record_as_; }
  Wishes wishes() override { return {.relu_mask = true, .small_product = kSmallProduct}; }

  std::unique_ptr<Kernel> lower(const OpSite& site) override {
    // Heuristics, loading of kernels and fills would break another thread's capture.
    const std::lock_guard lock(capture_lock());
    std::unique_ptr<Kernel> kernel = make_own_kernel(site);
    if (kernel == nullptr) kernel = products_->make(site);
    check(kernel != nullptr, Fault::unsupported,
          "{}: has no kernel for {}; take the reference backend", kBuild.name,
          stepscope::name(site.kind));
    trials_.run(*kernel);
    return kernel;
  }

 private:
  RecordAs record_as_;
  std::optional<Products> products_;
  BackendInfo info_;
  Trials trials_;
};

}  // namespace

std::unique_ptr<Backend> make_backend(const BackendOptions& options) {
  static_cast<void>(wanted(options));
  check(!(options.tf32 && kBuild.simulated), Fault::unsupported,
        "{}: does not simulate products with TF32; leave it off", kBuild.name);
  std::optional<std::string> why = why_unavailable();
  if (!why) why = why_no_library();
  check(!why, Fault::unsupported, "{}: {}", kBuild.name, why.value_or(""));
  check_cuda(cudaSetDevice(0), "cudaSetDevice of device 0");
  return std::make_unique<CudaBackend>(options);
}

}  // namespace stepscope::cuda
