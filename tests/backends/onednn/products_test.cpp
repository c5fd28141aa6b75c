// Every product op by either routine, and every convolution, on one and two threads: values by the
// table of conformance. What the committed choices leave out is tested here all the same.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <string>

#include "backends/onednn/layouts.h"
#include "backends/onednn/lower.h"
#include "backends/onednn/onednn.h"
#include "backends/onednn/team.h"
#include "tests/conformance/cells.h"
#include "tests/conformance/compare.h"

namespace stepscope::onednn {
namespace {

using namespace conformance;

class OnTeam : public testing::TestWithParam<int> {
 protected:
  OnTeam() : backend_(make_backend({.threads = GetParam(), .tune_file = {}})) {}

  template <class Lower>
  void expect_within_bound(const OpEntry& op, Lower&& lower_it) {
    for (const OpCase& op_case : op.table.cases) {
      SCOPED_TRACE(fmt::format("{} {} {}", op.name, op_case.name, to_string(op_case.attrs)));
      const OpSite site = site_of(op, op_case);
      const Elements inputs = draw_inputs(op, op_case);
      const std::unique_ptr<Kernel> kernel = lower_it(site);
      const RunResult result = run_op(*backend_, *kernel, input_bytes(*backend_, op, op_case));
      for (const std::string& damage : result.damage) ADD_FAILURE() << damage;
      double worst = 0.0;
      EXPECT_TRUE(within_bound(op, site, inputs, output_elements(site, result.outputs),
                               oracle_outputs(op, op_case, inputs), &worst));
    }
  }

  std::unique_ptr<Backend> backend_;
};

TEST_P(OnTeam, ProductsStayWithinTheBoundsByEitherRoutine) {
  const Library library;
  const Context context{library, GetParam(), cpu::best_isa()};
  for (const OpEntry& op : all_ops()) {
    if (!is_product(op.kind)) continue;
    for (const Routine routine : {Routine::sgemm, Routine::matmul}) {
      SCOPED_TRACE(name(routine));
      expect_within_bound(op, [&](const OpSite& site) {
        const Team team(GetParam());
        return lower_product(context, site, routine);
      });
    }
  }
}

TEST_P(OnTeam, ConvolutionsStayWithinTheBounds) {
  for (const OpEntry& op : all_ops()) {
    if (!is_convolution(op.kind)) continue;
    expect_within_bound(op, [&](const OpSite& site) { return backend_->lower(site); });
  }
}

INSTANTIATE_TEST_SUITE_P(Onednn, OnTeam, testing::Values(1, 2),
                         [](const auto& made) { return fmt::format("{}threads", made.param); });

}  // namespace
}  // namespace stepscope::onednn
