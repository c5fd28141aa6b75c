// A training step of an MLP of three layers, written as a user of CUDA writes one: 16 calls, listed
// once, run live, captured, or made nodes one by one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "tests/backends/cuda/mlp/products.h"

namespace stepscope::mlp {

struct Recorder;

constexpr int kLayers = 3;
constexpr int kCalls = 16;  // of a step: 2 copies, 8 products, 6 kernels

struct Sizes {
  int rows;                                 // of a batch
  std::array<int, kLayers + 1> features{};  // of the input, of each layer
};

// What a layer's parameters are in memory: weights {out, in}, a gap, bias {out}.
struct LayerShape {
  int in, out;
  std::size_t bias_at() const {  // 16 bytes, for the library's loads
    return static_cast<std::size_t>((in * out + 3) / 4 * 4);
  }
  std::size_t count() const { return bias_at() + static_cast<std::size_t>(out); }
};
LayerShape shape_of(const Sizes& sizes, int layer);

enum class Engine { library, kernels };  // who multiplies

struct Batch {
  std::vector<float> images;  // {rows, features[0]}
  std::vector<int> labels;    // {rows}
};
using Parameters = std::array<std::vector<float>, kLayers>;

class Step {
 public:
  Step(const Sizes& sizes, Engine engine, const Parameters& start, float rate);
  ~Step();
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  cudaStream_t stream() const { return stream_; }
  // Into the pinned memory that the step copies from. Requires: no step is in flight.
  void set_batch(const Batch& batch);
  // The one list of calls.
  void record(Recorder& recorder);
  // Without the products: what the project's own kernels cost.
  void record_own_kernels(Recorder& recorder);

  // Wait for the stream.
  float loss();
  int count();
  Parameters parameters();
  std::size_t most_workspace() const;  // that one of the library's products asked for, bytes

 private:
  struct Layer {
    LayerShape shape;
    float *parameters, *gradient;  // as LayerShape
    float *output, *output_gradient;
    unsigned char* mask;  // of the ReLU behind it; the last layer has none
    std::unique_ptr<Product> forward, to_weights, to_input;
    float* bias() const { return parameters + shape.bias_at(); }
    float* bias_gradient() const { return gradient + shape.bias_at(); }
  };

  template <class Element>
  Element* allocate(std::size_t count);
  void make_layers(const Parameters& start);
  void make_products();
  const float* input_of(int layer) const;
  void copy_batch(Recorder& recorder);
  void forward(Recorder& recorder, int layer);
  void lose(Recorder& recorder);
  void to_input(Recorder& recorder, int layer);  // gradient of what the layer read
  void to_weights(Recorder& recorder, int layer);
  void update(Recorder& recorder);

  Sizes sizes_;
  Engine engine_;
  cudaStream_t stream_ = nullptr;
  cublasLtHandle_t handle_ = nullptr;
  std::vector<void*> on_device_;
  float* pinned_images_ = nullptr;
  int* pinned_labels_ = nullptr;
  float* images_ = nullptr;
  int* labels_ = nullptr;
  float *losses_ = nullptr, *loss_ = nullptr, *rate_ = nullptr;
  int* count_ = nullptr;
  void* workspace_ = nullptr;
  std::array<Layer, kLayers> layers_;
};

}  // namespace stepscope::mlp
