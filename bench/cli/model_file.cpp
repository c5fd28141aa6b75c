// Step files as workloads.
// SPDX-License-Identifier: Apache-2.0
#include "bench/cli/model_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "ops/base/check.h"
#include "ops/ir/parse.h"
#include "ops/models/step_model.h"

namespace stepscope::cli {
namespace {

// One byte more than the parser takes at most: the name may be that of a device which never ends.
std::string read_text(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::string block(1 << 16, '\0');
  while (file && text.size() <= kMaxStepText) {
    const std::size_t room = std::min(block.size(), kMaxStepText + 1 - text.size());
    file.read(block.data(), static_cast<std::streamsize>(room));
    text.append(block, 0, static_cast<std::size_t>(file.gcount()));
  }
  const bool is_folder = std::filesystem::is_directory(path);
  check(!is_folder && file.is_open() && !file.bad(), Fault::io, "--model '{}': cannot be read: {}",
        path, is_folder ? "it is a folder" : std::strerror(errno));
  return text;
}

}  // namespace

bool is_step_file(const std::string& model) {
  return model.find('/') != std::string::npos || model.ends_with(".step");
}

Model model_of(const std::string& model, const OptimizerSpec& optimizer) {
  if (!is_step_file(model)) return make_model(model, optimizer);
  return make_step_model(parse_step(read_text(model), model),
                         std::filesystem::path(model).stem().string(), optimizer);
}

}  // namespace stepscope::cli
