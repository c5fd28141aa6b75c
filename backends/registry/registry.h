// Registry: names to factories. The built-in list is written by CMake from the backend folders of
// this build; backends from outside the tree are added by an explicit call.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/api/backend.h"

namespace stepscope {

struct BackendEntry {
  std::string name;
  std::unique_ptr<Backend> (*make)(const BackendOptions& options);
};

class Registry {
 public:
  // The backends of this build.
  static Registry builtin();

  // Throws bad_input when the name is taken.
  void add(BackendEntry entry);

  std::span<const BackendEntry> entries() const { return entries_; }
  std::vector<std::string> names() const;
  // Names of those that can be made on this machine, for whoever walks over backends that nobody
  // asked for by name. Each factory is called once a process to find out. One that answers
  // unsupported or device (a GPU that is full, or another's alone) is left out; throws what else a
  // factory throws: such an error is no absence.
  std::vector<std::string> available() const;

  // Throws bad_input for an unknown name, with the nearest; whatever the factory throws when the
  // backend is not available here: the message is the reason.
  std::unique_ptr<Backend> make(std::string_view name, const BackendOptions& options) const;

 private:
  std::vector<BackendEntry> entries_;
};

}  // namespace stepscope
