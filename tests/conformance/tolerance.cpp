// Bounds that several families use.
// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/tolerance.h"

#include "tests/conformance/sites.h"

namespace stepscope::conformance {

Bound relative(std::int64_t roundings) {
  return [roundings](const Oracle& oracle, std::size_t output) {
    return each_element(oracle, output, [&](std::size_t i) {
      return gamma(roundings) * std::abs(oracle.out[output][i]);
    });
  };
}

std::vector<double> magnitudes(OpKind kind, const Attrs& attrs, const Oracle& oracle,
                               const std::vector<std::size_t>& inputs, std::size_t output) {
  std::vector<TensorType> types;
  Elements sizes;
  for (const std::size_t input : inputs) {
    types.push_back(oracle.in_types[input]);
    sizes.push_back(oracle.in[input]);
    for (double& element : sizes.back()) element = std::abs(element);
  }
  const OpSite site = site_of(kind, attrs, std::move(types), DType::f64);
  Backend& reference = oracle_backend();
  const std::unique_ptr<Kernel> kernel = reference.lower(site);
  return output_elements(site,
                         run_op(reference, *kernel, input_bytes(site, sizes)).outputs)[output];
}

}  // namespace stepscope::conformance
