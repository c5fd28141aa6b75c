// Sites, their inputs, and the oracle.
// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/sites.h"

#include <fmt/format.h>

#include "backends/reference/reference.h"
#include "ops/base/check.h"
#include "ops/base/error.h"
#include "ops/ir/op_def.h"
#include "tests/support/tensor_bytes.h"

namespace stepscope::conformance {
namespace {

// Output of a source, by the backend's own kernel.
Bytes make_operand(Backend& backend, const Source& source, DType floating) {
  const OpEntry op = maker_of(source);
  const std::unique_ptr<Kernel> kernel = backend.lower(site_of(op, source.op_case, floating));
  const std::vector<Bytes> inputs = input_bytes(backend, op, source.op_case, floating);
  return run_op(backend, *kernel, inputs).outputs[source.output];
}

std::vector<Bytes> operand_bytes(Backend& backend, const OpCase& op_case, const OpSite& site,
                                 const Elements& inputs, DType floating) {
  std::vector<Bytes> all;
  all.reserve(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Source* source = op_case.in[i].source.get();
    all.push_back(source != nullptr ? make_operand(backend, *source, floating)
                                    : bytes_of(inputs[i], site.in[i].dtype));
  }
  return all;
}

}  // namespace

HostBackend& oracle_backend() {
  static const std::unique_ptr<Backend> made = reference::make_backend({});
  return dynamic_cast<HostBackend&>(*made);
}

OpEntry maker_of(const Source& source) { return {source.kind, std::string(name(source.kind)), {}}; }

bool is_saved(const OpSite& site, std::size_t output) {
  return (op_def(site.kind).saved_outputs >> output & 1U) != 0;
}

Bytes bytes_of(const std::vector<double>& elements, DType dtype) {
  return test::to_bytes(elements, dtype);
}

std::vector<double> doubles_of(const Bytes& bytes, DType dtype) {
  return test::to_doubles(bytes, dtype);
}

OpSite site_of(OpKind kind, const Attrs& attrs, std::vector<TensorType> in, DType floating) {
  OpSite site{kind, attrs, std::move(in), {}};
  for (TensorType& type : site.in) {
    if (type.dtype == DType::f32) type.dtype = floating;
  }
  if (auto* fill = std::get_if<FillAttrs>(&site.attrs)) fill->type.dtype = floating;
  if (auto* cast = std::get_if<CastAttrs>(&site.attrs); cast != nullptr && cast->to == DType::f32) {
    cast->to = floating;
  }
  TypeList out;
  op_def(kind).infer(site.in, site.attrs, out);
  site.out.assign(out.begin(), out.end());
  return site;
}

OpSite site_of(const OpEntry& op, const OpCase& op_case, DType floating) {
  std::vector<TensorType> in;
  for (const Operand& operand : op_case.in) in.push_back(operand.type);
  return site_of(op.kind, op_case.attrs, std::move(in), floating);
}

Elements draw_inputs(const OpEntry& op, const OpCase& op_case) {
  // FNV-1a of the name: a seed of its own for each case, the same in every process.
  std::uint64_t seed = 0xCBF29CE484222325;
  for (const char c : op.name + "/" + op_case.name) {
    seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  }
  Elements inputs;
  for (const Operand& operand : op_case.in) {
    Philox random(seed, inputs.size());
    std::vector<double> elements = operand.elements;
    if (operand.draw && elements.empty()) {
      elements.resize(static_cast<std::size_t>(operand.type.shape.elements()));
      for (double& element : elements) element = operand.draw(random);
    }
    inputs.push_back(doubles_of(bytes_of(elements, operand.type.dtype), operand.type.dtype));
  }
  return inputs;
}

std::vector<Bytes> input_bytes(const OpSite& site, const Elements& inputs) {
  std::vector<Bytes> all;
  all.reserve(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    check(static_cast<std::int64_t>(inputs[i].size()) == site.in[i].shape.elements(),
          Fault::bad_input, "conformance: input {} of {} is made by an op of the backend", i,
          name(site.kind));
    all.push_back(bytes_of(inputs[i], site.in[i].dtype));
  }
  return all;
}

std::vector<Bytes> input_bytes(Backend& backend, const OpEntry& op, const OpCase& op_case,
                               DType floating) {
  return operand_bytes(backend, op_case, site_of(op, op_case, floating), draw_inputs(op, op_case),
                       floating);
}

Elements output_elements(const OpSite& site, const std::vector<Bytes>& outputs) {
  Elements all;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    all.push_back(is_saved(site, k) ? std::vector<double>()
                                    : doubles_of(outputs[k], site.out[k].dtype));
  }
  return all;
}

Elements oracle_outputs(const OpEntry& op, const OpCase& op_case, const Elements& inputs) {
  const OpSite site = site_of(op, op_case, DType::f64);
  Backend& reference = oracle_backend();
  const std::unique_ptr<Kernel> kernel = reference.lower(site);
  const std::vector<Bytes> bytes = operand_bytes(reference, op_case, site, inputs, DType::f64);
  return output_elements(site, run_op(reference, *kernel, bytes).outputs);
}

Lowered lower(Backend& backend, const OpSite& site) {
  try {
    return {backend.lower(site), {}};
  } catch (const Error& error) {
    if (error.fault() != Fault::unsupported) throw;
    return {nullptr, error.what()};
  }
}

Lowered lower(Backend& backend, const OpEntry& op, const OpCase& op_case) {
  for (const Operand& operand : op_case.in) {
    if (operand.source == nullptr) continue;
    const Source& source = *operand.source;
    Lowered lowered = lower(backend, maker_of(source), source.op_case);
    if (lowered.kernel == nullptr) return lowered;
  }
  return lower(backend, site_of(op, op_case));
}

}  // namespace stepscope::conformance
