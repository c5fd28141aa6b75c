// The step's memory, products and list of calls.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/cuda/mlp/step.h"

#include <algorithm>

#include "tests/backends/cuda/mlp/kernels.h"
#include "tests/backends/cuda/mlp/recorder.h"

namespace stepscope::mlp {
namespace {

constexpr std::size_t kWorkspace = std::size_t{4} << 20;  // bytes; what one product may ask for

}  // namespace

LayerShape shape_of(const Sizes& sizes, int layer) {
  const auto at = static_cast<std::size_t>(layer);
  return {sizes.features[at], sizes.features[at + 1]};
}

template <class Element>
Element* Step::allocate(std::size_t count) {
  void* data = nullptr;
  check(cudaMalloc(&data, count * sizeof(Element)), "cudaMalloc");
  on_device_.push_back(data);
  return static_cast<Element*>(data);
}

Step::Step(const Sizes& sizes, Engine engine, const Parameters& start, float rate)
    : sizes_(sizes), engine_(engine) {
  const auto rows = static_cast<std::size_t>(sizes.rows);
  const std::size_t pixels = rows * static_cast<std::size_t>(sizes.features[0]);
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  check(cudaMallocHost(reinterpret_cast<void**>(&pinned_images_), pixels * sizeof(float)),
        "cudaMallocHost");
  check(cudaMallocHost(reinterpret_cast<void**>(&pinned_labels_), rows * sizeof(int)),
        "cudaMallocHost");
  images_ = allocate<float>(pixels);
  labels_ = allocate<int>(rows);
  losses_ = allocate<float>(rows);
  loss_ = allocate<float>(1);
  rate_ = allocate<float>(1);
  count_ = allocate<int>(1);
  check(cudaMemcpy(rate_, &rate, sizeof rate, cudaMemcpyHostToDevice), "cudaMemcpy");
  check(cudaMemset(count_, 0, sizeof(int)), "cudaMemset");
  make_layers(start);
  if (engine == Engine::library) {
    check(cublasLtCreate(&handle_), "cublasLtCreate");
    workspace_ = allocate<char>(kWorkspace);
    make_products();
  }
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

Step::~Step() {
  for (Layer& layer : layers_) {
    layer.forward.reset();
    layer.to_weights.reset();
    layer.to_input.reset();
  }
  if (handle_ != nullptr) cublasLtDestroy(handle_);
  for (void* data : on_device_) cudaFree(data);
  cudaFreeHost(pinned_images_);
  cudaFreeHost(pinned_labels_);
  cudaStreamDestroy(stream_);
}

void Step::make_layers(const Parameters& start) {
  for (int i = 0; i < kLayers; ++i) {
    const auto at = static_cast<std::size_t>(i);
    Layer& layer = layers_[at];
    layer.shape = shape_of(sizes_, i);
    layer.parameters = allocate<float>(layer.shape.count());
    layer.gradient = allocate<float>(layer.shape.count());
    const std::size_t bytes = layer.shape.count() * sizeof(float);
    check(cudaMemcpy(layer.parameters, start[at].data(), bytes, cudaMemcpyHostToDevice),
          "cudaMemcpy");
    check(cudaMemset(layer.gradient, 0, bytes), "cudaMemset");  // for the gap
    const std::size_t outputs = static_cast<std::size_t>(sizes_.rows * layer.shape.out);
    layer.output = allocate<float>(outputs);
    layer.output_gradient = allocate<float>(outputs);
    layer.mask = nullptr;
    if (i + 1 < kLayers) {
      layer.mask = allocate<unsigned char>(mask_bytes(layer.shape.out, sizes_.rows));
    }
  }
}

const float* Step::input_of(int layer) const {
  return layer == 0 ? images_ : layers_[static_cast<std::size_t>(layer - 1)].output;
}

void Step::make_products() {
  const int rows = sizes_.rows;
  for (int i = 0; i < kLayers; ++i) {
    Layer& layer = layers_[static_cast<std::size_t>(i)];
    const auto [in, out] = layer.shape;
    const Product::Matrix weights{layer.parameters, in, out}, read{input_of(i), in, rows},
        gradient{layer.output_gradient, out, rows};
    const auto make = [&](Product::Matrix a, bool turn_a, Product::Matrix b, bool turn_b, float* d,
                          Product::Epilogue epilogue) {
      a.transposed = turn_a;
      b.transposed = turn_b;
      return std::make_unique<Product>(handle_, a, b, d, epilogue, workspace_, kWorkspace);
    };
    const bool last = i + 1 == kLayers;
    layer.forward = make(weights, true, read, false, layer.output,
                         {last ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_RELU_AUX_BIAS,
                          layer.bias(), layer.mask});
    layer.to_weights = make(read, false, gradient, true, layer.gradient,
                            {CUBLASLT_EPILOGUE_BGRADB, layer.bias_gradient(), nullptr});
    if (i == 0) continue;
    const Layer& before = layers_[static_cast<std::size_t>(i - 1)];
    layer.to_input = make(weights, false, gradient, false, before.output_gradient,
                          {CUBLASLT_EPILOGUE_DRELU, nullptr, before.mask});
  }
}

void Step::set_batch(const Batch& batch) {
  std::copy(batch.images.begin(), batch.images.end(), pinned_images_);
  std::copy(batch.labels.begin(), batch.labels.end(), pinned_labels_);
}

void Step::copy_batch(Recorder& recorder) {
  const auto rows = static_cast<std::size_t>(sizes_.rows);
  const std::size_t pixels = rows * static_cast<std::size_t>(sizes_.features[0]);
  recorder.copy_in(images_, pinned_images_, pixels * sizeof(float));
  recorder.copy_in(labels_, pinned_labels_, rows * sizeof(int));
}

void Step::forward(Recorder& recorder, int index) {
  const Layer& layer = layers_[static_cast<std::size_t>(index)];
  if (engine_ == Engine::library) {
    recorder.library([&](cudaStream_t stream) { return layer.forward->submit(stream); });
    return;
  }
  linear(recorder, layer.output, input_of(index), layer.parameters, layer.bias(), sizes_.rows,
         layer.shape.in, layer.shape.out,
         index + 1 == kLayers ? Activation::none : Activation::relu);
}

void Step::to_weights(Recorder& recorder, int index) {
  const Layer& layer = layers_[static_cast<std::size_t>(index)];
  if (engine_ == Engine::library) {
    recorder.library([&](cudaStream_t stream) { return layer.to_weights->submit(stream); });
    return;
  }
  weight_gradient(recorder, layer.gradient, layer.bias_gradient(), layer.output_gradient,
                  input_of(index), sizes_.rows, layer.shape.in, layer.shape.out);
}

void Step::to_input(Recorder& recorder, int index) {
  const Layer& layer = layers_[static_cast<std::size_t>(index)];
  if (engine_ == Engine::library) {
    recorder.library([&](cudaStream_t stream) { return layer.to_input->submit(stream); });
    return;
  }
  input_gradient(recorder, layers_[static_cast<std::size_t>(index - 1)].output_gradient,
                 layer.output_gradient, layer.parameters, input_of(index), sizes_.rows,
                 layer.shape.in, layer.shape.out);
}

void Step::lose(Recorder& recorder) {
  const Layer& last = layers_.back();
  softmax_xent(recorder, losses_, last.output_gradient, last.output, labels_, sizes_.rows,
               last.shape.out);
  mean(recorder, loss_, losses_, sizes_.rows);
}

void Step::update(Recorder& recorder) {
  for (const Layer& layer : layers_) {
    sgd(recorder, layer.parameters, layer.gradient, rate_, static_cast<int>(layer.shape.count()));
  }
  advance(recorder, count_);
}

void Step::record(Recorder& recorder) {
  copy_batch(recorder);
  for (int layer = 0; layer < kLayers; ++layer) forward(recorder, layer);
  lose(recorder);
  for (int layer = kLayers - 1; layer >= 0; --layer) {
    to_weights(recorder, layer);
    if (layer > 0) to_input(recorder, layer);
  }
  update(recorder);
}

void Step::record_own_kernels(Recorder& recorder) {
  copy_batch(recorder);
  lose(recorder);
  update(recorder);
}

float Step::loss() {
  float value = 0;
  check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  check(cudaMemcpy(&value, loss_, sizeof value, cudaMemcpyDeviceToHost), "cudaMemcpy");
  return value;
}

int Step::count() {
  int value = 0;
  check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  check(cudaMemcpy(&value, count_, sizeof value, cudaMemcpyDeviceToHost), "cudaMemcpy");
  return value;
}

Parameters Step::parameters() {
  Parameters all;
  check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  for (std::size_t i = 0; i < kLayers; ++i) {
    all[i].resize(layers_[i].shape.count());
    check(cudaMemcpy(all[i].data(), layers_[i].parameters, all[i].size() * sizeof(float),
                     cudaMemcpyDeviceToHost),
          "cudaMemcpy");
  }
  return all;
}

std::size_t Step::most_workspace() const {
  std::size_t most = 0;
  for (const Layer& layer : layers_) {
    for (const Product* product :
         {layer.forward.get(), layer.to_weights.get(), layer.to_input.get()}) {
      if (product != nullptr) most = std::max(most, product->workspace());
    }
  }
  return most;
}

}  // namespace stepscope::mlp
