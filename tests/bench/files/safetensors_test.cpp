// safetensors: what is written reads back, and every way a header can lie.
// SPDX-License-Identifier: Apache-2.0
#include "bench/files/safetensors.h"

#include <gtest/gtest.h>

#include "tests/bench/files/bytes.h"
#include "tests/bench/temp_folder.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::bytes_from;
using test::error_of;
using test::number;
using test::safetensors_text;

Safetensors parse(const std::string& file) {
  return read_safetensors(bytes_from(file), "x.safetensors");
}
// Without the name of the file, which begins each.
std::string refusal(const std::string& file) {
  const std::string said = error_of([&] { parse(file); });
  constexpr std::string_view kBegin = "bad input: x.safetensors: ";
  return said.substr(0, kBegin.size()) == kBegin ? said.substr(kBegin.size()) : said;
}
std::string tensor(std::string_view name, std::string_view fields) {
  return fmt::format("\"{}\":{{{}}}", name, fields);
}
std::string bytes_at(int begin, int end) {
  return fmt::format(R"("dtype":"U8","shape":[{}],"data_offsets":[{},{}])", end - begin, begin,
                     end);
}

TEST(Safetensors, ReadsTensorsInTheOrderOfTheHeader) {
  const std::string header =
      R"( )"
      R"({"w":{"shape":[2],"data_offsets":[2,10],"dtype":"F32"},"__metadata__":{"k":"v"},)"
      R"("b":{"dtype":"U8","shape":[1,2],"data_offsets":[0,2]},"e":{"dtype":"I64","shape":[0],)"
      R"("data_offsets":[2,2]}}   )";
  const Safetensors content =
      parse(safetensors_text(header.substr(1), "xy" + test::elements_of<float>({1.5F, 2.5F})));
  ASSERT_EQ(content.tensors.size(), 3U);
  EXPECT_EQ(content.tensors[0].name, "w");
  EXPECT_EQ(content.tensors[0].element, Element::f32);
  EXPECT_EQ(test::list_of<float>(content.tensors[0].bytes), (std::vector<float>{1.5F, 2.5F}));
  EXPECT_EQ(content.tensors[1].shape, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(content.tensors[2].bytes.size(), 0U);
  EXPECT_EQ(content.metadata, (std::map<std::string, std::string>{{"k", "v"}}));
}

TEST(Safetensors, WhatIsWrittenReadsBackAndIsAligned) {
  const std::vector<float> list{1, 2, 3};
  Safetensors content{.tensors = {make_tensor("w \"q\"", {3}, list)}, .metadata = {{"a", "b\n"}}};
  content.tensors.push_back({.name = "byte", .element = Element::u8, .shape = {}, .bytes = {{}}});
  content.tensors.push_back(
      {.name = "wide", .element = Element::f64, .shape = {1}, .bytes = std::vector<std::byte>(8)});
  const std::string file = to_safetensors(content);
  EXPECT_EQ(file, to_safetensors(content));
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < 8; ++i) length |= std::uint64_t{bytes_from(file)[i]} << (8 * i);
  EXPECT_EQ(length % 8, 0U);
  // Wide elements lie first, so that each is aligned; the header keeps the given order.
  EXPECT_NE(file.find(R"("wide":{"dtype":"F64","shape":[1],"data_offsets":[0,8]})"),
            std::string::npos);
  const Safetensors back = parse(file);
  EXPECT_EQ(back.metadata, content.metadata);
  ASSERT_EQ(back.tensors.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(back.tensors[i].name, content.tensors[i].name);
    EXPECT_EQ(back.tensors[i].element, content.tensors[i].element);
    EXPECT_EQ(back.tensors[i].shape, content.tensors[i].shape);
    EXPECT_EQ(back.tensors[i].bytes, content.tensors[i].bytes);
  }
  EXPECT_EQ(parse(to_safetensors({})).tensors.size(), 0U);
}

TEST(Safetensors, LengthsThatLie) {
  EXPECT_EQ(refusal("1234567"),
            "7 bytes, expected a safetensors file, which begins with 8 of the header's length");
  EXPECT_EQ(refusal(number(100'000'001, 8)),
            "a header of 100000001 bytes, expected a safetensors file, whose header has at most "
            "100000000");
  EXPECT_EQ(refusal(number(3, 8) + "{}"), "a header of 3 bytes, there are 2");
  EXPECT_EQ(refusal(number(0, 8)),
            "the header does not begin with '{', expected a safetensors "
            "file");
  EXPECT_EQ(refusal(safetensors_text("[]")),
            "the header does not begin with '{', expected a safetensors file");
}

TEST(Safetensors, HeadersThatAreNoJson) {
  EXPECT_EQ(refusal(safetensors_text("{\"a\":}")), "the header is no JSON at byte 13 of the file");
  EXPECT_EQ(refusal(safetensors_text("{} {}")), "the header is no JSON at byte 11 of the file");
  EXPECT_EQ(refusal(safetensors_text("{\"\xff\":1}")),
            "the header is no JSON at byte 10 of the file");
}

// A parser that recursed, or kept what it has read, would fall here.
TEST(Safetensors, DeepHeadersEndAtTheSecondFloor) {
  EXPECT_EQ(refusal(safetensors_text("{\"a\":" + std::string(1 << 20, '['))),
            "header: tensor 'a' is a list, expected an object of dtype, shape and data_offsets");
  EXPECT_EQ(refusal(safetensors_text("{\"a\":{\"shape\":" + std::string(1 << 20, '['))),
            "header: tensor 'a': shape holds a list, expected numbers from 0");
}

TEST(Safetensors, FieldsOfATensor) {
  const auto said = [](std::string_view fields) {
    return refusal(safetensors_text(fmt::format("{{{}}}", tensor("a", fields))));
  };
  EXPECT_EQ(
      said(R"("dtype":"F8_E4M3")"),
      "header: tensor 'a': element type 'F8_E4M3' is not supported; there are: F64, F32, I64, "
      "I32, U8, F16, BF16");
  EXPECT_EQ(said(R"("dtype":1)"), "header: tensor 'a': dtype is 1, expected a string");
  EXPECT_EQ(said(R"("shape":"2")"), "header: tensor 'a': shape is '2', expected a list of numbers");
  EXPECT_EQ(said(R"("shape":[-1])"), "header: tensor 'a': shape holds -1, expected numbers from 0");
  EXPECT_EQ(said(R"("shape":[1.5])"),
            "header: tensor 'a': shape holds 1.5, expected numbers from 0");
  EXPECT_EQ(said(R"("shape":[9223372036854775808])"),
            "header: tensor 'a': shape is 9223372036854775808, more than 63 bits");
  EXPECT_EQ(said(R"("data_offsets":[0])"),
            "header: tensor 'a': data_offsets has 1 numbers, expected begin and end");
  EXPECT_EQ(said(R"("strides":[1])"),
            "header: tensor 'a': unknown field 'strides'; expected dtype, shape and data_offsets");
  EXPECT_EQ(said(R"("shape":[],"shape":[])"), "header: tensor 'a': shape stands there twice");
  EXPECT_EQ(said(R"("dtype":"U8","shape":[])"), "header: tensor 'a': no data_offsets");
}

TEST(Safetensors, NamesAndMetadata) {
  EXPECT_EQ(refusal(safetensors_text(
                fmt::format("{{{},{}}}", tensor("a", bytes_at(0, 1)), tensor("a", bytes_at(1, 2))),
                "xy")),
            "header: tensor 'a' stands there twice");
  EXPECT_EQ(refusal(safetensors_text(R"({"__metadata__":[1]})")),
            "header: __metadata__ is a list, expected an object of strings");
  EXPECT_EQ(refusal(safetensors_text(R"({"__metadata__":{"step":1}})")),
            "header: __metadata__: 'step' is 1, expected a string");
  EXPECT_EQ(refusal(safetensors_text(R"({"__metadata__":{"a":"1","a":"2"}})")),
            "header: __metadata__ has 'a' twice");
  EXPECT_EQ(refusal(safetensors_text(R"({"a":null})")),
            "header: tensor 'a' is null, expected an object of dtype, shape and data_offsets");
}

TEST(Safetensors, EveryByteBelongsToOneTensor) {
  const auto said = [](const std::string& a, const std::string& b, std::string_view data) {
    return refusal(
        safetensors_text(fmt::format("{{{},{}}}", tensor("a", a), tensor("b", b)), data));
  };
  EXPECT_EQ(said(bytes_at(0, 2), bytes_at(1, 3), "xyz"),
            "tensor 'b' begins at byte 1 of the data, expected 2: tensors may not overlap");
  EXPECT_EQ(said(bytes_at(2, 3), bytes_at(0, 1), "xyz"),
            "tensor 'a' begins at byte 2 of the data, expected 1: no byte may lie between them");
  EXPECT_EQ(said(bytes_at(0, 1), bytes_at(1, 2), "xyz"), "3 bytes of data, the tensors take 2");
  EXPECT_EQ(said(bytes_at(0, 1), bytes_at(1, 4), "xyz"),
            "tensor 'b': data_offsets 1 to 4 do not lie in the 3 bytes of data");
  EXPECT_EQ(said(bytes_at(0, 1), R"("dtype":"U8","shape":[1],"data_offsets":[2,1])", "xyz"),
            "tensor 'b': data_offsets 2 to 1 do not lie in the 3 bytes of data");
  EXPECT_EQ(said(bytes_at(0, 1), R"("dtype":"F32","shape":[2],"data_offsets":[1,3])", "xyz"),
            "tensor 'b': f32 of {2} take 8 bytes, data_offsets give 2");
  EXPECT_EQ(said(bytes_at(0, 1),
                 R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[1,3])", "xyz"),
            "tensor 'b': {4294967296, 4294967296} is too large");
}

TEST(Safetensors, OtherElementTypesAreLeftOutForThoseWhoAsk) {
  std::vector<UnreadTensor> unread;
  const auto file = [](std::string_view fields) {
    return bytes_from(safetensors_text(
        fmt::format("{{{},{}}}", tensor("a", fields), tensor("b", bytes_at(4, 6))), "wxyzuv"));
  };
  const Safetensors content = read_safetensors(
      file(R"("dtype":"I16","shape":[2],"data_offsets":[0,4])"), "x.safetensors", &unread);
  ASSERT_EQ(content.tensors.size(), 1U);
  EXPECT_EQ(test::list_of<char>(content.tensors[0].bytes), (std::vector<char>{'u', 'v'}));
  ASSERT_EQ(unread.size(), 1U);
  EXPECT_EQ(unread[0].name, "a");
  EXPECT_EQ(unread[0].why,
            "x.safetensors: header: tensor 'a': element type 'I16' is not supported; there are: "
            "F64, F32, I64, I32, U8, F16, BF16");
  // What the format says of sizes and places holds for them too.
  const auto said = [&](std::string_view fields) {
    return error_of([&] { read_safetensors(file(fields), "x", &unread); });
  };
  EXPECT_EQ(said(R"("dtype":"BOOL","shape":[3],"data_offsets":[0,4])"),
            "bad input: x: tensor 'a': BOOL of {3} take 3 bytes, data_offsets give 4");
  EXPECT_EQ(said(R"("dtype":"C64","shape":[4611686018427387904],"data_offsets":[0,4])"),
            "bad input: x: tensor 'a': {4611686018427387904} is too large");
  EXPECT_EQ(said(R"("dtype":"F4","shape":[3],"data_offsets":[0,3])"),
            "bad input: x: tensor 'b' begins at byte 4 of the data, expected 3: no byte may lie "
            "between them");
  EXPECT_EQ(said(R"("dtype":"F4","shape":[8],"data_offsets":[0,9])"),
            "bad input: x: tensor 'a': data_offsets 0 to 9 do not lie in the 6 bytes of data");
  EXPECT_EQ(said(R"("dtype":"F4","shape":[8],"data_offsets":[0,4])"), "no error");
}

TEST(Safetensors, WritingRefuses) {
  const HostTensor a{.name = "a", .element = Element::u8, .shape = {0}};
  EXPECT_EQ(error_of([&] {
              to_safetensors({.tensors = {a, a}});
            }),
            "bad input: safetensors: tensor 'a' cannot be written twice");
  EXPECT_EQ(error_of([] {
              to_safetensors(
                  {.tensors = {{.name = "__metadata__", .element = Element::u8, .shape = {0}}}});
            }),
            "bad input: safetensors: tensor '__metadata__' cannot be written under the name of the "
            "metadata");
  EXPECT_EQ(error_of([] { to_safetensors({.tensors = {{.name = "a", .shape = {2}}}}); }),
            "bad input: safetensors: tensor 'a': 0 bytes are not those of f32 {2}");
  EXPECT_EQ(error_of([] {
              to_safetensors({.metadata = {{"a", "\xff"}}});
            }),
            "bad input: safetensors: '\xff' is no UTF-8");
}

TEST(Safetensors, FileByPath) {
  const test::TempFolder folder;
  EXPECT_EQ(
      read_safetensors(folder.write("x", std::string_view(to_safetensors({})))).tensors.size(), 0U);
  const std::string gone = (folder.path() / "gone").string();
  EXPECT_EQ(error_of([&] { read_safetensors(gone); }),
            "io: " + gone + ": cannot be opened: No such file or directory");
}

}  // namespace
}  // namespace stepscope
