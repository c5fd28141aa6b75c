// bench_transfer: what moves between host and backend around a step: the batch into its slot,
// parameters and states out and in again, and the loss; and single copies of a size, from and to
// memory of the host as the system gives it (pageable), and as a device reaches it (pinned).
//
// Names: transfer/BACKEND/input_copy|snapshot|restore|read_loss/batch:N, of one model (--model),
// and transfer/BACKEND/to_device|to_host/pageable|pinned/bytes:N. A backend of the processor copies
// within one memory, and its copies are named so: to_device|to_host/one_memory.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <memory>
#include <span>

#include "bench/suites/suite.h"
#include "bench/suites/timed_arm.h"

namespace stepscope::suites {
namespace {

enum class Part : std::uint8_t { input_copy, snapshot, restore, read_loss };
constexpr std::array<std::pair<Part, std::string_view>, 4> kParts = {
    {{Part::input_copy, "input_copy"},
     {Part::snapshot, "snapshot"},
     {Part::restore, "restore"},
     {Part::read_loss, "read_loss"}}};

class Transfer final : public Prepared {
 public:
  Transfer(Suite& suite, const ArmKey& key)
      : suite_(suite),
        key_(key),
        ground_(suite, key),
        session_(*ground_.backend, ground_.spec.model,
                 {.mode = key.mode, .step_batches = {key.batch}, .seed = suite.flags().seed}) {
    session_.warm_up();
    load(0);
    session_.enqueue_step(key.batch);
    session_.stream().wait();
    start_ = session_.memory().snapshot(session_.stream());
  }

  void run(benchmark::State& state, Part part, const std::string& name) {
    const std::vector<double> per_call = time_blocks(state, suite_, [&](std::int64_t calls) {
      for (std::int64_t call = 0; call < calls; ++call) once(part, call);
      session_.stream().wait();
    });
    const double bytes = bytes_of(part);
    state.counters["bytes"] = bytes;
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
    suite_.keep(ground_.spec.model.name, name, "ns",
                fmt::format("{:.0f} bytes a call, in blocks", bytes), per_call);
  }

  void finish() override {
    suite_.keep(ground_.spec.model.name, key_.backend, ground_.backend->info());
  }

 private:
  void load(std::int64_t step) {
    const Batch& batch = ground_.ring.at(step);
    session_.load(batch.x, batch.labels);
  }

  void once(Part part, std::int64_t call) {
    switch (part) {
      case Part::input_copy:
        load(call);
        break;
      case Part::snapshot:
        start_ = session_.memory().snapshot(session_.stream());
        break;
      case Part::restore:
        session_.memory().restore(session_.stream(), start_);
        break;
      case Part::read_loss:
        loss_ = session_.loss(key_.batch);
        break;
    }
  }

  double bytes_of(Part part) {
    const Batch& batch = ground_.ring.at(0);
    switch (part) {
      case Part::input_copy:
        return static_cast<double>(std::as_bytes(std::span(batch.x)).size() +
                                   std::as_bytes(std::span(batch.labels)).size());
      case Part::snapshot:
      case Part::restore:
        return static_cast<double>(start_.size());
      case Part::read_loss:
        return sizeof(float);
    }
    return 0.0;
  }

  Suite& suite_;
  ArmKey key_;
  ArmGround ground_;
  Session session_;
  std::vector<std::byte> start_;
  volatile double loss_ = 0.0;  // so that no read is left out
};

// Where the bytes go, and what the host's end of them is.
struct Way {
  bool to_device = true;
  HostPages pages = HostPages::pageable;
};

constexpr std::array<std::size_t, 4> kSizes = {4U << 10U, 64U << 10U, 1U << 20U, 16U << 20U};

std::string name_of(const Way& way, bool one_memory) {
  const char* const pages = way.pages == HostPages::pinned ? "pinned" : "pageable";
  return fmt::format("{}/{}", way.to_device ? "to_device" : "to_host",
                     one_memory ? "one_memory" : pages);
}

// Copies of one size on one backend.
class Copies final : public Prepared {
 public:
  Copies(Suite& suite, const std::string& backend, std::size_t bytes)
      : suite_(suite),
        backend_(suite.registry().make(backend, {.threads = suite.flags().threads})),
        stream_(backend_->make_stream()),
        device_(backend_->allocate(bytes)),
        pinned_(backend_->allocate_host(bytes)),
        pageable_(bytes, std::byte{1}) {
    backend_->mark_live(device_->data(), bytes);
    std::memset(pinned_->data(), 1, bytes);  // no page of it is new when it is timed
    once({});                                // nor one of the device's
    stream_->wait();
  }

  void run(benchmark::State& state, const Way& way, const std::string& name) {
    const std::vector<double> per_call = time_blocks(state, suite_, [&](std::int64_t calls) {
      for (std::int64_t call = 0; call < calls; ++call) once(way);
      stream_->wait();
    });
    const auto bytes = static_cast<double>(pageable_.size());
    state.counters["bytes"] = bytes;
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
    suite_.keep(model_, name, "ns", fmt::format("{:.0f} bytes a call, in blocks", bytes), per_call);
  }

  void finish() override { suite_.keep(model_, std::string(backend_->name()), backend_->info()); }

 private:
  void once(const Way& way) {
    const std::span<std::byte> host = way.pages == HostPages::pinned
                                          ? std::span(pinned_->data(), pageable_.size())
                                          : std::span(pageable_);
    if (way.to_device) {
      stream_->transfer_in(device_->data(), host, way.pages);
    } else {
      stream_->transfer_out(host, device_->data(), way.pages);
    }
  }

  Suite& suite_;
  std::string model_ = make_model(suite_.flags().models.front()).name;  // whose record has them
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<Memory> device_, pinned_;
  std::vector<std::byte> pageable_;
};

void add_copies(Suite& suite, const std::string& backend) {
  const bool one_memory = suite.registry().make(backend, {})->records_as() == RecordAs::tape;
  for (const std::size_t bytes : kSizes) {
    for (const bool to_device : {true, false}) {
      for (const HostPages pages : {HostPages::pageable, HostPages::pinned}) {
        if (one_memory && pages == HostPages::pinned) continue;
        const Way way{to_device, pages};
        const std::string name =
            fmt::format("transfer/{}/{}/bytes:{}", backend, name_of(way, one_memory), bytes);
        suite.add(name,
                  [&suite, backend, bytes, way, name](benchmark::State& state) {
                    suite
                        .prepared<Copies>(
                            fmt::format("{}/{} bytes", backend, bytes),
                            [&] { return std::make_unique<Copies>(suite, backend, bytes); })
                        .run(state, way, name);
                  },
                  {.unit = benchmark::kNanosecond});
      }
    }
  }
}

void add_all(Suite& suite) {
  const std::string& model = suite.flags().models.front();
  const bool has_loss = make_model(model).has_loss();
  for (const std::string& backend : suite.flags().backends) {
    for (const std::int64_t batch : suite.flags().batches) {
      const std::string session = fmt::format("{}/{}", backend, batch);
      const ArmKey key{model, backend, Mode::planned, "off", batch};
      for (const auto& [part, part_name] : kParts) {
        if (part == Part::read_loss && !has_loss) continue;
        const std::string name = fmt::format("transfer/{}/{}/batch:{}", backend, part_name, batch);
        suite.add(name,
                  [&suite, key, session, part = part, name](benchmark::State& state) {
                    suite
                        .prepared<Transfer>(session,
                                            [&] { return std::make_unique<Transfer>(suite, key); })
                        .run(state, part, name);
                  },
                  {.unit = benchmark::kNanosecond});
      }
    }
    add_copies(suite, backend);
  }
}

Facts protocol() {
  return {
      {"method", "blocks of calls, 1 ms or longer"},
      {"sync", "before the last stamp of a block"},
      {"inputs", fmt::format("ring of {} batches", InputRing::kBatches)},
      {"copies", "one call each, from and to one place, without a copy by the stream in between"},
      {"snapshot", "into memory that is taken for it in each call"}};
}

}  // namespace
}  // namespace stepscope::suites

int main(int argc, char** argv) {
  using namespace stepscope::suites;
  return run_program({.name = "bench_transfer",
                      .what = "What moves around a step: inputs, parameters and states, the loss.",
                      .names = "transfer/BACKEND/input_copy|snapshot|restore|read_loss/batch:N, "
                               "transfer/BACKEND/to_device|to_host/pageable|pinned/bytes:N",
                      .usual = {.models = {"mlp"}, .backends = {"usual"}, .batches = {1, 32, 1024}},
                      .one_model = true,
                      .protocol = protocol()},
                     argc, argv, add_all);
}
