// Compiling one graph, writing and reading its values.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/execution/rig.h"

#include "tests/support/tensor_bytes.h"

namespace stepscope::test {
namespace {

ModelLayout layout_of(const Graph& graph, const Backend& backend) {
  const Graph* const only = &graph;
  return ModelLayout({&only, 1}, backend.alignment());
}

}  // namespace

Rig::Rig(Backend& backend, Graph graph, InPlace in_place, std::size_t model_offset)
    : backend_(backend),
      stream_(backend.make_stream()),
      cache_(backend),
      memory_(backend, *stream_, layout_of(graph, backend), model_offset),
      program_(std::make_shared<const Program>(
          compile(cache_, std::move(graph), memory_.layout(), in_place))) {}

std::unique_ptr<Executor> Rig::executor(Mode mode, const ExecutorOptions& options) {
  return make_executor(mode, program_, cache_, memory_, *stream_, options);
}

void Rig::write(std::string_view name, std::span<const double> elements) {
  const DType dtype = memory_.layout().at(name).type.dtype;
  memory_.write(*stream_, name, to_bytes(elements, dtype));
}

std::vector<double> Rig::read(std::string_view name) {
  return to_doubles(memory_.read(*stream_, name), memory_.layout().at(name).type.dtype);
}

std::vector<double> Rig::read(const Executor& executor, std::string_view name) {
  const DType dtype = executor.graph().type(*executor.graph().find(name)).dtype;
  return to_doubles(read_bytes(executor, name), dtype);
}

std::vector<std::byte> Rig::read_bytes(const Executor& executor, std::string_view name) {
  const ValueId id = *executor.graph().find(name);
  std::vector<std::byte> bytes(executor.graph().type(id).bytes());
  stream_->copy_out(bytes, executor.address(id));
  return bytes;
}

}  // namespace stepscope::test
