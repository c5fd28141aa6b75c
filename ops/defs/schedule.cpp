// The rate of a step by its schedule. Both inputs are values of the control block, in device
// memory: a user may change the rate between two steps, and the updates count the steps. Nothing
// flows back.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope::defs {
namespace {

constexpr std::string_view kName = "ScheduledRate";

void check_steps(std::string_view what, std::int64_t steps, std::int64_t least) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  check(steps >= least && steps <= kMost, Fault::bad_graph, "{}: {} must be in [{}, {}], got {}",
        kName, what, least, kMost, steps);
}

void check_share(std::string_view what, double share) {
  check(share >= 0.0 && share <= 1.0, Fault::bad_graph, "{}: {} must be in [0, 1], got {}", kName,
        what, share);
}

// rate {}, step i32{} -> rate times the factor of that step {}: ops/ir/schedule_attrs.h
void infer(std::span<const TensorType> in, const Attrs& attrs, TypeList& out) {
  const auto& settings = own_attrs<ScheduleAttrs>(kName, attrs);
  check_arity(kName, in, 2);
  check_floating(kName, in[0], "the rate");
  check_same_type(kName, in[0], {Shape{}, in[0].dtype});
  check_same_type(kName, in[1], {Shape{}, DType::i32});
  check_steps("steps", settings.steps, 1);
  check_steps("warmup", settings.warmup, 0);
  check(std::isfinite(settings.factor) && settings.factor > 0.0, Fault::bad_graph,
        "{}: factor must be above 0, got {}", kName, settings.factor);
  check_share("floor", settings.floor);
  check_share("start", settings.start);
  out.push_back(in[0]);
}

// A quotient, a power or a cosine, a sum, a product.
Work work(std::span<const TensorType> in, std::span<const TensorType> out, const Attrs&) {
  return {4.0, bytes_moved(in, out)};
}

}  // namespace

extern const OpDef ScheduledRate = {
    .name = kName, .infer = infer, .work = work, .attrs = ScheduleAttrs{}};

}  // namespace stepscope::defs
