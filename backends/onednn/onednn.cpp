// The onednn backend: which ops go to the library, and how.
// SPDX-License-Identifier: Apache-2.0
#include "backends/onednn/onednn.h"

#include <string>
#include <utility>

#include "backends/api/host.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/team.h"
#include "backends/onednn/choices.h"
#include "backends/onednn/layouts.h"
#include "backends/onednn/lower.h"
#include "backends/onednn/team.h"
#include "backends/onednn/tune.h"
#include "graph/plan/wishes.h"
#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope::onednn {
namespace {

// Labels, counts and the step are i32, saved values u8.
void check_types(const OpSite& site) {
  const auto check_each = [&site](const std::vector<TensorType>& types) {
    for (const TensorType& type : types) {
      check(type.dtype == DType::f32 || type.dtype == DType::i32 || type.dtype == DType::u8,
            Fault::unsupported, "onednn: {} on {}, only f32 is; take the reference backend",
            name(site.kind), name(type.dtype));
    }
  };
  check_each(site.in);
  check_each(site.out);
}

Choices choices_for(const BackendOptions& options, const Machine& machine) {
  if (!options.tune_file.empty()) {
    Choices choices = Choices::read(options.tune_file, machine);
    if (choices.size() > 0) return choices;
  }
  return Choices::committed();
}

BackendInfo info_of(const Machine& machine, const Choices& choices) {
  return {.name = "onednn",
          .device = processor_name(),
          .threads = machine.threads,
          .details = {{"onednn", fmt::format("{}, sources {}", machine.library, library_hash())},
                      {"instruction set", machine.instruction_set},
                      {"own kernels", std::string(cpu::name(cpu::best_isa()))},
                      {"openmp", cpu::openmp_runtime()},
                      {"choices", choices.hash()}}};
}

std::unique_ptr<Kernel> refuse_unwished(const OpSite& site) {
  check_types(site);
  fail(Fault::unsupported,
       "onednn: has no kernel for {}, which passes make only for backends that wish for it",
       name(site.kind));
}

class OnednnBackend final : public HostBackend {
 public:
  OnednnBackend(Machine machine, Choices choices)
      : HostBackend(info_of(machine, choices)),
        machine_(std::move(machine)),
        choices_(std::move(choices)),
        context_{library_, machine_.threads, cpu::best_isa()},
        layouts_(library_, machine_.threads) {
    for (std::size_t i = 0; i < kBuiltinOps; ++i) add(static_cast<OpKind>(i));
    for (const OpKind kind : kWishedOps) set_maker(kind, refuse_unwished);
  }

  Wishes wishes() override { return {.layouts = &layouts_}; }

  bool open_team() override {
    cpu::open_team(machine_.threads);
    return true;
  }

  void tune(std::span<const OpSite> sites, const std::string& file) override {
    onednn::tune(sites, {.threads = machine_.threads}, file);
  }

  std::uint64_t primitives_made() const { return library_.made(); }

 private:
  void add(OpKind kind) {
    if (!is_product(kind) && !is_convolution(kind) && !cpu::has_body(kind)) return;
    set_maker(kind, [this](const OpSite& site) {
      check_types(site);
      const Team team(machine_.threads);  // primitives are made for the threads of the moment
      if (is_product(site.kind)) {
        return lower_product(context_, site, choices_.of(site, machine_));
      }
      if (is_convolution(site.kind)) return lower_convolution(context_, site);
      if (site.kind == OpKind::Reorder) return lower_reorder(context_, site);
      return cpu::make_kernel(site, context_.isa);
    });
  }

  Machine machine_;
  Choices choices_;
  Library library_;
  Context context_;
  Layouts layouts_;
};

}  // namespace

std::unique_ptr<Backend> make_backend(const BackendOptions& options) {
  cpu::require_team("onednn", options.threads);
  Machine machine{options.threads, instruction_set(), library_version()};
  Choices choices = choices_for(options, machine);
  return std::make_unique<OnednnBackend>(std::move(machine), std::move(choices));
}

std::uint64_t primitives_made(const Backend& backend) {
  return static_cast<const OnednnBackend&>(backend).primitives_made();
}

}  // namespace stepscope::onednn
