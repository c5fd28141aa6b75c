// Device atomics: relaxed, as CUDA's are: atomic to each other, and no order for other memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace stepscope::cudasim::device {

// Stores combine(old) for the old value, and returns that.
template <class T, class Combine>
T atomic_update(T* address, Combine combine) {
  T old;
  __atomic_load(address, &old, __ATOMIC_RELAXED);
  for (;;) {
    T next = combine(old);
    if (__atomic_compare_exchange(address, &old, &next, false, __ATOMIC_RELAXED,
                                  __ATOMIC_RELAXED)) {
      return old;
    }
  }
}

template <class T>
T atomic_exchange(T* address, T value) {
  T old;
  __atomic_exchange(address, &value, &old, __ATOMIC_RELAXED);
  return old;
}

template <class T>
T atomic_compare_and_swap(T* address, T compare, T value) {
  __atomic_compare_exchange(address, &compare, &value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return compare;  // the old value, whether it was replaced or not
}

}  // namespace stepscope::cudasim::device

inline int atomicAdd(int* address, int value) {
  return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
}
inline unsigned atomicAdd(unsigned* address, unsigned value) {
  return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
}
inline unsigned long long atomicAdd(unsigned long long* address, unsigned long long value) {
  return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
}
inline float atomicAdd(float* address, float value) {
  return stepscope::cudasim::device::atomic_update(address,
                                                   [value](float old) { return old + value; });
}
inline double atomicAdd(double* address, double value) {
  return stepscope::cudasim::device::atomic_update(address,
                                                   [value](double old) { return old + value; });
}

inline int atomicMax(int* address, int value) {
  return stepscope::cudasim::device::atomic_update(
      address, [value](int old) { return old < value ? value : old; });
}
inline unsigned atomicMax(unsigned* address, unsigned value) {
  return stepscope::cudasim::device::atomic_update(
      address, [value](unsigned old) { return old < value ? value : old; });
}
inline int atomicMin(int* address, int value) {
  return stepscope::cudasim::device::atomic_update(
      address, [value](int old) { return value < old ? value : old; });
}
inline unsigned atomicMin(unsigned* address, unsigned value) {
  return stepscope::cudasim::device::atomic_update(
      address, [value](unsigned old) { return value < old ? value : old; });
}

inline int atomicExch(int* address, int value) {
  return stepscope::cudasim::device::atomic_exchange(address, value);
}
inline unsigned atomicExch(unsigned* address, unsigned value) {
  return stepscope::cudasim::device::atomic_exchange(address, value);
}
inline unsigned long long atomicExch(unsigned long long* address, unsigned long long value) {
  return stepscope::cudasim::device::atomic_exchange(address, value);
}
inline float atomicExch(float* address, float value) {
  return stepscope::cudasim::device::atomic_exchange(address, value);
}

inline int atomicCAS(int* address, int compare, int value) {
  return stepscope::cudasim::device::atomic_compare_and_swap(address, compare, value);
}
inline unsigned atomicCAS(unsigned* address, unsigned compare, unsigned value) {
  return stepscope::cudasim::device::atomic_compare_and_swap(address, compare, value);
}
inline unsigned long long atomicCAS(unsigned long long* address, unsigned long long compare,
                                    unsigned long long value) {
  return stepscope::cudasim::device::atomic_compare_and_swap(address, compare, value);
}
