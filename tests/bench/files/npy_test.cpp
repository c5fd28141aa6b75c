// NPY: the headers NumPy writes, and every refusal by name.
// SPDX-License-Identifier: Apache-2.0
#include "bench/files/npy.h"

#include <gtest/gtest.h>

#include "tests/bench/files/bytes.h"
#include "tests/bench/temp_folder.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::bytes_from;
using test::elements_of;
using test::error_of;
using test::list_of;
using test::npy_text;

HostTensor parse(const std::string& file) { return read_npy(bytes_from(file), "x.npy"); }
std::string refusal(const std::string& file) {
  return error_of([&] { parse(file); });
}
std::string dict(std::string_view descr, std::string_view order = "False",
                 std::string_view shape = "(2,)") {
  return fmt::format("{{'descr': {}, 'fortran_order': {}, 'shape': {}, }}   \n", descr, order,
                     shape);
}

TEST(Npy, ReadsEveryElementTypeInEveryVersion) {
  for (const unsigned version : {1U, 2U, 3U}) {
    const HostTensor f32 =
        parse(npy_text(dict("'<f4'"), elements_of<float>({1.5F, -2.0F}), version));
    EXPECT_EQ(f32.element, Element::f32);
    EXPECT_EQ(f32.shape, (std::vector<std::int64_t>{2}));
    EXPECT_EQ(list_of<float>(f32.bytes), (std::vector<float>{1.5F, -2.0F}));
  }
  EXPECT_EQ(parse(npy_text(dict("'<f8'"), elements_of<double>({1, 2}))).element, Element::f64);
  EXPECT_EQ(parse(npy_text(dict("'<i4'"), elements_of<std::int32_t>({1, 2}))).element,
            Element::i32);
  EXPECT_EQ(parse(npy_text(dict("\"<i8\""), elements_of<std::int64_t>({1, 2}))).element,
            Element::i64);
  EXPECT_EQ(parse(npy_text(dict("'|u1'"), "ab")).element, Element::u8);
}

TEST(Npy, ShapesOfAnyRank) {
  EXPECT_TRUE(parse(npy_text(dict("'|u1'", "False", "()"), "a")).shape.empty());
  EXPECT_EQ(parse(npy_text(dict("'|u1'", "False", "(2, 3)"), "abcdef")).shape,
            (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(parse(npy_text(dict("'|u1'", "False", "(0, 3,)"), "")).shape,
            (std::vector<std::int64_t>{0, 3}));
}

TEST(Npy, ElementTypesAreRefusedByName) {
  constexpr std::string_view kExpected = "; expected '<f4', '<f8', '<i4', '<i8' or '|u1'";
  const auto said = [&](std::string_view what) {
    return fmt::format("bad input: x.npy: {}{}", what, kExpected);
  };
  EXPECT_EQ(refusal(npy_text(dict("'>f4'"), "12345678")), said("element type '>f4' is big-endian"));
  EXPECT_EQ(refusal(npy_text(dict("'|O'"), "12345678")),
            said("element type '|O' is Python objects (pickle), never read"));
  EXPECT_EQ(refusal(npy_text(dict("'|V8'"), "12345678")),
            said("element type '|V8' is raw or structured data"));
  EXPECT_EQ(refusal(npy_text(dict("[('a', '<f4'), ('b', '<i4')]"), "12345678")),
            said("a structured element type is not supported"));
  EXPECT_EQ(refusal(npy_text(dict("'<f2'"), "1234")), said("element type '<f2' is not supported"));
}

TEST(Npy, FortranOrderIsRefusedByName) {
  EXPECT_EQ(refusal(npy_text(dict("'<f4'", "True", "(2, 1)"), "12345678")),
            "bad input: x.npy: is in Fortran order, expected C order: save "
            "numpy.ascontiguousarray(...) of it");
}

TEST(Npy, SizesMustBeThoseOfTheShape) {
  EXPECT_EQ(refusal(npy_text(dict("'<f4'"), "1234567")),
            "bad input: x.npy: truncated: f32 of {2} take 8 bytes, there are 7");
  EXPECT_EQ(refusal(npy_text(dict("'<f4'"), "123456789")),
            "bad input: x.npy: trailing bytes: f32 of {2} take 8 bytes, there are 9");
  EXPECT_EQ(refusal(npy_text(dict("'<f4'", "False", "(4294967296, 4294967296)"), "")),
            "bad input: x.npy: shape {4294967296, 4294967296} is too large");
}

TEST(Npy, WhatIsNoNpyFile) {
  constexpr std::string_view kNone =
      "bad input: x.npy: is no NPY file: it does not begin with \\x93NUMPY and a version";
  EXPECT_EQ(refusal(""), "bad input: x.npy: is empty, expected an NPY file");
  EXPECT_EQ(refusal("\x93NUMP"), kNone);
  EXPECT_EQ(refusal("PK\x03\x04 and more"), kNone);
  EXPECT_EQ(refusal(npy_text(dict("'<f4'"), "12345678", 4)),
            "bad input: x.npy: NPY version 4.0, expected 1.0, 2.0 or 3.0");
  EXPECT_EQ(refusal(npy_text(dict("'<f4'"), "").substr(0, 40)),
            "bad input: x.npy: truncated: the header takes 71 bytes, the file has 40");
  EXPECT_EQ(refusal(npy_text(dict("'<f4'"), "", 2).substr(0, 9)),
            "bad input: x.npy: truncated: the header takes 73 bytes, the file has 9");
}

TEST(Npy, HeadersAreReadStrictly) {
  const auto said = [](std::string_view header) { return refusal(npy_text(header, "ab")); };
  EXPECT_EQ(said("{'descr': '|u1', 'fortran_order': False, 'shape': (2)}"),
            "bad input: x.npy: header: expected ',' at byte 62, there is ')}'");
  EXPECT_EQ(said("{'descr': '|u1', 'fortran_order': False, 'shape': (-2,)}"),
            "bad input: x.npy: header: expected a number from 0 of at most 63 bits at byte 61, "
            "there is '-2,)}'");
  EXPECT_EQ(said("{'descr': '|u1', 'fortran_order': 0, 'shape': (2,)}"),
            "bad input: x.npy: header: expected True or False at byte 44, there is '0, 'shap'");
  EXPECT_EQ(said("{'descr': '|u1', 'fortran_order': False}"), "bad input: x.npy: header: no shape");
  EXPECT_EQ(
      said("{'descr': '|u1', 'descr': '|u1'}"),
      "bad input: x.npy: header: there is a second 'descr'; expected descr, fortran_order and "
      "shape, each once");
  EXPECT_EQ(said("{'type': '|u1'}"),
            "bad input: x.npy: header: unknown field 'type'; expected descr, fortran_order and "
            "shape, each once");
  EXPECT_EQ(said("{'descr': '|u1"),
            "bad input: x.npy: header: expected the end of a plain string at byte 21, there is "
            "'|u1'");
  EXPECT_EQ(said(dict("'|u1'") + "import os"),
            "bad input: x.npy: header: expected the end of the header at byte 71, there is 'import "
            "o'");
  EXPECT_EQ(said(""), "bad input: x.npy: header: expected '{' at byte 10, there is its end");
}

TEST(Npy, WhatIsWrittenReadsBackAndIsAligned) {
  const std::vector<float> list{1, 2, 3, 4, 5, 6};
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{6}, std::vector<std::int64_t>{2, 3}}) {
    const std::string file = to_npy(make_tensor("w", shape, list));
    EXPECT_EQ((file.size() - 24) % 64, 0U);
    const HostTensor back = parse(file);
    EXPECT_EQ(back.shape, shape);
    EXPECT_EQ(list_of<float>(back.bytes), list);
  }
}

TEST(Npy, WritingRefuses) {
  EXPECT_EQ(error_of([] { to_npy({.element = Element::bf16, .shape = {0}}); }),
            "unsupported: npy: bf16 cannot be written; expected '<f4', '<f8', '<i4', '<i8' or "
            "'|u1'");
  EXPECT_EQ(error_of([] { to_npy({.element = Element::f32, .shape = {1}}); }),
            "bad input: npy: 0 bytes are not those of f32 {1}");
}

}  // namespace
}  // namespace stepscope
