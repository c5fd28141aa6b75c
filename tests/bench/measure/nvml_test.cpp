// Facts of a device, read from libraries made up for it; and the peak that follows from them.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/nvml.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "bench/measure/peak.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;

std::map<std::string, std::string> texts(const std::vector<Fact>& facts) {
  std::map<std::string, std::string> texts;
  for (const Fact& fact : facts) texts[fact.name] = fact.text();
  return texts;
}

class Variable {
 public:
  explicit Variable(const char* name) : name_(name) { setenv(name, "1", 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

TEST(Nvml, R_ENV_1_ReadsTheFirstDevice) {
  const std::map<std::string, std::string> expected{
      {"gpu_count", "2"},
      {"gpu_driver", "580.65.06"},
      {"gpu_cuda_of_driver", "13.1"},
      {"gpu_name", "Quadro RTX 5000"},
      {"gpu_compute_capability", "7.5"},
      {"gpu_cores", "3072"},
      {"gpu_sm_count", "48"},
      {"gpu_memory_bytes", "17000000000"},
      {"gpu_sm_clock_max_mhz", "1800"},
      {"gpu_peak", "48 SM x 64 cores x 1.800 GHz x 2 = 11.0592 TFLOP/s, f32, at the highest clock"},
      {"gpu_sm_clock_mhz", "1350"},
      {"gpu_memory_clock_mhz", "7000"},
      {"gpu_power_limit_w", "230"},
      {"gpu_power_w", "41.5"},
      {"gpu_temperature_c", "55"},
      {"gpu_throttle_reasons", "software power cap, hardware thermal slow-down, bits 0x1000"},
      {"gpu_persistence", "on"},
      {"gpu_mig", "off"},
      {"gpu_kernel_active_fraction", "0.37"},
      {"gpu_processes", "3 compute, 0 graphics"}};
  EXPECT_EQ(texts(gpu_facts(FAKE_NVML)), expected);
}

TEST(Nvml, ACallThatIsMissingOrRefusedIsAReason) {
  const auto facts = texts(gpu_facts(FAKE_NVML_OLD));
  EXPECT_EQ(facts.at("gpu_name"), "Quadro RTX 5000");
  EXPECT_EQ(facts.at("gpu_cores"),
            "not available: nvmlDeviceGetNumGpuCores: this driver has no such call");
  EXPECT_EQ(facts.at("gpu_sm_count"),
            "not available: the cores of an SM of this device are not known");
  EXPECT_EQ(facts.at("gpu_peak"), "not available: its SMs or their clock are not known");
  EXPECT_EQ(facts.at("gpu_mig"), "not available: nvmlDeviceGetMigMode: Not Supported");
  EXPECT_EQ(facts.at("gpu_processes"), "3 compute, 0 graphics");
}

// Without library, driver or device no fact has a value, each has the reason, and names and order
// stay.
TEST(Nvml, R_ENV_4_NoDeviceNoNumber) {
  const auto all_say = [](const std::vector<Fact>& facts, const std::string& reason,
                          std::size_t but = 0) {
    const std::vector<Fact> whole = gpu_facts(FAKE_NVML);
    ASSERT_EQ(facts.size(), whole.size());
    for (std::size_t i = 0; i < facts.size(); ++i) {
      EXPECT_EQ(facts[i].name, whole[i].name);
      if (i < but) continue;
      EXPECT_FALSE(facts[i].value) << facts[i].name;
      EXPECT_EQ(facts[i].reason, reason) << facts[i].name;
    }
  };
  const std::string missing = gpu_facts("libstepscope-none.so.1").front().reason;
  EXPECT_NE(missing.find("libstepscope-none.so.1"), std::string::npos) << missing;
  all_say(gpu_facts("libstepscope-none.so.1"), missing);
  // Driver and count are facts without a device.
  std::vector<Fact> facts;
  {
    const Variable variable("FAKE_NVML_NO_DEVICE");
    facts = gpu_facts(FAKE_NVML);
  }
  EXPECT_EQ(facts.at(0).value, "0");
  all_say(facts, "there is no device", 3);
  {
    const Variable variable("FAKE_NVML_NO_DRIVER");
    facts = gpu_facts(FAKE_NVML);
  }
  all_say(facts, "nvmlInit_v2: Driver Not Loaded");
}

TEST(Peak, R_UTL_3_FollowsFromSmsCoresAndClock) {
  const DeviceRates rates{.sm_count = 48, .cores_per_sm = 64, .clock_hz = 1.8e9};
  EXPECT_DOUBLE_EQ(peak_flops(rates), 11.0592e12);
  EXPECT_EQ(peak_text(rates), "48 SM x 64 cores x 1.800 GHz x 2 = 11.0592 TFLOP/s");
  // Another clock, another peak.
  EXPECT_DOUBLE_EQ(peak_flops({.sm_count = 48, .cores_per_sm = 64, .clock_hz = 0.9e9}),
                   11.0592e12 / 2);
  EXPECT_EQ(error_of([] { peak_flops({.sm_count = 48, .cores_per_sm = 0, .clock_hz = 1e9}); }),
            "bad input: peak: 48 SM, 0 cores each, 1000000000 Hz: each must be above 0");
}

TEST(Peak, R_UTL_2_ABoundOfATime) {
  constexpr double kProduct = 2.0 * 32 * 784 * 128;  // X {32, 784} by W {784, 128}
  EXPECT_NEAR(arith_lower_bound_us(kProduct, 11.0592e12), 0.5807, 5e-5);
  EXPECT_NEAR(arith_lower_bound_us(kProduct, 11e12), 0.5839, 5e-5);
  EXPECT_EQ(arith_lower_bound_us(0.0, 1e12), 0.0);
  EXPECT_EQ(error_of([] { arith_lower_bound_us(1.0, 0.0); }),
            "bad input: peak: 1 operations at 0 a second give no bound");
}

TEST(Peak, CoresOfAnSm) {
  EXPECT_EQ(cores_per_sm(7, 5), 64);
  EXPECT_EQ(cores_per_sm(8, 0), 64);
  EXPECT_EQ(cores_per_sm(8, 6), 128);
  EXPECT_EQ(cores_per_sm(9, 0), 128);
  EXPECT_EQ(cores_per_sm(3, 5), std::nullopt);
}

}  // namespace
}  // namespace stepscope
