// The head of a record, from the calendar, chance, and the machine.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/begin_record.h"

#include <fmt/format.h>

#include <random>

#include "bench/files/date.h"
#include "bench/measure/core_handshake.h"
#include "bench/measure/environment.h"

namespace stepscope {
namespace {

// 128 random bits: no two runs share it.
std::string fresh_id() {
  std::random_device random;
  std::string id;
  for (int i = 0; i < 4; ++i) id += fmt::format("{:08x}", random());
  return id;
}

Fact core_distance() {
  const Handshake cores = measure_core_handshake();
  Fact distance{"core_distance", std::nullopt, cores.reason};
  if (cores.round_trip_ns) {
    distance.value =
        fmt::format("{}, round trip {:.0f} ns", name(cores.distance), *cores.round_trip_ns);
  }
  return distance;
}

}  // namespace

Record begin_record(const std::string& version, const std::string& command) {
  Record record;
  record.version = version;
  record.command = command;
  record.created = utc_now();
  record.experiment_id = fresh_id();
  record.environment = environment_facts();
  record.environment.push_back(core_distance());
  return record;
}

}  // namespace stepscope
