// An error of a step names the op, in every mode.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "backends/api/host.h"
#include "backends/execution/session.h"
#include "backends/null/null.h"
#include "ops/base/check.h"

namespace stepscope {
namespace {

// Null, but for a Relu whose launch fails while `broken` says so.
class BrokenBackend final : public HostBackend {
 public:
  explicit BrokenBackend(const bool& broken) : HostBackend({.name = "broken"}), broken_(broken) {}

  std::unique_ptr<Kernel> lower(const OpSite& site) override {
    if (site.kind != OpKind::Relu) return null_->lower(site);
    return std::make_unique<BrokenKernel>(site, broken_);
  }

 private:
  class BrokenKernel final : public Kernel {
   public:
    BrokenKernel(const OpSite& site, const bool& broken)
        : Kernel(site, {}, launch), broken_(broken) {}

   private:
    static void launch(const Launch& call, Stream& stream) {
      const auto& self = static_cast<const BrokenKernel&>(*call.kernel);
      check(!self.broken_, Fault::device, "the library: status 7");
      stream.made_call(call, CallBy::library);
    }
    const bool& broken_;
  };

  const bool& broken_;
  std::unique_ptr<Backend> null_ = null::make_backend({});
};

TEST(OpContext, NamesTheOpInEveryMode) {
  for (const Mode mode : {Mode::eager, Mode::planned, Mode::graph}) {
    bool broken = false;
    BrokenBackend backend(broken);
    Session session(backend, make_model("mlp:5-4-3"), {.mode = mode, .step_batches = {2}});
    session.load(std::vector<float>(10), std::vector<std::int32_t>(2));
    session.enqueue_step(2);
    broken = true;
    try {
      session.enqueue_step(2);
      ADD_FAILURE() << name(mode) << ": no error";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "op 2 Relu (forward): the library: status 7") << name(mode);
      EXPECT_EQ(error.fault(), Fault::device);
    }
  }
}

}  // namespace
}  // namespace stepscope
