// Sites: an op case as a kernel meets it. Its types, its inputs drawn or written by hand, and what
// the oracle makes of them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/api/host.h"
#include "tests/conformance/op_cases.h"
#include "tests/conformance/run_op.h"

namespace stepscope::conformance {

// The backend that every other is held against: one reference backend per process, made on first
// use. Whoever adds ops from outside the tree gives it their kernels first, for f32 and f64:
// `oracle_backend().set_maker(kind, maker)`.
HostBackend& oracle_backend();

// The site of a case; f64 in place of f32 when asked.
OpSite site_of(OpKind kind, const Attrs& attrs, std::vector<TensorType> in, DType floating);
OpSite site_of(const OpEntry& op, const OpCase& op_case, DType floating = DType::f32);

// The op that makes an operand, without a table: name and kind are all that its case asks for.
OpEntry maker_of(const Source& source);

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
Bytes bytes_of(const std::vector<double>& elements, DType dtype);
std::vector<double> doubles_of(const Bytes& bytes, DType dtype);

bool is_saved(const OpSite& site, std::size_t output);

// None for saved outputs, whose bytes mean something to the backend alone.
Elements output_elements(const OpSite& site, const std::vector<Bytes>& outputs);

// What the oracle computes in f64 from the inputs.
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
