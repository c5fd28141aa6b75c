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
          .details = std::move(facts.details)};
}

void check_types(const OpSite& site) {
  for (const auto* types : {&site.in, &site.out}) {
    for (const TensorType& type : *types) {
      check(type.layout == LayoutId::row_major, Fault::unsupported,
            "{}: {} on layout {}, only row-major is", kBuild.name, name(site.kind),
            static_cast<int>(type.layout));
      check(type.dtype == DType::f32 || type.dtype == DType::i32 || type.dtype == DType::u8 ||
                site.kind == OpKind::Cast,
            Fault::unsupported, "{}: {} on {}, only f32 is; take the reference backend",
            kBuild.name, name(site.kind), name(type.dtype));
    }
  }
}

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

  std::unique_ptr<Kernel> lower(const OpSite& site) override {
    check_types(site);
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
  if (const std::optional<std::string> why = why_unavailable()) {
    fail(Fault::unsupported, "{}: {}", kBuild.name, *why);
  }
  check_cuda(cudaSetDevice(0), "cudaSetDevice of device 0");
  return std::make_unique<CudaBackend>(options);
}

}  // namespace stepscope::cuda
