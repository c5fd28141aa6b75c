// Which routine of the library computes a product: settled by tables, never timed when a step runs,
// since the routines differ in bits and timed choices between processes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "backends/api/kernel.h"

namespace stepscope::onednn {

enum class Routine : std::uint8_t {
  sgemm,   // dnnl_sgemm: a function
  matmul,  // a matmul primitive
};
std::string_view name(Routine routine);

// What a choice was made for, beside the product: another machine or library makes it void.
struct Machine {
  int threads = 1;
  std::string instruction_set;  // avx512_core
  std::string library;          // 2.6.3
};

class Choices {
 public:
  // For products that no line names: a weight gradient (a transposed) and a single row by sgemm,
  // the rest by a primitive. So came out 94 of 118 tunings of the models here, at one thread.
  static Routine otherwise(const OpSite& site);

  // The table that comes with the backend (choices.inc).
  static Choices committed();
  // A file of tune(); empty when there is none. Throws io when it cannot be read; bad_input, with
  // file and line, for a line that is none, for another library version or instruction set than
  // `machine` has, and for a product named twice.
  static Choices read(const std::string& file, const Machine& machine);
  // The lines of `text`, which comes from `source`; as read(), but lines of other machines are
  // kept.
  static Choices parse(std::string_view text, std::string_view source);

  Routine of(const OpSite& site, const Machine& machine) const;
  void set(const OpSite& site, const Machine& machine, Routine routine);

  // Line by line, sorted; the same choices give the same text.
  std::string text() const;
  // FNV-1a of the text, 16 digits.
  std::string hash() const;
  std::size_t size() const { return routines_.size(); }

 private:
  std::map<std::string, Routine> routines_;  // by key
};

// The first words of a line: MatMul 32x128x784 nn threads=1 avx512_core 2.6.3
std::string key_of(const OpSite& site, const Machine& machine);

}  // namespace stepscope::onednn
