// Symbols of this program, local ones too, from the symbol table of its file; those of shared
// libraries from the dynamic linker.
// SPDX-License-Identifier: Apache-2.0
#include "tests/alloc/attribution.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string_view>

namespace stepscope::alloc {
namespace {

struct Symbol {
  std::uint64_t end = 0;
  std::string name;  // mangled
};

// Functions of /proc/self/exe by their start, relative to the load address: our programs are
// position-independent (CMAKE_POSITION_INDEPENDENT_CODE).
class SymbolTable {
 public:
  SymbolTable() {
    std::ifstream stream("/proc/self/exe", std::ios::binary);
    file_.assign(std::istreambuf_iterator<char>(stream), {});
    const auto header = at<Elf64_Ehdr>(0);
    for (std::size_t i = 0; i < header.e_shnum; ++i) {
      const auto section = at<Elf64_Shdr>(header.e_shoff + i * header.e_shentsize);
      if (section.sh_type != SHT_SYMTAB) continue;
      const auto names =
          at<Elf64_Shdr>(header.e_shoff + std::uint64_t{section.sh_link} * header.e_shentsize);
      read(section, names);
    }
    file_.clear();
  }

  // Mangled name, empty when no function covers the address.
  std::string_view find(std::uint64_t address) const {
    const auto after = functions_.upper_bound(address);
    if (after == functions_.begin()) return {};
    const Symbol& symbol = std::prev(after)->second;
    return address < symbol.end ? std::string_view(symbol.name) : std::string_view();
  }

 private:
  template <class T>
  T at(std::size_t offset) const {
    T value;
    std::memcpy(&value, file_.data() + offset, sizeof(T));
    return value;
  }

  void read(const Elf64_Shdr& section, const Elf64_Shdr& names) {
    for (std::size_t i = 0; i < section.sh_size / sizeof(Elf64_Sym); ++i) {
      const auto symbol = at<Elf64_Sym>(section.sh_offset + i * sizeof(Elf64_Sym));
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_size == 0) continue;
      functions_[symbol.st_value] = {symbol.st_value + symbol.st_size,
                                     file_.data() + names.sh_offset + symbol.st_name};
    }
  }

  std::string file_;
  std::map<std::uint64_t, Symbol> functions_;
};

struct Frame {
  std::string name;  // mangled; empty: unknown
  std::string file;
  bool counter = false;  // of this measurement itself
};

Dl_info object_of(const void* address) {
  Dl_info info{};
  ::dladdr(address, &info);
  return info;
}

Frame frame_at(const void* return_address) {
  static const SymbolTable symbols;
  static const void* const program = object_of(reinterpret_cast<const void*>(&attribute)).dli_fbase;
  static const void* const counter = object_of(reinterpret_cast<const void*>(&start)).dli_fbase;
  // A return address may lie behind the end of its caller: look at the call itself.
  const auto* address = static_cast<const char*>(return_address) - 1;
  const Dl_info info = object_of(address);
  if (info.dli_fname == nullptr) return {};
  Frame frame{info.dli_sname == nullptr ? "" : info.dli_sname, info.dli_fname,
              info.dli_fbase == counter};
  if (info.dli_fbase == program) {
    frame.name = symbols.find(
        static_cast<std::uint64_t>(address - static_cast<const char*>(info.dli_fbase)));
  }
  return frame;
}

// Namespaces of a mangled function name: what follows _ZN, _ZNK or _ZZN.
std::string_view scope_of(std::string_view mangled) {
  if (!mangled.starts_with("_Z")) return {};
  mangled.remove_prefix(2);
  while (mangled.starts_with("Z")) mangled.remove_prefix(1);
  if (!mangled.starts_with("N")) return {};
  mangled.remove_prefix(1);
  if (mangled.starts_with("K")) mangled.remove_prefix(1);
  return mangled;
}

std::string demangled(const std::string& mangled) {
  int status = 0;
  char* text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  std::string result = status == 0 ? text : mangled;
  std::free(text);
  return result.empty() ? "unknown" : result;
}

bool is_library(std::string_view scope) {
  // Eigen is renamed for each instruction set: Eigen_v2, Eigen_v3, Eigen_v4.
  return scope.starts_with("5Eigen") || scope.starts_with("8Eigen_v") ||
         scope.starts_with("9stepscope5eigen");
}

// oneDNN is a shared library: whatever lies in its file is its own.
bool is_library_file(std::string_view file) {
  return file.substr(file.rfind('/') + 1).starts_with("libdnnl");
}

}  // namespace

Attribution attribute(const Allocation& allocation) {
  for (const void* address : allocation.stack()) {
    const Frame frame = frame_at(address);
    const std::string_view scope = scope_of(frame.name);
    if (frame.counter) continue;
    if (is_library(scope)) return {Owner::library, demangled(frame.name)};
    if (is_library_file(frame.file)) return {Owner::library, "libdnnl"};
    if (scope.starts_with("9stepscope")) return {Owner::own, demangled(frame.name)};
  }
  return {Owner::own, "unknown"};
}

std::string describe(const Allocation& allocation) {
  std::string text = fmt::format("{} bytes{}\n", allocation.bytes,
                                 allocation.on_counting_thread ? "" : " on another thread");
  for (const void* address : allocation.stack()) {
    const Frame frame = frame_at(address);
    if (!frame.counter) text += fmt::format("    {} ({})\n", demangled(frame.name), frame.file);
  }
  return text;
}

}  // namespace stepscope::alloc
