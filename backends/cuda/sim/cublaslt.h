// cublaslt: what stands in the descriptors, and what a product must be for cuBLASLt to take it.
//
// Descriptors and algorithms are the public blobs of cublasLt.h, so that they may be copied, kept
// on the stack and stored in a file; the fields lie in them behind a tag. As in the library itself
// (measured without a device) a setter refuses a wrong size or an unknown attribute, and no value:
// values are judged when the product is known. An attribute that the library has and the simulator
// has not is CUBLAS_STATUS_NOT_SUPPORTED.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <cstring>
#include <optional>

#include "backends/cuda/sim/matmul.h"

namespace stepscope::cudasim {

struct OperationFields {
  std::uint64_t tag = 0;
  std::int32_t compute_type = CUBLAS_COMPUTE_32F, scale_type = CUDA_R_32F;
  std::int32_t pointer_mode = CUBLASLT_POINTER_MODE_HOST;
  std::int32_t transpose_a = CUBLAS_OP_N, transpose_b = CUBLAS_OP_N;
  std::uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  std::uint64_t bias = 0, aux = 0;  // addresses
  std::int64_t aux_ld = 0;          // bits
  std::int32_t bias_type = -1;      // -1: as D
  std::int32_t unused = 0;
  static constexpr std::uint64_t kTag = 0x6d617468'6f706572;
};

struct LayoutFields {
  std::uint64_t tag = 0;
  std::uint64_t rows = 0, columns = 0;
  std::int64_t ld = 0, batch_stride = 0;
  std::int32_t type = CUDA_R_32F, order = CUBLASLT_ORDER_COL, batch_count = 1;
  std::int32_t unused = 0;
  static constexpr std::uint64_t kTag = 0x6d617472'69786c61;
};

struct PreferenceFields {
  std::uint64_t tag = 0;
  std::uint64_t workspace = 0;  // bytes
  std::uint32_t search_mode = CUBLASLT_SEARCH_BEST_FIT;
  std::uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_MASK;
  std::uint32_t alignment[4] = {256, 256, 256, 256};  // of A, B, C, D
  static constexpr std::uint64_t kTag = 0x70726566'6572656e;
};

// What a heuristic found: for which product, which of the two algorithms, and what it asks for.
struct AlgorithmFields {
  std::uint64_t tag = 0;
  std::uint64_t problem = 0;
  std::uint64_t workspace = 0;     // bytes; not 0: the sum in two halves
  std::uint8_t alignment[6] = {};  // of A, B, C, D, bias, aux; bytes
  std::uint8_t unused[2] = {};
  std::uint64_t seal = 0;  // hash of all that is above
  static constexpr std::uint64_t kTag = 0x616c676f'72697468;
};

// The fields in a blob; nothing: it was never made, or was destroyed.
template <class Fields, class Blob>
std::optional<Fields> fields_of(const Blob* blob) {
  static_assert(sizeof(Fields) <= sizeof(Blob));
  if (blob == nullptr) return std::nullopt;
  Fields fields;
  std::memcpy(static_cast<void*>(&fields), blob, sizeof fields);
  if (fields.tag != Fields::kTag) return std::nullopt;
  return fields;
}
template <class Fields, class Blob>
void put_fields(Blob& blob, Fields fields) {
  fields.tag = Fields::kTag;
  std::memset(&blob, 0, sizeof blob);
  std::memcpy(&blob, &fields, sizeof fields);
}

struct Layouts {
  LayoutFields a, b, c, d;
};
struct Problem {
  OperationFields operation;
  Layouts layouts;
  std::int64_t m = 0, n = 0, k = 0;
};

// A product that the simulator computes; else the reason as a status: CUBLAS_STATUS_INVALID_VALUE
// for what contradicts itself, CUBLAS_STATUS_NOT_SUPPORTED for what is not simulated.
cublasStatus_t problem_of(const OperationFields& operation, const Layouts& layouts,
                          Problem& problem);
// Of all that an algorithm depends on; no addresses.
std::uint64_t hash_of(const Problem& problem);
std::uint64_t seal_of(const AlgorithmFields& algorithm);
// The epilogue as the product has it; nothing: not simulated.
std::optional<Epilogue> epilogue_of(const OperationFields& operation);

// Bytes from the first to behind the last element.
std::size_t extent_of(const LayoutFields& layout);
std::size_t bias_bytes(const Problem& problem);  // of the bias or its gradient; 0: none
std::size_t aux_bytes(const Problem& problem);   // 0: none

}  // namespace stepscope::cudasim
