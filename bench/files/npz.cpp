// Members of a zip file, each read as NPY.
// SPDX-License-Identifier: Apache-2.0
#include "bench/files/npz.h"

#include "bench/files/files.h"
#include "bench/files/npy.h"
#include "bench/files/shown.h"
#include "bench/files/zip.h"
#include "ops/base/check.h"

namespace stepscope {

std::vector<HostTensor> read_npz(const std::filesystem::path& path) {
  return read_npz(read_bytes(path), path.string());
}

std::vector<HostTensor> read_npz(std::span<const std::uint8_t> bytes, std::string_view who,
                                 std::vector<UnreadTensor>* unread) {
  constexpr std::string_view kSuffix = ".npy";
  std::vector<HostTensor> tensors;
  visit_zip(bytes, who, [&](std::string_view name, std::span<const std::uint8_t> content) {
    const bool is_npy =
        name.size() > kSuffix.size() && name.substr(name.size() - kSuffix.size()) == kSuffix;
    check(is_npy, Fault::bad_input, "{}: member {} is no .npy, expected an NPZ file", who,
          shown(name));
    const std::string tensor(name.substr(0, name.size() - kSuffix.size()));
    try {
      tensors.push_back(read_npy(content, fmt::format("{}: member {}", who, shown(name))));
      tensors.back().name = tensor;
    } catch (const UnreadableElements& error) {
      if (unread == nullptr) throw;
      unread->push_back({.name = tensor, .why = error.what()});
    }
  });
  return tensors;
}

}  // namespace stepscope
