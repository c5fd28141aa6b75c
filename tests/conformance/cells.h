// Cells: a backend and an op case; backends of this build by name.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tests/conformance/sites.h"

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

}  // namespace stepscope::conformance
