// One pass over the launches: by stream capture, or by explicit nodes.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/graph_maker.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/cuda/error.h"
#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope::cuda {
namespace {

constexpr std::string_view kWhatInvalidates =
    "it made the capture invalid: a step may not allocate, wait or use the legacy stream";

std::string_view name_of(cudaGraphNodeType type) {
  switch (type) {
    case cudaGraphNodeTypeMemcpy:
      return "a copy";
    case cudaGraphNodeTypeMemset:
      return "a fill";
    case cudaGraphNodeTypeHost:
      return "a host function";
    case cudaGraphNodeTypeGraph:
      return "a graph";
    case cudaGraphNodeTypeEmpty:
      return "nothing";
    case cudaGraphNodeTypeMemAlloc:
      return "an allocation";
    case cudaGraphNodeTypeMemFree:
      return "a release of memory";
    default:
      return "of another type";
  }
}

// A library may fill memory beside its kernels.
cudaGraphNodeType checked_type(cudaGraphNode_t node, cudaGraphNodeType wanted, bool of_library) {
  cudaGraphNodeType type{};
  check_cuda(cudaGraphNodeGetType(node, &type), "cudaGraphNodeGetType");
  const bool is_its_fill = of_library && type == cudaGraphNodeTypeMemset;
  check(type == wanted || is_its_fill, Fault::device,
        "it adds a node that is {}; a step's nodes are kernels, behind the copies of its inputs",
        name_of(type));
  return type;
}

bool is_full(const cudaGraphEdgeData& edge) { return edge.type == cudaGraphDependencyTypeDefault; }

// Whoever follows an edge of another type may start before what is ahead of it ends. Own kernels do
// not wait on the device for it.
void check_full(const cudaGraphEdgeData& edge) {
  check(is_full(edge), Fault::device,
        "it adds a programmatic launch, which may start before the one ahead of it ends; own "
        "kernels follow one another in full");
}

// What a node follows: one node, or none if it is the first.
struct Before {
  cudaGraphNode_t node;
  cudaGraphEdgeData edge;
};

Before before(cudaGraphNode_t node) {
  cudaGraphNode_t found[2] = {};
  cudaGraphEdgeData edges[2] = {};
  std::size_t count = std::size(found);
  check_cuda(cudaGraphNodeGetDependencies(node, found, edges, &count),
             "cudaGraphNodeGetDependencies");
  check(count <= 1, Fault::device, "it adds a node behind several others; a step is a chain");
  return {found[0], edges[0]};
}

// Where a capture stands; null: at its beginning.
cudaGraphNode_t end_of_capture(cudaStream_t stream, cudaGraph_t* graph) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaGraphNode_t* last = nullptr;
  const cudaGraphEdgeData* edges = nullptr;
  std::size_t count = 0;
  check_cuda(cudaStreamGetCaptureInfo(stream, &status, nullptr, graph, &last, &edges, &count),
             "cudaStreamGetCaptureInfo");
  check(status == cudaStreamCaptureStatusActive, Fault::device, "{}", kWhatInvalidates);
  check(count <= 1, Fault::device, "it leaves {} ends of the graph open; a step is a chain", count);
  if (count == 0) return nullptr;
  if (edges != nullptr) check_full(*edges);
  return *last;
}

std::size_t node_count(cudaGraph_t graph) {
  std::size_t count = 0;
  check_cuda(cudaGraphGetNodes(graph, nullptr, &count), "cudaGraphGetNodes");
  return count;
}

CallNode with_shape(CallNode node, cudaGraphNode_t kernel) {
  cudaKernelNodeParams parameters{};
  check_cuda(cudaGraphKernelNodeGetParams(kernel, &parameters), "cudaGraphKernelNodeGetParams");
  node.grid = parameters.gridDim;
  node.block = parameters.blockDim;
  node.dynamic_shared = parameters.sharedMemBytes;
  return node;
}

bool same(dim3 a, dim3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

bool same(const CallNode& a, const CallNode& b) {
  return a.is_fill == b.is_fill && a.is_early == b.is_early && same(a.grid, b.grid) &&
         same(a.block, b.block) && a.dynamic_shared == b.dynamic_shared;
}

std::string text_of(const CallNode& node, CallBy by) {
  if (by == CallBy::library) {
    return fmt::format("{}{}", node.is_fill ? "a fill of its own" : "a kernel of its own",
                       node.is_early ? ", launched early" : "");
  }
  return fmt::format("a grid of {}x{}x{} with blocks of {}x{}x{} and {} bytes", node.grid.x,
                     node.grid.y, node.grid.z, node.block.x, node.block.y, node.block.z,
                     node.dynamic_shared);
}

std::string difference(const CallNodes& rehearsed, const CallNodes& made) {
  const RecordedCall& a = rehearsed.call;
  const RecordedCall& b = made.call;
  if (a.op != b.op) return fmt::format("the graph has a call of op {} in its place", b.op);
  if (a.by != b.by) return "the graph has a call of somebody else in its place";
  if (a.nodes != b.nodes) return fmt::format("{} nodes, and {} in the graph", a.nodes, b.nodes);
  for (std::size_t i = 0; i < rehearsed.nodes.size(); ++i) {
    const CallNode& x = rehearsed.nodes[i];
    const CallNode& y = made.nodes[i];
    if (same(x, y)) continue;
    return fmt::format("{}, and in the graph {}", text_of(x, a.by), text_of(y, b.by));
  }
  if (rehearsed.addresses != made.addresses) {
    return "its kernel was given other addresses there, and replays go to those of the graph alone";
  }
  return {};
}

}  // namespace

void fail_at_op(const NotedLaunch& launch, Fault fault, std::string_view reason) {
  const std::string message = fmt::format("cuda: recording op {} {}: {}", launch.op,
                                          name(launch.launch.kernel->site().kind), reason);
  throw RecordingError(fault, launch.op, fmt::format("cuda: recording: {}", reason), message);
}

GraphMaker::GraphMaker(CudaStream& stream, cudaStream_t captures, RecordAs as)
    : stream_(stream), captures_(captures), as_(as) {
  stream_.maker_ = this;
}

GraphMaker::~GraphMaker() {
  stream_.maker_ = nullptr;
  stream_.submission_ = {.stream = stream_.live(), .graph = nullptr, .last = nullptr};
  if (!capturing_) return;
  cudaGraph_t graph = nullptr;
  forget(cudaStreamEndCapture(captures_, &graph));
  if (graph != made_.graph.value()) const GraphHandle dropped(graph);
}

void GraphMaker::begin() {
  if (as_ == RecordAs::nodes) {
    check_cuda(cudaGraphCreate(made_.graph.fill(), 0), "cuda: recording: cudaGraphCreate");
    stream_.submission_ = {.stream = captures_,
                           .graph = made_.graph.value(),
                           .last = nullptr,
                           .addresses = &addresses_};
    return;
  }
  check_cuda(cudaStreamBeginCapture(captures_, cudaStreamCaptureModeGlobal),
             "cuda: recording: cudaStreamBeginCapture");
  capturing_ = true;
  stream_.submission_ = {
      .stream = captures_, .graph = nullptr, .last = nullptr, .addresses = &addresses_};
}

void GraphMaker::end() {
  if (as_ == RecordAs::nodes) return;
  check_cuda(cudaStreamEndCapture(captures_, made_.graph.fill()),
             "cuda: recording: cudaStreamEndCapture");
  capturing_ = false;
}

MadeGraph GraphMaker::make(std::span<const RecordedCopy> copies,
                           std::span<const NotedLaunch> launches) {
  begin();
  for (const RecordedCopy& each : copies) {
    try {
      record(each);
    } catch (const Error& error) {
      fail(error.fault(), "cuda: recording {} of {} bytes: {}", name(Phase::input_copy), each.bytes,
           error.what());
    }
  }
  for (const NotedLaunch& each : launches) {
    try {
      record(each);
    } catch (const Error& error) {
      fail_at_op(each, error.fault(), error.what());
    }
  }
  end();
  return std::move(made_);
}

void GraphMaker::record(const RecordedCopy& copy) {
  if (as_ == RecordAs::nodes) {
    cudaGraphNode_t& last = stream_.submission_.last;
    cudaGraphNode_t node = nullptr;
    check_cuda(
        cudaGraphAddMemcpyNode1D(&node, made_.graph.value(), &last, last == nullptr ? 0 : 1,
                                 copy.to, copy.from->data(), copy.bytes, cudaMemcpyHostToDevice),
        "cudaGraphAddMemcpyNode1D");
    last = node;
  } else {
    check_cuda(
        cudaMemcpyAsync(copy.to, copy.from->data(), copy.bytes, cudaMemcpyHostToDevice, captures_),
        "cudaMemcpyAsync");
  }
  const std::size_t nodes = new_nodes(cudaGraphNodeTypeMemcpy).size();
  check(nodes == 1, Fault::device, "it adds {} nodes, one was expected", nodes);
}

void GraphMaker::record(const NotedLaunch& noted) {
  op_ = noted.op;
  const std::size_t before = made_.calls.size();
  noted.launch.fn(noted.launch, stream_);
  close_call();
  const std::size_t calls = made_.calls.size() - before;
  check(calls == noted.launch.kernel->calls(), Fault::device,
        "it made {} calls, its kernel promised {}", calls, noted.launch.kernel->calls());
}

void GraphMaker::keep(const Launch& launch, CallBy by) {
  close_call();
  made_.calls.push_back({{launch, op_, by, 0}, {}});
  addresses_ = 0;
  call_is_open_ = true;
}

GraphMaker::Place GraphMaker::place() const {
  if (as_ == RecordAs::nodes) return {made_.graph.value(), stream_.submission_.last};
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t last = end_of_capture(captures_, &graph);
  return {graph, last};
}

// What was added since the last call, all of it of that type but a library's fills.
std::vector<GraphMaker::NewNode> GraphMaker::new_nodes(cudaGraphNodeType type) {
  const Place now = place();
  const bool of_library = is_of_library();
  std::vector<NewNode> nodes;
  for (cudaGraphNode_t node = now.last; node != counted_to_;) {
    check(node != nullptr, Fault::device, "it adds nodes that do not follow those before it");
    const cudaGraphNodeType found = checked_type(node, type, of_library);
    const Before ahead = before(node);
    if (!of_library) check_full(ahead.edge);
    nodes.push_back({node, found, !is_full(ahead.edge)});
    node = ahead.node;
  }
  std::reverse(nodes.begin(), nodes.end());
  counted_to_ = now.last;
  made_.nodes += nodes.size();
  const std::size_t all = node_count(now.graph);
  check(all == made_.nodes, Fault::device, "it adds {} nodes beside the chain", all - made_.nodes);
  return nodes;
}

// A library's kernels wait on the device themselves, where they are launched early.
bool GraphMaker::is_of_library() const {
  return call_is_open_ && made_.calls.back().call.by == CallBy::library;
}

void GraphMaker::close_call() {
  const std::vector<NewNode> nodes = new_nodes(cudaGraphNodeTypeKernel);
  if (!call_is_open_) {
    check(nodes.empty(), Fault::device, "it adds {} nodes before it reports a call", nodes.size());
    return;
  }
  call_is_open_ = false;
  CallNodes& made = made_.calls.back();
  check(!nodes.empty(), Fault::device,
        "a call of it adds no node: replays would leave it out; it must go where "
        "CudaStream::submission() says");
  made.call.nodes = static_cast<std::uint32_t>(nodes.size());
  made.addresses = addresses_;
  for (const NewNode& each : nodes) {
    CallNode node{.is_fill = each.type == cudaGraphNodeTypeMemset, .is_early = each.is_early};
    if (made.call.by == CallBy::own) node = with_shape(node, each.node);
    made.nodes.push_back(node);
  }
}

cudaStream_t GraphMaker::begin_library_capture() {
  const cudaGraphNode_t& last = stream_.submission_.last;
  check_cuda(cudaStreamBeginCaptureToGraph(captures_, made_.graph.value(), &last, nullptr,
                                           last == nullptr ? 0 : 1, cudaStreamCaptureModeGlobal),
             "cudaStreamBeginCaptureToGraph");
  capturing_ = true;
  return captures_;
}

void GraphMaker::end_library_capture() {
  const cudaGraphNode_t last = end_of_capture(captures_, nullptr);
  if (last != nullptr) stream_.submission_.last = last;
  cudaGraph_t same = nullptr;
  check_cuda(cudaStreamEndCapture(captures_, &same), "cudaStreamEndCapture");
  capturing_ = false;
}

std::vector<RecordedNode> nodes_of(std::span<const RecordedCopy> copies, const MadeGraph& made) {
  std::vector<RecordedNode> nodes;
  for (const RecordedCopy& copy : copies) {
    nodes.push_back({std::nullopt, std::nullopt, fmt::format("a copy of {} bytes", copy.bytes)});
  }
  for (const CallNodes& each : made.calls) {
    const RecordedCall& call = each.call;
    for (const CallNode& node : each.nodes) {
      nodes.push_back({call.op, call.by, text_of(node, call.by)});
    }
  }
  return nodes;
}

void check_same_calls(std::span<const NotedLaunch> launches, const MadeGraph& rehearsed,
                      const MadeGraph& made) {
  const auto launch_of = [launches](std::uint32_t op) {
    return *std::find_if(launches.begin(), launches.end(),
                         [op](const NotedLaunch& each) { return each.op == op; });
  };
  check(rehearsed.calls.size() == made.calls.size(), Fault::device,
        "cuda: recording: {} calls were rehearsed, the graph has {}", rehearsed.calls.size(),
        made.calls.size());
  for (std::size_t i = 0; i < made.calls.size(); ++i) {
    const std::string differs = difference(rehearsed.calls[i], made.calls[i]);
    if (differs.empty()) continue;
    fail_at_op(launch_of(rehearsed.calls[i].call.op), Fault::device,
               fmt::format("its calls are not those of the rehearsal: {}", differs));
  }
}

}  // namespace stepscope::cuda
