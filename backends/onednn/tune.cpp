// Timing two routines against each other, alternating, so that a busy moment meets both.
// SPDX-License-Identifier: Apache-2.0
#include "backends/onednn/tune.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>
#include <vector>

#include "backends/api/host.h"
#include "backends/cpu/team.h"
#include "backends/onednn/lower.h"
#include "backends/onednn/team.h"
#include "ops/base/check.h"

namespace stepscope::onednn {
namespace {

constexpr int kRounds = 15;
constexpr double kRoundSeconds = 1e-3;  // above the clock's grain, below a time slice
constexpr double kMargin = 0.97;        // what is not 3 % faster stays as it is

// A kernel of the site by one routine, with memory of its own.
class Candidate {
 public:
  Candidate(const Context& context, const OpSite& site, Routine routine)
      : kernel_(lower_product(context, site, routine)) {
    for (const auto* types : {&site.in, &site.out}) {
      for (const TensorType& type : *types) {
        memory_.push_back(std::make_unique<HostMemory>(type.bytes()));
        auto* elements = reinterpret_cast<float*>(memory_.back()->data());
        std::fill_n(elements, type.shape.elements(), 0.5F);
      }
    }
    for (const auto& memory : memory_) operands_.push_back(memory->data());
    scratch_ = std::make_unique<HostMemory>(std::max<std::size_t>(kernel_->needs().scratch, 1));
    repeats_ = std::clamp(static_cast<int>(kRoundSeconds / seconds(1)), 1, 10000);
  }

  // Of one launch, in the mean of one round.
  double round() { return seconds(repeats_) / repeats_; }

 private:
  double seconds(int launches) {
    const Launch launch = kernel_->bind(operands_.data(), scratch_->data());
    launch.fn(launch, stream_);  // warm, whatever ran before
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < launches; ++i) launch.fn(launch, stream_);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  std::unique_ptr<Kernel> kernel_;
  std::vector<std::unique_ptr<HostMemory>> memory_;
  std::vector<std::byte*> operands_;
  std::unique_ptr<HostMemory> scratch_;
  HostStream stream_;
  int repeats_ = 1;
};

double median(std::array<double, kRounds> samples) {
  std::nth_element(samples.begin(), samples.begin() + kRounds / 2, samples.end());
  return samples[kRounds / 2];
}

void write(const std::string& file, const std::string& text) {
  const std::string beside = file + ".part";
  std::ofstream stream(beside, std::ios::trunc);
  stream << "# Routines of products, chosen by timing them (stepscope, onednn).\n" << text;
  stream.close();
  check(stream.good(), Fault::io, "onednn: cannot write {}: {}", beside, std::strerror(errno));
  std::error_code error;
  std::filesystem::rename(beside, file, error);
  check(!error, Fault::io, "onednn: cannot write {}: {}", file, error.message());
}

}  // namespace

Routine faster(const OpSite& site, int threads) {
  const Team team(threads);
  const Library library;
  const Context context{library, threads, cpu::best_isa()};
  const Routine usual = Choices::otherwise(site);
  const Routine other = usual == Routine::sgemm ? Routine::matmul : Routine::sgemm;
  Candidate first(context, site, usual);
  Candidate second(context, site, other);
  std::array<double, kRounds> of_usual{}, of_other{};
  for (int round = 0; round < kRounds; ++round) {
    of_usual[static_cast<std::size_t>(round)] = first.round();
    of_other[static_cast<std::size_t>(round)] = second.round();
  }
  return median(of_other) < kMargin * median(of_usual) ? other : usual;
}

void tune(std::span<const OpSite> sites, const BackendOptions& options, const std::string& file) {
  cpu::require_team("onednn", options.threads);
  const Machine machine{options.threads, instruction_set(), library_version()};
  Choices choices = Choices::read(file, machine);
  for (const OpSite& site : sites) {
    if (has_choice(site.kind)) choices.set(site, machine, faster(site, options.threads));
  }
  write(file, choices.text());
}

}  // namespace stepscope::onednn
