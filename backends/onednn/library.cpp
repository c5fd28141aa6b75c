// The adapter: the one file that sees the library's header. Written for oneDNN 2; version 3 has no
// operation descriptors (dnnl_*_desc_init became arguments of dnnl_*_primitive_desc_create) and
// hides dnnl_memory_desc_t behind queries, which touches make_desc(), Description and locate().
// SPDX-License-Identifier: Apache-2.0
#include "backends/onednn/library.h"

#include <dnnl.h>

#include <algorithm>
#include <array>
#include <utility>

#include "ops/base/check.h"

static_assert(DNNL_VERSION_MAJOR == 2, "the adapter is written for oneDNN 2");

namespace stepscope::onednn {
namespace {

void require(dnnl_status_t status, const char* what) {
  check(status == dnnl_success, Fault::device, "onednn: {} failed with status {}", what,
        static_cast<int>(status));
}

// Frees an object of the library with its own function.
template <class Object, dnnl_status_t (*kDestroy)(Object*)>
struct Destroy {
  void operator()(Object* object) const { kDestroy(object); }
};
template <class Object, dnnl_status_t (*kDestroy)(Object*)>
using Owner = std::unique_ptr<Object, Destroy<Object, kDestroy>>;
using Engine = Owner<dnnl_engine, dnnl_engine_destroy>;
using DnnlStream = Owner<dnnl_stream, dnnl_stream_destroy>;
using Attr = Owner<dnnl_primitive_attr, dnnl_primitive_attr_destroy>;
using Description = Owner<dnnl_primitive_desc, dnnl_primitive_desc_destroy>;
using DnnlPrimitive = Owner<dnnl_primitive, dnnl_primitive_destroy>;
using DnnlMemory = Owner<dnnl_memory, dnnl_memory_destroy>;

dnnl_memory_desc_t make_desc(std::initializer_list<std::int64_t> dims, dnnl_format_tag_t tag) {
  dnnl_dims_t sizes{};
  std::copy(dims.begin(), dims.end(), sizes);
  dnnl_memory_desc_t desc;
  check(dnnl_memory_desc_init_by_tag(&desc, static_cast<int>(dims.size()), sizes, dnnl_f32, tag) ==
            dnnl_success,
        Fault::unsupported, "onednn: format {} does not fit rank {}", static_cast<int>(tag),
        dims.size());
  return desc;
}

dnnl_memory_desc_t vector_desc(std::int64_t size) { return make_desc({size}, dnnl_a); }

dnnl_format_tag_t tag_of(ImageFormat format) {
  switch (format) {
    case ImageFormat::nchw:
      return dnnl_nchw;
    case ImageFormat::nhwc:
      return dnnl_nhwc;
    case ImageFormat::nChw4c:
      return dnnl_nChw4c;
    case ImageFormat::nChw8c:
      return dnnl_nChw8c;
    case ImageFormat::nChw16c:
      return dnnl_nChw16c;
  }
  fail(Fault::unsupported, "onednn: no image format {}", static_cast<int>(format));
}

dnnl_format_tag_t tag_of(LayoutId layout) {
  if (layout == LayoutId::row_major) return dnnl_oihw;
  check(is_weight_layout(layout), Fault::unsupported, "onednn: layout {} is none of weights",
        static_cast<int>(layout));
  return static_cast<dnnl_format_tag_t>(static_cast<int>(layout) - kFirstWeightLayout);
}

dnnl_memory_desc_t weight_desc(const Shape& shape, LayoutId layout) {
  check(shape.rank() == 4, Fault::unsupported,
        "onednn: layout {} is one of {{O, C, KH, KW}}, not {}", static_cast<int>(layout),
        to_string(shape));
  return make_desc({shape[0], shape[1], shape[2], shape[3]}, tag_of(layout));
}

// The tags that mean the same, in the library's own order. There may be several: the stride of a
// dimension of one element is nobody's.
std::vector<LayoutId> layouts_of(const dnnl_memory_desc_t& desc) {
  std::vector<LayoutId> layouts;
  for (int tag = dnnl_format_tag_any + 1; tag < dnnl_format_tag_last; ++tag) {
    if (static_cast<std::size_t>(tag) + kFirstWeightLayout >= kMostLayouts) break;
    dnnl_memory_desc_t named;
    if (dnnl_memory_desc_init_by_tag(&named, desc.ndims, desc.dims, dnnl_f32,
                                     static_cast<dnnl_format_tag_t>(tag)) == dnnl_success &&
        dnnl_memory_desc_equal(&named, &desc) != 0) {
      layouts.push_back(tag == dnnl_oihw ? LayoutId::row_major
                                         : static_cast<LayoutId>(kFirstWeightLayout + tag));
    }
  }
  return layouts;
}

// Scratch is the plan's memory, never the library's own.
Attr own_scratch() {
  dnnl_primitive_attr_t attr = nullptr;
  require(dnnl_primitive_attr_create(&attr), "making attributes");
  Attr owner(attr);
  require(dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user),
          "asking for scratch");
  return owner;
}

// Null where the library has no implementation.
Description describe(dnnl_engine_t engine, const void* operation,
                     const_dnnl_primitive_desc_t hint) {
  const Attr attr = own_scratch();
  dnnl_primitive_desc_t made = nullptr;
  if (dnnl_primitive_desc_create(&made, operation, attr.get(), engine, hint) != dnnl_success) {
    made = nullptr;
  }
  return Description(made);
}

const dnnl_memory_desc_t& queried(const Description& of, dnnl_query_t what, int index = 0) {
  return *dnnl_primitive_desc_query_md(of.get(), what, index);
}

struct ConvolutionDescs {
  dnnl_memory_desc_t x, w, bias, y;
  const dnnl_memory_desc_t* bias_or_null;
  dnnl_dims_t strides, pads;

  ConvolutionDescs(const Convolution& site, Bias with_bias, const ConvolutionFormats& formats)
      : x(make_desc({site.N, site.C, site.H, site.W}, tag_of(formats.x))),
        w(make_desc({site.O, site.C, site.KH, site.KW},
                    formats.w ? tag_of(*formats.w) : dnnl_format_tag_any)),
        bias(vector_desc(site.O)),
        y(make_desc({site.N, site.O, site.OH, site.OW}, tag_of(formats.y))),
        bias_or_null(with_bias == Bias::with ? &bias : nullptr),
        strides{site.stride_h, site.stride_w},
        pads{site.pad_h, site.pad_w} {}
  ConvolutionDescs(const ConvolutionDescs&) = delete;
  ConvolutionDescs& operator=(const ConvolutionDescs&) = delete;
};

Description describe_forward(dnnl_engine_t engine, const ConvolutionDescs& of,
                             const dnnl_memory_desc_t& w, const dnnl_memory_desc_t* bias) {
  dnnl_convolution_desc_t operation;
  if (dnnl_convolution_forward_desc_init(&operation, dnnl_forward_training, dnnl_convolution_direct,
                                         &of.x, &w, bias, &of.y, of.strides, of.pads,
                                         of.pads) != dnnl_success) {
    return nullptr;
  }
  return describe(engine, &operation, nullptr);
}

// The gradients ask for a forward convolution as a hint; its weights may lie otherwise.
Description describe_gradient(dnnl_engine_t engine, const ConvolutionDescs& of,
                              Direction direction) {
  dnnl_memory_desc_t any = of.w;
  dnnl_dims_t dims{};
  std::copy_n(of.w.dims, of.w.ndims, dims);
  require(dnnl_memory_desc_init_by_tag(&any, of.w.ndims, dims, dnnl_f32, dnnl_format_tag_any),
          "describing weights");
  const Description hint = describe_forward(engine, of, any, nullptr);
  if (!hint) return nullptr;
  dnnl_convolution_desc_t operation;
  const dnnl_status_t status =
      direction == Direction::input_grad
          ? dnnl_convolution_backward_data_desc_init(&operation, dnnl_convolution_direct, &of.x,
                                                     &of.w, &of.y, of.strides, of.pads, of.pads)
          : dnnl_convolution_backward_weights_desc_init(&operation, dnnl_convolution_direct, &of.x,
                                                        &of.w, of.bias_or_null, &of.y, of.strides,
                                                        of.pads, of.pads);
  if (status != dnnl_success) return nullptr;
  return describe(engine, &operation, hint.get());
}

Description describe(dnnl_engine_t engine, const Convolution& site, Direction direction, Bias bias,
                     const ConvolutionFormats& formats) {
  const ConvolutionDescs descs(site, bias, formats);
  return direction == Direction::forward
             ? describe_forward(engine, descs, descs.w, descs.bias_or_null)
             : describe_gradient(engine, descs, direction);
}

const dnnl_memory_desc_t& weights_of(const Description& of, Direction direction) {
  return queried(
      of, direction == Direction::weight_grad ? dnnl_query_diff_weights_md : dnnl_query_weights_md);
}

// Where the element at `place` lies.
std::int64_t locate(const dnnl_memory_desc_t& desc, std::array<std::int64_t, 4> place) {
  const dnnl_blocking_desc_t& blocking = desc.format_desc.blocking;
  std::int64_t offset = 0;
  std::int64_t inner = 1;
  for (int i = blocking.inner_nblks - 1; i >= 0; --i) {
    const auto axis = static_cast<std::size_t>(blocking.inner_idxs[i]);
    const std::int64_t block = blocking.inner_blks[i];
    offset += place[axis] % block * inner;
    place[axis] /= block;
    inner *= block;
  }
  for (std::size_t axis = 0; axis < place.size(); ++axis) {
    offset += place[axis] * blocking.strides[axis];
  }
  return offset;
}

}  // namespace

// --- a primitive
// ----------------------------------------------------------------------------------

struct Primitive::Parts {
  DnnlPrimitive primitive;
  std::vector<DnnlMemory> memory;  // per operand; then that of the scratch, if there is any
  std::vector<dnnl_exec_arg_t> arguments;
  std::size_t scratch = 0;
  std::size_t operands = 0;
  dnnl_stream_t stream = nullptr;
};

Primitive::Primitive(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Primitive::~Primitive() = default;
Primitive::Primitive(Primitive&&) noexcept = default;
Primitive& Primitive::operator=(Primitive&&) noexcept = default;

std::size_t Primitive::scratch_bytes() const { return parts_->scratch; }

void Primitive::run(std::byte* const* operands, std::byte* scratch) const {
  const Parts& parts = *parts_;
  for (std::size_t i = 0; i < parts.operands; ++i) {
    dnnl_memory_set_data_handle(parts.memory[i].get(), operands[i]);
  }
  if (parts.scratch > 0) dnnl_memory_set_data_handle(parts.memory.back().get(), scratch);
  require(dnnl_primitive_execute(parts.primitive.get(), parts.stream,
                                 static_cast<int>(parts.arguments.size()), parts.arguments.data()),
          "executing a primitive");
}

struct Library::State {
  Engine engine;
  DnnlStream stream;
  mutable std::uint64_t made = 0;

  using Operands = std::vector<std::pair<int, const dnnl_memory_desc_t*>>;

  Primitive make(const Description& description, const Operands& operands) const {
    auto parts = std::make_unique<Primitive::Parts>();
    dnnl_primitive_t primitive = nullptr;
    require(dnnl_primitive_create(&primitive, description.get()), "making a primitive");
    parts->primitive.reset(primitive);
    parts->stream = stream.get();
    parts->operands = operands.size();
    const dnnl_memory_desc_t& scratch = queried(description, dnnl_query_scratchpad_md);
    parts->scratch = dnnl_memory_desc_get_size(&scratch);
    Operands all = operands;
    if (parts->scratch > 0) all.emplace_back(DNNL_ARG_SCRATCHPAD, &scratch);
    parts->memory.reserve(all.size());
    parts->arguments.reserve(all.size());
    for (const auto& [argument, desc] : all) {
      dnnl_memory_t memory = nullptr;
      require(dnnl_memory_create(&memory, desc, engine.get(), DNNL_MEMORY_NONE),
              "making a memory object");
      parts->memory.emplace_back(memory);
      parts->arguments.push_back({argument, memory});
    }
    ++made;
    return Primitive(std::move(parts));
  }
};

Library::Library() : state_(std::make_unique<State>()) {
  // The library's own cache answers for descriptions that compare equal with what was made before,
  // under whatever name: without it, answers do not depend on what a process did earlier.
  require(dnnl_set_primitive_cache_capacity(0), "turning the library's cache off");
  dnnl_engine_t engine = nullptr;
  require(dnnl_engine_create(&engine, dnnl_cpu, 0), "making an engine");
  state_->engine.reset(engine);
  dnnl_stream_t stream = nullptr;
  require(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags), "making a stream");
  state_->stream.reset(stream);
}

Library::~Library() = default;

std::uint64_t Library::made() const { return state_->made; }

std::optional<Answer> Library::ask(const Convolution& site, Direction direction, Bias bias,
                                   const ConvolutionFormats& formats) const {
  const auto implementation = [&](const ConvolutionFormats& of) -> std::string {
    const Description description = describe(state_->engine.get(), site, direction, bias, of);
    const char* text = "";
    if (description) {
      require(dnnl_primitive_desc_query(description.get(), dnnl_query_impl_info_str, 0, &text),
              "asking for the implementation");
    }
    return text;
  };
  const std::string found = implementation(formats);
  if (found.empty()) return std::nullopt;
  if (formats.w) return Answer{found, formats.w};
  // Its implementations are more particular about names than its comparison is.
  const Description description = describe(state_->engine.get(), site, direction, bias, formats);
  for (const LayoutId w : layouts_of(weights_of(description, direction))) {
    if (implementation({formats.x, formats.y, w}) == found) return Answer{found, w};
  }
  return Answer{found, std::nullopt};
}

Primitive Library::convolution(const Convolution& site, Direction direction, Bias bias,
                               const ConvolutionFormats& formats) const {
  const Description of = describe(state_->engine.get(), site, direction, bias, formats);
  check(of != nullptr, Fault::unsupported,
        "onednn: has no convolution of {}x{}x{}x{} with {}x{}x{}x{} in formats {} and {}", site.N,
        site.C, site.H, site.W, site.O, site.C, site.KH, site.KW, static_cast<int>(formats.x),
        static_cast<int>(formats.y));
  const dnnl_memory_desc_t& w = weights_of(of, direction);
  State::Operands operands;
  switch (direction) {
    case Direction::forward:
      operands = {{DNNL_ARG_SRC, &queried(of, dnnl_query_src_md)}, {DNNL_ARG_WEIGHTS, &w}};
      if (bias == Bias::with) {
        operands.emplace_back(DNNL_ARG_BIAS, &queried(of, dnnl_query_weights_md, 1));
      }
      operands.emplace_back(DNNL_ARG_DST, &queried(of, dnnl_query_dst_md));
      break;
    case Direction::input_grad:
      operands = {{DNNL_ARG_DIFF_DST, &queried(of, dnnl_query_diff_dst_md)},
                  {DNNL_ARG_WEIGHTS, &w},
                  {DNNL_ARG_DIFF_SRC, &queried(of, dnnl_query_diff_src_md)}};
      break;
    case Direction::weight_grad:
      operands = {{DNNL_ARG_SRC, &queried(of, dnnl_query_src_md)},
                  {DNNL_ARG_DIFF_DST, &queried(of, dnnl_query_diff_dst_md)},
                  {DNNL_ARG_DIFF_WEIGHTS, &w}};
      if (bias == Bias::with) {
        operands.emplace_back(DNNL_ARG_DIFF_BIAS, &queried(of, dnnl_query_diff_weights_md, 1));
      }
      break;
  }
  return state_->make(of, operands);
}

Primitive Library::product(const Product& site, Bias bias) const {
  const auto desc = [](std::int64_t rows, std::int64_t columns, bool transposed) {
    return make_desc({rows, columns}, transposed ? dnnl_ba : dnnl_ab);
  };
  const dnnl_memory_desc_t a = desc(site.M, site.K, site.transpose_a);
  const dnnl_memory_desc_t b = desc(site.K, site.N, site.transpose_b);
  const dnnl_memory_desc_t row = desc(1, site.N, false);
  const dnnl_memory_desc_t c = desc(site.M, site.N, false);
  dnnl_matmul_desc_t operation;
  require(dnnl_matmul_desc_init(&operation, &a, &b, bias == Bias::with ? &row : nullptr, &c),
          "describing a product");
  const Description of = describe(state_->engine.get(), &operation, nullptr);
  check(of != nullptr, Fault::unsupported, "onednn: has no product {}x{}x{}", site.M, site.N,
        site.K);
  State::Operands operands = {{DNNL_ARG_SRC, &a}, {DNNL_ARG_WEIGHTS, &b}};
  if (bias == Bias::with) operands.emplace_back(DNNL_ARG_BIAS, &row);
  operands.emplace_back(DNNL_ARG_DST, &c);
  return state_->make(of, operands);
}

Primitive Library::reorder(const Shape& shape, LayoutId from, LayoutId to) const {
  const dnnl_memory_desc_t source = weight_desc(shape, from);
  const dnnl_memory_desc_t target = weight_desc(shape, to);
  const Attr attr = own_scratch();
  const dnnl_engine_t engine = state_->engine.get();
  dnnl_primitive_desc_t made = nullptr;
  const dnnl_status_t status =
      dnnl_reorder_primitive_desc_create(&made, &source, engine, &target, engine, attr.get());
  check(status == dnnl_success, Fault::unsupported,
        "onednn: cannot reorder {} from layout {} to {}", to_string(shape), static_cast<int>(from),
        static_cast<int>(to));
  return state_->make(Description(made), {{DNNL_ARG_FROM, &source}, {DNNL_ARG_TO, &target}});
}

// --- functions
// ------------------------------------------------------------------------------------

void sgemm(const Product& site, float alpha, const float* a, const float* b, float beta, float* c) {
  const auto& [M, N, K, transpose_a, transpose_b] = site;
  require(dnnl_sgemm(transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', M, N, K, alpha, a,
                     transpose_a ? M : K, b, transpose_b ? K : N, beta, c, N),
          "dnnl_sgemm");
}

bool is_weight_layout(LayoutId layout) {
  const int tag = static_cast<int>(layout) - kFirstWeightLayout;
  return tag > dnnl_format_tag_any && tag < dnnl_format_tag_last;
}

std::size_t weight_bytes(const Shape& shape, LayoutId layout) {
  const dnnl_memory_desc_t desc = weight_desc(shape, layout);
  return dnnl_memory_desc_get_size(&desc);
}

std::vector<std::int64_t> weight_offsets(const Shape& shape, LayoutId layout) {
  const dnnl_memory_desc_t desc = weight_desc(shape, layout);
  std::vector<std::int64_t> offsets;
  offsets.reserve(static_cast<std::size_t>(shape.elements()));
  for (std::int64_t o = 0; o < shape[0]; ++o) {
    for (std::int64_t c = 0; c < shape[1]; ++c) {
      for (std::int64_t h = 0; h < shape[2]; ++h) {
        for (std::int64_t w = 0; w < shape[3]; ++w) {
          offsets.push_back(locate(desc, {o, c, h, w}));
        }
      }
    }
  }
  return offsets;
}

std::string library_version() {
  const dnnl_version_t& version = *dnnl_version();
  return fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
}

std::string library_hash() { return dnnl_version()->hash; }

std::string instruction_set() {
  switch (dnnl_get_effective_cpu_isa()) {
    case dnnl_cpu_isa_sse41:
      return "sse41";
    case dnnl_cpu_isa_avx:
      return "avx";
    case dnnl_cpu_isa_avx2:
      return "avx2";
    case dnnl_cpu_isa_avx2_vnni:
      return "avx2_vnni";
    case dnnl_cpu_isa_avx512_core:
      return "avx512_core";
    case dnnl_cpu_isa_avx512_core_vnni:
      return "avx512_core_vnni";
    case dnnl_cpu_isa_avx512_core_bf16:
      return "avx512_core_bf16";
    case dnnl_cpu_isa_avx512_core_amx:
      return "avx512_core_amx";
    default:
      return fmt::format("{:#x}", static_cast<int>(dnnl_get_effective_cpu_isa()));
  }
}

}  // namespace stepscope::onednn
