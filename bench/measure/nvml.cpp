// Reading NVML through dlopen. Types and numbers are those of its public interface, which NVIDIA
// keeps stable across drivers (NVML API reference guide).
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "bench/measure/peak.h"

namespace stepscope {
namespace {

using Device = void*;  // nvmlDevice_t, opaque
using Result = int;    // nvmlReturn_t

constexpr Result kSuccess = 0;
constexpr Result kInsufficientSize = 7;
constexpr int kSmClock = 1, kMemoryClock = 2;  // nvmlClockType_t
constexpr int kOnGpu = 0;                      // nvmlTemperatureSensors_t
constexpr unsigned kTextSize = 96;             // NVML_DEVICE_NAME_V2_BUFFER_SIZE

struct Reason {
  unsigned long long bit;
  std::string_view name;
};
// nvmlClocksThrottleReasons: why clocks are below their highest.
constexpr std::array<Reason, 9> kThrottleReasons{{{0x1, "idle"},
                                                  {0x2, "application clocks"},
                                                  {0x4, "software power cap"},
                                                  {0x8, "hardware slow-down"},
                                                  {0x10, "sync boost"},
                                                  {0x20, "software thermal slow-down"},
                                                  {0x40, "hardware thermal slow-down"},
                                                  {0x80, "hardware power brake"},
                                                  {0x100, "display clocks"}}};

struct MemoryInfo {
  unsigned long long total, free, used;
};

struct UtilizationRates {
  unsigned gpu, memory;
};

// Names of the facts of one device, in their order.
constexpr std::array kDeviceFacts{"gpu_name",
                                  "gpu_compute_capability",
                                  "gpu_cores",
                                  "gpu_sm_count",
                                  "gpu_memory_bytes",
                                  "gpu_sm_clock_max_mhz",
                                  "gpu_peak",
                                  "gpu_sm_clock_mhz",
                                  "gpu_memory_clock_mhz",
                                  "gpu_power_limit_w",
                                  "gpu_power_w",
                                  "gpu_temperature_c",
                                  "gpu_throttle_reasons",
                                  "gpu_persistence",
                                  "gpu_mig",
                                  "gpu_kernel_active_fraction",
                                  "gpu_processes"};

// An opened NVML. Every call gives the reason why it failed, or an empty text.
class Nvml {
 public:
  explicit Nvml(const std::string& library)
      : handle_(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) {
      const char* why = dlerror();
      reason_ = why != nullptr ? why : fmt::format("{}: cannot be loaded", library);
      return;
    }
    reason_ = call("nvmlInit_v2");
    ready_ = reason_.empty();
  }
  ~Nvml() {
    if (ready_) call("nvmlShutdown");
    if (handle_ != nullptr) dlclose(handle_);
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  const std::string& reason() const { return reason_; }  // empty: ready

  // `ignored` is a result that counts as success beside 0.
  template <class... Arguments>
  std::string call(const char* name, Arguments... arguments) const {
    return call_but(kSuccess, name, arguments...);
  }
  template <class... Arguments>
  std::string call_but(Result ignored, const char* name, Arguments... arguments) const {
    const auto function = reinterpret_cast<Result (*)(Arguments...)>(dlsym(handle_, name));
    if (function == nullptr) return fmt::format("{}: this driver has no such call", name);
    const Result result = function(arguments...);
    if (result == kSuccess || result == ignored) return {};
    const auto text = reinterpret_cast<const char* (*)(Result)>(dlsym(handle_, "nvmlErrorString"));
    return fmt::format("{}: {}", name, text != nullptr ? text(result) : std::to_string(result));
  }

 private:
  void* handle_;
  bool ready_ = false;
  std::string reason_;
};

// Collects the facts of one device.
class DeviceReader {
 public:
  DeviceReader(const Nvml& nvml, Device device) : nvml_(nvml), device_(device) {}

  std::vector<Fact> read() && {
    identity();
    peak();
    state();
    processes();
    return std::move(facts_);
  }

 private:
  void add(std::string value, std::string reason) {
    Fact fact{kDeviceFacts.at(facts_.size()), std::nullopt, std::move(reason)};
    if (fact.reason.empty()) fact.value = std::move(value);
    facts_.push_back(std::move(fact));
  }

  // A call that gives one number; `scale` divides it.
  template <class... Arguments>
  std::optional<double> number(double scale, const char* name, Arguments... arguments) {
    unsigned value = 0;
    std::string reason = nvml_.call(name, device_, arguments..., &value);
    const double scaled = value / scale;
    const bool known = reason.empty();
    add(fmt::format("{}", scaled), std::move(reason));
    return known ? std::optional(scaled) : std::nullopt;
  }

  template <class... Arguments>
  void on_or_off(const char* name, Arguments... arguments) {
    unsigned value = 0;
    std::string reason = nvml_.call(name, device_, &value, arguments...);
    add(value != 0 ? "on" : "off", std::move(reason));
  }

  void identity() {
    std::array<char, kTextSize> text{};
    std::string reason = nvml_.call("nvmlDeviceGetName", device_, text.data(), kTextSize);
    add(text.data(), std::move(reason));
    int major = 0, minor = 0;
    reason = nvml_.call("nvmlDeviceGetCudaComputeCapability", device_, &major, &minor);
    add(fmt::format("{}.{}", major, minor), reason);
    const auto cores = number(1.0, "nvmlDeviceGetNumGpuCores");
    const auto each = cores_per_sm(major, minor);
    if (cores && each) {
      rates_.sm_count = static_cast<std::int64_t>(*cores) / *each;
      rates_.cores_per_sm = *each;
    }
    add(std::to_string(rates_.sm_count),
        rates_.sm_count > 0 ? "" : "the cores of an SM of this device are not known");
    MemoryInfo memory{};
    reason = nvml_.call("nvmlDeviceGetMemoryInfo", device_, &memory);
    add(std::to_string(memory.total), std::move(reason));
  }

  void peak() {
    const auto clock = number(1.0, "nvmlDeviceGetMaxClockInfo", kSmClock);
    if (clock) rates_.clock_hz = *clock * 1e6;
    const bool known = rates_.sm_count > 0 && rates_.clock_hz > 0.0;
    add(known ? peak_text(rates_) + ", f32, at the highest clock" : "",
        known ? "" : "its SMs or their clock are not known");
  }

  void state() {
    number(1.0, "nvmlDeviceGetClockInfo", kSmClock);
    number(1.0, "nvmlDeviceGetClockInfo", kMemoryClock);
    number(1000.0, "nvmlDeviceGetPowerManagementLimit");
    number(1000.0, "nvmlDeviceGetPowerUsage");
    number(1.0, "nvmlDeviceGetTemperature", kOnGpu);
    throttle_reasons();
    on_or_off("nvmlDeviceGetPersistenceMode");
    unsigned pending = 0;
    on_or_off("nvmlDeviceGetMigMode", &pending);
    UtilizationRates rates{};
    std::string reason = nvml_.call("nvmlDeviceGetUtilizationRates", device_, &rates);
    add(fmt::format("{}", rates.gpu / 100.0), std::move(reason));  // nvidia-smi's "utilization"
  }

  void throttle_reasons() {
    unsigned long long bits = 0;
    std::string reason = nvml_.call("nvmlDeviceGetCurrentClocksThrottleReasons", device_, &bits);
    std::vector<std::string_view> names;
    for (const Reason& each : kThrottleReasons) {
      if ((bits & each.bit) != 0) names.push_back(each.name);
      bits &= ~each.bit;
    }
    std::string text = names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
    if (bits != 0) text += fmt::format(", bits {:#x}", bits);
    add(std::move(text), std::move(reason));
  }

  // Asked with no room: the count comes back, and nothing of who they are.
  void processes() {
    unsigned compute = 0, graphics = 0;
    std::string reason =
        nvml_.call_but(kInsufficientSize, "nvmlDeviceGetComputeRunningProcesses_v3", device_,
                       &compute, static_cast<void*>(nullptr));
    if (reason.empty()) {
      reason = nvml_.call_but(kInsufficientSize, "nvmlDeviceGetGraphicsRunningProcesses_v3",
                              device_, &graphics, static_cast<void*>(nullptr));
    }
    add(fmt::format("{} compute, {} graphics", compute, graphics), std::move(reason));
  }

  const Nvml& nvml_;
  Device device_;
  DeviceRates rates_;
  std::vector<Fact> facts_;
};

Fact fact_of(std::string name, std::string value, std::string reason) {
  Fact fact{std::move(name), std::nullopt, std::move(reason)};
  if (fact.reason.empty()) fact.value = std::move(value);
  return fact;
}

}  // namespace

std::vector<Fact> gpu_facts(const std::string& library) {
  const Nvml nvml(library);
  const bool ready = nvml.reason().empty();
  std::vector<Fact> facts;

  unsigned count = 0;
  std::string reason = ready ? nvml.call("nvmlDeviceGetCount_v2", &count) : nvml.reason();
  facts.push_back(fact_of("gpu_count", std::to_string(count), reason));
  std::array<char, kTextSize> driver{};
  std::string no_driver =
      ready ? nvml.call("nvmlSystemGetDriverVersion", driver.data(), kTextSize) : nvml.reason();
  facts.push_back(fact_of("gpu_driver", driver.data(), std::move(no_driver)));
  int cuda = 0;  // 13000 + 10 for 13.1
  std::string no_cuda =
      ready ? nvml.call("nvmlSystemGetCudaDriverVersion_v2", &cuda) : nvml.reason();
  facts.push_back(fact_of("gpu_cuda_of_driver", fmt::format("{}.{}", cuda / 1000, cuda % 1000 / 10),
                          std::move(no_cuda)));

  Device device = nullptr;
  if (reason.empty()) {
    reason =
        count == 0 ? "there is no device" : nvml.call("nvmlDeviceGetHandleByIndex_v2", 0U, &device);
  }
  if (reason.empty()) {
    for (Fact& fact : DeviceReader(nvml, device).read()) facts.push_back(std::move(fact));
  } else {
    for (const char* name : kDeviceFacts) facts.push_back({name, std::nullopt, reason});
  }
  return facts;
}

}  // namespace stepscope
