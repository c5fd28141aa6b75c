// Uses an installed stepscope: an op and a backend from outside by explicit calls, a step with the
// op in three modes, the conformance suite on both. Exit status 0 if all is as it should be.
// `consumer defect` plants a mistake in the backend: it must end with status 1.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <exception>
#include <string_view>

#include "backends/registry/registry.h"
#include "plain_backend.h"
#include "softplus.h"
#include "tests/conformance/conformance.h"
#include "training.h"

namespace consumer {
namespace {

using namespace stepscope;

bool says(bool good, const std::string& what) {
  fmt::print("{}: {}\n", good ? "ok" : "WRONG", what);
  return good;
}

bool trains(Backend& backend, const std::string& fusion) {
  const Trained eager = train(backend, Mode::eager, fusion);
  const double first = eager.losses.front();
  const double last = eager.losses.back();
  bool good = says(
      eager.ran_as_asked && last < 0.7 * first,
      fmt::format("{}, fusion {}: loss {:.4f} -> {:.4f}", backend.name(), fusion, first, last));
  for (const Mode mode : {Mode::planned, Mode::graph}) {
    const Trained other = train(backend, mode, fusion);
    const bool equal = other.losses == eager.losses && other.state == eager.state;
    good =
        says(other.ran_as_asked && equal, fmt::format("{}, fusion {}: {} gives the bits of eager",
                                                      backend.name(), fusion, name(mode))) &&
        good;
  }
  return good;
}

// Backends of the build learn the op by one call each.
bool trains_everywhere(const Registry& registry) {
  bool good = true;
  for (const std::string& each : registry.available()) {
    if (each == "null" || each == "plain") continue;
    const std::unique_ptr<Backend> backend = registry.make(each, {});
    auto* host = dynamic_cast<HostBackend*>(backend.get());
    if (host == nullptr) continue;  // a GPU's: the op is for processors
    host->set_maker(softplus_op(), make_softplus);
    for (const char* fusion : {"off", "on"}) good = trains(*backend, fusion) && good;
  }
  return good;
}

bool conforms(const Registry& registry) {
  using namespace conformance;
  oracle_backend().set_maker(softplus_op(), make_softplus);
  const std::unique_ptr<Backend> plain = registry.make("plain", {});
  const std::vector<OpEntry> ops = {entry_of(OpKind::Add), entry_of(OpKind::Mul),
                                    entry_of(OpKind::Relu), softplus_entry()};
  const Report report = run(*plain, ops);
  fmt::print("{}", to_text(report));
  bool good = says(report.passed(), "the backend conforms where it has kernels");
  good = says(report.count(Outcome::unsupported) > 0, "it says which ops it lacks") && good;
  for (const std::string& each : registry.available()) {
    if (each == "null" || each == "plain") continue;
    const std::unique_ptr<Backend> backend = registry.make(each, {});
    auto* host = dynamic_cast<HostBackend*>(backend.get());
    if (host == nullptr) continue;  // a GPU's: the op is for processors
    host->set_maker(softplus_op(), make_softplus);
    const Report of_op = run(*backend, std::vector{softplus_entry()});
    fmt::print("{}", to_text(of_op));
    good =
        says(of_op.passed() && of_op.count(Outcome::unsupported) == 0, "the op conforms") && good;
  }
  return good;
}

int run(bool defect) {
  Registry registry = Registry::builtin();
  const bool trained = trains_everywhere(registry);
  registry.add({"plain", defect ? make_defective_backend : make_plain_backend});
  const bool conformed = conforms(registry);
  return says(trained && conformed, "consumer of stepscope") ? 0 : 1;
}

}  // namespace
}  // namespace consumer

int main(int argc, char** argv) {
  try {
    return consumer::run(argc > 1 && std::string_view(argv[1]) == "defect");
  } catch (const std::exception& error) {
    fmt::print(stderr, "consumer: {}\n", error.what());
    return 1;
  }
}
