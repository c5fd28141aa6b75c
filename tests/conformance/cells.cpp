// Cells, backends, inputs.
// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/cells.h"

#include <fmt/format.h>

#include <functional>
#include <map>

#include "backends/registry/registry.h"
#include "ops/base/error.h"
#include "ops/ir/op_def.h"
#include "tests/support/tensor_bytes.h"

namespace stepscope::conformance {

std::vector<std::string> backend_names() { return Registry::builtin().names(); }

Backend& backend(const std::string& name) {
  static std::map<std::string, std::unique_ptr<Backend>> made;
  std::unique_ptr<Backend>& place = made[name];
  if (place == nullptr) place = Registry::builtin().make(name, {.threads = 1});
  return *place;
}

std::vector<Cell> all_cells() {
  std::vector<Cell> cells;
  for (const std::string& name : backend_names()) {
    for (const OpEntry& op : all_ops()) {
      for (const OpCase& op_case : op.table.cases) cells.push_back({name, &op, &op_case});
    }
  }
  return cells;
}

std::string cell_name(const Cell& cell) {
  return fmt::format("{}_{}_{}", cell.backend, cell.op->name, cell.op_case->name);
}

OpSite site_of(OpKind kind, const Attrs& attrs, std::vector<TensorType> in, DType floating) {
  OpSite site{kind, attrs, std::move(in), {}};
  for (TensorType& type : site.in) {
    if (type.dtype == DType::f32) type.dtype = floating;
  }
  if (auto* fill = std::get_if<FillAttrs>(&site.attrs)) fill->type.dtype = floating;
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
    std::vector<double> elements(static_cast<std::size_t>(operand.type.shape.elements()));
    for (double& element : elements) element = operand.draw(random);
    inputs.push_back(
        test::to_doubles(test::to_bytes(elements, operand.type.dtype), operand.type.dtype));
  }
  return inputs;
}

std::vector<Bytes> input_bytes(const OpSite& site, const Elements& inputs) {
  std::vector<Bytes> all;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    all.push_back(test::to_bytes(inputs[i], site.in[i].dtype));
  }
  return all;
}

Elements output_elements(const OpSite& site, const std::vector<Bytes>& outputs) {
  Elements all;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    all.push_back(test::to_doubles(outputs[k], site.out[k].dtype));
  }
  return all;
}

Elements oracle_outputs(const OpEntry& op, const OpCase& op_case, const Elements& inputs) {
  const OpSite site = site_of(op, op_case, DType::f64);
  Backend& reference = backend("reference");
  const std::unique_ptr<Kernel> kernel = reference.lower(site);
  return output_elements(site, run_op(reference, *kernel, input_bytes(site, inputs)).outputs);
}

Lowered lower(Backend& backend, const OpSite& site) {
  try {
    return {backend.lower(site), {}};
  } catch (const Error& error) {
    if (error.fault() != Fault::unsupported) throw;
    return {nullptr, error.what()};
  }
}

}  // namespace stepscope::conformance
