// The planted kernels. Volatile accesses: the compiler must not see through them.
// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/planted.h"

#include <array>
#include <cstring>

#include "backends/reference/reference.h"
#include "ops/ir/op_def.h"

namespace stepscope::conformance {
namespace {

constexpr std::array kNames = {"PlantedWriteBehind", "PlantedWriteInFront", "PlantedWriteInput",
                               "PlantedReadBehind",  "PlantedReadDead",     "PlantedCopy"};

void infer(std::span<const TensorType> in, const Attrs&, TypeList& out) { out.push_back(in[0]); }

Work work(std::span<const TensorType> in, std::span<const TensorType> out, const Attrs&) {
  return {0.0, bytes_moved(in, out)};
}

volatile std::byte* at(std::byte* address) { return address; }

const std::byte* dead_address = nullptr;

template <Plant kPlant>
void launch(const Launch& call, Stream& stream) {
  stream.made_call(call, CallBy::own);
  const std::size_t bytes = call.kernel->site().in[0].bytes();
  std::byte* x = call.operands[0];
  std::byte* y = call.operands[1];
  std::memcpy(y, x, bytes);
  switch (kPlant) {
    case Plant::write_behind:
      *at(y + bytes) = std::byte{1};
      break;
    case Plant::write_in_front:
      *at(y - 1) = std::byte{1};
      break;
    case Plant::write_input:
      *at(x) = static_cast<std::byte>(~std::to_integer<int>(*x));
      break;
    case Plant::read_behind:
      *at(y) = *at(x + bytes);
      break;
    case Plant::read_dead:
      std::memcpy(y, dead_address, bytes);
      break;
    case Plant::copy:
      break;
  }
}

class PlantedKernel final : public Kernel {
 public:
  PlantedKernel(const OpSite& site, Function function) : Kernel(site, {}, function) {}
};

template <Plant kPlant>
std::unique_ptr<Kernel> make(const OpSite& site) {
  return std::make_unique<PlantedKernel>(site, launch<kPlant>);
}

}  // namespace

OpKind planted_op(Plant plant) {
  static const std::array kinds = [] {
    std::array<OpKind, kNames.size()> added{};
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      added[i] = add_op({.name = kNames[i], .infer = infer, .work = work});
    }
    return added;
  }();
  return kinds[static_cast<std::size_t>(plant)];
}

void set_dead_address(const std::byte* address) { dead_address = address; }

void add_plants(HostBackend& host) {
  host.set_maker(planted_op(Plant::write_behind), make<Plant::write_behind>);
  host.set_maker(planted_op(Plant::write_in_front), make<Plant::write_in_front>);
  host.set_maker(planted_op(Plant::write_input), make<Plant::write_input>);
  host.set_maker(planted_op(Plant::read_behind), make<Plant::read_behind>);
  host.set_maker(planted_op(Plant::read_dead), make<Plant::read_dead>);
  host.set_maker(planted_op(Plant::copy), make<Plant::copy>);
}

std::unique_ptr<Backend> backend_with_plants() {
  std::unique_ptr<Backend> made = reference::make_backend({});
  add_plants(dynamic_cast<HostBackend&>(*made));
  return made;
}

}  // namespace stepscope::conformance
