// All of oneDNN that this backend uses, in words of its own: library.cpp is the one includer of the
// library's header. Objects are made when ops are lowered; a launch sets addresses and executes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ops/ir/types.h"

namespace stepscope::onednn {

// Layouts of weights {O, C, KH, KW} are numbered from here: 256 + the library's tag, so a layout
// has the same number whoever asked for it first. row_major is the plain one.
inline constexpr std::uint16_t kFirstWeightLayout = 256;

// The library's word for how an activation {N, C, H, W} lies. One layout may have two: a block of
// exactly C channels is nhwc and nChw{C}c, and the library has other code for each.
enum class ImageFormat : std::uint8_t { nchw, nhwc, nChw4c, nChw8c, nChw16c };

// A convolution of x {N, C, H, W} with w {O, C, KH, KW} to y {N, O, OH, OW}.
struct Convolution {
  std::int64_t N, C, H, W;
  std::int64_t O, KH, KW, OH, OW;
  std::int64_t stride_h, stride_w, pad_h, pad_w;
};

enum class Direction : std::uint8_t {
  forward,      // x, w[, b] -> y
  input_grad,   // dy, w -> dx
  weight_grad,  // x, dy -> dw[, db]
};
enum class Bias : std::uint8_t { without, with };

struct ConvolutionFormats {
  ImageFormat x = ImageFormat::nchw;
  ImageFormat y = ImageFormat::nchw;
  std::optional<LayoutId> w;  // none: what the library likes best
};

// What the library would do.
struct Answer {
  std::string implementation;  // jit:avx512_core
  std::optional<LayoutId> w;   // none: the layout of the weights has no name
};

// c {M, N} = a {M, K} b {K, N}; a transposed operand lies as its transpose. All row-major.
struct Product {
  std::int64_t M, N, K;
  bool transpose_a, transpose_b;
};

// A primitive of the library with its memory objects and its argument list, all made. Holds the
// addresses of its last run, so one stream at a time may use it.
class Primitive {
 public:
  struct Parts;  // the library's objects
  explicit Primitive(std::unique_ptr<Parts> parts);
  ~Primitive();
  Primitive(Primitive&&) noexcept;
  Primitive& operator=(Primitive&&) noexcept;

  // Requires: the addresses of the operands, inputs first, in the order that the maker tells; as
  // many OpenMP threads as when it was made; scratch of scratch_bytes(). Throws device.
  void run(std::byte* const* operands, std::byte* scratch) const;
  std::size_t scratch_bytes() const;

 private:
  std::unique_ptr<Parts> parts_;
};

// An engine and a stream of the library. Everything that is made here keeps a reference to both.
class Library {
 public:
  Library();  // throws device
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  // None: the library has no such convolution.
  std::optional<Answer> ask(const Convolution& site, Direction direction, Bias bias,
                            const ConvolutionFormats& formats) const;

  // Each throws unsupported where the library has none, device where it fails. What they are made
  // for includes the number of OpenMP threads of the moment.
  Primitive convolution(const Convolution& site, Direction direction, Bias bias,
                        const ConvolutionFormats& formats) const;
  // a, b[, bias {N}] -> c
  Primitive product(const Product& site, Bias bias) const;
  // Weights of `shape` from one layout to another.
  Primitive reorder(const Shape& shape, LayoutId from, LayoutId to) const;

  // Primitives made so far: a launch must make none.
  std::uint64_t made() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// c = alpha a b + beta c, by the library's function; no object is made. Throws device.
void sgemm(const Product& site, float alpha, const float* a, const float* b, float beta, float* c);

// Whether a number is that of a layout of weights which the library knows.
bool is_weight_layout(LayoutId layout);
// Bytes of f32 weights with their padding. Throws unsupported for a layout that does not fit.
std::size_t weight_bytes(const Shape& shape, LayoutId layout);
// Where element i of the row-major weights lies, in elements.
std::vector<std::int64_t> weight_offsets(const Shape& shape, LayoutId layout);

std::string library_version();  // 2.6.3
std::string library_hash();  // of its sources, as it was built; N/A where the builder left it out
std::string instruction_set();  // the best that the library uses here: avx512_core

}  // namespace stepscope::onednn
