// Names of the workloads.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <cstring>

#include "ops/base/check.h"
#include "ops/base/nearest.h"
#include "ops/base/philox.h"
#include "ops/models/chain.h"
#include "ops/models/cnn.h"
#include "ops/models/fork.h"
#include "ops/models/mlp.h"
#include "ops/models/model.h"

namespace stepscope {
namespace {

constexpr std::array kCatalog = {
    CatalogEntry{"mlp", "mlp[:IN-HIDDEN-...-CLASSES]",
                 "dense layers, ReLU, softmax and cross-entropy; 784-128-10 by default", make_mlp},
    CatalogEntry{"mlp_tanh", "mlp_tanh[:IN-HIDDEN-...-CLASSES]", "the same with tanh for ReLU",
                 make_mlp_tanh},
    CatalogEntry{"small_cnn", "small_cnn",
                 "two small convolutions for 24 x 24 images in three classes; 2,979 parameters",
                 make_small_cnn},
    CatalogEntry{"lenet", "lenet", "a LeNet-like CNN for 28 x 28 images in ten classes",
                 make_lenet},
    CatalogEntry{"chain", "chain:N[:ELEMENTS]",
                 "N dependent tiny ops, nothing trained: launch overhead against count",
                 make_chain},
    CatalogEntry{"fork", "fork:WxN[:ELEMENTS]",
                 "W chains of N tiny ops side by side, joined by adds: W * N + W - 1 ops",
                 make_fork},
};

template <class T>
void store(std::vector<std::byte>& bytes, std::size_t i, double value) {
  const T stored = static_cast<T>(value);
  std::memcpy(bytes.data() + i * sizeof(T), &stored, sizeof(T));
}

void store(std::vector<std::byte>& bytes, DType dtype, std::size_t i, double value) {
  switch (dtype) {
    case DType::f64:
      return store<double>(bytes, i, value);
    case DType::f32:
      return store<float>(bytes, i, value);
    case DType::i32:
      return store<std::int32_t>(bytes, i, value);
    case DType::bf16:
    case DType::f16:
    case DType::u8:
      break;
  }
  fail(Fault::unsupported, "initial value: parameters and states are f32, f64 or i32, not {}",
       name(dtype));
}

// Values from elsewhere must be there, and as many as the elements.
void check_values(const Initial& initial, std::size_t elements) {
  check(initial.kind != Initial::Kind::file, Fault::bad_input,
        "initial value of '{}': the file '{}' was not read yet", initial.name, initial.file);
  if (initial.kind != Initial::Kind::values) return;
  check(initial.values != nullptr, Fault::bad_input, "initial value of '{}': no values were given",
        initial.name);
  check(initial.values->size() == elements, Fault::bad_input,
        "initial value of '{}': {} values for {} elements", initial.name, initial.values->size(),
        elements);
}

}  // namespace

std::vector<std::byte> initial_bytes(const Initial& initial, const TensorType& type,
                                     std::uint64_t seed, std::uint64_t stream) {
  std::vector<std::byte> bytes(type.bytes());
  const auto count = static_cast<std::size_t>(type.shape.elements());
  check_values(initial, count);
  Philox draws(seed, stream);
  const double deviation = std::sqrt(2.0 / static_cast<double>(initial.fan_in));
  for (std::size_t i = 0; i < count; ++i) {
    double value = initial.value;
    if (initial.kind == Initial::Kind::he_normal) value = deviation * draws.normal();
    if (initial.kind == Initial::Kind::uniform) value = draws.uniform(initial.low, initial.high);
    if (initial.kind == Initial::Kind::values) value = (*initial.values)[i];
    store(bytes, type.dtype, i, value);
  }
  return bytes;
}

std::span<const CatalogEntry> catalog() { return kCatalog; }

Model make_model(std::string_view spec, const OptimizerSpec& optimizer) {
  const std::size_t colon = spec.find(':');
  const std::string_view kind = spec.substr(0, colon);
  check(colon == std::string_view::npos || colon + 1 < spec.size(), Fault::bad_input,
        "model '{}': nothing follows the colon", spec);
  std::vector<std::string> names;
  for (const CatalogEntry& entry : kCatalog) {
    if (entry.name == kind) {
      return entry.make(colon == std::string_view::npos ? "" : spec.substr(colon + 1), optimizer);
    }
    names.emplace_back(entry.name);
  }
  fail(Fault::bad_input, "{}", unknown_name("model", kind, names));
}

}  // namespace stepscope
