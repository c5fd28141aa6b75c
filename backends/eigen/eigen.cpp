// The eigen backend: from an op to the kernel of the chosen instruction set.
// SPDX-License-Identifier: Apache-2.0
#include "backends/eigen/eigen.h"

#include <string>

#include "backends/api/host.h"
#include "backends/eigen/isa.h"
#include "backends/eigen/kernels/table.h"
#include "backends/eigen/sites.h"
#include "backends/eigen/team.h"
#include "ops/base/check.h"

namespace stepscope::eigen {
namespace {

// Numbers: the struct of kernels/numbers.h that the body takes.
template <class Numbers>
class EigenKernel final : public Kernel {
 public:
  using Body = void (*)(Operands operands, const Numbers& numbers);

  EigenKernel(const OpSite& site, int threads, std::uint32_t in_place, CallBy by, Body body)
      : Kernel(site, {.in_place = in_place}, launch),
        body_(body),
        numbers_(numbers_of<Numbers>(site, threads)),
        by_(by) {}

 private:
  static void launch(const Launch& call, Stream& stream) {
    const auto& self = static_cast<const EigenKernel&>(*call.kernel);
    stream.made_call(call, self.by_);
    self.body_(call.operands, self.numbers_);
  }

  Body body_;
  Numbers numbers_;
  CallBy by_;
};

const Table& table_of(Isa isa) {
  switch (isa) {
    case Isa::v2:
      return v2::table;
    case Isa::v3:
      return v3::table;
    case Isa::v4:
      return v4::table;
  }
  fail(Fault::unsupported, "eigen: no kernels for instruction set {}", static_cast<int>(isa));
}

BackendInfo info_of(int threads, Isa isa) {
  return {.name = "eigen",
          .device = processor_name(),
          .threads = threads,
          .details = {{"eigen", table_of(isa).library_version},
                      {"instruction set", std::string(name(isa))},
                      {"openmp", openmp_runtime()},
                      {"stack buffers", fmt::format("up to {} bytes", kStackBufferBytes)}}};
}

class EigenBackend final : public HostBackend {
 public:
  EigenBackend(int threads, Isa isa) : HostBackend(info_of(threads, isa)) {
    const Table& table = table_of(isa);
#define STEPSCOPE_EIGEN_KERNEL(op, numbers, by, in_place)                                     \
  set_maker(OpKind::op, [threads, body = table.op](const OpSite& site) {                      \
    check_types(site);                                                                        \
    return std::make_unique<EigenKernel<numbers>>(site, threads, in_place, CallBy::by, body); \
  });
#include "backends/eigen/kernels/kernel_list.inc"
#undef STEPSCOPE_EIGEN_KERNEL
  }
};

}  // namespace

std::unique_ptr<Backend> make_backend(const BackendOptions& options, Isa isa) {
  check(can_run(isa), Fault::unsupported, "eigen: {} cannot run {}", processor_name(), name(isa));
  require_team(options.threads);
  return std::make_unique<EigenBackend>(options.threads, isa);
}

std::unique_ptr<Backend> make_backend(const BackendOptions& options) {
  return make_backend(options, best_isa());
}

}  // namespace stepscope::eigen
