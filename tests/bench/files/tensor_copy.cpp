// Reads tensors from a file of others and writes them again: what peers_test.py holds against NumPy
// and the safetensors package. Usage: tensor_copy IN.npy|IN.npz|IN.safetensors
// OUT.npy|OUT.safetensors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "bench/files/files.h"
#include "bench/files/npy.h"
#include "bench/files/npz.h"
#include "bench/files/safetensors.h"
#include "ops/base/error.h"

namespace {

using namespace stepscope;

Safetensors read(const std::filesystem::path& path) {
  if (path.extension() == ".npy") return {.tensors = {read_npy(path)}, .metadata = {}};
  if (path.extension() == ".npz") return {.tensors = read_npz(path), .metadata = {}};
  return read_safetensors(path);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    const std::filesystem::path to = argv[2];
    const Safetensors content = read(argv[1]);
    write_file(to,
               to.extension() == ".npy" ? to_npy(content.tensors.at(0)) : to_safetensors(content));
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
