// Tables of choices as text: a line names op, sizes, transposes, threads, instruction set and
// library, and then the routine.
// SPDX-License-Identifier: Apache-2.0
#include "backends/onednn/choices.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

#include "backends/onednn/lower.h"
#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope::onednn {
namespace {

constexpr std::string_view kCommitted =
#include "backends/onednn/choices.inc"
    ;

constexpr std::size_t kWords = 7;  // of a line
enum Word : std::size_t { kOp, kSizes, kTransposes, kThreads, kIsa, kVersion, kRoutine };

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::optional<Routine> routine_named(std::string_view word) {
  for (const Routine routine : {Routine::sgemm, Routine::matmul}) {
    if (word == name(routine)) return routine;
  }
  return std::nullopt;
}

}  // namespace

std::string_view name(Routine routine) { return routine == Routine::sgemm ? "sgemm" : "matmul"; }

std::string key_of(const OpSite& site, const Machine& machine) {
  const auto [M, N, K, transpose_a, transpose_b] = product_of(site);
  return fmt::format("{} {}x{}x{} {}{} threads={} {} {}", stepscope::name(site.kind), M, N, K,
                     transpose_a ? 't' : 'n', transpose_b ? 't' : 'n', machine.threads,
                     machine.instruction_set, machine.library);
}

Routine Choices::otherwise(const OpSite& site) {
  const Product sizes = product_of(site);
  return sizes.transpose_a || sizes.M == 1 ? Routine::sgemm : Routine::matmul;
}

Choices Choices::committed() { return parse(kCommitted, "choices.inc"); }

Choices Choices::parse(std::string_view text, std::string_view source) {
  Choices choices;
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::vector<std::string> words = words_of(line);
    if (words.empty() || words[0].starts_with('#')) continue;
    const auto routine =
        words.size() == kWords ? routine_named(words[kRoutine]) : std::optional<Routine>{};
    check(routine.has_value(), Fault::bad_input,
          "onednn: {}:{}: '{}' is no choice; one reads 'MatMul 32x128x784 nn threads=1 avx512_core "
          "2.6.3 sgemm'",
          source, number, line);
    const std::string key = fmt::format(
        "{}", fmt::join(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(kRoutine), " "));
    check(choices.routines_.emplace(key, *routine).second, Fault::bad_input,
          "onednn: {}:{}: a second choice for {}", source, number, key);
  }
  return choices;
}

Choices Choices::read(const std::string& file, const Machine& machine) {
  if (!std::filesystem::exists(file)) return {};
  std::ifstream stream(file);
  check(stream.good(), Fault::io, "onednn: cannot read {}: {}", file, std::strerror(errno));
  std::ostringstream text;
  text << stream.rdbuf();
  Choices choices = parse(text.str(), file);
  for (const auto& [key, routine] : choices.routines_) {
    const std::vector<std::string> words = words_of(key);
    check(words[kVersion] == machine.library, Fault::bad_input,
          "onednn: {}: '{}' was chosen for oneDNN {}, this is {}; tune again", file, key,
          words[kVersion], machine.library);
    check(words[kIsa] == machine.instruction_set, Fault::bad_input,
          "onednn: {}: '{}' was chosen for {}, this machine has {}; tune again", file, key,
          words[kIsa], machine.instruction_set);
  }
  return choices;
}

Routine Choices::of(const OpSite& site, const Machine& machine) const {
  const auto known = routines_.find(key_of(site, machine));
  return known == routines_.end() ? otherwise(site) : known->second;
}

void Choices::set(const OpSite& site, const Machine& machine, Routine routine) {
  routines_[key_of(site, machine)] = routine;
}

std::string Choices::text() const {
  std::string text;
  for (const auto& [key, routine] : routines_) {
    text += fmt::format("{} {}\n", key, name(routine));
  }
  return text;
}

std::string Choices::hash() const {
  // Fowler, Noll, Vo: offset basis and prime of FNV-1a with 64 bits.
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : text()) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 1099511628211U;
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace stepscope::onednn
