// Loader: makes the batches of an epoch ahead of the training thread, on threads of its own or on
// the caller's. Whoever makes them, they come out in order and hold the same bits.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "bench/data/batches.h"

namespace stepscope {

struct LoaderOptions {
  int workers = 0;                // threads that make batches; 0: next() makes them
  std::int64_t prefetch = 0;      // batches made ahead of the one in use; 0: two for each worker
  std::int64_t largest_rows = 0;  // of a batch, with padding
  std::int64_t features = 0;
  bool labels = true;  // false: x alone
};

// The batches of one epoch. Data and ranges are borrowed until the next work, or the loader's end.
struct LoaderWork {
  Batcher batcher;
  std::vector<std::uint32_t> order;
  std::span<const BatchRange> ranges;
  std::int64_t pad_to = 0;  // rows that every batch gets; 0: those it has
};

struct LoadedBatch {
  std::span<const float> x;              // {rows, features}, padding included
  std::span<const std::int32_t> labels;  // {rows}; empty without labels
};

class Loader {
 public:
  // Allocates all that batches will need and starts the workers. Throws device where the machine
  // has no memory for the ring, with its bytes, or no thread for a worker.
  explicit Loader(const LoaderOptions& options);
  // Joins the workers; batches that nobody took are dropped.
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  // Drops what nobody took of the work before.
  void begin(LoaderWork work);
  // The next batch, good until the call after this. Rethrows what the making of it threw.
  // Requires: fewer calls since begin() than ranges. Allocates nothing.
  LoadedBatch next();

 private:
  struct Slot {
    std::span<float> x;  // {largest_rows, features}, in `pixels_`
    std::vector<std::int32_t> labels;
    LoadedBatch batch;
    std::int64_t made = -1;  // number of the batch in it
    std::exception_ptr error;
  };

  void make_slots();
  void start_workers();
  void stop_workers();
  Slot& slot(std::int64_t batch);
  void fill(Slot& into, const BatchRange& range) const;
  void work();
  bool can_claim() const;

  const LoaderOptions options_;
  std::vector<float> pixels_;  // {slots, largest_rows, features}: in one piece, so that a size
                               // beyond the machine is refused before any of it is filled
  std::vector<Slot> slots_;    // batch i is made in slot i % size
  std::optional<LoaderWork> work_;

  // Guards everything below, `work_`, and `made` and `error` of the slots. A slot's batch belongs
  // to the worker that claimed it until `made` says so, then to the training thread until it asks
  // for the next.
  std::mutex mutex_;
  std::condition_variable free_;  // for workers: a slot became free, work came, or the end
  std::condition_variable made_;  // for the training thread: a batch is made
  std::int64_t batches_ = 0;      // of the work
  std::int64_t claimed_ = 0;      // batches below this are made or being made
  std::int64_t taken_ = 0;        // batches that came out; the last is in use
  int busy_ = 0;                  // workers that are making one
  bool stop_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace stepscope
