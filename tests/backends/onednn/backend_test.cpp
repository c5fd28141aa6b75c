// The backend itself: what it says of itself, what it refuses and how, who it says computed, and
// when it makes objects and sets addresses.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <string>

#include "backends/onednn/onednn.h"
#include "graph/plan/wishes.h"
#include "tests/backends/onednn/images.h"
#include "tests/conformance/sites.h"
#include "tests/support/errors.h"

namespace stepscope::onednn {
namespace {

using test::error_of;

std::unique_ptr<Backend> make(int threads = 1) {
  return make_backend({.threads = threads, .tune_file = {}});
}

OpSite convolution(LayoutId y = kPlain) {
  return site_for(OpKind::Conv2d, Conv2dAttrs{.pad_h = 1, .pad_w = 1, .layout = y},
                  {f32({2, 3, 6, 5}), f32({4, 3, 3, 3})});
}

TEST(OnednnBackend, SaysWhatItRunsOn) {
  const BackendInfo info = make(2)->info();
  EXPECT_EQ(info.name, "onednn");
  EXPECT_EQ(info.threads, 2);
  std::vector<std::string> names;
  for (const auto& [name, value] : info.details) {
    names.push_back(name);
    EXPECT_FALSE(value.empty()) << name;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"onednn", "instruction set", "own kernels", "openmp",
                                             "choices"}));
  EXPECT_TRUE(info.details[0].second.starts_with("2.")) << info.details[0].second;
  EXPECT_EQ(info.details[4].second.size(), 16U);
}

TEST(OnednnBackend, RefusesFewerThanOneThread) {
  EXPECT_EQ(error_of([] { make(0); }), "bad input: onednn: threads must be 1 or more, got 0");
}

TEST(OnednnBackend, RefusesToBeMadeWithinAParallelRegion) {
  std::string message;
#pragma omp parallel num_threads(2)
  {
#pragma omp single
    message = error_of([] { make(2); });
  }
  EXPECT_EQ(message,
            "device: onednn: made within a parallel region of 2 threads, where products get one; "
            "make it outside");
}

TEST(OnednnBackend, RefusesOtherElementTypesByNameOfOpAndType) {
  const auto backend = make();
  const TensorType f64{{2, 2}, DType::f64};
  for (const OpKind kind : {OpKind::MatMul, OpKind::Add}) {
    const OpSite site =
        site_for(kind, kind == OpKind::MatMul ? Attrs(MatMulAttrs{}) : Attrs(), {f64, f64});
    EXPECT_EQ(error_of([&] { backend->lower(site); }),
              fmt::format("unsupported: onednn: {} on f64, only f32 is; take the reference backend",
                          name(kind)));
  }
}

TEST(OnednnBackend, RefusesWhatPassesMakeForOthers) {
  const auto backend = make();
  for (const OpKind kind : kWishedOps) {
    const conformance::OpEntry& op = conformance::entry_of(kind);
    EXPECT_EQ(error_of([&] { backend->lower(conformance::site_of(op, op.table.cases.front())); }),
              fmt::format("unsupported: onednn: has no kernel for {}, which passes make only for "
                          "backends that wish for it",
                          op.name));
  }
}

TEST(OnednnBackend, RefusesALayoutThatTheLibraryHasNoFormatFor) {
  const auto backend = make();
  const OpSite site = site_for(OpKind::Conv2d, Conv2dAttrs{.layout = by(7)},
                               {f32({1, 3, 4, 4}), f32({9, 3, 3, 3})});
  EXPECT_EQ(
      error_of([&] { backend->lower(site); }),
      "unsupported: onednn: Conv2d on layout 7 of 9 channels, which the library has no format "
      "for");
}

TEST(OnednnBackend, SaysWhoComputedCallByCall) {
  const auto backend = make();
  const auto calls_of = [&](const OpSite& site) {
    std::vector<conformance::Bytes> inputs;
    for (const TensorType& type : site.in) inputs.emplace_back(type.bytes());
    const std::unique_ptr<Kernel> kernel = backend->lower(site);
    const Counters counted = conformance::run_op(*backend, *kernel, inputs).counted;
    EXPECT_EQ(kernel->calls(), counted.library_calls + counted.own_calls);
    return std::pair(counted.library_calls, counted.own_calls);
  };
  using Calls = std::pair<std::uint64_t, std::uint64_t>;
  const TensorType square = f32({8, 8}), row = f32({8});
  EXPECT_EQ(calls_of(site_for(OpKind::MatMul, MatMulAttrs{}, {square, square})), Calls(1, 0));
  EXPECT_EQ(calls_of(site_for(OpKind::Relu, {}, {square})), Calls(0, 1));
  EXPECT_EQ(calls_of(site_for(OpKind::Linear, MatMulAttrs{.activation = Activation::relu},
                              {square, square, row})),
            Calls(1, 1));
  EXPECT_EQ(calls_of(site_for(OpKind::MatMulUpdate, ProductUpdateAttrs{.bias_grad = true},
                              {square, square, square})),
            Calls(1, 1));
  EXPECT_EQ(calls_of(convolution()), Calls(1, 0));
  EXPECT_EQ(calls_of(site_for(OpKind::Conv2dWeightUpdate, Conv2dUpdateAttrs{.bias_grad = true},
                              {f32({4, 3, 3, 3}), f32({2, 3, 6, 5}), f32({2, 4, 4, 3})})),
            Calls(1, 1));
}

TEST(OnednnBackend, MakesItsObjectsWhenAnOpIsLoweredAndNeverLater) {
  const auto backend = make();
  const OpSite site = convolution();
  const std::uint64_t before = primitives_made(*backend);
  const std::unique_ptr<Kernel> kernel = backend->lower(site);
  const std::uint64_t lowered = primitives_made(*backend);
  EXPECT_EQ(lowered, before + 1);
  for (int launch = 0; launch < 3; ++launch) {
    conformance::run_op(
        *backend, *kernel,
        {conformance::Bytes(site.in[0].bytes()), conformance::Bytes(site.in[1].bytes())});
  }
  EXPECT_EQ(primitives_made(*backend), lowered);
}

// Two launches of one kernel that are bound before either runs, each to memory of its own.
TEST(OnednnBackend, SetsItsAddressesWhenItIsLaunched) {
  const auto backend = make();
  const OpSite site = convolution();
  const std::unique_ptr<Kernel> kernel = backend->lower(site);
  struct Operands {
    std::vector<std::unique_ptr<Memory>> memory;
    std::vector<std::byte*> addresses;
  };
  const auto allocate = [&](int which) {
    Operands made;
    for (const TensorType& type : {site.in[0], site.in[1], site.out[0]}) {
      made.memory.push_back(backend->allocate(type.bytes()));
      made.addresses.push_back(made.memory.back()->data());
      const conformance::Bytes bytes = as_bytes(whole_numbers(type.shape, which));
      std::copy(bytes.begin(), bytes.end(), made.addresses.back());
    }
    return made;
  };
  const Operands first = allocate(1), second = allocate(2);
  const auto scratch = backend->allocate(kernel->needs().scratch + 1);
  const Launch one = kernel->bind(first.addresses.data(), scratch->data());
  const Launch two = kernel->bind(second.addresses.data(), scratch->data());
  const auto stream = backend->make_stream();
  for (const Launch& launch : {two, one}) stream->submit(launch, 0);
  for (const auto& [operands, which] : {std::pair(&first, 1), std::pair(&second, 2)}) {
    const std::vector<Floats> alone =
        run(*backend, site,
            {whole_numbers(site.in[0].shape, which), whole_numbers(site.in[1].shape, which)});
    const auto* y = reinterpret_cast<const float*>(operands->addresses[2]);
    EXPECT_EQ(Floats(y, y + alone[0].size()), alone[0]) << which;
  }
}

// Each backend keeps its thread count, whatever ran before, and leaves OpenMP's as it was.
TEST(OnednnThreads, OfTwoBackendsSideBySide) {
  const auto one = make(1), two = make(2);
  const OpSite site =
      site_for(OpKind::MatMul, MatMulAttrs{.transpose_a = true}, {f32({512, 96}), f32({512, 128})});
  const std::vector<Floats> inputs = {whole_numbers(site.in[0].shape, 1),
                                      whole_numbers(site.in[1].shape, 2)};
  const std::vector<Floats> expected = run(*one, site, inputs);
  for (const int setting : {1, 2, 3}) {
    omp_set_num_threads(setting);
    EXPECT_EQ(run(*one, site, inputs), expected);
    EXPECT_EQ(run(*two, site, inputs), expected);
    EXPECT_EQ(omp_get_max_threads(), setting);
  }
}

}  // namespace
}  // namespace stepscope::onednn
