// The backend itself: what it says of itself, what it refuses and how, who it says computed, and
// thread counts side by side.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <omp.h>

#include <string>
#include <tuple>

#include "backends/eigen/eigen.h"
#include "graph/plan/wishes.h"
#include "tests/backends/eigen/variants.h"
#include "tests/conformance/cells.h"
#include "tests/conformance/compare.h"
#include "tests/support/errors.h"

namespace stepscope::eigen {
namespace {

using namespace conformance;
using test::error_of;

OpCase product_case(std::int64_t M, std::int64_t N, std::int64_t K) {
  return {fmt::format("{}x{}x{}", M, N, K), MatMulAttrs{}, {f32({M, K}), f32({K, N})}};
}

TEST(EigenBackend, SaysWhatItRunsOn) {
  const BackendInfo& info = backend_of({best_isa(), 2}).info();
  EXPECT_EQ(info.name, "eigen");
  EXPECT_EQ(info.threads, 2);
  ASSERT_EQ(info.details.size(), 4U);
  const auto& [eigen, isa, openmp, stack] =
      std::tie(info.details[0], info.details[1], info.details[2], info.details[3]);
  EXPECT_EQ(eigen.first, "eigen");
  EXPECT_TRUE(eigen.second.starts_with("3.4.")) << eigen.second;
  EXPECT_EQ(isa.first, "instruction set");
  EXPECT_EQ(isa.second, name(best_isa()));
  EXPECT_EQ(openmp.first, "openmp");
  EXPECT_NE(openmp.second.find(", lib"), std::string::npos) << openmp.second;
  EXPECT_EQ(stack.first, "stack buffers");
  EXPECT_EQ(stack.second, "up to 1048576 bytes");
}

TEST(EigenBackend, TakesTheHighestInstructionSetThatRuns) {
  for (const Isa isa : kAllIsas) {
    EXPECT_EQ(can_run(isa), isa <= best_isa()) << name(isa);
  }
  EXPECT_EQ(make_backend({.threads = 1})->info().details[1].second, name(best_isa()));
}

TEST(EigenBackend, RefusesAnInstructionSetThatCannotRun) {
  if (can_run(Isa::v4)) GTEST_SKIP() << "this machine can run all of them";
  const std::string message = error_of([] { make_backend({.threads = 1}, Isa::v4); });
  EXPECT_TRUE(message.starts_with("unsupported: eigen: ")) << message;
  EXPECT_TRUE(message.ends_with(" cannot run x86-64-v4")) << message;
}

TEST(EigenBackend, RefusesFewerThanOneThread) {
  EXPECT_EQ(error_of([] { make_backend({.threads = 0}); }),
            "bad input: eigen: threads must be 1 or more, got 0");
}

TEST(EigenBackend, RefusesToBeMadeWithinAParallelRegion) {
  std::string message;
#pragma omp parallel num_threads(2)
  {
#pragma omp single
    message = error_of([] { make_backend({.threads = 2}); });
  }
  EXPECT_EQ(message,
            "device: eigen: made within a parallel region of 2 threads, where products get one; "
            "make it outside");
}

TEST(EigenBackend, RefusesOtherElementTypesByNameOfOpAndType) {
  Backend& backend = backend_of({best_isa(), 1});
  for (const OpEntry& op : all_ops()) {
    if (op.kind == OpKind::Cast) continue;  // own kernels, of all types
    const OpSite site = site_of(op, op.table.cases.front(), DType::f64);
    EXPECT_EQ(error_of([&] { backend.lower(site); }),
              fmt::format("unsupported: eigen: {} on f64, only f32 is; take the reference backend",
                          op.name));
  }
}

TEST(EigenBackend, RefusesWhatPassesMakeForOthers) {
  Backend& backend = backend_of({best_isa(), 1});
  for (const OpKind kind : kWishedOps) {
    const OpEntry& op = entry_of(kind);
    EXPECT_EQ(error_of([&] { backend.lower(site_of(op, op.table.cases.front())); }),
              fmt::format("unsupported: eigen: has no kernel for {}, which passes make only for "
                          "backends that wish for it",
                          op.name));
  }
}

TEST(EigenBackend, SaysWhoComputed) {
  Backend& backend = backend_of({best_isa(), 1});
  const auto who = [&](OpKind kind) {
    const OpEntry& op = entry_of(kind);
    const OpSite site = site_of(op, op.table.cases.front());
    const std::unique_ptr<Kernel> kernel = backend.lower(site);
    const Counters counted =
        run_op(backend, *kernel, input_bytes(site, draw_inputs(op, op.table.cases.front())))
            .counted;
    EXPECT_EQ(counted.library_calls + counted.own_calls, 1U);
    return counted.library_calls == 1 ? CallBy::library : CallBy::own;
  };
  EXPECT_EQ(who(OpKind::MatMul), CallBy::library);
  EXPECT_EQ(who(OpKind::AddBias), CallBy::library);
  EXPECT_EQ(who(OpKind::Relu), CallBy::own);
  EXPECT_EQ(who(OpKind::SoftmaxCrossEntropy), CallBy::own);
}

// Each backend keeps its thread count, whatever ran before, and leaves OpenMP's as it was.
TEST(EigenThreads, OfTwoBackendsSideBySide) {
  const OpEntry& op = entry_of(OpKind::MatMul);
  const OpCase op_case = product_case(128, 96, 512);
  const OpSite site = site_of(op, op_case);
  const std::vector<Bytes> inputs = input_bytes(site, draw_inputs(op, op_case));
  Backend& one = backend_of({best_isa(), 1});
  Backend& two = backend_of({best_isa(), 2});
  const std::unique_ptr<Kernel> by_one = one.lower(site);
  const std::unique_ptr<Kernel> by_two = two.lower(site);
  const std::vector<Bytes> of_one = run_op(one, *by_one, inputs).outputs;
  const std::vector<Bytes> of_two = run_op(two, *by_two, inputs).outputs;
  for (const int setting : {1, 2, 3}) {
    omp_set_num_threads(setting);
    EXPECT_TRUE(same_bits(site, run_op(one, *by_one, inputs).outputs, of_one));
    EXPECT_EQ(omp_get_max_threads(), setting);
    EXPECT_TRUE(same_bits(site, run_op(two, *by_two, inputs).outputs, of_two));
    EXPECT_EQ(omp_get_max_threads(), setting);
  }
}

}  // namespace
}  // namespace stepscope::eigen
