// Updates of executable graphs: rules 25 to 28 of docs/cuda-simulator.md.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/cuda/sim/graph_support.h"
//

namespace stepscope::cudasim {
namespace {

__global__ void first_run_by_an_update(int* data, int value) { data[threadIdx.x] = value; }

class Updates : public GraphTest {
 protected:
  // What capture(stream) captures; the same calls in the same order give the same nodes.
  template <class Body>
  cudaGraph_t captured(Body body) {
    const cudaStream_t s = stream();
    begin(s);
    body(s);
    return end(s);
  }
  void launch_and_wait(cudaGraphExec_t exec) {
    CUDA_OK(cudaGraphLaunch(exec, stream_));
    CUDA_OK(cudaStreamSynchronize(stream_));
  }
  void SetUp() override {
    GraphTest::SetUp();
    stream_ = stream();
    data_ = ints();
    other_ = ints();
  }
  // The update is refused with this result at this node, and what the executable does is as before.
  void expect_refusal(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResult result,
                      cudaGraphNode_t node, cudaGraphNode_t from = nullptr) {
    cudaGraphExecUpdateResultInfo info{};
    expect_refused(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, graph, &info));
    EXPECT_EQ(result, info.result);
    EXPECT_EQ(node, info.errorNode);
    EXPECT_EQ(from, info.errorFromNode);
  }

  cudaStream_t stream_ = nullptr;
  int *data_ = nullptr, *other_ = nullptr;
};

TEST_F(Updates, Rule25_ReachLaterLaunchesAlone) {
  const auto capture_set = [&](int value) {
    return captured([&](cudaStream_t s) { CUDA_OK(add(s, data_, value)); });
  };
  const cudaGraph_t first = capture_set(1);
  const cudaGraphExec_t exec = instantiated(first);
  cudaGraphExecUpdateResultInfo info;
  CUDA_OK(cudaGraphLaunch(exec, stream_));
  CUDA_OK(cudaGraphExecUpdate(exec, capture_set(10), &info));
  EXPECT_EQ(cudaGraphExecUpdateSuccess, info.result);
  CUDA_OK(cudaGraphLaunch(exec, stream_));
  KernelParams params(add_to, data_, 100);
  CUDA_OK(cudaGraphExecKernelNodeSetParams(exec, nodes_of(first)[0], &params));
  CUDA_OK(cudaGraphLaunch(exec, stream_));
  // None of the three has run yet: the schedule is lazy.
  EXPECT_EQ(all(0), read(data_));
  CUDA_OK(cudaStreamSynchronize(stream_));
  EXPECT_EQ(all(111), read(data_));
  cudaKernelNodeParams told{};
  CUDA_OK(cudaGraphKernelNodeGetParams(nodes_of(first)[0], &told));
  EXPECT_EQ(1, *static_cast<int*>(told.kernelParams[1]));  // the graph itself is not changed
}

TEST_F(Updates, Rule26_EveryKindOfNodeTakesNewParameters) {
  int *const in = pinned(1), *const later_in = pinned(100), *const out = pinned();
  int calls = 0, later_calls = 0;
  const auto count = [](void* at) { ++*static_cast<int*>(at); };
  const auto make = [&](const int* from, int* to, int value, int byte, int* counter) {
    return captured([&](cudaStream_t s) {
      CUDA_OK(cudaMemsetAsync(other_, byte, kBytes, s));
      CUDA_OK(cudaMemcpyAsync(to, from, kBytes, cudaMemcpyHostToDevice, s));
      CUDA_OK(set(s, other_, value));
      CUDA_OK(add(s, to, value));
      CUDA_OK(cudaLaunchHostFunc(s, count, counter));
      CUDA_OK(cudaMemcpyAsync(out, to, kBytes, cudaMemcpyDeviceToHost, s));
    });
  };
  const cudaGraphExec_t exec = instantiated(make(in, data_, 1, 0, &calls));
  launch_and_wait(exec);
  EXPECT_EQ(2, out[0]);
  cudaGraphExecUpdateResultInfo info;
  CUDA_OK(cudaGraphExecUpdate(exec, make(later_in, ints(), 5, 3, &later_calls), &info));
  EXPECT_EQ(nullptr, info.errorNode);
  launch_and_wait(exec);
  EXPECT_EQ(105, out[0]);
  EXPECT_EQ(all(5), read(other_));
  EXPECT_EQ(1, calls);
  EXPECT_EQ(1, later_calls);
}

TEST_F(Updates, Rule26_AKernelMayBecomeAnother) {
  const cudaGraphExec_t exec =
      instantiated(captured([&](cudaStream_t s) { CUDA_OK(add(s, data_, 3)); }));
  const cudaGraph_t other = captured([&](cudaStream_t s) { CUDA_OK(set(s, data_, 50)); });
  cudaGraphExecUpdateResultInfo info;
  CUDA_OK(cudaGraphExecUpdate(exec, other, &info));
  launch_and_wait(exec);
  EXPECT_EQ(all(50), read(data_));
}

TEST_F(Updates, Rule26_AnotherNumberOfNodesIsATopologyChanged) {
  const auto chain = [&](int length) {
    return captured([&](cudaStream_t s) {
      for (int i = 0; i < length; ++i) CUDA_OK(add(s, data_, 1));
    });
  };
  const cudaGraphExec_t exec = instantiated(chain(2));
  expect_refusal(exec, chain(3), cudaGraphExecUpdateErrorTopologyChanged, nullptr);
  expect_refusal(exec, chain(1), cudaGraphExecUpdateErrorTopologyChanged, nullptr);
  launch_and_wait(exec);
  EXPECT_EQ(all(2), read(data_));
}

TEST_F(Updates, Rule26_SoAreOtherDependencies) {
  // Four nodes; which of the first three the others follow is the case's.
  const auto made = [&](std::vector<std::pair<int, int>> edges) {
    const cudaGraph_t into = graph();
    std::vector<cudaGraphNode_t> nodes(4);
    for (cudaGraphNode_t& node : nodes) {
      EXPECT_EQ(cudaSuccess, cudaGraphAddEmptyNode(&node, into, nullptr, 0));
    }
    for (const auto& [from, to] : edges) {
      EXPECT_EQ(cudaSuccess, cudaGraphAddDependencies(into, &nodes[from], &nodes[to], nullptr, 1));
    }
    return into;
  };
  const cudaGraphExec_t exec = instantiated(made({{0, 2}, {1, 2}, {2, 3}}));
  cudaGraphExecUpdateResultInfo info;
  CUDA_OK(cudaGraphExecUpdate(exec, made({{0, 2}, {1, 2}, {2, 3}}), &info));
  const cudaGraph_t fewer = made({{0, 2}, {2, 3}});
  expect_refusal(exec, fewer, cudaGraphExecUpdateErrorTopologyChanged, nodes_of(fewer)[2]);
  const cudaGraph_t more = made({{0, 2}, {1, 2}, {0, 3}, {2, 3}});
  expect_refusal(exec, more, cudaGraphExecUpdateErrorTopologyChanged, nodes_of(more)[3]);
  const cudaGraph_t another = made({{0, 2}, {1, 2}, {1, 3}});
  expect_refusal(exec, another, cudaGraphExecUpdateErrorTopologyChanged, nodes_of(another)[3],
                 nodes_of(another)[1]);
  const cudaGraph_t swapped = made({{1, 2}, {0, 2}, {2, 3}});  // in the order they were added
  expect_refusal(exec, swapped, cudaGraphExecUpdateErrorTopologyChanged, nodes_of(swapped)[2],
                 nodes_of(swapped)[1]);
}

TEST_F(Updates, Rule26_OtherTypesAreRefusedAndNothingIsChanged) {
  const cudaGraphExec_t exec = instantiated(captured([&](cudaStream_t s) {
    CUDA_OK(set(s, data_, 1));
    CUDA_OK(add(s, data_, 1));
  }));
  const cudaGraph_t other = captured([&](cudaStream_t s) {
    CUDA_OK(set(s, data_, 7));
    CUDA_OK(cudaMemsetAsync(data_, 0, 4, s));
  });
  expect_refusal(exec, other, cudaGraphExecUpdateErrorNodeTypeChanged, nodes_of(other)[1]);
  launch_and_wait(exec);
  EXPECT_EQ(all(2), read(data_));  // not 8: the first node keeps its parameters, too
}

TEST_F(Updates, Rule26_BadHandlesAreAnError) {
  const cudaGraph_t made = graph();
  const cudaGraphExec_t exec = instantiated(made);
  cudaGraphExecUpdateResultInfo info{};
  expect_refused(cudaErrorInvalidValue, cudaGraphExecUpdate(exec, nullptr, &info));
  EXPECT_EQ(cudaGraphExecUpdateError, info.result);
  expect_refused(cudaErrorInvalidValue, cudaGraphExecUpdate(nullptr, made, &info));
  expect_refused(cudaErrorInvalidValue, cudaGraphExecUpdate(exec, made, nullptr));
}

TEST_F(Updates, Rule27_TheKindOfMemoryStays) {
  int* const host = pinned();
  std::vector<int> own(kCount), pageable(kCount);
  CUDA_OK(cudaHostRegister(own.data(), kBytes, 0));
  const cudaGraph_t made = graph();
  cudaGraphNode_t node;
  CUDA_OK(
      cudaGraphAddMemcpyNode1D(&node, made, nullptr, 0, data_, host, kBytes, cudaMemcpyDefault));
  const cudaGraphExec_t exec = instantiated(made);
  const auto set_copy = [&](void* to, const void* from, std::size_t bytes = kBytes) {
    return cudaGraphExecMemcpyNodeSetParams1D(exec, node, to, from, bytes, cudaMemcpyDefault);
  };
  expect_refused(cudaErrorInvalidValue, set_copy(data_, other_));
  expect_refused(cudaErrorInvalidValue, set_copy(host, data_));
  expect_refused(cudaErrorInvalidValue, set_copy(data_, pageable.data()));
  expect_refused(cudaErrorInvalidValue, set_copy(data_, host, 0));
  expect_refused(cudaErrorInvalidValue, set_copy(data_, host, kBytes + 1));
  std::iota(own.begin(), own.end(), 70);
  CUDA_OK(set_copy(other_ + 1, own.data(), 8));  // its size may change
  launch_and_wait(exec);
  EXPECT_EQ((std::vector{0, 70, 71, 0, 0, 0, 0, 0}), read(other_));
  EXPECT_EQ(all(0), read(data_));

  const cudaGraph_t by_update = graph();
  CUDA_OK(cudaGraphAddMemcpyNode1D(&node, by_update, nullptr, 0, data_, other_, kBytes,
                                   cudaMemcpyDefault));
  expect_refusal(exec, by_update, cudaGraphExecUpdateErrorParametersChanged, node);
  destroy(exec);
  CUDA_OK(cudaHostUnregister(own.data()));
}

TEST_F(Updates, Rule27_OnlyFillsOfOneRowChangeSize) {
  const cudaGraph_t made = graph();
  cudaGraphNode_t row, rows;
  const cudaMemsetParams one = fill(data_, 1, kCount), two = fill(other_, 2, 2, 2, 4, 16);
  CUDA_OK(cudaGraphAddMemsetNode(&row, made, nullptr, 0, &one));
  CUDA_OK(cudaGraphAddMemsetNode(&rows, made, nullptr, 0, &two));
  const cudaGraphExec_t exec = instantiated(made);
  const auto refused = [&](cudaGraphNode_t node, const cudaMemsetParams& params) {
    expect_refused(cudaErrorInvalidValue, cudaGraphExecMemsetNodeSetParams(exec, node, &params));
  };
  refused(row, fill(data_, 1, 2, 2, 4, 16));    // more rows
  refused(row, fill(data_, 1, 0));              // nothing
  refused(row, fill(pinned(), 1, kCount));      // other memory
  refused(rows, fill(other_, 2, 1, 2, 4, 16));  // narrower
  refused(rows, fill(other_, 2, 2, 1, 4, 16));  // one row
  refused(rows, fill(other_, 2, 2, 2, 2, 16));  // other elements
  refused(rows, fill(other_, 2, 2, 2, 4, 8));   // another pitch
  const cudaMemsetParams shorter = fill(data_ + 2, 9, 3);
  const cudaMemsetParams value = fill(other_ + 1, 8, 2, 2, 4, 16);
  CUDA_OK(cudaGraphExecMemsetNodeSetParams(exec, row, &shorter));
  CUDA_OK(cudaGraphExecMemsetNodeSetParams(exec, rows, &value));
  launch_and_wait(exec);
  EXPECT_EQ((std::vector{0, 0, 9, 9, 9, 0, 0, 0}), read(data_));
  EXPECT_EQ((std::vector{0, 8, 8, 0, 0, 8, 8, 0}), read(other_));
}

TEST_F(Updates, Rule28_NeedTheNodeInTheOriginalGraph) {
  const cudaGraph_t made = captured([&](cudaStream_t s) {
    CUDA_OK(add(s, data_, 1));
    CUDA_OK(cudaMemsetAsync(other_, 1, kBytes, s));
  });
  const cudaGraphExec_t exec = instantiated(made);
  const cudaGraphNode_t kernel = nodes_of(made)[0], memset = nodes_of(made)[1];
  KernelParams params(add_to, data_, 7);
  const cudaMemsetParams zero = fill(other_, 0, kCount);
  const auto set_kernel = [&](cudaGraphNode_t node) {
    return cudaGraphExecKernelNodeSetParams(exec, node, &params);
  };
  CUDA_OK(set_kernel(kernel));
  expect_refused(cudaErrorInvalidValue, set_kernel(memset));
  expect_refused(cudaErrorInvalidValue, cudaGraphExecMemsetNodeSetParams(exec, kernel, &zero));
  expect_refused(cudaErrorInvalidValue,
                 cudaGraphExecMemcpyNodeSetParams1D(exec, kernel, data_, other_, kBytes,
                                                    cudaMemcpyDeviceToDevice));
  const cudaGraph_t twin = captured([&](cudaStream_t s) { CUDA_OK(add(s, data_, 1)); });
  expect_refused(cudaErrorInvalidValue, set_kernel(nodes_of(twin)[0]));
  cudaGraphNode_t added;  // after the executable was made
  CUDA_OK(cudaGraphAddKernelNode(&added, made, nullptr, 0, &params));
  expect_refused(cudaErrorInvalidValue, set_kernel(added));
  launch_and_wait(exec);
  EXPECT_EQ(all(7), read(data_));

  destroy(made);
  expect_refused(cudaErrorInvalidValue, set_kernel(kernel));
  params.func = nullptr;
  launch_and_wait(exec);
  EXPECT_EQ(all(14), read(data_));
}

TEST_F(Updates, ParametersAreCheckedAsThoseOfANewNode) {
  const cudaGraph_t made = captured([&](cudaStream_t s) { CUDA_OK(add(s, data_, 1)); });
  const cudaGraphExec_t exec = instantiated(made);
  const cudaGraphNode_t node = nodes_of(made)[0];
  KernelParams params(add_to, data_, 7);
  params.blockDim.x = 2000;
  expect_refused(cudaErrorInvalidConfiguration,
                 cudaGraphExecKernelNodeSetParams(exec, node, &params));
  params.func = &params;
  expect_refused(cudaErrorInvalidDeviceFunction,
                 cudaGraphExecKernelNodeSetParams(exec, node, &params));
  expect_refused(cudaErrorInvalidValue, cudaGraphExecKernelNodeSetParams(exec, node, nullptr));
  launch_and_wait(exec);
  EXPECT_EQ(all(1), read(data_));
}

// What an updated executable runs is as warm as what it was made with.
TEST_F(Updates, AnUpdatedNodeWarmsItsKernel) {
  const cudaGraph_t made = captured([&](cudaStream_t s) { CUDA_OK(set(s, data_, 1)); });
  const cudaGraphExec_t exec = instantiated(made);
  launch_and_wait(exec);
  REGISTER_KERNEL(first_run_by_an_update);
  const KernelParams params(first_run_by_an_update, data_, 2);
  CUDA_OK(cudaGraphExecKernelNodeSetParams(exec, nodes_of(made)[0], &params));
  launch_and_wait(exec);
  captured([&](cudaStream_t s) {
    CUDA_OK(cuda::launch(s, 1, kCount, 0, first_run_by_an_update, data_, 3));
  });
  EXPECT_TRUE(lints().empty());
}

}  // namespace
}  // namespace stepscope::cudasim
