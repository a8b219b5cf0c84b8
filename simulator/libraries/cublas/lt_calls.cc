// cuBLASLt: handles, descriptors, heuristics and cublasLtMatmul (cuBLAS, "Using the cuBLASLt API").
// The library has one algorithm, which needs no workspace.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <string>

#include "simulator/libraries/cublas/gemm.h"
#include "simulator/libraries/cublas/handle.h"
#include "simulator/libraries/cublas/lt_descriptors.h"

namespace lockstep::cublas {
namespace {

#define IN(Struct, number, field) \
  { number, offsetof(Struct, field), sizeof(Struct::field) }

constexpr Attribute kMatmulAttributes[] = {
    IN(MatmulDesc, 0, compute),
    IN(MatmulDesc, 1, scale),
    IN(MatmulDesc, 2, pointer_mode),
    IN(MatmulDesc, 3, op_a),
    IN(MatmulDesc, 4, op_b),
    IN(MatmulDesc, 5, op_c),
    IN(MatmulDesc, 6, fill),
    IN(MatmulDesc, 7, epilogue),
    IN(MatmulDesc, 8, bias),
    IN(MatmulDesc, 10, bias_stride),
    IN(MatmulDesc, 15, sm_count),
    IN(MatmulDesc, 26, bias_type),
    IN(MatmulDesc, 17, scales[0]),
    IN(MatmulDesc, 18, scales[1]),
    IN(MatmulDesc, 19, scales[2]),
    IN(MatmulDesc, 20, scales[3]),
    IN(MatmulDesc, 21, largest),
    // Pointers: the second output of an epilogue, with its scale and its largest magnitude.
    IN(MatmulDesc, 11, others[0]),
    IN(MatmulDesc, 23, others[1]),
    IN(MatmulDesc, 24, others[2]),
    IN(MatmulDesc, 36, others[3]),
    IN(MatmulDesc, 38, others[4]),
    // The numbers of these outputs.
    {12, offsetof(MatmulDesc, other_numbers) + 0, 8},
    {13, offsetof(MatmulDesc, other_numbers) + 8, 8},
    {14, offsetof(MatmulDesc, other_numbers) + 16, 8},
    {22, offsetof(MatmulDesc, other_numbers) + 24, 4},
    {25, offsetof(MatmulDesc, other_numbers) + 28, 1},
    {31, offsetof(MatmulDesc, other_numbers) + 32, 4},
    {32, offsetof(MatmulDesc, other_numbers) + 36, 4},
    {33, offsetof(MatmulDesc, other_numbers) + 40, 4},
    {34, offsetof(MatmulDesc, other_numbers) + 44, 4},
};
constexpr Attribute kLayoutAttributes[] = {
    IN(MatrixLayout, 0, type),       IN(MatrixLayout, 1, order),
    IN(MatrixLayout, 2, rows),       IN(MatrixLayout, 3, columns),
    IN(MatrixLayout, 4, ld),         IN(MatrixLayout, 5, batch),
    IN(MatrixLayout, 6, stride),     IN(MatrixLayout, 7, plane_offset),
    IN(MatrixLayout, 8, batch_mode),
};
constexpr Attribute kPreferenceAttributes[] = {
    IN(Preference, 0, search_mode),
    IN(Preference, 1, workspace),
    IN(Preference, 3, reductions),
    {5, offsetof(Preference, alignments), 4},
    {6, offsetof(Preference, alignments) + 4, 4},
    {7, offsetof(Preference, alignments) + 8, 4},
    {8, offsetof(Preference, alignments) + 12, 4},
    IN(Preference, 9, waves),
    IN(Preference, 12, implementations),
};
#undef IN

template <std::size_t count>
cublasStatus_t set(const char* call, void* descriptor, const Attribute (&all)[count], int number,
                   const void* from, std::size_t size) {
  for (const Attribute& a : all) {
    if (a.number != number) continue;
    if (descriptor == nullptr || from == nullptr || size != a.size) break;
    std::memcpy(static_cast<char*>(descriptor) + a.offset, from, size);
    return CUBLAS_STATUS_SUCCESS;
  }
  return fail(call, CUBLAS_STATUS_INVALID_VALUE,
              "attribute " + std::to_string(number) + " does not exist, or has another size");
}

template <std::size_t count>
cublasStatus_t get(const char* call, const void* descriptor, const Attribute (&all)[count],
                   int number, void* to, std::size_t size, std::size_t* written) {
  for (const Attribute& a : all) {
    if (a.number != number || descriptor == nullptr) continue;
    if (written != nullptr) *written = a.size;
    if (size == 0 && written != nullptr) return CUBLAS_STATUS_SUCCESS;
    if (to == nullptr || size != a.size) break;
    std::memcpy(to, static_cast<const char*>(descriptor) + a.offset, size);
    return CUBLAS_STATUS_SUCCESS;
  }
  return fail(call, CUBLAS_STATUS_INVALID_VALUE,
              "attribute " + std::to_string(number) + " does not exist, or has another size");
}

template <class Struct>
cublasStatus_t create(const char* call, Struct** to, const Struct& value) {
  if (to == nullptr) return fail(call, CUBLAS_STATUS_INVALID_VALUE, "a null pointer");
  // As large as the structure in the header.
  *to = new (::operator new(256)) Struct(value);
  return CUBLAS_STATUS_SUCCESS;
}
template <class Struct>
cublasStatus_t initialise(const char* call, Struct* to, std::size_t size, const Struct& value) {
  if (to == nullptr || size < sizeof(Struct))
    return fail(call, CUBLAS_STATUS_INVALID_VALUE, "a null pointer, or too small a structure");
  new (to) Struct(value);
  return CUBLAS_STATUS_SUCCESS;
}
template <class Struct>
cublasStatus_t destroy(Struct* descriptor) {
  ::operator delete(descriptor);
  return CUBLAS_STATUS_SUCCESS;
}

// ---- matmul -------------------------------------------------------------------------------------

struct Layouts {
  const MatrixLayout *a, *b, *c, *d;
};

// The epilogue: changes to the results before they are stored.
struct After {
  bool adds_bias = false, relu = false, gelu = false;
  bool of_columns = false;  // one bias a column of the computed matrix, D transposed
  Vector bias;
  std::int64_t stride = 0;
};

// The tanh approximation.
float gelu(float x) {
  const double v = x;
  return static_cast<float>(0.5 * v *
                            (1 + std::tanh(0.7978845608028654 * (v + 0.044715 * v * v * v))));
}

void apply(Access& access, const After& after, std::int64_t batch, std::int64_t m,
           std::vector<float>& values) {
  std::vector<float> bias;
  if (after.adds_bias) {
    Vector of_batch = after.bias;
    of_batch.at = static_cast<const std::byte*>(of_batch.at) +
                  static_cast<std::size_t>(batch * after.stride) * size_of(of_batch.type);
    bias = gather<float>(of_batch, access.read(of_batch));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    float& value = values[i];
    const auto rows = static_cast<std::size_t>(m);
    if (after.adds_bias) value += bias[after.of_columns ? i / rows : i % rows];
    if (after.relu) value = value > 0 || value != value ? value : 0;
    if (after.gelu) value = gelu(value);
  }
}

// A column-major view of a matrix. A row-major matrix is viewed as its transpose.
Matrix as_columns(const char* name, const MatrixLayout& layout, const void* at) {
  const auto rows = static_cast<std::int64_t>(layout.rows),
             columns = static_cast<std::int64_t>(layout.columns);
  const bool by_rows = layout.order == 1;
  return {name,
          at,
          by_rows ? columns : rows,
          by_rows ? rows : columns,
          layout.ld,
          static_cast<Type>(layout.type),
          layout.batch,
          layout.stride};
}

Op turned(Op op) { return op == Op::kNone ? Op::kTranspose : Op::kNone; }

struct Matmul {
  Gemm gemm;
  After after;
};

// `pointers`: A, B, C, D. If `is_question` is set, the call only queries support, so a refusal is
// not an error of the program.
class Preparation {
 public:
  Preparation(const char* call, cublasHandle_t handle, bool is_question)
      : check_(call, handle), is_question_(is_question) {}

  cublasStatus_t prepare(const MatmulDesc* desc, const Layouts& l, const void* const (&pointers)[4],
                         Matmul* result) {
    if (desc == nullptr || l.a == nullptr || l.b == nullptr || l.c == nullptr || l.d == nullptr)
      check_.that(false, "a descriptor is a null pointer");
    if (check_.failed()) return check_.status();
    if (const char* const why = refusal(*desc, l)) return refuse(why);
    Gemm& g = result->gemm;
    g.a = as_columns("A", *l.a, pointers[0]);
    g.b = as_columns("B", *l.b, pointers[1]);
    g.c = as_columns("C", *l.c, pointers[2]);
    g.d = as_columns("D", *l.d, pointers[3]);
    g.op_a = static_cast<Op>(desc->op_a);
    g.op_b = static_cast<Op>(desc->op_b);
    check_.operation(desc->op_a).operation(desc->op_b);
    check_.leading(g.a).leading(g.b).leading(g.c).leading(g.d);
    const std::uint64_t m = g.op_a == Op::kNone ? l.a->rows : l.a->columns,
                        k = g.op_a == Op::kNone ? l.a->columns : l.a->rows,
                        k_of_b = g.op_b == Op::kNone ? l.b->rows : l.b->columns,
                        n = g.op_b == Op::kNone ? l.b->columns : l.b->rows;
    check_.that(k == k_of_b, "op(A) has not as many columns as op(B) has rows");
    for (const MatrixLayout* out : {l.c, l.d})
      check_.that(out->rows == m && out->columns == n, "C or D is not of the product's size");
    check_.that(l.a->batch == l.d->batch && l.b->batch == l.d->batch && l.c->batch == l.d->batch,
                "the batches are not of one size");
    if (check_.failed()) return check_.status();
    g.k = static_cast<std::int64_t>(k);
    g.batch = l.d->batch;
    if (is_fp8(g.a.type) || is_fp8(g.b.type)) {
      if (const char* const why = refusal_of_fp8(*desc, l, g)) return refuse(why);
      use_scales(*desc, g);
    } else if (!find_arithmetic(static_cast<cublasComputeType_t>(desc->compute), g.a.type, g.b.type,
                                g.d.type, &g.arithmetic) ||
               g.arithmetic.scale != static_cast<Type>(desc->scale) || g.c.type != g.d.type) {
      return refuse("the simulated cuBLASLt has no such types and way to compute");
    } else if (has_scales(*desc)) {
      return refuse("scales and the largest magnitude are of FP8");
    }
    if (l.a->order == 1) g.op_a = turned(g.op_a);
    if (l.b->order == 1) g.op_b = turned(g.op_b);
    if (l.d->order == 1) {  // D^T = op(B)^T op(A)^T
      std::swap(g.a, g.b);
      std::swap(g.op_a, g.op_b);
      g.op_a = turned(g.op_a);
      g.op_b = turned(g.op_b);
    }
    return prepare_epilogue(*desc, *l.d, m, result);
  }

 private:
  // Why the call is refused; nullptr if it is supported.
  static const char* refusal(const MatmulDesc& desc, const Layouts& l) {
    for (const void* const other : desc.others)
      if (other != nullptr) return "the simulated cuBLASLt has no second output of an epilogue";
    // The modes of scales; 0: one for a matrix.
    for (std::size_t i = 4; i < std::size(desc.other_numbers); ++i)
      if (desc.other_numbers[i] != 0) return "the simulated cuBLASLt has one scale for a matrix";
    if (desc.op_c != 0 || desc.fill != CUBLAS_FILL_MODE_FULL || desc.pointer_mode > 1)
      return "the simulated cuBLASLt has no operation on C, no triangles and no vectors of alpha";
    for (const MatrixLayout* one : {l.a, l.b, l.c, l.d}) {
      if (one->order > 1 || one->plane_offset != 0 || one->batch_mode != 0)
        return "the simulated cuBLASLt has matrices by columns or by rows, and strided batches";
      if (one->order == 1 && (desc.op_a == 2 || desc.op_b == 2))
        return "the simulated cuBLASLt has no conjugates of matrices by rows";
    }
    if (l.c->order != l.d->order) return "the simulated cuBLASLt has C and D of one order";
    return nullptr;
  }

  static bool has_scales(const MatmulDesc& desc) {
    return desc.largest != nullptr ||
           std::any_of(std::begin(desc.scales), std::end(desc.scales),
                       [](const void* scale) { return scale != nullptr; });
  }

  // cuBLAS, "cublasLtMatmul()": what its tables of FP8 and the sentences above them ask for.
  static const char* refusal_of_fp8(const MatmulDesc& desc, const Layouts& l, const Gemm& g) {
    int device = 0, major = 0, minor = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    if (major * 10 + minor < 89) return "FP8 needs a device of sm_89 or later";
    if (desc.compute != CUBLAS_COMPUTE_32F || desc.scale != CUDA_R_32F)
      return "FP8 needs CUBLAS_COMPUTE_32F and a scale of CUDA_R_32F";
    if (!is_fp8(g.a.type) || !is_fp8(g.b.type) ||
        (g.a.type == Type::kE5M2 && g.b.type == Type::kE5M2))
      return "of FP8 both of A and B are, and one of them is E4M3";
    const bool to_fp8 = is_fp8(g.d.type);
    if (g.d.type == Type::kE5M2 && g.a.type == g.b.type) return "E4M3 has no product in E5M2";
    if (g.c.type != Type::kF16 && g.c.type != Type::kBF16 && (to_fp8 || g.c.type != Type::kF32))
      return "C of FP8 is f16 or bf16, or f32 where D is no FP8";
    if (!to_fp8 && g.c.type != g.d.type) return "C and D are of one type, unless D is FP8";
    if (l.a->order != 0 || l.b->order != 0 || l.d->order != 0) return "FP8 lies by columns";
    if (major != 10 && (g.op_a != Op::kTranspose || g.op_b != Op::kNone))
      return "FP8 needs A transposed and B not";
    for (const Matrix* m : {&g.a, &g.b, &g.c, &g.d})
      if (static_cast<std::size_t>(m->ld) * size_of(m->type) % 16 != 0)
        return "columns of FP8 are multiples of 16 bytes apart";
    if (g.k % 16 != 0) return "FP8 needs a depth that is a multiple of 16";
    if (desc.scales[2] != nullptr || (desc.scales[3] != nullptr && !to_fp8))
      return "a scale is of a matrix of FP8";
    return nullptr;
  }
  static void use_scales(const MatmulDesc& desc, Gemm& g) {
    constexpr const char* kNames[] = {"A's scale", "B's scale", "", "D's scale"};
    g.arithmetic = {};
    for (const int i : {0, 1, 3}) {
      if (desc.scales[i] == nullptr) continue;
      (i == 3 ? g.result_factors : g.factors).push_back({kNames[i], desc.scales[i], Type::kF32});
    }
    g.largest = desc.largest;
  }

  cublasStatus_t refuse(const char* why) {
    if (is_question_) return CUBLAS_STATUS_NOT_SUPPORTED;
    return check_.simulated(false, why).status();
  }

  cublasStatus_t prepare_epilogue(const MatmulDesc& desc, const MatrixLayout& d, std::uint64_t m,
                                  Matmul* result) {
    After& after = result->after;
    after.adds_bias = (desc.epilogue & kEpilogueBias) != 0;
    after.relu = (desc.epilogue & kEpilogueRelu) != 0;
    after.gelu = (desc.epilogue & kEpilogueGelu) != 0;
    const std::uint32_t known = kEpilogueDefault | kEpilogueBias | kEpilogueRelu | kEpilogueGelu;
    if ((desc.epilogue & ~known) != 0 || desc.epilogue == 0)
      return refuse("the simulated cuBLASLt has the epilogues BIAS, RELU, GELU and their pairs");
    if (desc.epilogue != kEpilogueDefault && result->gemm.arithmetic.sums != Type::kF32)
      return refuse("the simulated cuBLASLt has epilogues for sums in float alone");
    after.of_columns = d.order == 1;
    after.stride = desc.bias_stride;
    after.bias = {"bias", desc.bias, static_cast<std::int64_t>(m), 1,
                  desc.bias_type >= 0 ? static_cast<Type>(desc.bias_type) : result->gemm.c.type};
    return check_.status();
  }

  Check check_;
  bool is_question_;
};

cublasStatus_t matmul(cublasHandle_t handle, const MatmulDesc* desc, const void* alpha,
                      const void* const (&pointers)[4], const Layouts& layouts, const void* beta,
                      void* workspace, std::size_t workspace_bytes, cudaStream_t stream) {
  constexpr const char* kCall = "cublasLtMatmul";
  Matmul made;
  const cublasStatus_t status =
      Preparation(kCall, handle, false).prepare(desc, layouts, pointers, &made);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  Check check(kCall, handle);
  check.that(alpha != nullptr && beta != nullptr, "alpha or beta is a null pointer");
  check.that(workspace_bytes == 0 || workspace != nullptr, "the workspace is a null pointer");
  if (check.failed()) return check.status();
  Gemm& g = made.gemm;
  if (g.m() == 0 || g.n() == 0 || g.batch == 0) return CUBLAS_STATUS_SUCCESS;
  cublasContext mode;
  mode.pointer_mode = static_cast<cublasPointerMode_t>(desc->pointer_mode);
  g.alpha = scalar(mode, "alpha", alpha, g.arithmetic.scale);
  g.beta = scalar(mode, "beta", beta, g.arithmetic.scale);
  g.workspace = workspace;
  g.workspace_bytes = workspace_bytes;
  const bool is_plain = desc->epilogue == kEpilogueDefault;
  return put(kCall, stream,
             {pointers[0], pointers[1], pointers[2], pointers[3], desc->scales[0], desc->scales[1],
              desc->scales[3], desc->largest},
             [made, is_plain](Access& access) {
               if (is_plain) return run(access, made.gemm);
               run(access, made.gemm,
                   [&](Access& a, std::int64_t batch, std::vector<float>& values) {
                     apply(a, made.after, batch, made.gemm.m(), values);
                   });
             });
}

}  // namespace
}  // namespace lockstep::cublas

using namespace lockstep::cublas;

extern "C" {

cublasStatus_t cublasLtCreate(cublasHandle_t* handle) {
  if (handle == nullptr)
    return fail("cublasLtCreate", CUBLAS_STATUS_INVALID_VALUE, "the handle is a null pointer");
  if (cudaFree(nullptr) != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasHandle_t handle) {
  Check check("cublasLtDestroy", handle);
  if (!check.failed()) handle->magic = 0;  // the memory is kept, so that later uses are detected
  return check.status();
}
const char* cublasLtGetStatusName(cublasStatus_t status) { return name_of(status); }
const char* cublasLtGetStatusString(cublasStatus_t status) { return text_of(status); }
size_t cublasLtGetVersion() { return kMajor * 10000 + kMinor * 100 + kPatch; }
size_t cublasLtGetCudartVersion() { return CUDART_VERSION; }
cublasStatus_t cublasLtGetProperty(libraryPropertyType type, int* value) {
  if (value == nullptr || type < MAJOR_VERSION || type > PATCH_LEVEL)
    return fail("cublasLtGetProperty", CUBLAS_STATUS_INVALID_VALUE, "there is no such property");
  *value = type == MAJOR_VERSION ? kMajor : type == MINOR_VERSION ? kMinor : kPatch;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtHeuristicsCacheGetCapacity(size_t* capacity) {
  if (capacity != nullptr) *capacity = 0;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtHeuristicsCacheSetCapacity(size_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtLoggerSetCallback(void*) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtLoggerSetFile(void*) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtLoggerOpenFile(const char*) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtLoggerSetLevel(int) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtLoggerSetMask(int) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtLoggerForceDisable() { return CUBLAS_STATUS_SUCCESS; }

#define ATTRIBUTES(Name, Struct, all)                                                             \
  cublasStatus_t cublasLt##Name##SetAttribute(Struct* d, int number, const void* from,            \
                                              size_t size) {                                      \
    return set("cublasLt" #Name "SetAttribute", d, all, number, from, size);                      \
  }                                                                                               \
  cublasStatus_t cublasLt##Name##GetAttribute(const Struct* d, int number, void* to, size_t size, \
                                              size_t* written) {                                  \
    return get("cublasLt" #Name "GetAttribute", d, all, number, to, size, written);               \
  }                                                                                               \
  cublasStatus_t cublasLt##Name##Destroy(Struct* d) { return destroy(d); }
ATTRIBUTES(MatmulDesc, MatmulDesc, kMatmulAttributes)
ATTRIBUTES(MatrixLayout, MatrixLayout, kLayoutAttributes)
ATTRIBUTES(MatmulPreference, Preference, kPreferenceAttributes)
#undef ATTRIBUTES

cublasStatus_t cublasLtMatmulDescCreate(MatmulDesc** to, cublasComputeType_t compute,
                                        cudaDataType scale) {
  return create("cublasLtMatmulDescCreate", to, MatmulDesc{compute, scale});
}
cublasStatus_t cublasLtMatmulDescInit_internal(MatmulDesc* to, size_t size,
                                               cublasComputeType_t compute, cudaDataType scale) {
  return initialise("cublasLtMatmulDescInit", to, size, MatmulDesc{compute, scale});
}
cublasStatus_t cublasLtMatrixLayoutCreate(MatrixLayout** to, cudaDataType type, uint64_t rows,
                                          uint64_t columns, int64_t ld) {
  return create("cublasLtMatrixLayoutCreate", to,
                MatrixLayout{static_cast<uint32_t>(type), 0, rows, columns, ld});
}
cublasStatus_t cublasLtMatrixLayoutInit_internal(MatrixLayout* to, size_t size, cudaDataType type,
                                                 uint64_t rows, uint64_t columns, int64_t ld) {
  return initialise("cublasLtMatrixLayoutInit", to, size,
                    MatrixLayout{static_cast<uint32_t>(type), 0, rows, columns, ld});
}
cublasStatus_t cublasLtMatmulPreferenceCreate(Preference** to) {
  return create("cublasLtMatmulPreferenceCreate", to, Preference{});
}
cublasStatus_t cublasLtMatmulPreferenceInit_internal(Preference* to, size_t size) {
  return initialise("cublasLtMatmulPreferenceInit", to, size, Preference{});
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasHandle_t handle, const MatmulDesc* desc,
                                              const MatrixLayout* a, const MatrixLayout* b,
                                              const MatrixLayout* c, const MatrixLayout* d,
                                              const Preference*, int requested,
                                              HeuristicResult* results, int* count) {
  constexpr const char* kCall = "cublasLtMatmulAlgoGetHeuristic";
  if (count == nullptr || results == nullptr || requested < 1)
    return fail(kCall, CUBLAS_STATUS_INVALID_VALUE, "no algorithm is asked for");
  *count = 0;
  Matmul made;
  const cublasStatus_t status =
      Preparation(kCall, handle, true).prepare(desc, {a, b, c, d}, {}, &made);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  results[0] = {};
  results[0].state = CUBLAS_STATUS_SUCCESS;
  results[0].waves = 1;
  *count = 1;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoGetIds(cublasHandle_t, cublasComputeType_t, cudaDataType,
                                        cudaDataType, cudaDataType, cudaDataType, cudaDataType,
                                        int requested, int* ids, int* count) {
  if (count == nullptr || ids == nullptr || requested < 1)
    return fail("cublasLtMatmulAlgoGetIds", CUBLAS_STATUS_INVALID_VALUE,
                "no algorithm is asked for");
  ids[0] = 0;
  *count = 1;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoInit(cublasHandle_t, cublasComputeType_t, cudaDataType,
                                      cudaDataType, cudaDataType, cudaDataType, cudaDataType, int,
                                      Algorithm* algorithm) {
  if (algorithm == nullptr)
    return fail("cublasLtMatmulAlgoInit", CUBLAS_STATUS_INVALID_VALUE, "a null pointer");
  *algorithm = {};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoCheck(cublasHandle_t handle, const MatmulDesc* desc,
                                       const MatrixLayout* a, const MatrixLayout* b,
                                       const MatrixLayout* c, const MatrixLayout* d,
                                       const Algorithm*, HeuristicResult* result) {
  int count = 0;
  HeuristicResult found{};
  const cublasStatus_t status =
      cublasLtMatmulAlgoGetHeuristic(handle, desc, a, b, c, d, nullptr, 1, &found, &count);
  if (result != nullptr) *result = found;
  return status;
}
cublasStatus_t cublasLtMatmul(cublasHandle_t handle, const MatmulDesc* desc, const void* alpha,
                              const void* a, const MatrixLayout* a_layout, const void* b,
                              const MatrixLayout* b_layout, const void* beta, const void* c,
                              const MatrixLayout* c_layout, void* d, const MatrixLayout* d_layout,
                              const Algorithm*, void* workspace, size_t workspace_bytes,
                              cudaStream_t stream) {
  return matmul(handle, desc, alpha, {a, b, c, d}, {a_layout, b_layout, c_layout, d_layout}, beta,
                workspace, workspace_bytes, stream);
}

}  // extern "C"
