// Names to factories: adding, making, and what is said of a name that is not there.
// SPDX-License-Identifier: Apache-2.0
#include "backends/registry/registry.h"

#include <map>
#include <mutex>

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

namespace {

using Factory = decltype(BackendEntry::make);

bool can_be_made(const BackendEntry& entry) {
  try {
    static_cast<void>(entry.make({}));
    return true;
  } catch (const Error& error) {
    if (error.fault() != Fault::unsupported && error.fault() != Fault::device) throw;
    return false;
  }
}

// By factory, since registries come and go and share them: each is asked once a process.
bool is_available(const BackendEntry& entry) {
  static std::mutex lock;
  static std::map<Factory, bool> known;
  const std::lock_guard held(lock);
  const auto found = known.find(entry.make);
  if (found != known.end()) return found->second;
  return known[entry.make] = can_be_made(entry);
}

}  // namespace

std::vector<std::string> Registry::available() const {
  std::vector<std::string> all;
  for (const BackendEntry& entry : entries_) {
    if (is_available(entry)) all.push_back(entry.name);
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
