// Names to factories: adding, making, and what is said of a name that is not there.
// SPDX-License-Identifier: Apache-2.0
#include "backends/registry/registry.h"

#include "backends/api/record_as.h"
#include "ops/base/check.h"
#include "ops/base/nearest.h"

namespace stepscope {

void Registry::add(BackendEntry entry) {
  for (const BackendEntry& each : entries_) {
    check(each.name != entry.name, Fault::bad_input, "registry: there is a backend '{}' already",
          entry.name);
  }
  entries_.push_back(std::move(entry));
}

std::vector<std::string> Registry::names() const {
  std::vector<std::string> all;
  for (const BackendEntry& entry : entries_) all.push_back(entry.name);
  return all;
}

std::vector<std::string> Registry::available() const {
  std::vector<std::string> all;
  for (const BackendEntry& entry : entries_) {
    try {
      static_cast<void>(entry.make({}));
      all.push_back(entry.name);
    } catch (const Error& error) {
      if (error.fault() != Fault::unsupported) throw;
    }
  }
  return all;
}

std::unique_ptr<Backend> Registry::make(std::string_view name,
                                        const BackendOptions& options) const {
  for (const BackendEntry& entry : entries_) {
    if (entry.name != name) continue;
    std::unique_ptr<Backend> backend = entry.make(options);
    if (options.record_as && *options.record_as != backend->records_as()) {
      fail(Fault::unsupported, "{}: records as {}, not as {}", name,
           stepscope::name(backend->records_as()), stepscope::name(*options.record_as));
    }
    check(!options.tf32 || backend->info().tf32, Fault::unsupported,
          "{}: has no TF32, its products take their inputs as they are", name);
    return backend;
  }
  fail(Fault::bad_input, "{}", unknown_name("backend", name, names()));
}

}  // namespace stepscope
