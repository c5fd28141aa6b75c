// Random programs over several streams: how they are drawn, run one op after the other, submitted
// and made into nodes.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/sim/prelude.h"
//
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "backends/cuda/device_compat.cuh"
#include "ops/base/philox.h"
#include "tests/backends/cuda/sim/fixture.h"
#include "tests/backends/cuda/sim/graph_program.h"

namespace stepscope::cudasim {
namespace {

constexpr std::size_t kProgramBytes = sizeof(Cells);

// Order matters to it, and every key gives another function.
__host__ __device__ std::uint32_t mixed(std::uint32_t to, std::uint32_t from, std::uint32_t key) {
  return (to * 31u + from) ^ key;
}

__global__ void mix_kernel(std::uint32_t* to, const std::uint32_t* from, std::uint32_t key) {
  to[threadIdx.x] = mixed(to[threadIdx.x], from[threadIdx.x], key);
}

void mix_on_host(void* data) {
  const auto& mix = *static_cast<const Machine::HostMix*>(data);
  for (int i = 0; i < kCells; ++i) mix.to[i] = mixed(mix.to[i], mix.from[i], mix.key);
}

// Who touched a buffer last, as far as a later op must know.
struct Touches {
  int writer = -1;
  std::vector<int> readers;  // since then
};

// Ops of other streams that the op must not overtake.
std::vector<int> conflicts(const Program& program, const std::vector<Touches>& touches,
                           const Op& op) {
  std::vector<int> before{touches[op.to].writer, touches[op.from].writer};
  before.insert(before.end(), touches[op.to].readers.begin(), touches[op.to].readers.end());
  std::sort(before.begin(), before.end());
  before.erase(std::unique(before.begin(), before.end()), before.end());
  std::erase_if(before, [&](int index) {
    return index < 0 || program.ops[static_cast<std::size_t>(index)].stream == op.stream;
  });
  return before;
}

Op drawn_op(const Program& program, Philox& random) {
  const auto device = [&] { return static_cast<int>(random.below(program.device)); };
  const auto pinned = [&] {
    return program.device + static_cast<int>(random.below(program.pinned));
  };
  Op op;
  op.step = static_cast<Step>(random.below(6));
  op.stream = static_cast<int>(random.below(program.streams));
  op.key = random.next_u32();
  const bool to_pinned = op.step == Step::copy_out || op.step == Step::host_mix;
  const bool from_pinned = op.step == Step::copy_in || op.step == Step::host_mix;
  op.to = to_pinned ? pinned() : device();
  op.from = from_pinned ? pinned() : device();
  if (op.step == Step::fill) op.from = op.to;
  // A copy onto itself would be no work, and what did not wait for it no mistake.
  if (op.step == Step::copy && op.from == op.to) op.from = (op.to + 1) % program.device;
  return op;
}

// Whether `later` follows `sooner`, by streams and waits.
bool is_behind(const Program& program, int later, int sooner) {
  std::vector<bool> ahead(program.ops.size());
  ahead[static_cast<std::size_t>(later)] = true;
  for (int i = later; i > sooner; --i) {
    if (!ahead[static_cast<std::size_t>(i)]) continue;
    const Op& op = program.ops[static_cast<std::size_t>(i)];
    for (const int wait : op.waits) ahead[static_cast<std::size_t>(wait)] = true;
    for (int j = i - 1; j >= 0; --j) {
      if (program.ops[static_cast<std::size_t>(j)].stream != op.stream) continue;
      ahead[static_cast<std::size_t>(j)] = true;
      break;
    }
  }
  return ahead[static_cast<std::size_t>(sooner)];
}

}  // namespace

Program make_program(std::uint64_t seed) {
  Philox random(seed);
  Program program;
  program.streams = 2 + static_cast<int>(random.below(3));
  program.device = 2 + static_cast<int>(random.below(4));
  program.pinned = 1 + static_cast<int>(random.below(3));
  std::vector<Touches> touches(static_cast<std::size_t>(program.device + program.pinned));
  const auto count = 6 + static_cast<int>(random.below(15));
  for (int index = 0; index < count; ++index) {
    Op op = drawn_op(program, random);
    op.waits = conflicts(program, touches, op);
    if (index > 0 && random.below(8) == 0) {  // one that may be idle
      const int other = static_cast<int>(random.below(static_cast<std::uint64_t>(index)));
      const bool there = std::find(op.waits.begin(), op.waits.end(), other) != op.waits.end();
      const bool own = program.ops[static_cast<std::size_t>(other)].stream == op.stream;
      if (!there && !own) op.waits.push_back(other);
    }
    touches[static_cast<std::size_t>(op.from)].readers.push_back(index);
    touches[static_cast<std::size_t>(op.to)] = {index, {}};
    program.ops.push_back(std::move(op));
  }
  return program;
}

bool is_needed(const Program& program, std::size_t of, std::size_t index) {
  Program without = program;
  std::vector<int>& waits = without.ops[of].waits;
  const int sooner = waits[index];
  waits.erase(waits.begin() + static_cast<std::ptrdiff_t>(index));
  if (is_behind(without, static_cast<int>(of), sooner)) return false;
  const Op &late = program.ops[of], &early = program.ops[static_cast<std::size_t>(sooner)];
  // What one reads or writes the other one must write.
  return late.from == early.to || late.to == early.to || late.to == early.from;
}

State first_state(const Program& program) {
  State state(static_cast<std::size_t>(program.device + program.pinned));
  std::uint32_t value = 1;
  for (Cells& cells : state) {
    for (std::uint32_t& cell : cells) cell = value *= 2'654'435'761u;
  }
  return state;
}

void run_reference(const Program& program, State& state, std::size_t count) {
  for (std::size_t index = 0; index < count; ++index) {
    const Op& op = program.ops[index];
    Cells& to = state[static_cast<std::size_t>(op.to)];
    const Cells from = state[static_cast<std::size_t>(op.from)];
    if (op.step == Step::fill) {
      std::memset(to.data(), static_cast<int>(op.key & 0xFF), kProgramBytes);
    } else if (op.step == Step::mix || op.step == Step::host_mix) {
      for (std::size_t i = 0; i < kCells; ++i) to[i] = mixed(to[i], from[i], op.key);
    } else {
      to = from;
    }
  }
}

Machine::Machine(const Program& program) : program_(program) {
  REGISTER_KERNEL(mix_kernel);
  const State state = first_state(program);
  for (std::size_t i = 0; i < state.size(); ++i) {
    void* made = nullptr;
    const bool device = static_cast<int>(i) < program.device;
    EXPECT_EQ(cudaSuccess,
              device ? cudaMalloc(&made, kProgramBytes) : cudaMallocHost(&made, kProgramBytes));
    EXPECT_EQ(cudaSuccess, cudaMemcpy(made, state[i].data(), kProgramBytes, cudaMemcpyDefault));
    buffers_.push_back(static_cast<std::uint32_t*>(made));
  }
  for (int i = 0; i < program.streams; ++i) {
    EXPECT_EQ(cudaSuccess,
              cudaStreamCreateWithFlags(&streams_.emplace_back(), cudaStreamNonBlocking));
    EXPECT_EQ(cudaSuccess,
              cudaEventCreateWithFlags(&joined_.emplace_back(), cudaEventDisableTiming));
  }
  for (const Op& op : program.ops) {
    EXPECT_EQ(cudaSuccess, cudaEventCreateWithFlags(&done_.emplace_back(), cudaEventDisableTiming));
    host_mixes_.push_back({buffers_[static_cast<std::size_t>(op.to)],
                           buffers_[static_cast<std::size_t>(op.from)], op.key});
  }
  EXPECT_EQ(cudaSuccess, cudaEventCreateWithFlags(&forked_, cudaEventDisableTiming));
  // A first use, so that none is inside a capture; a grid that changes nothing that is kept.
  void* scratch = nullptr;
  EXPECT_EQ(cudaSuccess, cudaMalloc(&scratch, kProgramBytes));
  auto* const cells = static_cast<std::uint32_t*>(scratch);
  EXPECT_EQ(cudaSuccess, cuda::launch(nullptr, 1, kCells, 0, mix_kernel, cells, cells, 0u));
  EXPECT_EQ(cudaSuccess, cudaDeviceSynchronize());  // neither copies nor frees wait for it all
  EXPECT_EQ(cudaSuccess, cudaFree(scratch));
}

Machine::~Machine() {
  for (const cudaEvent_t event : done_) EXPECT_EQ(cudaSuccess, cudaEventDestroy(event));
  for (const cudaEvent_t event : joined_) EXPECT_EQ(cudaSuccess, cudaEventDestroy(event));
  EXPECT_EQ(cudaSuccess, cudaEventDestroy(forked_));
  for (const cudaStream_t stream : streams_) EXPECT_EQ(cudaSuccess, cudaStreamDestroy(stream));
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const bool device = static_cast<int>(i) < program_.device;
    EXPECT_EQ(cudaSuccess, device ? cudaFree(buffers_[i]) : cudaFreeHost(buffers_[i]));
  }
}

void Machine::submit() {
  EXPECT_EQ(cudaSuccess, cudaEventRecord(forked_, origin()));
  for (std::size_t i = 1; i < streams_.size(); ++i) {
    EXPECT_EQ(cudaSuccess, cudaStreamWaitEvent(streams_[i], forked_, 0));
  }
  for (std::size_t i = 0; i < program_.ops.size(); ++i) submit(program_.ops[i], i);
  for (std::size_t i = 1; i < streams_.size(); ++i) {
    EXPECT_EQ(cudaSuccess, cudaEventRecord(joined_[i], streams_[i]));
    EXPECT_EQ(cudaSuccess, cudaStreamWaitEvent(origin(), joined_[i], 0));
  }
}

void Machine::submit(const Op& op, std::size_t index) {
  const cudaStream_t stream = streams_[static_cast<std::size_t>(op.stream)];
  for (const int wait : op.waits) {
    EXPECT_EQ(cudaSuccess, cudaStreamWaitEvent(stream, done_[static_cast<std::size_t>(wait)], 0));
  }
  std::uint32_t* const to = buffers_[static_cast<std::size_t>(op.to)];
  const std::uint32_t* const from = buffers_[static_cast<std::size_t>(op.from)];
  cudaError_t result = cudaSuccess;
  if (op.step == Step::mix) {
    result = cuda::launch(stream, 1, kCells, 0, mix_kernel, to, from, op.key);
  } else if (op.step == Step::fill) {
    result = cudaMemsetAsync(to, static_cast<int>(op.key & 0xFF), kProgramBytes, stream);
  } else if (op.step == Step::host_mix) {
    result = cudaLaunchHostFunc(stream, mix_on_host, &host_mixes_[index]);
  } else {
    result = cudaMemcpyAsync(to, from, kProgramBytes, cudaMemcpyDefault, stream);
  }
  EXPECT_EQ(cudaSuccess, result);
  EXPECT_EQ(cudaSuccess, cudaEventRecord(done_[index], stream));
}

cudaGraphNode_t Machine::add_node(cudaGraph_t graph, const Op& op, std::size_t index,
                                  const std::vector<cudaGraphNode_t>& after) {
  cudaGraphNode_t node = nullptr;
  std::uint32_t* to = buffers_[static_cast<std::size_t>(op.to)];
  const std::uint32_t* from = buffers_[static_cast<std::size_t>(op.from)];
  std::uint32_t key = op.key;
  cudaError_t result = cudaSuccess;
  if (op.step == Step::mix) {
    void* arguments[] = {&to, &from, &key};
    cudaKernelNodeParams params{};
    params.func = reinterpret_cast<void*>(mix_kernel);
    params.gridDim = 1;
    params.blockDim = kCells;
    params.kernelParams = arguments;
    result = cudaGraphAddKernelNode(&node, graph, after.data(), after.size(), &params);
  } else if (op.step == Step::fill) {
    cudaMemsetParams params{};
    params.dst = to;
    params.value = key & 0xFF;
    params.elementSize = 1;
    params.width = kProgramBytes;
    params.height = 1;
    result = cudaGraphAddMemsetNode(&node, graph, after.data(), after.size(), &params);
  } else if (op.step == Step::host_mix) {
    const cudaHostNodeParams params{mix_on_host, &host_mixes_[index]};
    result = cudaGraphAddHostNode(&node, graph, after.data(), after.size(), &params);
  } else {
    result = cudaGraphAddMemcpyNode1D(&node, graph, after.data(), after.size(), to, from,
                                      kProgramBytes, cudaMemcpyDefault);
  }
  EXPECT_EQ(cudaSuccess, result);
  return node;
}

void Machine::add_to(cudaGraph_t graph) {
  std::vector<cudaGraphNode_t> nodes;
  // Where each stream stands: a wait without work behind it is carried on to the next op.
  std::vector<cudaGraphNode_t> last(streams_.size(), nullptr);
  for (std::size_t i = 0; i < program_.ops.size(); ++i) {
    const Op& op = program_.ops[i];
    cudaGraphNode_t& before = last[static_cast<std::size_t>(op.stream)];
    std::vector<cudaGraphNode_t> after;
    if (before != nullptr) after.push_back(before);
    for (const int wait : op.waits) after.push_back(nodes[static_cast<std::size_t>(wait)]);
    before = nodes.emplace_back(add_node(graph, op, i, after));
  }
}

void Machine::wait_for(std::size_t op) { EXPECT_EQ(cudaSuccess, cudaEventSynchronize(done_[op])); }

State Machine::state() {
  for (auto stream = streams_.rbegin(); stream != streams_.rend(); ++stream) {
    EXPECT_EQ(cudaSuccess, cudaStreamSynchronize(*stream));
  }
  State state(buffers_.size());
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    EXPECT_EQ(cudaSuccess,
              cudaMemcpy(state[i].data(), buffers_[i], kProgramBytes, cudaMemcpyDefault));
  }
  return state;
}

}  // namespace stepscope::cudasim
