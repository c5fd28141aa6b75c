// Backends of the build, and their cells.
// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/cells.h"

#include <fmt/format.h>

#include <map>

#include "backends/registry/registry.h"

namespace stepscope::conformance {

std::vector<std::string> backend_names() { return Registry::builtin().available(); }

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

}  // namespace stepscope::conformance
