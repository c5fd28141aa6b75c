// The environment: read from a made-up machine, from an empty one, and from this one.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/environment.h"

#include <gtest/gtest.h>
#include <unistd.h>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include <array>
#include <sstream>
#include <string>

#include "tests/bench/temp_folder.h"

namespace stepscope {
namespace {

using test::TempFolder;

constexpr const char* kNoVariables[] = {nullptr};

std::string text_of(const Environment& environment, std::string_view name) {
  const Fact* fact = environment.find(name);
  return fact == nullptr ? "no such fact" : fact->text();
}

// Two sockets of two cores, the core numbers alike, two threads a core.
std::string cpuinfo() {
  std::string text;
  for (const char* socket : {"0", "1"}) {
    for (const char* core : {"0", "1", "0", "1"}) {
      text += std::string("model name\t: Fast CPU: 3 GHz\nphysical id\t: ") + socket +
              "\ncore id\t\t: " + core + "\nflags\t\t: fpu hypervisor sse2\n\n";
    }
  }
  return text;
}

TEST(Environment, ReadsAMachine) {
  TempFolder root;
  root.write("proc/cpuinfo", cpuinfo());
  root.write("proc/meminfo", "MemTotal:        8000 kB\nMemFree:  1 kB\n");
  root.write("proc/loadavg", "0.25 0.50 0.75 1/100 4242\n");
  root.write("proc/stat", "cpu  600 0 100 200 20 30 40 10 77 0\ncpu0 1 2 3 4 5 6 7 8 9 0\n");
  root.write("etc/os-release",
             "NAME=\"D\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=d\n");
  root.write("sys/devices/system/cpu/cpu0/cache/index0/level", "1\n");
  root.write("sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n");
  root.write("sys/devices/system/cpu/cpu0/cache/index0/size", "32K\n");
  root.write("sys/devices/system/cpu/cpu0/cache/index1/level", "2\n");
  root.write("sys/devices/system/cpu/cpu0/cache/index1/type", "Unified\n");
  root.write("sys/devices/system/cpu/cpu0/cache/index1/size", "1024K\n");
  root.write("proc/pressure/cpu", "some avg10=1.00\nfull avg10=0.00\n");
  root.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
  root.write("run/.containerenv", "");
  const std::array<const char*, 5> variables{"PATH=/bin", "OPENBLAS_NUM_THREADS=1",
                                             "OMP_NUM_THREADS=2", "NOT_OMP_X=1", nullptr};
  const Environment environment =
      read_environment({.root = root.path(), .variables = variables.data()});
  EXPECT_EQ(text_of(environment, "processor"), "Fast CPU: 3 GHz");
  EXPECT_EQ(text_of(environment, "cores"), "4");
  EXPECT_EQ(text_of(environment, "virtual_machine"), "yes");
  EXPECT_EQ(text_of(environment, "memory_bytes"), "8192000");
  EXPECT_EQ(environment.memory_bytes, 8192000U);
  EXPECT_EQ(text_of(environment, "load_average"), "0.25 0.50 0.75 1/100 4242");
  EXPECT_EQ(environment.load_average, 0.25);
  EXPECT_EQ(text_of(environment, "cpu_pressure"), "some avg10=1.00");
  EXPECT_EQ(text_of(environment, "cpu_governor"), "performance");
  EXPECT_EQ(text_of(environment, "container"), "podman");
  EXPECT_EQ(text_of(environment, "distribution"), "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(text_of(environment, "caches"), "L1 Data 32K, L2 Unified 1024K");
  EXPECT_EQ(text_of(environment, "cpu_steal"), "1.000 % of processor time since the start");
  EXPECT_EQ(steal_ns({.root = root.path()}), 10 * (1'000'000'000 / sysconf(_SC_CLK_TCK)));
  EXPECT_EQ(text_of(environment, "thread_variables"), "OMP_NUM_THREADS=2 OPENBLAS_NUM_THREADS=1");
}

TEST(Environment, SaysWhyAFactIsMissing) {
  TempFolder root;
  const Environment environment =
      read_environment({.root = root.path(), .variables = kNoVariables});
  const std::string gone = ": No such file or directory";
  const std::string at = root.path().string();
  EXPECT_EQ(text_of(environment, "processor"), "not available: " + at + "/proc/cpuinfo" + gone);
  EXPECT_EQ(text_of(environment, "cores"), "not available: " + at + "/proc/cpuinfo" + gone);
  EXPECT_EQ(text_of(environment, "memory_bytes"), "not available: " + at + "/proc/meminfo" + gone);
  EXPECT_EQ(text_of(environment, "load_average"), "not available: " + at + "/proc/loadavg" + gone);
  EXPECT_EQ(
      text_of(environment, "cpu_governor"),
      "not available: " + at + "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor" + gone);
  EXPECT_EQ(text_of(environment, "container"), "none seen");
  EXPECT_EQ(text_of(environment, "thread_variables"), "none set");
  EXPECT_EQ(text_of(environment, "cpu_steal"), "not available: " + at + "/proc/stat" + gone);
  EXPECT_EQ(text_of(environment, "distribution"),
            "not available: " + at + "/etc/os-release" + gone);
  EXPECT_EQ(text_of(environment, "caches"),
            "not available: " + at + "/sys/devices/system/cpu/cpu0/cache/index0/level" + gone);
  EXPECT_FALSE(steal_ns({.root = root.path()}));
  EXPECT_FALSE(environment.memory_bytes);
  EXPECT_FALSE(environment.load_average);
}

TEST(Environment, FilesOfAnotherFormAreReasonsToo) {
  TempFolder root;
  root.write("proc/cpuinfo", "Processor: some ARM\nno colon here");
  root.write("proc/meminfo", "MemTotal: much\n");
  root.write("proc/loadavg/not-a-file", "");
  root.write("proc/stat", "cpu  1 2 3\n");
  root.write("etc/os-release", "ID=d\n");
  const Environment environment =
      read_environment({.root = root.path(), .variables = kNoVariables});
  const std::string at = root.path().string();
  EXPECT_EQ(text_of(environment, "processor"),
            "not available: " + at + "/proc/cpuinfo: has no 'model name'");
  EXPECT_EQ(text_of(environment, "memory_bytes"),
            "not available: " + at + "/proc/meminfo: has no 'MemTotal' in kB");
  EXPECT_EQ(text_of(environment, "load_average"),
            "not available: " + at + "/proc/loadavg: Is a directory");
  EXPECT_EQ(text_of(environment, "cpu_steal"),
            "not available: " + at + "/proc/stat: has no column of stolen time");
  EXPECT_EQ(text_of(environment, "distribution"),
            "not available: " + at + "/etc/os-release: has no 'PRETTY_NAME'");
}

// Names and their order do not hang on the machine, so that records can be laid side by side.
TEST(Environment, NamesAreTheSameEverywhere) {
  TempFolder root;
  const Environment empty = read_environment({.root = root.path()});
  const Environment here = read_environment();
  ASSERT_EQ(empty.facts.size(), here.facts.size());
  for (std::size_t i = 0; i < here.facts.size(); ++i) {
    EXPECT_EQ(empty.facts[i].name, here.facts[i].name);
  }
}

// What a reader needs in order to judge whether a result says anything of their machine. Threads,
// seed and dtype stand with the work.
TEST(Environment, R_ENV_1_EveryRecordSaysWhereItWasMade) {
  const Environment here = read_environment();
  for (const std::string_view name : {"processor",
                                      "microcode",
                                      "cores",
                                      "logical_cpus",
                                      "pinning",
                                      "smt_active",
                                      "cpu_governor",
                                      "cpu_boost",
                                      "caches",
                                      "memory_bytes",
                                      "operating_system",
                                      "distribution",
                                      "container",
                                      "virtual_machine",
                                      "compiler",
                                      "compiler_flags",
                                      "build_type",
                                      "libc",
                                      "cpp_library",
                                      "fmt",
                                      "denormals",
                                      "clock_source",
                                      "load_average",
                                      "cpu_pressure",
                                      "memory_pressure",
                                      "cpu_steal",
                                      "thread_variables",
                                      "gpu_name",
                                      "gpu_driver",
                                      "gpu_cuda_of_driver",
                                      "gpu_sm_clock_mhz",
                                      "gpu_power_limit_w",
                                      "gpu_temperature_c",
                                      "gpu_throttle_reasons",
                                      "gpu_persistence",
                                      "gpu_mig",
                                      "gpu_processes"}) {
    ASSERT_NE(here.find(name), nullptr) << name;
    EXPECT_NE(here.find(name)->value.has_value(), !here.find(name)->reason.empty()) << name;
  }
}

#if defined(__SSE__)
TEST(Environment, DenormalsStateIsThatOfTheThread) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before & ~0x8040U);
  EXPECT_EQ(denormals_state(), "kept");
  _mm_setcsr(before | 0x8000U);
  EXPECT_EQ(denormals_state(), "flush to zero");
  _mm_setcsr(before | 0x8040U);
  EXPECT_EQ(denormals_state(), "flush to zero, denormals are zero");
  _mm_setcsr(before);
}
#endif

TEST(Environment, OfThisMachine) {
  const Environment here = read_environment();
  for (const std::string_view name : {"operating_system", "compiler", "build_type", "container"}) {
    ASSERT_NE(here.find(name), nullptr) << name;
    EXPECT_TRUE(here.find(name)->value) << here.find(name)->text();
  }
  EXPECT_FALSE(here.find("compiler")->text().empty());
  const auto facts = environment_facts();
  ASSERT_EQ(facts.size(), here.facts.size());
  for (const Fact& fact : facts) EXPECT_FALSE(fact.name.empty());
}

// No word of any fact is the name of this machine.
TEST(Environment, DoesNotNameTheMachine) {
  std::array<char, 256> host{};
  ASSERT_EQ(gethostname(host.data(), host.size() - 1), 0);
  for (const Fact& fact : environment_facts()) {
    std::istringstream words(fact.text());
    for (std::string word; words >> word;) {
      EXPECT_NE(word, host.data()) << fact.name << ": " << fact.text();
    }
  }
}

}  // namespace
}  // namespace stepscope
