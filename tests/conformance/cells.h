// Cells: a backend and an op case; backends of this build by name; drawn inputs and oracle outputs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/api/backend.h"
#include "tests/conformance/op_cases.h"
#include "tests/conformance/run_op.h"

namespace stepscope::conformance {

struct Cell {
  std::string backend;
  const OpEntry* op = nullptr;
  const OpCase* op_case = nullptr;
};
std::vector<Cell> all_cells();
std::string cell_name(const Cell& cell);  // eigen_MatMul_7x17x64_ta

std::vector<std::string> backend_names();
// One thread; made on first use and kept. Throws what the factory throws.
Backend& backend(const std::string& name);

// The site of a case; f64 in place of f32 when asked.
OpSite site_of(OpKind kind, const Attrs& attrs, std::vector<TensorType> in, DType floating);
OpSite site_of(const OpEntry& op, const OpCase& op_case, DType floating = DType::f32);

// The elements of each input, drawn or written by hand, rounded to its type: the same in every
// process and precision. None for an input that another op makes.
using Elements = std::vector<std::vector<double>>;
Elements draw_inputs(const OpEntry& op, const OpCase& op_case);

// What a kernel of the backend is given: elements as bytes, and what the backend's own kernel of
// the source makes of the source's drawn inputs. Throws what lower() throws.
std::vector<Bytes> input_bytes(Backend& backend, const OpEntry& op, const OpCase& op_case,
                               DType floating = DType::f32);
// The same for a case without sources. Throws bad_input for one with.
std::vector<Bytes> input_bytes(const OpSite& site, const Elements& inputs);
Bytes bytes_of(const std::vector<double>& elements, DType dtype);  // and u8

// None for saved outputs, whose bytes mean something to the backend alone.
Elements output_elements(const OpSite& site, const std::vector<Bytes>& outputs);

// What the reference backend computes in f64 from the inputs.
Elements oracle_outputs(const OpEntry& op, const OpCase& op_case, const Elements& inputs);

// Lowers, or tells why not: exactly one of the two is set.
struct Lowered {
  std::unique_ptr<Kernel> kernel;
  std::string reason;  // the message of Fault::unsupported
};
Lowered lower(Backend& backend, const OpSite& site);
// Of a case: not supported either where the backend cannot make what it is given.
Lowered lower(Backend& backend, const OpEntry& op, const OpCase& op_case);

}  // namespace stepscope::conformance
