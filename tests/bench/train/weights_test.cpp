// Weights from files of others: names, maps, shapes; and what a run saves is what is loaded again.
// SPDX-License-Identifier: Apache-2.0
#include "bench/train/weights.h"

#include <gtest/gtest.h>

#include <limits>
#include <span>

#include "backends/registry/registry.h"
#include "bench/files/files.h"
#include "bench/files/npy.h"
#include "bench/files/safetensors.h"
#include "tests/bench/files/bytes.h"
#include "tests/bench/temp_folder.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;
using test::TempFolder;

constexpr std::string_view kModel = "mlp:3-2";  // w1 {3, 2}, b1 {2}

std::vector<float> count_up(std::size_t size) {
  std::vector<float> list;
  for (std::size_t i = 0; i < size; ++i) list.push_back(static_cast<float>(i) + 0.25F);
  return list;
}

HostTensor tensor(std::string name, std::vector<std::int64_t> shape) {
  const auto size = static_cast<std::size_t>(*elements(shape));
  return make_tensor(std::move(name), std::move(shape), count_up(size));
}

const Initial& initial(const Model& model, std::string_view name) {
  for (const Initial& each : model.initial) {
    if (each.name == name) return each;
  }
  ADD_FAILURE() << "no " << name;
  return model.initial.front();
}

class Weights : public testing::Test {
 protected:
  std::filesystem::path save(const std::vector<HostTensor>& tensors) const {
    return folder_.write("w.safetensors",
                         std::string_view(to_safetensors({.tensors = tensors, .metadata = {}})));
  }
  // What is said, without the name of the file.
  std::string refusal(const std::vector<HostTensor>& tensors, std::string_view map = "") const {
    const std::filesystem::path file = save(tensors);
    Model model = make_model(kModel);
    std::string said = error_of([&] { load_weights(model, file, parse_weights_map(map, "map")); });
    const std::size_t at = said.find(file.string());
    return at == std::string::npos ? said : said.replace(at, file.string().size(), "FILE");
  }

  TempFolder folder_;
};

TEST_F(Weights, ByNameFromSafetensorsAndNpz) {
  const std::vector<HostTensor> tensors{tensor("b1", {2}), tensor("other", {9}),
                                        tensor("w1", {3, 2})};
  Model model = make_model(kModel);
  load_weights(model, save(tensors));
  EXPECT_EQ(initial(model, "w1").kind, Initial::Kind::values);
  EXPECT_EQ(*initial(model, "w1").values,
            (std::vector<double>{0.25, 1.25, 2.25, 3.25, 4.25, 5.25}));
  EXPECT_EQ(*initial(model, "b1").values, (std::vector<double>{0.25, 1.25}));

  Model again = make_model(kModel);
  const auto npz = folder_.write(
      "w.bin", std::string_view(test::zip_text({test::packed("w1.npy", to_npy(tensors[2])),
                                                test::stored("b1.npy", to_npy(tensors[0]))})));
  load_weights(again, npz);
  EXPECT_EQ(*initial(again, "w1").values, *initial(model, "w1").values);
}

TEST_F(Weights, MapRenamesAndTransposes) {
  const auto file = save({tensor("fc.weight", {2, 3}), tensor("fc.bias", {2})});
  Model model = make_model(kModel);
  load_weights(model, file,
               parse_weights_map("# from PyTorch\nw1=fc.weight transposed # {out, in}\r\n\n"
                                 "  b1  =  fc.bias",
                                 "map"));
  // w1[i][j] is fc.weight[j][i].
  EXPECT_EQ(*initial(model, "w1").values,
            (std::vector<double>{0.25, 3.25, 1.25, 4.25, 2.25, 5.25}));
  EXPECT_EQ(*initial(model, "b1").values, (std::vector<double>{0.25, 1.25}));
}

TEST_F(Weights, NamesAreTriedBothWays) {
  EXPECT_EQ(refusal({tensor("w1", {3, 2}), tensor("b10", {2})}),
            "bad input: FILE: unknown tensor 'b1': did you mean 'w1'? (there are: w1, b10)");
  EXPECT_EQ(refusal({tensor("w1", {3, 2}), tensor("b1", {2})}, "w1 = w1\nb2 = b1"),
            "bad input: map: line 2: unknown parameter 'b2': did you mean 'b1'? (there are: w1, "
            "b1)");
  EXPECT_EQ(refusal({tensor("fc.weight", {3, 2}), tensor("b1", {2})}, "w1 = fc.wieght"),
            "bad input: FILE (line 1 of map): unknown tensor 'fc.wieght': did you mean "
            "'fc.weight'? (there are: fc.weight, b1)");
}

TEST_F(Weights, ShapesAreNamedBoth) {
  EXPECT_EQ(refusal({tensor("w1", {3, 4}), tensor("b1", {2})}),
            "bad input: FILE: tensor 'w1' is {3, 4}, 'w1' is {3, 2}");
  EXPECT_EQ(refusal({tensor("w1", {2, 3}), tensor("b1", {2})}),
            "bad input: FILE: tensor 'w1' is {2, 3}, 'w1' is {3, 2}: give a map with `transposed` "
            "behind it");
  EXPECT_EQ(refusal({tensor("w1", {3, 2}), tensor("b1", {2})}, "w1 = w1 transposed"),
            "bad input: FILE (line 1 of map): tensor 'w1' is {3, 2}, 'w1' is {3, 2} and takes it "
            "transposed");
  EXPECT_EQ(refusal({tensor("w1", {3, 2}), tensor("b1", {2})}, "b1 = b1 transposed"),
            "bad input: FILE (line 1 of map): 'b1' is {2}: only two dimensions can be transposed");
  HostTensor whole{.name = "w1", .element = Element::u8, .shape = {3, 2}};
  whole.bytes.resize(6);
  EXPECT_EQ(refusal({whole, tensor("b1", {2})}),
            "bad input: FILE: tensor 'w1' holds u8, expected a floating-point type");
}

TEST_F(Weights, OtherElementTypesAreRefusedOnlyWhereTheyAreWanted) {
  const std::string header = R"({"mask":{"dtype":"BOOL","shape":[4],"data_offsets":[0,4]},)"
                             R"("w1":{"dtype":"F32","shape":[3,2],"data_offsets":[4,28]},)"
                             R"("b1":{"dtype":"F32","shape":[2],"data_offsets":[28,36]}})";
  const auto file = folder_.write(
      "w.safetensors", std::string_view(test::safetensors_text(header, std::string(36, '\0'))));
  Model model = make_model(kModel);
  load_weights(model, file);
  EXPECT_EQ(*initial(model, "w1").values, std::vector<double>(6, 0.0));
  const std::string who = file.string();
  EXPECT_EQ(error_of([&] { load_weights(model, file, parse_weights_map("b1 = mask", "map")); }),
            "bad input: " + who +
                ": header: tensor 'mask': element type 'BOOL' is not supported; there are: F64, "
                "F32, I64, I32, U8, F16, BF16");

  const std::string flags =
      test::npy_text("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", "xy");
  const auto npz = folder_.write(
      "w.npz", std::string_view(test::zip_text({test::stored("mask.npy", flags),
                                                test::stored("w1.npy", to_npy(tensor("", {3, 2}))),
                                                test::stored("b1.npy", to_npy(tensor("", {2})))})));
  load_weights(model, npz);
  EXPECT_EQ(initial(model, "b1").values->at(1), 1.25);
  EXPECT_EQ(error_of([&] { load_weights(model, npz, parse_weights_map("b1 = mask", "map")); }),
            "bad input: " + npz.string() +
                ": member 'mask.npy': element type '|b1' is not supported; expected '<f4', '<f8', "
                "'<i4', '<i8' or '|u1'");
}

TEST_F(Weights, ElementsThatF32CannotHoldAreNamed) {
  const auto with = [&](double odd) {
    HostTensor b1{.name = "b1", .element = Element::f64, .shape = {2}};
    const std::vector<double> list{1.0, odd};
    const auto bytes = std::as_bytes(std::span(list));
    b1.bytes = {bytes.begin(), bytes.end()};
    return refusal({tensor("w1", {3, 2}), b1});
  };
  const std::string begin = "bad input: FILE: tensor 'b1': element 1 is ";
  const std::string end = ", expected a finite number that f32 holds";
  EXPECT_EQ(with(std::numeric_limits<double>::quiet_NaN()), begin + "nan" + end);
  EXPECT_EQ(with(-std::numeric_limits<double>::infinity()), begin + "-inf" + end);
  EXPECT_EQ(with(1e300), begin + "1e+300" + end);
  EXPECT_EQ(with(3.4028234663852886e38), "no error");  // the largest f32
}

TEST_F(Weights, WhatIsNoFileOfWeights) {
  Model model = make_model(kModel);
  const auto text = folder_.write("t", std::string_view("just some text"));
  EXPECT_EQ(error_of([&] { load_weights(model, text); }),
            "bad input: " + text.string() +
                ": is neither NPZ nor safetensors: expected PK at byte 0, or '{' at byte 8");
  const auto npy = folder_.write("n", std::string_view(to_npy(tensor("", {2}))));
  EXPECT_EQ(error_of([&] { load_weights(model, npy); }),
            "bad input: " + npy.string() +
                ": is NPY, one array without a name; expected NPZ or safetensors");
}

TEST_F(Weights, MapsAreReadStrictly) {
  for (const char* line :
       {"w1", "w1 =", "= w1", "w1 = a b", "w 1 = a", "w1 = a transposed twice"}) {
    EXPECT_EQ(error_of([&] { parse_weights_map(fmt::format("\n{}\n", line), "map"); }),
              fmt::format("bad input: map: line 2: '{}': expected `parameter = tensor` or "
                          "`parameter = tensor transposed`",
                          line));
  }
  EXPECT_EQ(error_of([] { parse_weights_map("a = b\nc = d\na = e", "map"); }),
            "bad input: map: line 3: 'a' has a line already, line 1");
}

TEST_F(Weights, FilesNamedByAModel) {
  Model model = make_model(kModel);
  for (Initial& each : model.initial) {
    if (each.name == "w1") {
      each.kind = Initial::Kind::file;
      each.file = "w.safetensors";
      each.tensor = "first";
    }
    if (each.name == "b1") {
      each.kind = Initial::Kind::file;
      each.file = "sub/b.npy";
    }
  }
  save({tensor("first", {3, 2})});
  folder_.write("sub/b.npy", std::string_view(to_npy(tensor("", {2}))));
  Model resolved = model;
  resolve_files(resolved, folder_.path());
  EXPECT_EQ(initial(resolved, "w1").values->size(), 6U);
  EXPECT_EQ(*initial(resolved, "b1").values, (std::vector<double>{0.25, 1.25}));

  folder_.write("sub/b.npy", std::string_view(to_npy(tensor("", {3}))));
  resolved = model;
  EXPECT_EQ(
      error_of([&] { resolve_files(resolved, folder_.path()); }),
      "bad input: " + (folder_.path() / "sub/b.npy").string() + ": tensor '' is {3}, 'b1' is {2}");
}

// A few steps, saved, loaded into a new session: the same evaluation, bit for bit.
TEST_F(Weights, WhatARunSavesEvaluatesTheSameWhenLoaded) {
  const auto backend = Registry::builtin().make("reference", {});
  const SessionOptions options{
      .mode = Mode::planned, .step_batches = {4}, .evaluation_batches = {4}, .seed = 5};
  const std::vector<float> x = count_up(12);
  const std::vector<std::int32_t> labels{0, 1, 1, 0};
  Model model = make_model(kModel);
  Session trained(*backend, model, options);
  trained.load(x, labels);
  const double untrained_loss = trained.evaluate(4).loss;
  for (int i = 0; i < 3; ++i) trained.enqueue_step(4);
  const Evaluation expected = trained.evaluate(4);
  EXPECT_NE(expected.loss, untrained_loss);

  const std::filesystem::path file = folder_.path() / "out" / "w.safetensors";
  save_weights(trained, file);
  const Safetensors saved = read_safetensors(file);
  ASSERT_EQ(saved.tensors.size(), 2U);  // parameters alone
  EXPECT_EQ(saved.metadata.at("model"), kModel);
  load_weights(model, file);
  Session loaded(*backend, model, options);
  loaded.load(x, labels);
  const Evaluation found = loaded.evaluate(4);
  EXPECT_EQ(found.loss, expected.loss);
  EXPECT_EQ(found.correct, expected.correct);
}

}  // namespace
}  // namespace stepscope
