// An NVML made up for tests, under the real symbol names: one device with known facts. Built
// twice; with FAKE_NVML_OLD it lacks newer calls, and some answer "Not Supported".
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>

extern "C" {

int nvmlInit_v2() { return std::getenv("FAKE_NVML_NO_DRIVER") != nullptr ? 9 : 0; }
int nvmlShutdown() { return 0; }
const char* nvmlErrorString(int result) {
  return result == 9 ? "Driver Not Loaded" : result == 3 ? "Not Supported" : "Unknown Error";
}
int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  std::snprintf(text, size, "580.65.06");
  return 0;
}
int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = 13010;
  return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = std::getenv("FAKE_NVML_NO_DEVICE") != nullptr ? 0 : 2;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  static int handle;
  *device = &handle;
  return index == 0 ? 0 : 2;
}
int nvmlDeviceGetName(void* device, char* text, unsigned size) {
  std::snprintf(text, size, "Quadro RTX 5000");
  return device != nullptr ? 0 : 2;
}
int nvmlDeviceGetCudaComputeCapability(void*, int* major, int* minor) {
  *major = 7;
  *minor = 5;
  return 0;
}
int nvmlDeviceGetMemoryInfo(void*, unsigned long long* total_free_used) {
  total_free_used[0] = 17'000'000'000;
  total_free_used[1] = 16'000'000'000;
  total_free_used[2] = 1'000'000'000;
  return 0;
}
int nvmlDeviceGetMaxClockInfo(void*, int type, unsigned* mhz) {
  *mhz = type == 1 ? 1800 : 7001;
  return 0;
}
int nvmlDeviceGetClockInfo(void*, int type, unsigned* mhz) {
  *mhz = type == 1 ? 1350 : type == 2 ? 7000 : 1;
  return 0;
}
int nvmlDeviceGetPowerManagementLimit(void*, unsigned* milliwatts) {
  *milliwatts = 230'000;
  return 0;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = 41'500;
  return 0;
}
int nvmlDeviceGetTemperature(void*, int sensor, unsigned* celsius) {
  *celsius = sensor == 0 ? 55 : 0;
  return 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* bits) {
  *bits = 0x4 | 0x40 | 0x1000;
  return 0;
}
int nvmlDeviceGetPersistenceMode(void*, unsigned* mode) {
  *mode = 1;
  return 0;
}
int nvmlDeviceGetUtilizationRates(void*, unsigned* gpu_memory) {
  gpu_memory[0] = 37;
  gpu_memory[1] = 5;
  return 0;
}
// No room was given for the list: "Insufficient Size", and the count.
int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, void* list) {
  const bool room = list != nullptr || *count != 0;
  *count = 3;
  return room ? 2 : 7;
}
int nvmlDeviceGetGraphicsRunningProcesses_v3(void*, unsigned* count, void*) {
  *count = 0;
  return 0;
}
#ifdef FAKE_NVML_OLD
int nvmlDeviceGetMigMode(void*, unsigned*, unsigned*) { return 3; }
#else
int nvmlDeviceGetMigMode(void*, unsigned* current, unsigned* pending) {
  *current = 0;
  *pending = 1;
  return 0;
}
int nvmlDeviceGetNumGpuCores(void*, unsigned* cores) {
  *cores = 3072;
  return 0;
}
#endif
}
