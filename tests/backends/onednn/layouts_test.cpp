// Layouts: every pair that a convolution may be given computes the same, writes the padding, and
// takes weights in layouts of the library; and what the chooser asks for.
// SPDX-License-Identifier: Apache-2.0
#include "backends/onednn/layouts.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <optional>
#include <string>

#include "backends/onednn/onednn.h"
#include "tests/backends/onednn/images.h"

namespace stepscope::onednn {
namespace {

// The convolutions of the models, and sizes that fit no block.
struct Sizes {
  std::int64_t C, O, H, W, K, pad, stride = 1;
  Shape x() const { return {2, C, H, W}; }
  Shape w() const { return {O, C, K, K}; }
  Shape y() const { return {2, O, (H + 2 * pad - K) / stride + 1, (W + 2 * pad - K) / stride + 1}; }
  Conv2dAttrs forward(LayoutId layout, Activation activation = Activation::none) const {
    return {stride, stride, pad, pad, activation, layout};
  }
  Conv2dGradAttrs grad(const Shape& of, LayoutId layout) const {
    return {stride, stride, pad, pad, of[2], of[3], layout};
  }
};
constexpr Sizes kSizes[] = {{1, 8, 9, 8, 3, 1},  {8, 16, 6, 6, 3, 1},    {1, 6, 9, 9, 5, 2},
                            {6, 16, 8, 9, 5, 0}, {3, 20, 8, 8, 3, 1, 2}, {16, 32, 5, 5, 3, 1}};

std::unique_ptr<Backend> make() { return make_backend({.threads = 1, .tune_file = {}}); }

LayoutId wanted(const LayoutChoice& choice, std::size_t input) { return choice.in[input]; }

// Runs a site in the layouts that the chooser wants and gives the outputs back row-major; paddings
// are checked on the way. `plain` is the site in row-major.
class InWantedLayouts {
 public:
  explicit InWantedLayouts(Backend& backend) : backend_(backend) {}

  std::vector<Floats> run_it(const OpSite& plain, const std::vector<Floats>& inputs) {
    const LayoutChoice choice =
        backend_.wishes().layouts->choose({plain.kind, plain.attrs, plain.in});
    std::vector<TensorType> types = plain.in;
    std::vector<Floats> stored;
    for (std::size_t i = 0; i < types.size(); ++i) {
      types[i].layout = wanted(choice, i);
      stored.push_back(moved(inputs[i], plain.in[i], types[i]));
    }
    const OpSite site = site_for(plain.kind, choice.attrs, types);
    std::vector<Floats> outputs = run(backend_, site, stored);
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      outputs[k] = moved(outputs[k], site.out[k], plain.out[k]);
    }
    return outputs;
  }

 private:
  Floats moved(const Floats& elements, const TensorType& from, const TensorType& to) {
    if (from.layout == to.layout) return elements;
    if (is_weight_layout(from.layout) || is_weight_layout(to.layout)) {
      return run(backend_, site_for(OpKind::Reorder, ReorderAttrs{to.layout}, {from}),
                 {elements})[0];
    }
    if (from.layout == kPlain) return packed(elements, to);
    for (const float pad : padding(elements, from)) EXPECT_EQ(pad, 0.0F) << to_string(from);
    return unpacked(elements, from);
  }

  Backend& backend_;
};

void expect_same_in_wanted_layouts(OpKind kind, const Attrs& attrs, std::vector<TensorType> in) {
  SCOPED_TRACE(fmt::format("{} of {}", name(kind), to_string(in[0])));
  const auto backend = make();
  const OpSite plain = site_for(kind, attrs, std::move(in));
  std::vector<Floats> inputs;
  for (const TensorType& type : plain.in) {
    inputs.push_back(whole_numbers(type.shape, static_cast<int>(inputs.size())));
  }
  EXPECT_EQ(InWantedLayouts(*backend).run_it(plain, inputs), run(*backend, plain, inputs));
}

TEST(OnednnLayouts, OfEveryConvolutionAgreeWithRowMajor) {
  for (const Sizes& sizes : kSizes) {
    const TensorType x = f32(sizes.x()), w = f32(sizes.w()), y = f32(sizes.y());
    const TensorType bias = f32({sizes.O});
    expect_same_in_wanted_layouts(OpKind::Conv2d, sizes.forward(kPlain), {x, w});
    expect_same_in_wanted_layouts(OpKind::Conv2dBias, sizes.forward(kPlain, Activation::relu),
                                  {x, w, bias});
    expect_same_in_wanted_layouts(OpKind::Conv2dInputGrad, sizes.grad(x.shape, kPlain), {y, w});
    expect_same_in_wanted_layouts(OpKind::Conv2dInputReluGrad, sizes.grad(x.shape, kPlain),
                                  {y, w, x});
    expect_same_in_wanted_layouts(OpKind::Conv2dWeightGrad, sizes.grad(w.shape, kPlain), {x, y});
    expect_same_in_wanted_layouts(OpKind::Conv2dWeightBiasGrad, sizes.grad(w.shape, kPlain),
                                  {x, y});
    expect_same_in_wanted_layouts(
        OpKind::Conv2dWeightUpdate,
        Conv2dUpdateAttrs{sizes.stride, sizes.stride, sizes.pad, sizes.pad, true}, {w, x, y});
  }
}

// A sigmoid of the padding would be a half: outputs start as NaN and must end as zeros.
TEST(OnednnLayouts, PaddingOfEveryBlockedOutputIsWritten) {
  const auto backend = make();
  for (const Activation activation : {Activation::none, Activation::sigmoid}) {
    for (const LayoutId layout : {by(8), by(16)}) {
      const OpSite site = site_for(OpKind::Conv2dBias, kSizes[2].forward(layout, activation),
                                   {f32(kSizes[2].x()), f32(kSizes[2].w()), f32({kSizes[2].O})});
      const std::vector<Floats> y = run(*backend, site,
                                        {whole_numbers(site.in[0].shape, 1),
                                         whole_numbers(site.in[1].shape, 2), Floats(6, 1.0F)});
      const Floats pads = padding(y[0], site.out[0]);
      EXPECT_FALSE(pads.empty());
      EXPECT_EQ(pads, Floats(pads.size(), 0.0F)) << to_string(site.out[0]);
    }
  }
}

TEST(OnednnLayouts, OfWeightsAreReorderedThereAndBack) {
  const auto backend = make();
  const Shape shape{20, 6, 3, 5};
  const Floats plain = whole_numbers(shape, 1);
  const Library library;
  const Layouts unused(library, 1);
  int seen = 0;
  for (std::uint16_t id = kFirstWeightLayout; id < kMostLayouts; ++id) {
    const auto layout = static_cast<LayoutId>(id);
    Floats there;
    try {
      there =
          run(*backend, site_for(OpKind::Reorder, ReorderAttrs{layout}, {f32(shape)}), {plain})[0];
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::unsupported) << error.what();
      continue;
    }
    ++seen;
    const std::vector<std::int64_t> offsets = weight_offsets(shape, layout);
    for (std::size_t i = 0; i < plain.size(); ++i) {
      ASSERT_EQ(there[static_cast<std::size_t>(offsets[i])], plain[i]) << id << " at " << i;
    }
    EXPECT_EQ(
        run(*backend, site_for(OpKind::Reorder, ReorderAttrs{}, {f32(shape, layout)}), {there})[0],
        plain)
        << id;
    // As an image blocked by channels, and back: in two calls.
    const LayoutId image{8};
    const ReorderAttrs to_image{image}, to_weights{layout};
    const Floats blocked =
        run(*backend, site_for(OpKind::Reorder, to_image, {f32(shape, layout)}), {there})[0];
    EXPECT_EQ(blocked, run(*backend, site_for(OpKind::Reorder, to_image, {f32(shape)}), {plain})[0])
        << id;
    EXPECT_EQ(
        run(*backend, site_for(OpKind::Reorder, to_weights, {f32(shape, image)}), {blocked})[0],
        there)
        << id;
  }
  EXPECT_GT(seen, 20);
}

Convolution of_batch(const Sizes& sizes, std::int64_t N) {
  const Shape y = sizes.y();
  return {N,    sizes.C, sizes.H,      sizes.W,      sizes.O,   sizes.K,  sizes.K,
          y[2], y[3],    sizes.stride, sizes.stride, sizes.pad, sizes.pad};
}

// The table in layouts.h, in words.
TEST(OnednnLayouts, AreTheFastestOnesOnAvx512) {
  if (!instruction_set().starts_with("avx512_core")) GTEST_SKIP() << instruction_set();
  const Library library;
  Layouts layouts(library, 1);
  const auto pair_of = [&](const Sizes& sizes) {
    const ConvolutionLayouts& found = layouts.of(of_batch(sizes, 32));
    return std::pair(static_cast<int>(found.x), static_cast<int>(found.y));
  };
  EXPECT_EQ(pair_of({1, 8, 24, 24, 3, 1}), std::pair(0, 16));
  EXPECT_EQ(pair_of({8, 16, 12, 12, 3, 1}), std::pair(8, 16));
  EXPECT_EQ(pair_of({1, 6, 28, 28, 5, 2}), std::pair(0, 16));
  EXPECT_EQ(pair_of({6, 16, 14, 14, 5, 0}), std::pair(6, 16));
  EXPECT_EQ(pair_of({16, 32, 14, 14, 3, 1}), std::pair(16, 16));
}

// Weights of one input channel lie the same under several names.
TEST(OnednnLayouts, HaveTheSameNamesWhateverWasMadeBefore) {
  const Library library;
  const Convolution site = of_batch(kSizes[0], 2);
  const ConvolutionFormats any{ImageFormat::nchw, ImageFormat::nChw16c, std::nullopt};
  const auto ask = [&] {
    return library.ask(site, Direction::weight_grad, Bias::with, any).value().w;
  };
  const std::optional<LayoutId> before = ask();
  ASSERT_TRUE(before.has_value());
  const Primitive made =
      library.convolution(site, Direction::weight_grad, Bias::with, {any.x, any.y, before});
  EXPECT_EQ(ask(), before);
}

TEST(OnednnLayouts, OtherOpsFollowWhatIsBlocked) {
  const auto backend = make();
  const auto layouts_for = [&](OpKind kind, const Attrs& attrs, std::vector<TensorType> in) {
    const LayoutChoice choice = backend->wishes().layouts->choose({kind, attrs, in});
    std::vector<int> found;
    for (const LayoutId layout : choice.in) found.push_back(static_cast<int>(layout));
    return found;
  };
  const Shape image{2, 6, 4, 4};
  using Ids = std::vector<int>;
  EXPECT_EQ(layouts_for(OpKind::Relu, {}, {f32(image, by(16))}), Ids{16});
  EXPECT_EQ(layouts_for(OpKind::AddBias, {}, {f32(image, by(16)), f32({6})}), (Ids{16, 0}));
  // dy comes as the next convolution made it, y lies where the forward pass put it.
  EXPECT_EQ(layouts_for(OpKind::ReluGrad, {}, {f32(image, by(6)), f32(image, by(16))}),
            (Ids{16, 16}));
  EXPECT_EQ(layouts_for(OpKind::Relu, {}, {f32(image)}), Ids{0});
  EXPECT_EQ(layouts_for(OpKind::MatMul, MatMulAttrs{}, {f32({2, 3}), f32({3, 4})}), (Ids{0, 0}));
}

TEST(OnednnLayouts, GiveTheSameAnswerAgain) {
  const auto one = make(), other = make();
  const std::vector<TensorType> in = {f32({32, 8, 12, 12}), f32({16, 8, 3, 3})};
  const Attrs attrs = Conv2dAttrs{.pad_h = 1, .pad_w = 1};
  const LayoutRequest request{OpKind::Conv2d, attrs, in};
  const LayoutChoice first = one->wishes().layouts->choose(request);
  for (Backend* backend : {one.get(), other.get()}) {
    const LayoutChoice again = backend->wishes().layouts->choose(request);
    EXPECT_EQ(again.in, first.in);
    EXPECT_EQ(again.attrs, first.attrs);
  }
}

}  // namespace
}  // namespace stepscope::onednn
