// Why there is no device, in words, for each of the machines that the simulator plays.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/probe.h"

#include <algorithm>

#include "backends/cuda/cuda.h"
#include "tests/backends/cuda/backend/bodies.h"
#include "tests/backends/cuda/backend/fixture.h"

namespace stepscope::cuda {
namespace {

using cudasim::Driver;

class Probe : public test::DeviceTest {
 protected:
  static std::string why(Driver driver) {
    cudasim::reset({.driver = driver});
    return why_unavailable().value_or("");
  }
};

TEST_F(Probe, FindsTheDevice) {
  EXPECT_EQ(why(Driver::present), "");
  const DeviceFacts facts = device_facts();
  EXPECT_EQ(facts.name, "stepscope simulated GPU");
  const std::pair<std::string, std::string> capability{"compute capability", "9.0"};
  EXPECT_EQ(std::count(facts.details.begin(), facts.details.end(), capability), 1);
  EXPECT_EQ(facts.details.front().first, "CUDA driver");
  for (const auto& [what, value] : facts.details) EXPECT_FALSE(value.empty()) << what;
}

TEST_F(Probe, SaysWhyThereIsNone) {
  EXPECT_EQ(why(Driver::none), "no NVIDIA driver was found; install one, or take a CPU backend");
  EXPECT_EQ(why(Driver::old),
            "the NVIDIA driver is for CUDA 12.8, this build needs 13.0; update the driver");
  EXPECT_EQ(why(Driver::stub),
            "only the toolkit's stub of libcuda was found; take its folder (stubs) out of the "
            "library path");
  EXPECT_EQ(why(Driver::no_device),
            "the NVIDIA driver sees no device; look at nvidia-smi and CUDA_VISIBLE_DEVICES");
}

TEST_F(Probe, SaysWhatToInstall) {
  EXPECT_EQ(why_not_loaded("libcublasLt.so.13: cannot open shared object file", 13000),
            "cuBLASLt cannot be loaded: libcublasLt.so.13: cannot open shared object file; install "
            "NVIDIA's package libcublas-13-0, or name the toolkit's lib64 in LD_LIBRARY_PATH");
  EXPECT_NE(why_not_loaded("", 13020).find("libcublas-13-2,"), std::string::npos);
}

TEST_F(Probe, NamesAnotherError) {
  cudasim::fail_call("cudaGetDeviceCount", cudaErrorUnknown);
  EXPECT_EQ(why_unavailable().value_or("").rfind("cudaGetDeviceCount: ", 0), 0U);
}

TEST_F(Probe, NamesAnErrorOfTheDevice) {
  cudasim::fail_call("cudaDeviceGetAttribute", cudaErrorUnknown);
  EXPECT_EQ(why_unavailable().value_or("").rfind("cudaDeviceGetAttribute of 75: ", 0), 0U);
}

// No library is asked, no stream made, before the driver was found.
TEST_F(Probe, ABackendIsRefusedWithTheReason) {
  for (const Driver driver : {Driver::none, Driver::old, Driver::stub, Driver::no_device}) {
    const std::string reason = why(driver);
    cudasim::reset({.driver = driver});
    EXPECT_EQ(test::message_of([] { make_backend({}); }), "cuda-sim: " + reason);
    EXPECT_EQ(cudasim::calls_of("cublasLtCreate"), 0U);
    EXPECT_EQ(cudasim::calls_of("cudaStreamCreateWithFlags"), 0U);
  }
}

TEST_F(Probe, ATapeIsRefused) {
  EXPECT_EQ(test::message_of([] { make_backend({.record_as = RecordAs::tape}); }),
            "cuda-sim: a recording is a graph, by capture or of nodes; it has no tape");
}

// Where it is made, and not at the first product.
TEST_F(Probe, Tf32IsNotSimulated) {
  EXPECT_EQ(test::message_of([] { make_backend({.tf32 = true}); }),
            "cuda-sim: does not simulate products with TF32; leave it off");
  EXPECT_EQ(cudasim::calls_of("cublasLtCreate"), 0U);
}

TEST_F(Probe, ABackendSaysWhatItIs) {
  const auto backend = make_backend({.record_as = RecordAs::nodes});
  EXPECT_EQ(backend->name(), "cuda-sim");
  EXPECT_EQ(backend->records_as(), RecordAs::nodes);
  EXPECT_EQ(backend->alignment(), 256U);
  const auto& details = backend->info().details;
  ASSERT_GE(details.size(), 3U);
  EXPECT_EQ(details[details.size() - 3].first, "cublasLt");
  EXPECT_EQ(details[details.size() - 2],
            (std::pair<std::string, std::string>{"record as", "nodes"}));
  EXPECT_EQ(details[details.size() - 1], (std::pair<std::string, std::string>{"tf32", "off"}));
  EXPECT_EQ(make_backend({})->records_as(), RecordAs::capture);
}

}  // namespace
}  // namespace stepscope::cuda
