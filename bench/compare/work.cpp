// Hash, arithmetic and tolerance of a step.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/work.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bench/data/sha256.h"
#include "ops/base/check.h"
#include "ops/ir/op_def.h"
#include "ops/ir/print.h"

namespace stepscope {

double flops_of(const Graph& graph, std::size_t op) {
  const OpSite site = site_of(graph, op);
  return op_def(site.kind).work(site.in, site.out, site.attrs).flops;
}

double flops_of(const Graph& graph) {
  double flops = 0.0;
  for (std::size_t i = 0; i < graph.ops().size(); ++i) flops += flops_of(graph, i);
  return flops;
}

std::string work_hash(Session& session, const CompareSpec& spec, std::int64_t batch,
                      const InputRing& ring) {
  Sha256 hash;
  const std::string text =
      fmt::format("{} {} {} batch {} partial {} dtype f32 threads {} seed {} choices {}",
                  spec.model.name, name(spec.optimizer.kind), spec.optimizer.rate, batch,
                  name(spec.partial), spec.threads, spec.seed, spec.tune_digest);
  hash.update(std::as_bytes(std::span(text)));
  // The name of a step file is no more than its name.
  const std::string step = to_text(spec.model.step(batch));
  hash.update(std::as_bytes(std::span(step)));
  hash.update(std::span<const std::uint8_t>(ring.digest()));
  for (const auto& [value_name, bytes] : session.parameters_and_states()) {
    hash.update(std::as_bytes(std::span(value_name)));
    hash.update(std::span<const std::byte>(bytes));
  }
  return to_hex(hash.finish());
}

double reduction_length(const Graph& graph) {
  double longest = 1.0;
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    double elements = 0.0;
    for (const ValueId id : graph.ops()[i].outputs) {
      elements += static_cast<double>(graph.type(id).shape.elements());
    }
    // A multiplication and an addition for each term of each sum.
    if (elements > 0.0) longest = std::max(longest, flops_of(graph, i) / (2.0 * elements));
  }
  return longest;
}

double rounding_tolerance(const Graph& graph) {
  constexpr double kUnit = std::numeric_limits<float>::epsilon() / 2.0;  // one rounding
  constexpr double kSumsInARow = 8.0;  // forward, loss and backward of a few layers
  constexpr double kLeast = 1e-6;
  return std::max(kLeast, kSumsInARow * kUnit * std::sqrt(reduction_length(graph)));
}

}  // namespace stepscope
