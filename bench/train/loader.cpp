// A ring of slots between workers and the training thread.
// SPDX-License-Identifier: Apache-2.0
#include "bench/train/loader.h"

#include <algorithm>
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

Loader::Loader(const LoaderOptions& options)
    : options_(options), slots_(static_cast<std::size_t>(slots_for(options))) {
  for (Slot& slot : slots_) {
    slot.x.resize(static_cast<std::size_t>(options.largest_rows * options.features));
    if (options.labels) slot.labels.resize(static_cast<std::size_t>(options.largest_rows));
  }
  workers_.reserve(static_cast<std::size_t>(options.workers));
  for (int i = 0; i < options.workers; ++i) workers_.emplace_back([this] { work(); });
}

Loader::~Loader() {
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
  const std::span<float> x =
      std::span(into.x).first(room * static_cast<std::size_t>(options_.features));
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
