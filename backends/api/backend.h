// Backend: what runs kernels. One folder per backend; `null` is the one to copy.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/api/kernel.h"
#include "backends/api/stream.h"
#include "graph/plan/wishes.h"

namespace stepscope {

struct BackendOptions {
  int threads = 1;  // fixed for the life of the backend: products differ in bits between counts
  // Choices of the library that Backend::tune wrote; empty: those that come with the backend.
  // Backends without choices do not read it.
  std::string tune_file;
  // How graphs are recorded; nothing: as the backend itself does. One that it cannot is
  // unsupported.
  std::optional<RecordAs> record_as = std::nullopt;
  // CUDA: inputs of products may be rounded to TF32. Backends without it do not read it.
  bool tf32 = false;
};

// Facts for records and `stepscope devices`.
struct BackendInfo {
  std::string name;
  std::string device;  // processor or GPU
  int threads = 1;
  bool computes = true;  // false: values mean nothing, only counts and times of dispatch do
  // Its device is a model: counts and values hold, no time of it was measured, and no ratio is made
  // of one.
  bool simulated = false;
  bool tf32 = false;  // inputs of products are rounded to it, as BackendOptions::tf32 asked
  // library or instruction set -> version or name, in a fixed order
  std::vector<std::pair<std::string, std::string>> details;
};

// A block of the backend's memory; freed with the object.
class Memory {
 public:
  virtual ~Memory() = default;
  virtual std::byte* data() = 0;  // aligned to Backend::alignment()
  virtual std::size_t bytes() const = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual const BackendInfo& info() const = 0;
  std::string_view name() const { return info().name; }

  // Of every slot and pool block, in bytes.
  virtual std::size_t alignment() const = 0;
  // Throws device, with the bytes asked for. Contents are undefined.
  virtual std::unique_ptr<Memory> allocate(std::size_t bytes) = 0;
  // Memory of the host that copies reach without a detour: page-locked, where there is a device;
  // else as any other. Throws device, with the bytes asked for. Contents are undefined.
  virtual std::unique_ptr<Memory> allocate_host(std::size_t bytes);
  virtual std::unique_ptr<Stream> make_stream() = 0;
  // How a graph is recorded here.
  virtual RecordAs records_as() const = 0;

  // Throws unsupported, naming backend, op and reason.
  virtual std::unique_ptr<Kernel> lower(const OpSite& site) = 0;

  // Opens an empty parallel region of the team that its kernels run on, so that its cost can be
  // timed. False: there is no team.
  virtual bool open_team() { return false; }

  // What its kernels want of the passes.
  virtual Wishes wishes() { return {}; }

  // Times what the library lets choose for these sites, and writes the choices to `file` (beside
  // it, then renamed); sites without a choice are passed over. Cold, and never called implicitly:
  // timed choices differ between processes, and the candidates differ in bits. Throws unsupported
  // when the backend has no choices at all.
  virtual void tune(std::span<const OpSite> sites, const std::string& file);

  // Debug builds overwrite dead memory with NaN patterns and sanitizer builds poison it; release
  // builds do nothing. mark_live before bytes are written again.
  virtual void mark_dead(std::byte*, std::size_t) {}
  virtual void mark_live(std::byte*, std::size_t) {}
};

}  // namespace stepscope
