// cuBLASLt: which epilogues it takes for FP32, what they compute, and what it refuses.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "tests/backends/cuda/probe/products.h"
#include "tests/backends/cuda/probe/rules.h"
#include "tests/backends/cuda/probe/scene.h"

namespace stepscope::probe {
namespace {

using Elements = std::vector<float>;

std::size_t at(int row, int column) { return static_cast<std::size_t>(column * kRows + row); }

// All that the products of this part work on.
struct Bench {
  cublasLtHandle_t handle = nullptr;
  Floats a{std::size_t{kRows} * kDepth, element_of_a};
  Floats b{std::size_t{kDepth} * kColumns, element_of_b};
  Floats d{std::size_t{kRows} * kColumns, [](std::size_t) { return -77.0F; }};
  // No sum of whole numbers and a half is 0, where the gradient of a ReLU would be a matter of
  // taste.
  Floats bias{kRows, [](std::size_t row) { return static_cast<float>(row % 9) - 3.5F; }};
  Floats gradient{kRows, [](std::size_t) { return -77.0F; }};
  DeviceInts mask{0, std::size_t{kRows} * kColumns / 32};
  DeviceInts workspace{0, kWorkspaceBytes / sizeof(int)};
  Stream stream;

  Bench() { must(cublasLtCreate(&handle), "cublasLtCreate"); }
  ~Bench() { cublasLtDestroy(handle); }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  float product(int row, int column) const { return plain_product(a, b, row, column); }
  float bias_of(int row) const { return bias.host()[static_cast<std::size_t>(row)]; }
};

struct Case {
  std::string_view name;
  cublasLtEpilogue_t epilogue;
  bool mask;            // reads or writes it
  bool bias, gradient;  // what the bias' pointer is
  float (*d)(const Bench&, int row, int column);
};

float plain(const Bench& bench, int row, int column) { return bench.product(row, column); }
float cut(const Bench& bench, int row, int column) {
  return std::fmax(plain(bench, row, column), 0.0F);
}
float biased(const Bench& bench, int row, int column) {
  return plain(bench, row, column) + bench.bias_of(row);
}
float biased_cut(const Bench& bench, int row, int column) {
  return std::fmax(biased(bench, row, column), 0.0F);
}
// The mask is that of RELU_AUX_BIAS, which ran before.
float masked(const Bench& bench, int row, int column) {
  return biased(bench, row, column) > 0 ? plain(bench, row, column) : 0.0F;
}

constexpr Case kCases[] = {
    {"DEFAULT", CUBLASLT_EPILOGUE_DEFAULT, false, false, false, plain},
    {"RELU", CUBLASLT_EPILOGUE_RELU, false, false, false, cut},
    {"BIAS", CUBLASLT_EPILOGUE_BIAS, false, true, false, biased},
    {"RELU_BIAS", CUBLASLT_EPILOGUE_RELU_BIAS, false, true, false, biased_cut},
    {"RELU_AUX", CUBLASLT_EPILOGUE_RELU_AUX, true, false, false, cut},
    {"RELU_AUX_BIAS", CUBLASLT_EPILOGUE_RELU_AUX_BIAS, true, true, false, biased_cut},
    {"DRELU", CUBLASLT_EPILOGUE_DRELU, true, false, false, masked},
    {"DRELU_BGRAD", CUBLASLT_EPILOGUE_DRELU_BGRAD, true, false, true, masked},
    {"BGRADA", CUBLASLT_EPILOGUE_BGRADA, false, false, true, plain},
    {"BGRADB", CUBLASLT_EPILOGUE_BGRADB, false, false, true, plain},
};

// What the bias gradient must be, element by element.
Elements expected_gradient(const Bench& bench, const Case& tried) {
  Elements sums(tried.epilogue == CUBLASLT_EPILOGUE_BGRADB ? kColumns : kRows);
  for (std::size_t index = 0; index < sums.size(); ++index) {
    const int position = static_cast<int>(index);
    if (tried.epilogue == CUBLASLT_EPILOGUE_DRELU_BGRAD) {
      for (int column = 0; column < kColumns; ++column) {
        sums[index] += tried.d(bench, position, column);
      }
      continue;
    }
    for (int k = 0; k < kDepth; ++k) {
      sums[index] += tried.epilogue == CUBLASLT_EPILOGUE_BGRADA
                         ? bench.a.host()[at(position, k)]
                         : bench.b.host()[static_cast<std::size_t>(position * kDepth + k)];
    }
  }
  return sums;
}

bool d_is_right(const Bench& bench, const Case& tried, const Elements& d) {
  for (int column = 0; column < kColumns; ++column) {
    for (int row = 0; row < kRows; ++row) {
      if (!(d[at(row, column)] == tried.d(bench, row, column))) {
        return false;
      }
    }
  }
  return true;
}

void try_epilogue(Report& report, const Bench& bench, const Case& tried) {
  const Product product(tried.epilogue,
                        tried.bias       ? &bench.bias
                        : tried.gradient ? &bench.gradient
                                         : nullptr,
                        tried.mask ? bench.mask.data() : nullptr);
  cublasLtMatmulHeuristicResult_t result{};
  int found = 0;
  report.device_code(fmt::format("heuristic for FP32 with {}", tried.name),
                     product.choose(bench.handle, result, found));
  report.device_value("  it found an algorithm", yes(found > 0));
  if (found == 0) {
    return;
  }
  report.code("  run it", product.run(bench.handle, bench.a, bench.b, bench.d, &result.algo,
                                      bench.workspace.data(), kWorkspaceBytes, bench.stream));
  report.value("  D is right", yes(d_is_right(bench, tried, bench.d.read())));
  if (tried.gradient) {
    const Elements wanted = expected_gradient(bench, tried), all = bench.gradient.read();
    report.value("  the bias gradient is right",
                 yes(std::equal(wanted.begin(), wanted.end(), all.begin())));
  }
}

void refusals(Report& report, const Bench& bench) {
  const Product product(CUBLASLT_EPILOGUE_DEFAULT, nullptr, nullptr);
  const Product smaller(CUBLASLT_EPILOGUE_DEFAULT, nullptr, nullptr, kRows / 2);
  cublasLtMatmulHeuristicResult_t result{}, other{};
  int found = 0;
  report.code("heuristic of a product", product.choose(bench.handle, result, found));
  report.code("heuristic of one with half the rows", smaller.choose(bench.handle, other, found));
  const auto run = [&](const cublasLtMatmulAlgo_t* algorithm, void* workspace, std::size_t bytes) {
    return product.run(bench.handle, bench.a, bench.b, bench.d, algorithm, workspace, bytes,
                       bench.stream);
  };
  report.device_code("run the first with the other's algorithm",
                     run(&other.algo, bench.workspace.data(), kWorkspaceBytes));
  report.device_code("run it without an algorithm",
                     run(nullptr, bench.workspace.data(), kWorkspaceBytes));
  if (result.workspaceSize > 0) {
    report.device_code("run it with a workspace that is too small",
                       run(&result.algo, bench.workspace.data(), result.workspaceSize - 1));
  }
  const Product masked(CUBLASLT_EPILOGUE_RELU_AUX, nullptr, bench.mask.data());
  const std::int64_t odd = 100;
  must(cublasLtMatmulDescSetAttribute(masked.operation(), CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD,
                                      &odd, sizeof(odd)),
       "cublasLtMatmulDescSetAttribute");
  report.device_code("heuristic with a mask whose rows are 100 bits apart",
                     masked.choose(bench.handle, result, found));
  report.device_value("  it found an algorithm", yes(found > 0));
}

void captured(Report& report, Bench& bench) {
  const Product product(CUBLASLT_EPILOGUE_DEFAULT, nullptr, nullptr);
  cublasLtMatmulHeuristicResult_t result{};
  int found = 0;
  must(product.choose(bench.handle, result, found), "cublasLtMatmulAlgoGetHeuristic");
  const auto run = [&] {
    return product.run(bench.handle, bench.a, bench.b, bench.d, &result.algo,
                       bench.workspace.data(), kWorkspaceBytes, bench.stream);
  };
  must(run(), "cublasLtMatmul");
  bench.stream.begin();
  report.code("run it in a capture", run());
  const Graph graph(bench.stream);
  report.device_value("nodes", graph.types());
  const Executable executable(graph);
  report.code("launch the graph", cudaGraphLaunch(executable, bench.stream));
  report.value("D is right", yes(d_is_right(bench, kCases[0], bench.d.read())));
}

}  // namespace

void run_cublaslt(Report& report) {
  Bench bench;
  for (const Case& tried : kCases) {
    try_epilogue(report, bench, tried);
  }
  refusals(report, bench);
  captured(report, bench);
}

}  // namespace stepscope::probe
