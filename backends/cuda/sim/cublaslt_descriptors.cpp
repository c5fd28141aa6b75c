// cublaslt_descriptors: making, setting and destroying the descriptors of cuBLASLt.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/cuda/sim/call.h"
#include "backends/cuda/sim/cublaslt.h"
#include "backends/cuda/sim/cublaslt_objects.h"

namespace stepscope::cudasim {
namespace {

// One attribute: its number, and where its value is in the fields.
struct Attribute {
  int number;
  std::size_t offset, size;
};
#define STEPSCOPE_ATTRIBUTE(number, fields, member) \
  Attribute { number, offsetof(fields, member), sizeof(fields::member) }

constexpr Attribute kOperation[] = {
    STEPSCOPE_ATTRIBUTE(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, OperationFields, compute_type),
    STEPSCOPE_ATTRIBUTE(CUBLASLT_MATMUL_DESC_SCALE_TYPE, OperationFields, scale_type),
    STEPSCOPE_ATTRIBUTE(CUBLASLT_MATMUL_DESC_POINTER_MODE, OperationFields, pointer_mode),
    STEPSCOPE_ATTRIBUTE(CUBLASLT_MATMUL_DESC_TRANSA, OperationFields, transpose_a),
    STEPSCOPE_ATTRIBUTE(CUBLASLT_MATMUL_DESC_TRANSB, OperationFields, transpose_b),
    STEPSCOPE_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE, OperationFields, epilogue),
    STEPSCOPE_ATTRIBUTE(CUBLASLT_MATMUL_DESC_BIAS_POINTER, OperationFields, bias),
    STEPSCOPE_ATTRIBUTE(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, OperationFields, bias_type),
    STEPSCOPE_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, OperationFields, aux),
    STEPSCOPE_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, OperationFields, aux_ld),
};
constexpr Attribute kLayout[] = {
    STEPSCOPE_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_TYPE, LayoutFields, type),
    STEPSCOPE_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_ORDER, LayoutFields, order),
    STEPSCOPE_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_ROWS, LayoutFields, rows),
    STEPSCOPE_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_COLS, LayoutFields, columns),
    STEPSCOPE_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_LD, LayoutFields, ld),
    STEPSCOPE_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, LayoutFields, batch_count),
    STEPSCOPE_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, LayoutFields, batch_stride),
};
constexpr Attribute kPreference[] = {
    STEPSCOPE_ATTRIBUTE(CUBLASLT_MATMUL_PREF_SEARCH_MODE, PreferenceFields, search_mode),
    STEPSCOPE_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, PreferenceFields, workspace),
    STEPSCOPE_ATTRIBUTE(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, PreferenceFields, reductions),
    STEPSCOPE_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, PreferenceFields, alignment[0]),
    STEPSCOPE_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, PreferenceFields, alignment[1]),
    STEPSCOPE_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, PreferenceFields, alignment[2]),
    STEPSCOPE_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, PreferenceFields, alignment[3]),
};

// What the library has beyond that; read off its header and off the library itself.
bool library_has(std::span<const Attribute> table, int number) {
  if (table.data() == kOperation) {
    return number == CUBLASLT_MATMUL_DESC_TRANSC || number == CUBLASLT_MATMUL_DESC_FILL_MODE ||
           (number >= CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE &&
            number <= CUBLASLT_MATMUL_DESC_FAST_ACCUM) ||
           (number >= CUBLASLT_MATMUL_DESC_A_SCALE_MODE &&
            number <= CUBLASLT_MATMUL_DESC_EMULATION_DESCRIPTOR);
  }
  if (table.data() == kLayout) {
    return number == CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET ||
           number == CUBLASLT_MATRIX_LAYOUT_BATCH_MODE;
  }
  return number == CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT || number == CUBLASLT_MATMUL_PREF_IMPL_MASK;
}

template <class Fields, class Blob>
cublasStatus_t set_attribute(Blob* blob, std::span<const Attribute> table, int number,
                             const void* value, std::size_t size) {
  if (!fields_of<Fields>(blob) || value == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  for (const Attribute& attribute : table) {
    if (attribute.number != number) continue;
    if (attribute.size != size) return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(reinterpret_cast<std::byte*>(blob) + attribute.offset, value, size);
    return CUBLAS_STATUS_SUCCESS;
  }
  return library_has(table, number) ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_INVALID_VALUE;
}

// Descriptors made by a Create. A destroyed one is kept without its tag until reset(), so that its
// use is refused and not undefined.
template <class Blob>
struct Made {
  struct One {
    std::unique_ptr<Blob> blob;
    bool live = true;
  };
  std::vector<One> all;

  static Made& state() {
    static Made& made = *new Made;
    return made;
  }
  Blob* make() {
    all.push_back({std::make_unique<Blob>()});
    return all.back().blob.get();
  }
  // Null is nothing to destroy, and no error: so does the library (measured).
  cublasStatus_t destroy(Blob* blob) {
    if (blob == nullptr) return CUBLAS_STATUS_SUCCESS;
    for (One& one : all) {
      if (one.blob.get() != blob || !one.live) continue;
      one.live = false;
      *blob = {};
      return CUBLAS_STATUS_SUCCESS;
    }
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  std::size_t live() const {
    std::size_t count = 0;
    for (const One& one : all) count += one.live ? 1 : 0;
    return count;
  }
};
using Operations = Made<cublasLtMatmulDescOpaque_t>;
using LayoutsMade = Made<cublasLtMatrixLayoutOpaque_t>;
using Preferences = Made<cublasLtMatmulPreferenceOpaque_t>;

template <class Blob, class Fields>
cublasStatus_t create(Blob** to, const Fields& fields) {
  if (to == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *to = Made<Blob>::state().make();
  put_fields(**to, fields);
  return CUBLAS_STATUS_SUCCESS;
}
template <class Blob, class Fields>
cublasStatus_t init(Blob* blob, std::size_t size, const Fields& fields) {
  if (blob == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  if (size < sizeof *blob) return CUBLAS_STATUS_ALLOC_FAILED;
  put_fields(*blob, fields);
  return CUBLAS_STATUS_SUCCESS;
}

OperationFields operation_fields(cublasComputeType_t compute, cudaDataType_t scale) {
  OperationFields fields;
  fields.compute_type = compute;
  fields.scale_type = scale;
  return fields;
}
LayoutFields layout_fields(cudaDataType type, std::uint64_t rows, std::uint64_t columns,
                           std::int64_t ld) {
  LayoutFields fields;
  fields.type = type;
  fields.rows = rows;
  fields.columns = columns;
  fields.ld = ld;
  return fields;
}

}  // namespace

std::vector<std::string> live_descriptors() {
  std::vector<std::string> lines;
  const auto add = [&](std::string_view what, std::size_t count) {
    if (count == 0) return;
    lines.push_back(fmt::format("cuBLASLt: {} {}{} not destroyed", count, what,
                                count == 1 ? " was" : "s were"));
  };
  add("matmul descriptor", Operations::state().live());
  add("matrix layout", LayoutsMade::state().live());
  add("matmul preference", Preferences::state().live());
  return lines;
}

void reset_descriptors() {
  Operations::state().all.clear();
  LayoutsMade::state().all.clear();
  Preferences::state().all.clear();
}

}  // namespace stepscope::cudasim

using namespace stepscope::cudasim;  // the C symbols below are nobody's namespace

extern "C" {

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* desc, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  return call(CallId::cublasLtMatmulDescCreate,
              [&] { return create(desc, operation_fields(compute, scale)); });
}
cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t desc, size_t size,
                                               cublasComputeType_t compute, cudaDataType_t scale) {
  return call(CallId::cublasLtMatmulDescInit,
              [&] { return init(desc, size, operation_fields(compute, scale)); });
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) {
  return call(CallId::cublasLtMatmulDescDestroy, [&] { return Operations::state().destroy(desc); });
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, size_t size) {
  return call(CallId::cublasLtMatmulDescSetAttribute, [&] {
    return set_attribute<OperationFields>(desc, kOperation, attribute, value, size);
  });
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          uint64_t rows, uint64_t columns, int64_t ld) {
  return call(CallId::cublasLtMatrixLayoutCreate,
              [&] { return create(layout, layout_fields(type, rows, columns, ld)); });
}
cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t layout, size_t size,
                                                 cudaDataType type, uint64_t rows, uint64_t columns,
                                                 int64_t ld) {
  return call(CallId::cublasLtMatrixLayoutInit,
              [&] { return init(layout, size, layout_fields(type, rows, columns, ld)); });
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return call(CallId::cublasLtMatrixLayoutDestroy,
              [&] { return LayoutsMade::state().destroy(layout); });
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                const void* value, size_t size) {
  return call(CallId::cublasLtMatrixLayoutSetAttribute,
              [&] { return set_attribute<LayoutFields>(layout, kLayout, attribute, value, size); });
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  return call(CallId::cublasLtMatmulPreferenceCreate,
              [&] { return create(preference, PreferenceFields{}); });
}
cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t preference,
                                                     size_t size) {
  return call(CallId::cublasLtMatmulPreferenceInit,
              [&] { return init(preference, size, PreferenceFields{}); });
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  return call(CallId::cublasLtMatmulPreferenceDestroy,
              [&] { return Preferences::state().destroy(preference); });
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void* value, size_t size) {
  return call(CallId::cublasLtMatmulPreferenceSetAttribute, [&] {
    return set_attribute<PreferenceFields>(preference, kPreference, attribute, value, size);
  });
}

}  // extern "C"
