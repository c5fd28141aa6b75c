// The registry: what is built in, what it refuses, and a backend from outside the tree.
// SPDX-License-Identifier: Apache-2.0
#include "backends/registry/registry.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "backends/api/host.h"
#include "backends/execution/session.h"
#include "ops/base/check.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;

// A backend in twenty lines: floats, multiplied by a constant.
class ScalingKernel final : public Kernel {
 public:
  explicit ScalingKernel(const OpSite& site) : Kernel(site, {.in_place = ~0U}, run) {}

 private:
  // x f32{...} -> y as x
  static void run(const Launch& call, Stream& stream) {
    stream.made_call(call, CallBy::library);
    const OpSite& site = call.kernel->site();
    const auto factor = static_cast<float>(std::get<ScaleAttrs>(site.attrs).factor);
    const auto* x = reinterpret_cast<const float*>(call.operands[0]);
    auto* y = reinterpret_cast<float*>(call.operands[1]);
    for (std::int64_t i = 0; i < site.in[0].shape.elements(); ++i) y[i] = factor * x[i];
  }
};

class ScalingBackend final : public HostBackend {
 public:
  explicit ScalingBackend(const BackendOptions& options)
      : HostBackend({.name = "scaling", .device = "any", .threads = options.threads}) {
    set_maker(OpKind::Scale, [](const OpSite& site) -> std::unique_ptr<Kernel> {
      return std::make_unique<ScalingKernel>(site);
    });
  }
};

std::unique_ptr<Backend> make_scaling(const BackendOptions& options) {
  return std::make_unique<ScalingBackend>(options);
}

std::unique_ptr<Backend> make_absent(const BackendOptions&) {
  fail(Fault::unsupported, "absent: there is no such device on this machine");
}

std::unique_ptr<Backend> make_full(const BackendOptions&) {
  fail(Fault::device, "full: no 4096 bytes to be had");
}

std::unique_ptr<Backend> make_broken(const BackendOptions&) {
  fail(Fault::bad_input, "broken: 2 threads wanted, 1 given");
}

int times_asked = 0;
std::unique_ptr<Backend> make_counted(const BackendOptions& options) {
  ++times_asked;
  return make_scaling(options);
}

TEST(Registry, HasTheBackendsOfThisBuild) {
  const Registry registry = Registry::builtin();
  const std::vector<std::string> names = registry.names();
  ASSERT_GE(names.size(), 2U);
  EXPECT_EQ(names[0], "reference");
  EXPECT_EQ(names[1], "null");
  const std::vector<std::string> available = registry.available();
  for (const std::string& name : names) {
    if (std::ranges::count(available, name) == 0) {
      EXPECT_EQ(name, "cuda");  // the only one that a machine of ours may lack what it needs for
      const std::string error = error_of([&] { (void)registry.make(name, {}); });
      EXPECT_EQ(error.rfind("unsupported: cuda: ", 0), 0U) << error;
      continue;
    }
    const auto backend = registry.make(name, {});
    EXPECT_EQ(backend->name(), name);
    EXPECT_EQ(backend->info().threads, 1);
    EXPECT_FALSE(backend->info().device.empty());
    EXPECT_FALSE(backend->info().simulated);
  }
}

TEST(Registry, LeavesOutWhatIsNotAvailableAndNothingThatIsBroken) {
  Registry registry;
  registry.add({"absent", make_absent});
  registry.add({"scaling", make_scaling});
  EXPECT_EQ(registry.names(), (std::vector<std::string>{"absent", "scaling"}));
  EXPECT_EQ(registry.available(), std::vector<std::string>{"scaling"});
  registry.add({"full", make_full});
  EXPECT_EQ(registry.available(), std::vector<std::string>{"scaling"});
  EXPECT_EQ(error_of([&] { (void)registry.make("full", {}); }),
            "device: full: no 4096 bytes to be had");
  registry.add({"broken", make_broken});
  EXPECT_EQ(error_of([&] { (void)registry.available(); }),
            "bad input: broken: 2 threads wanted, 1 given");
}

TEST(Registry, MakesABackendOnceToFindOutThatItIsAvailable) {
  for (int i = 0; i < 2; ++i) {
    Registry registry;
    registry.add({"counted", make_counted});
    for (int k = 0; k < 2; ++k) {
      EXPECT_EQ(registry.available(), std::vector<std::string>{"counted"});
    }
  }
  EXPECT_EQ(times_asked, 1);
}

TEST(Registry, NamesTheNearest) {
  Registry registry;
  registry.add({"scaling", make_scaling});
  registry.add({"absent", make_absent});
  EXPECT_EQ(error_of([&] { (void)registry.make("scalign", {}); }),
            "bad input: unknown backend 'scalign': did you mean 'scaling'? (there are: scaling, "
            "absent)");
}

TEST(Registry, RefusesANameTwice) {
  Registry registry = Registry::builtin();
  EXPECT_EQ(error_of([&] {
              registry.add({"null", make_scaling});
            }),
            "bad input: registry: there is a backend 'null' already");
  EXPECT_EQ(std::ranges::count(registry.names(), "null"), 1);
}

TEST(Registry, PassesOnWhyABackendIsNotAvailable) {
  Registry registry;
  registry.add({"absent", make_absent});
  EXPECT_EQ(error_of([&] { (void)registry.make("absent", {}); }),
            "unsupported: absent: there is no such device on this machine");
}

TEST(Registry, RunsABackendFromOutsideTheTree) {
  Registry registry = Registry::builtin();
  registry.add({"scaling", make_scaling});
  const auto backend = registry.make("scaling", {.threads = 3});
  EXPECT_EQ(backend->info().threads, 3);
  const std::vector<float> x = {1, -2, 3, 0.5F, 7, 8};
  for (const Mode mode : {Mode::eager, Mode::planned, Mode::graph}) {
    Session session(*backend, make_model("chain:5:3"), {.mode = mode, .step_batches = {2}});
    session.load(x, {});
    session.enqueue_step(2);
    // Five ops: half, double, half, double, half.
    EXPECT_EQ(session.read_kept(2, "out"), (std::vector<double>{0.5, -1, 1.5, 0.25, 3.5, 4}));
    EXPECT_EQ(session.stream().counters().library_calls, 5U);
    EXPECT_EQ(session.stream().counters().own_calls, 0U);
    EXPECT_EQ(executed_mode(session.stream().counters()), mode);
  }
  EXPECT_EQ(error_of([&] { Session(*backend, make_model("mlp:3-2"), {.step_batches = {2}}); }),
            "unsupported: scaling: has no kernel for MatMul");
}

}  // namespace
}  // namespace stepscope
