// Executor: the scheduler of a grid's blocks and of a block's threads.
//
// A thread runs until it blocks, and a fiber runs thread after thread until one does: a kernel
// without barriers costs a call per thread. Then those that can go on do, in the order asked for.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/sim/executor.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <numeric>

#include "backends/cuda/sim/device_range.h"
#include "backends/cuda/sim/fiber.h"
#include "backends/cuda/sim/requests.h"
#include "backends/cuda/sim/running_block.h"
#include "backends/cuda/sim/sanitizers.h"
#include "ops/base/philox.h"

// What NVIDIA's device_launch_parameters.h declares const, for kernels: rewritten for each thread.
// A compiler may keep their values while a thread is suspended, since they are the thread's own.
extern "C" {
uint3 threadIdx{};
uint3 blockIdx{};
dim3 blockDim{};
dim3 gridDim{};
int warpSize = static_cast<int>(stepscope::cudasim::kWarpSize);
}

namespace stepscope::cudasim {
namespace {

// Fibers are made once and used again. ThreadSanitizer takes two threads that have one fiber for
// one thread: there each thread of a block has its own, of the block's set.
class FiberPool {
 public:
  // A block's set is never that of the block before. The others are drawn, anew for each launch: in
  // a rhythm, blocks that are a fixed distance apart would never be seen to race.
  void begin_block(std::uint64_t launch, std::uint64_t block) {
    if (!kTsan) {
      return;
    }
    std::uint64_t hash = ((launch << 32 ^ block) + 1) * 0x9E3779B97F4A7C15;  // splitmix64
    hash = (hash ^ hash >> 30) * 0xBF58476D1CE4E5B9;
    hash = (hash ^ hash >> 27) * 0x94D049BB133111EB;
    set_ = (set_ + 1 + (hash ^ hash >> 31) % (kSets - 1)) % kSets;
  }
  Fiber& take(unsigned thread) {
    if (kTsan) {
      std::vector<std::unique_ptr<Fiber>>& set = sets_[set_];
      while (set.size() <= thread) {
        set.push_back(std::make_unique<Fiber>(body_));
      }
      return *set[thread];
    }
    if (free_.empty()) {
      all_.push_back(std::make_unique<Fiber>(body_));
      free_.reserve(all_.size());
      return *all_.back();
    }
    Fiber& fiber = *free_.back();
    free_.pop_back();
    return fiber;
  }
  void give_back(Fiber& fiber) {
    if (!kTsan) {
      free_.push_back(&fiber);
    }
  }
  void set_body(Fiber::Body body) { body_ = body; }

 private:
  // ThreadSanitizer knows 8,000 fibers at most, and each of them costs it time.
  static constexpr std::uint64_t kSets = 5;
  Fiber::Body body_ = nullptr;
  std::vector<std::unique_ptr<Fiber>> all_, sets_[kSets];
  std::uint64_t set_ = 0;
  std::vector<Fiber*> free_;
};

struct Orders {
  char* memory = nullptr;
  std::size_t used = 0;
  static constexpr std::size_t kBytes = std::size_t{1} << 20;
};

struct State {
  RunningBlock block;
  FiberPool fibers;
  Orders orders;
  std::uint64_t launches = 0;
  std::size_t shared_limit = 0;  // bytes of the running kernel's arrays and dynamic memory
  char end_order = 0;  // released by each thread last, acquired by the host after the grid
  // The launch's parameters, where their alignment is kept.
  alignas(64) std::array<std::byte, kMostParameterBytes> arguments{};
};

bool& runs_a_kernel() {
  static thread_local bool runs = false;
  return runs;
}

void run_threads(Fiber& fiber);

State& state() {
  static State& state = []() -> State& {
    State& made = *new State;
    made.fibers.set_body(&run_threads);
    return made;
  }();
  return state;
}

uint3 split(std::uint64_t number, const dim3& size) {
  return {static_cast<unsigned>(number % size.x), static_cast<unsigned>(number / size.x % size.y),
          static_cast<unsigned>(number / size.x / size.y)};
}

void set_running(unsigned thread) {
  RunningBlock& block = state().block;
  block.running = thread;
  const dim3& size = block.call->block;
  threadIdx = size.y == 1 && size.z == 1 ? uint3{thread, 0, 0} : split(thread, size);
}

void run_thread(unsigned thread, Fiber& fiber) {
  RunningBlock& block = state().block;
  block.waiting[thread].fiber = &fiber;
  block.states[thread] = ThreadState::running;
  set_running(thread);
  acquire(block.begin_order);
  block.call->signature->invoke(block.call->function, block.arguments.data());
  release(&state().end_order);
  block.states[thread] = ThreadState::exited;
  --block.alive;
  block.warps[thread / kWarpSize].alive &= ~(1u << (thread % kWarpSize));
  complete_meetings(thread / kWarpSize);
  complete_barrier();
}

// The body of every fiber.
void run_threads(Fiber& fiber) {
  for (;;) {
    RunningBlock& block = state().block;
    do {
      run_thread(block.order[block.next++], fiber);
    } while (!kTsan && block.next < block.threads);
    state().fibers.give_back(fiber);
    fiber.suspend();
  }
}

template <class T>
void arrange(T* order, std::size_t count, Order kind, std::uint64_t seed, std::uint64_t stream) {
  std::iota(order, order + count, T{0});
  if (kind == Order::descending) {
    std::reverse(order, order + count);
  } else if (kind == Order::seeded) {
    Philox random(seed, stream);
    for (std::size_t i = count; i > 1; --i) {
      std::swap(order[i - 1], order[random.next_u32() % i]);
    }
  }
}

void prepare_block(std::uint64_t number, const GridOrder& order) {
  State& s = state();
  RunningBlock& block = s.block;
  const KernelCall& call = *block.call;
  s.fibers.begin_block(s.launches, number);
  block.index = blockIdx = split(number, call.grid);
  block.threads = block.alive = call.block.x * call.block.y * call.block.z;
  block.next = block.at_barrier = 0;
  block.fault.reset();
  std::fill_n(block.states.begin(), block.threads, ThreadState::fresh);
  for (unsigned first = 0; first < block.threads; first += kWarpSize) {
    const unsigned lanes = std::min(kWarpSize, block.threads - first);
    block.warps[first / kWarpSize].alive = lanes == 32 ? ~0u : (1u << lanes) - 1;
    block.warps[first / kWarpSize].count = 0;
  }
  arrange(block.order.data(), block.threads, order.threads, order.seed, number);
  renew_orders();
  begin_shared(call.dynamic_shared, s.shared_limit);
  block.begin_order = make_order();
  block.fence_order = make_order();
  release(block.begin_order);
}

void resume(unsigned thread) {
  RunningBlock& block = state().block;
  block.states[thread] = ThreadState::running;
  set_running(thread);
  block.waiting[thread].fiber->resume();
}

// Lets every thread that can go on do so once; false when none can.
bool run_ready() {
  RunningBlock& block = state().block;
  bool any = false;
  for (unsigned i = 0; i < block.threads && !block.fault; ++i) {
    if (block.states[block.order[i]] == ThreadState::ready) {
      resume(block.order[i]);
      any = true;
    }
  }
  return any;
}

void run_block() {
  RunningBlock& block = state().block;
  while (block.next < block.threads && !block.fault) {
    state().fibers.take(block.order[block.next]).resume();
  }
  while (block.alive > 0 && !block.fault) {
    if (!run_ready() && !block.fault) {
      block.fault = deadlock();
    }
  }
}

// The threads that wait never go on: their stacks are used anew as they are.
void drop_fibers() {
  RunningBlock& block = state().block;
  for (unsigned thread = 0; thread < block.threads; ++thread) {
    if (block.states[thread] != ThreadState::fresh && block.states[thread] != ThreadState::exited) {
      block.waiting[thread].fiber->restart(&state().end_order);
      state().fibers.give_back(*block.waiting[thread].fiber);
    }
  }
}

void bind_arguments(const KernelCall& call) {
  State& s = state();
  std::copy(call.arguments.begin(), call.arguments.end(), s.arguments.begin());
  for (std::size_t i = 0; i < call.signature->parameters.size(); ++i) {
    s.block.arguments[i] = s.arguments.data() + call.signature->parameters[i].offset;
  }
}

std::optional<DeviceFault> run_blocks(const KernelCall& call, const GridOrder& order) {
  const std::uint64_t blocks = std::uint64_t{call.grid.x} * call.grid.y * call.grid.z;
  std::vector<std::uint64_t> drawn(order.blocks == Order::seeded ? blocks : 0);
  arrange(drawn.data(), drawn.size(), order.blocks, order.seed, ~std::uint64_t{0});
  for (std::uint64_t i = 0; i < blocks; ++i) {
    const std::uint64_t number = order.blocks == Order::ascending    ? i
                                 : order.blocks == Order::descending ? blocks - 1 - i
                                                                     : drawn[i];
    prepare_block(number, order);
    run_block();
    std::optional<DeviceFault> fault;
    if (state().block.fault) {
      fault = fault_of(*state().block.fault);
      drop_fibers();
    }
    end_shared();
    if (fault) {
      return fault;
    }
  }
  return std::nullopt;
}

}  // namespace

RunningBlock& running_block() { return state().block; }

void wait_here() {
  RunningBlock& block = state().block;
  Waiting& waiting = block.waiting[block.running];
  waiting.fiber->suspend();
  if (waiting.order != nullptr) {
    acquire(waiting.order);
  }
}

void raise(const PendingFault& fault) {
  RunningBlock& block = state().block;
  block.fault = fault;
  block.states[block.running] = ThreadState::running;  // even if it was about to exit
  for (;;) {
    block.waiting[block.running].fiber->suspend();
  }
}

void* make_order() {
  if (!kTsan) {
    return nullptr;
  }
  Orders& orders = state().orders;
  orders.used = (orders.used + 8) % Orders::kBytes;
  return orders.memory + orders.used;
}

void renew_orders() {
  Orders& orders = state().orders;
  if (!kTsan || (orders.memory != nullptr && orders.used < Orders::kBytes / 2)) {
    return;
  }
  if (orders.memory != nullptr) {
    munmap(orders.memory, Orders::kBytes);
  }
  void* memory =
      mmap(nullptr, Orders::kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw std::bad_alloc();
  }
  orders = {static_cast<char*>(memory), 0};
}

std::optional<DeviceFault> run_grid(const KernelCall& call, const GridOrder& order) {
  State& s = state();
  s.block.call = &call;
  blockDim = call.block;
  gridDim = call.grid;
  bind_arguments(call);
  give_handler_a_stack();
  ++s.launches;
  // Opting in raises what the launch may ask for; arrays beside it count up to the device's limit.
  s.shared_limit = dynamic_shared_limit(call.function) > kSharedLimit ? kSharedOptIn : kSharedLimit;
  runs_a_kernel() = true;
  std::optional<DeviceFault> fault;
  {
    const Watchdog watchdog;
    fault = run_blocks(call, order);
  }
  runs_a_kernel() = false;
  acquire(&s.end_order);
  return fault;
}

bool in_kernel() { return runs_a_kernel(); }

std::string running_thread() {
  return in_kernel() ? coordinates(state().block.running) : std::string();
}

}  // namespace stepscope::cudasim
