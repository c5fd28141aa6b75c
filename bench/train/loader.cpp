// A ring of slots between workers and the training thread.
// SPDX-License-Identifier: Apache-2.0
#include "bench/train/loader.h"

#include <algorithm>
#include <limits>
#include <new>
#include <stdexcept>
#include <utility>

#include "ops/base/check.h"

namespace stepscope {
namespace {

std::int64_t slots_for(const LoaderOptions& options) {
  if (options.workers == 0) return 1;
  const std::int64_t ahead =
      options.prefetch > 0 ? options.prefetch : std::int64_t{2} * options.workers;
  return ahead + 1;  // and the one in use
}

}  // namespace

Loader::Loader(const LoaderOptions& options) : options_(options) {
  make_slots();
  start_workers();
}

Loader::~Loader() { stop_workers(); }

void Loader::make_slots() {
  const std::int64_t slots = slots_for(options_);
  // In double: exact enough for a message, and it cannot overflow.
  const double bytes = static_cast<double>(slots) * static_cast<double>(options_.largest_rows) *
                       static_cast<double>(options_.features) * sizeof(float);
  const auto too_large = [&] {
    fail(Fault::device,
         "loader: no memory for {} batches of {} rows of {} features, {:.0f} bytes: fewer batches "
         "ahead (--prefetch), fewer workers or smaller batches take less",
         slots, options_.largest_rows, options_.features, bytes);
  };
  if (bytes > static_cast<double>(std::numeric_limits<std::ptrdiff_t>::max())) too_large();
  const auto each = static_cast<std::size_t>(options_.largest_rows * options_.features);
  try {
    pixels_.resize(static_cast<std::size_t>(slots) * each);
    slots_.resize(static_cast<std::size_t>(slots));
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      slots_[i].x = std::span(pixels_).subspan(i * each, each);
      if (options_.labels) slots_[i].labels.resize(static_cast<std::size_t>(options_.largest_rows));
    }
  } catch (const std::bad_alloc&) {
    too_large();
  } catch (const std::length_error&) {
    too_large();
  }
}

// Those that run already are stopped before the error leaves: nobody else could.
void Loader::start_workers() {
  workers_.reserve(static_cast<std::size_t>(options_.workers));
  for (int i = 0; i < options_.workers; ++i) {
    try {
      workers_.emplace_back([this] { work(); });
    } catch (const std::exception& error) {
      stop_workers();
      fail(Fault::device, "loader: thread {} of {} cannot be started: {}", i + 1, options_.workers,
           error.what());
    }
  }
}

void Loader::stop_workers() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  free_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void Loader::begin(LoaderWork work) {
  {
    std::unique_lock lock(mutex_);
    batches_ = claimed_;  // nothing more of the work before
    made_.wait(lock, [this] { return busy_ == 0; });
    work_ = std::move(work);
    batches_ = static_cast<std::int64_t>(work_->ranges.size());
    claimed_ = 0;
    taken_ = 0;
    for (Slot& slot : slots_) slot.made = -1;
  }
  free_.notify_all();
}

LoadedBatch Loader::next() {
  if (workers_.empty()) {
    Slot& only = slots_.front();
    fill(only, work_->ranges[static_cast<std::size_t>(taken_++)]);
    return only.batch;
  }
  std::unique_lock lock(mutex_);
  const std::int64_t batch = taken_++;
  free_.notify_one();
  Slot& from = slot(batch);
  made_.wait(lock, [&] { return from.made == batch; });
  if (from.error) std::rethrow_exception(std::exchange(from.error, nullptr));
  return from.batch;
}

Loader::Slot& Loader::slot(std::int64_t batch) {
  return slots_[static_cast<std::size_t>(batch) % slots_.size()];
}

void Loader::fill(Slot& into, const BatchRange& range) const {
  const auto rows = static_cast<std::size_t>(range.rows);
  const std::size_t room = work_->pad_to > 0 ? static_cast<std::size_t>(work_->pad_to) : rows;
  const std::span<float> x = into.x.first(room * static_cast<std::size_t>(options_.features));
  const std::span<std::int32_t> labels =
      options_.labels ? std::span(into.labels).first(room) : std::span<std::int32_t>();
  const auto order = std::span(work_->order).subspan(static_cast<std::size_t>(range.first), rows);
  if (work_->pad_to > 0) {
    work_->batcher.fill_padded(order, x, labels);
  } else {
    work_->batcher.fill(order, x, labels);
  }
  into.batch = {x, labels};
}

// The batch in use and those ahead of it fill the ring.
bool Loader::can_claim() const {
  const std::int64_t in_use = std::max<std::int64_t>(taken_ - 1, 0);
  return claimed_ < batches_ && claimed_ < in_use + static_cast<std::int64_t>(slots_.size());
}

void Loader::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    free_.wait(lock, [this] { return stop_ || can_claim(); });
    if (stop_) return;
    const std::int64_t batch = claimed_++;
    Slot& into = slot(batch);
    ++busy_;
    lock.unlock();
    std::exception_ptr error;
    try {
      fill(into, work_->ranges[static_cast<std::size_t>(batch)]);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    --busy_;
    into.made = batch;
    into.error = std::move(error);
    made_.notify_one();
  }
}

}  // namespace stepscope
