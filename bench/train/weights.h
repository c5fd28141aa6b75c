// Weights in and out: parameters from files of others, and into files for others.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "backends/execution/session.h"
#include "ops/models/model.h"

namespace stepscope {

// Which tensor a parameter takes. Text, one parameter a line, `#` begins a comment:
//   w1 = layers.0.weight transposed
//   b1 = layers.0.bias
// `transposed`: the tensor has the two dimensions the other way round, as a PyTorch Linear has
// them. A parameter without a line takes the tensor of its own name.
struct WeightsMap {
  struct Entry {
    std::string parameter, tensor;
    bool transposed = false;
    std::int64_t line = 0;
  };
  std::string source;  // for messages: the file; empty without a map
  std::vector<Entry> entries;
};

// Throw bad_input, naming the file (`who`) and the line, for a line of another form and a parameter
// with two lines. The first throws io when the file cannot be read.
WeightsMap read_weights_map(const std::filesystem::path& path);
WeightsMap parse_weights_map(std::string_view text, std::string_view who);

// Sets the initial value of every parameter from an NPZ or safetensors file, by what it holds and
// not by its name. Tensors that no parameter takes are left alone; states start as ever.
// Throws io when the file cannot be read; bad_input, naming file, tensor and parameter, when it is
// neither, when a name of the map or of a parameter is not there (with the nearest), when shapes
// differ (with both), or when a tensor of a parameter holds whole numbers, elements of a type that
// is not read, or one that f32 cannot hold as a finite number (with its index).
void load_weights(Model& model, const std::filesystem::path& file, const WeightsMap& map = {});

// Reads what Initial::Kind::file names (NPY; or a tensor of an NPZ or safetensors file), relative
// to `folder`, into `values`. Throws as load_weights does.
void resolve_files(Model& model, const std::filesystem::path& folder);

// The parameters as they are now, without states: a safetensors file, named as in the model, in its
// order. Waits for the session's stream. Throws io when it cannot be written.
void save_weights(Session& session, const std::filesystem::path& file);

}  // namespace stepscope
