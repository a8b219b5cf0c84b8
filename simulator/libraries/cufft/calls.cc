// libcufft.so.12 for the simulated GPU (cuFFT of CUDA 13, "cuFFT API Reference"): plans with one to
// three dimensions in f32 and f64. Their executions are operations of the plan's stream.
#include <cuda_runtime_api.h>
#include <library_types.h>

#include <limits>
#include <map>
#include <mutex>
#include <utility>

#include "simulator/libraries/cufft/plan.h"

namespace lockstep::cufft {
namespace {

enum Result {
  kSuccess = 0,
  kInvalidPlan = 1,
  kInvalidType = 3,
  kInvalidValue = 4,
  kExecFailed = 6,
  kInvalidSize = 8,
  kNoWorkspace = 13,
  kNotSupported = 16,
};

constexpr int kVersion = 12000, kForward = -1, kInverse = 1;

struct Plan {
  cudaStream_t stream = nullptr;
  bool is_made = false, allocates = true;
  Shape shape;
  std::array<std::shared_ptr<const Transform>, 3> transforms;
  void* work_area = nullptr;
};

std::mutex plans_lock;
// Lives as long as the process, because destructors may call cuFFT.
std::map<int, Plan>& plans() {
  static auto* const all = new std::map<int, Plan>;
  return *all;
}

Result fail(const char* call, Result result, const char* reason, bool refused = false) {
  constexpr struct {
    Result result;
    const char *name, *text;
  } kResults[] = {
      {kInvalidPlan, "CUFFT_INVALID_PLAN", "invalid plan handle"},
      {kInvalidType, "CUFFT_INVALID_TYPE", "invalid type"},
      {kInvalidValue, "CUFFT_INVALID_VALUE", "an invalid pointer or parameter"},
      {kExecFailed, "CUFFT_EXEC_FAILED", "the transform was not executed"},
      {kInvalidSize, "CUFFT_INVALID_SIZE", "an invalid transform size"},
      {kNoWorkspace, "CUFFT_NO_WORKSPACE", "no work area was given"},
      {kNotSupported, "CUFFT_NOT_SUPPORTED", "the functionality is not supported"},
  };
  for (const auto& r : kResults) {
    if (r.result == result) lockstepLibraryCallFailed(call, r.name, r.text, reason, refused);
  }
  return result;
}

// Makes findings name the code that calls this library, not the library.
[[maybe_unused]] const bool stands_in = [] {
  lockstepStandIn(reinterpret_cast<const void*>(&fail));
  return true;
}();

int unsupported(const char* call) {
  return fail(call, kNotSupported,
              "the simulated library does not have this function: use one that it has "
              "(docs/reference/libraries.md), or check the program's own kernels without the call",
              true);
}

// Calls use(plan) for the plan of a handle.
template <class Use>
Result with_plan(const char* call, int handle, Use&& use) {
  std::unique_lock guard(plans_lock);
  const auto it = plans().find(handle);
  if (it == plans().end()) {
    guard.unlock();
    return fail(call, kInvalidPlan, "the plan was not created, or was destroyed");
  }
  return use(it->second);
}

// ---- plans --------------------------------------------------------------------------------------

// Sets the type from a value of cufftType.
bool set_type(int type, Shape* shape) {
  switch (type) {
    case 0x29: shape->kind = Kind::kComplex; break;
    case 0x2a: shape->kind = Kind::kRealToComplex; break;
    case 0x2c: shape->kind = Kind::kComplexToReal; break;
    case 0x69: shape->kind = Kind::kComplex, shape->is_double = true; break;
    case 0x6a: shape->kind = Kind::kRealToComplex, shape->is_double = true; break;
    case 0x6c: shape->kind = Kind::kComplexToReal, shape->is_double = true; break;
    default: return false;
  }
  return true;
}

// The arguments of cufftMakePlanMany, with int or long long sizes.
template <class Int>
struct Many {
  int rank;
  const Int *n, *inembed;
  Int istride, idist;
  const Int* onembed;
  Int ostride, odist, batch;
};

template <class Int>
Shape::Side side(int rank, const Int* embed, Int stride, Int distance) {
  Shape::Side result;
  for (int d = 0; d < rank; ++d) result.embed[static_cast<std::size_t>(3 - rank + d)] = embed[d];
  result.stride = stride;
  result.distance = distance;
  return result;
}

// Sets the sizes of a plan's shape. Reports invalid arguments.
template <class Int>
Result set_sizes(const char* call, const Many<Int>& many, Shape* shape) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  if (many.rank < 1 || many.rank > 3 || many.n == nullptr)
    return fail(call, kInvalidValue, "a transform has one to three dimensions");
  if (many.batch < 1) return fail(call, kInvalidSize, "the batch is less than 1");
  shape->rank = many.rank;
  shape->batch = many.batch;
  std::int64_t elements = many.batch;
  for (int d = 0; d < many.rank; ++d) {
    if (many.n[d] < 1) return fail(call, kInvalidSize, "a size is less than 1");
    if (many.n[d] > kMost / elements) return fail(call, kInvalidSize, "the transform is too large");
    elements *= many.n[d];
    shape->n[static_cast<std::size_t>(3 - many.rank + d)] = many.n[d];
  }
  // Without both arrays the layout is the basic one; strides and distances are ignored.
  if (many.inembed == nullptr || many.onembed == nullptr) return kSuccess;
  if (many.istride < 1 || many.ostride < 1 || many.idist < 0 || many.odist < 0)
    return fail(call, kInvalidValue, "a stride is less than 1, or a distance is negative");
  shape->advanced = {side(many.rank, many.inembed, many.istride, many.idist),
                     side(many.rank, many.onembed, many.ostride, many.odist)};
  for (const bool is_output : {false, true}) {
    const Layout layout = is_output ? shape->output(false) : shape->input(false);
    for (int d = 4 - many.rank; d < 3; ++d) {
      if (layout.embed[static_cast<std::size_t>(d)] < layout.n[static_cast<std::size_t>(d)])
        return fail(call, kInvalidSize,
                    is_output ? "a size of onembed is less than the output's"
                              : "a size of inembed is less than the input's");
    }
  }
  return kSuccess;
}

template <class Int>
Result describe(const char* call, const Many<Int>& many, int type, Shape* shape) {
  if (!set_type(type, shape)) return fail(call, kInvalidType, "there is no such type");
  return set_sizes(call, many, shape);
}

Result make(const char* call, int handle, const Shape& shape, std::size_t* work_size) {
  const Result result = with_plan(call, handle, [&](Plan& plan) {
    plan.shape = shape;
    for (std::size_t d = 0; d < 3; ++d)
      plan.transforms[d] = std::make_shared<const Transform>(static_cast<std::size_t>(shape.n[d]));
    plan.is_made = true;
    return kSuccess;
  });
  if (result == kSuccess && work_size != nullptr) *work_size = shape.workspace();
  return result;
}

template <class Int>
Result make(const char* call, int handle, const Many<Int>& many, int type, std::size_t* work_size) {
  Shape shape;
  const Result result = describe(call, many, type, &shape);
  return result == kSuccess ? make(call, handle, shape, work_size) : result;
}

// The workspace size that a plan would need.
template <class Int>
Result estimate(const char* call, const Many<Int>& many, int type, std::size_t* work_size) {
  Shape shape;
  if (work_size == nullptr) return fail(call, kInvalidValue, "a null pointer");
  const Result result = describe(call, many, type, &shape);
  if (result == kSuccess) *work_size = shape.workspace();
  return result;
}

Result create(const char* call, int* handle) {
  if (handle == nullptr) return fail(call, kInvalidValue, "a null pointer");
  static int last = 0;
  const std::lock_guard guard(plans_lock);
  *handle = ++last;
  plans()[*handle];
  return kSuccess;
}

// Creates a plan and its transforms.
template <class Int>
Result plan(const char* call, int* handle, const Many<Int>& many, int type) {
  Shape shape;
  Result result = describe(call, many, type, &shape);
  if (result == kSuccess) result = create(call, handle);
  return result == kSuccess ? make(call, *handle, shape, nullptr) : result;
}

// Sets the type from the input, output and computation types of cufftXtMakePlanMany.
bool set_types(cudaDataType in, cudaDataType out, cudaDataType computed, Shape* shape) {
  const auto is = [&](cudaDataType i, cudaDataType o, cudaDataType c, Kind kind, bool is_double) {
    if (in != i || out != o || computed != c) return false;
    shape->kind = kind;
    shape->is_double = is_double;
    return true;
  };
  return is(CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, Kind::kComplex, false) ||
         is(CUDA_R_32F, CUDA_C_32F, CUDA_C_32F, Kind::kRealToComplex, false) ||
         is(CUDA_C_32F, CUDA_R_32F, CUDA_C_32F, Kind::kComplexToReal, false) ||
         is(CUDA_C_64F, CUDA_C_64F, CUDA_C_64F, Kind::kComplex, true) ||
         is(CUDA_R_64F, CUDA_C_64F, CUDA_C_64F, Kind::kRealToComplex, true) ||
         is(CUDA_C_64F, CUDA_R_64F, CUDA_C_64F, Kind::kComplexToReal, true);
}

Result describe_by_types(const char* call, const Many<long long>& many, cudaDataType in,
                         cudaDataType out, cudaDataType computed, Shape* shape) {
  if (!set_types(in, out, computed, shape))
    return fail(call, kNotSupported, "the simulated cuFFT has f32 and f64 and no other types",
                true);
  return set_sizes(call, many, shape);
}

// ---- execution ----------------------------------------------------------------------------------

// If `kind` is nullptr, the plan's own kind is used.
Result execute(const char* call, int handle, const Kind* kind, bool is_double, const void* from,
               void* to, int direction) {
  Work work;
  cudaStream_t stream = nullptr;
  Result result = kSuccess;
  const char* reason = nullptr;
  const Result found = with_plan(call, handle, [&](Plan& p) {
    work = {p.shape, p.transforms, from, to, false, p.work_area, p.shape.workspace()};
    stream = p.stream;
    const auto refuse = [&](Result why, const char* text) {
      if (reason == nullptr) result = why, reason = text;
    };
    if (!p.is_made) refuse(kInvalidPlan, "the plan was created and not made");
    if (kind != nullptr && (*kind != p.shape.kind || is_double != p.shape.is_double))
      refuse(kInvalidType, "the plan is one of another type");
    if (p.shape.kind == Kind::kComplex && direction != kForward && direction != kInverse)
      refuse(kInvalidValue, "the direction is neither CUFFT_FORWARD nor CUFFT_INVERSE");
    if (from == nullptr || to == nullptr) refuse(kInvalidValue, "a null pointer");
    if (!p.allocates && p.work_area == nullptr && p.shape.workspace() != 0)
      refuse(kNoWorkspace,
             "cufftSetAutoAllocation has turned off the plan's own work area, and none was set");
    return kSuccess;
  });
  if (found != kSuccess) return found;
  if (reason != nullptr) return fail(call, result, reason);
  work.inverse = work.shape.kind == Kind::kComplexToReal ||
                 (work.shape.kind == Kind::kComplex && direction == kInverse);
  const void* const pointers[] = {from, to};
  lockstepLibraryWork operation{};
  operation.call = call;
  operation.data = new Work(std::move(work));
  operation.release = [](void* data) { delete static_cast<Work*>(data); };
  operation.run = [](const void* data, lockstepRunningWork* running) {
    return static_cast<const Work*>(data)->run(running);
  };
  operation.pointers = pointers;
  operation.pointer_count = 2;
  return lockstepPutLibraryWork(stream, &operation) == cudaSuccess ? kSuccess : kExecFailed;
}

template <Kind kKind>
Result execute_as(const char* call, int handle, bool is_double, const void* from, void* to,
                  int direction = kForward) {
  constexpr Kind kExpected = kKind;
  return execute(call, handle, &kExpected, is_double, from, to, direction);
}

Many<int> dense(int rank, const int* n, int batch = 1) {
  return {rank, n, nullptr, 1, 1, nullptr, 1, 1, batch};
}

}  // namespace
}  // namespace lockstep::cufft

extern "C" {

using namespace lockstep::cufft;

// ---- plans --------------------------------------------------------------------------------------

Result cufftCreate(int* handle) { return create(__func__, handle); }
Result cufftDestroy(int handle) {
  const Result found = with_plan(__func__, handle, [](Plan&) { return kSuccess; });
  if (found != kSuccess) return found;
  const std::lock_guard guard(plans_lock);
  plans().erase(handle);  // work waiting in a stream has its own copy
  return kSuccess;
}

Result cufftPlan1d(int* handle, int nx, int type, int batch) {
  return plan(__func__, handle, dense(1, &nx, batch), type);
}
Result cufftPlan2d(int* handle, int nx, int ny, int type) {
  const int n[] = {nx, ny};
  return plan(__func__, handle, dense(2, n), type);
}
Result cufftPlan3d(int* handle, int nx, int ny, int nz, int type) {
  const int n[] = {nx, ny, nz};
  return plan(__func__, handle, dense(3, n), type);
}
Result cufftPlanMany(int* handle, int rank, int* n, int* inembed, int istride, int idist,
                     int* onembed, int ostride, int odist, int type, int batch) {
  return plan(__func__, handle,
              Many<int>{rank, n, inembed, istride, idist, onembed, ostride, odist, batch}, type);
}

Result cufftMakePlan1d(int handle, int nx, int type, int batch, std::size_t* work_size) {
  return make(__func__, handle, dense(1, &nx, batch), type, work_size);
}
Result cufftMakePlan2d(int handle, int nx, int ny, int type, std::size_t* work_size) {
  const int n[] = {nx, ny};
  return make(__func__, handle, dense(2, n), type, work_size);
}
Result cufftMakePlan3d(int handle, int nx, int ny, int nz, int type, std::size_t* work_size) {
  const int n[] = {nx, ny, nz};
  return make(__func__, handle, dense(3, n), type, work_size);
}
Result cufftMakePlanMany(int handle, int rank, int* n, int* inembed, int istride, int idist,
                         int* onembed, int ostride, int odist, int type, int batch,
                         std::size_t* work_size) {
  return make(__func__, handle,
              Many<int>{rank, n, inembed, istride, idist, onembed, ostride, odist, batch}, type,
              work_size);
}
Result cufftMakePlanMany64(int handle, int rank, long long* n, long long* inembed,
                           long long istride, long long idist, long long* onembed,
                           long long ostride, long long odist, int type, long long batch,
                           std::size_t* work_size) {
  return make(__func__, handle,
              Many<long long>{rank, n, inembed, istride, idist, onembed, ostride, odist, batch},
              type, work_size);
}
Result cufftXtMakePlanMany(int handle, int rank, long long* n, long long* inembed,
                           long long istride, long long idist, cudaDataType in, long long* onembed,
                           long long ostride, long long odist, cudaDataType out, long long batch,
                           std::size_t* work_size, cudaDataType computed) {
  Shape shape;
  const Result result = describe_by_types(
      __func__, {rank, n, inembed, istride, idist, onembed, ostride, odist, batch}, in, out,
      computed, &shape);
  return result == kSuccess ? make(__func__, handle, shape, work_size) : result;
}

// ---- sizes of work areas ------------------------------------------------------------------------

Result cufftEstimate1d(int nx, int type, int batch, std::size_t* work_size) {
  return estimate(__func__, dense(1, &nx, batch), type, work_size);
}
Result cufftEstimate2d(int nx, int ny, int type, std::size_t* work_size) {
  const int n[] = {nx, ny};
  return estimate(__func__, dense(2, n), type, work_size);
}
Result cufftEstimate3d(int nx, int ny, int nz, int type, std::size_t* work_size) {
  const int n[] = {nx, ny, nz};
  return estimate(__func__, dense(3, n), type, work_size);
}
Result cufftEstimateMany(int rank, int* n, int* inembed, int istride, int idist, int* onembed,
                         int ostride, int odist, int type, int batch, std::size_t* work_size) {
  return estimate(__func__,
                  Many<int>{rank, n, inembed, istride, idist, onembed, ostride, odist, batch}, type,
                  work_size);
}
Result cufftGetSize1d(int, int nx, int type, int batch, std::size_t* work_size) {
  return estimate(__func__, dense(1, &nx, batch), type, work_size);
}
Result cufftGetSize2d(int, int nx, int ny, int type, std::size_t* work_size) {
  const int n[] = {nx, ny};
  return estimate(__func__, dense(2, n), type, work_size);
}
Result cufftGetSize3d(int, int nx, int ny, int nz, int type, std::size_t* work_size) {
  const int n[] = {nx, ny, nz};
  return estimate(__func__, dense(3, n), type, work_size);
}
Result cufftGetSizeMany(int, int rank, int* n, int* inembed, int istride, int idist, int* onembed,
                        int ostride, int odist, int type, int batch, std::size_t* work_size) {
  return estimate(__func__,
                  Many<int>{rank, n, inembed, istride, idist, onembed, ostride, odist, batch}, type,
                  work_size);
}
Result cufftGetSizeMany64(int, int rank, long long* n, long long* inembed, long long istride,
                          long long idist, long long* onembed, long long ostride, long long odist,
                          int type, long long batch, std::size_t* work_size) {
  return estimate(__func__,
                  Many<long long>{rank, n, inembed, istride, idist, onembed, ostride, odist, batch},
                  type, work_size);
}
Result cufftXtGetSizeMany(int, int rank, long long* n, long long* inembed, long long istride,
                          long long idist, cudaDataType in, long long* onembed, long long ostride,
                          long long odist, cudaDataType out, long long batch,
                          std::size_t* work_size, cudaDataType computed) {
  Shape shape;
  if (work_size == nullptr) return fail(__func__, kInvalidValue, "a null pointer");
  const Result result = describe_by_types(
      __func__, {rank, n, inembed, istride, idist, onembed, ostride, odist, batch}, in, out,
      computed, &shape);
  if (result == kSuccess) *work_size = shape.workspace();
  return result;
}
Result cufftGetSize(int handle, std::size_t* work_size) {
  if (work_size == nullptr) return fail(__func__, kInvalidValue, "a null pointer");
  return with_plan(__func__, handle, [&](Plan& p) {
    *work_size = p.is_made ? p.shape.workspace() : 0;
    return kSuccess;
  });
}

// ---- settings -----------------------------------------------------------------------------------

Result cufftSetStream(int handle, cudaStream_t stream) {
  return with_plan(__func__, handle, [&](Plan& p) {
    p.stream = stream;
    return kSuccess;
  });
}
Result cufftSetWorkArea(int handle, void* area) {
  return with_plan(__func__, handle, [&](Plan& p) {
    p.work_area = area;
    return kSuccess;
  });
}
Result cufftSetAutoAllocation(int handle, int allocates) {
  return with_plan(__func__, handle, [&](Plan& p) {
    p.allocates = allocates != 0;
    return kSuccess;
  });
}
Result cufftGetVersion(int* version) {
  if (version == nullptr) return fail(__func__, kInvalidValue, "a null pointer");
  *version = kVersion;
  return kSuccess;
}
Result cufftGetProperty(libraryPropertyType type, int* value) {
  if (value == nullptr || type < MAJOR_VERSION || type > PATCH_LEVEL)
    return fail(__func__, kInvalidValue, "there is no such property");
  *value = type == MAJOR_VERSION ? kVersion / 1000 : 0;
  return kSuccess;
}

// ---- execution ----------------------------------------------------------------------------------

Result cufftExecC2C(int handle, const void* from, void* to, int direction) {
  return execute_as<Kind::kComplex>(__func__, handle, false, from, to, direction);
}
Result cufftExecR2C(int handle, const void* from, void* to) {
  return execute_as<Kind::kRealToComplex>(__func__, handle, false, from, to);
}
Result cufftExecC2R(int handle, const void* from, void* to) {
  return execute_as<Kind::kComplexToReal>(__func__, handle, false, from, to);
}
Result cufftExecZ2Z(int handle, const void* from, void* to, int direction) {
  return execute_as<Kind::kComplex>(__func__, handle, true, from, to, direction);
}
Result cufftExecD2Z(int handle, const void* from, void* to) {
  return execute_as<Kind::kRealToComplex>(__func__, handle, true, from, to);
}
Result cufftExecZ2D(int handle, const void* from, void* to) {
  return execute_as<Kind::kComplexToReal>(__func__, handle, true, from, to);
}
Result cufftXtExec(int handle, const void* from, void* to, int direction) {
  return execute(__func__, handle, nullptr, false, from, to, direction);
}

#define UNSUPPORTED(name) \
  int name() { return unsupported(#name); }
UNSUPPORTED(cufftDebug)
UNSUPPORTED(cufftDescriptionCreate)
UNSUPPORTED(cufftDescriptionGetTraitInt64)
UNSUPPORTED(cufftDescriptionSetTraitInt64)
UNSUPPORTED(cufftDeviceCreate)
UNSUPPORTED(cufftDeviceDestroy)
UNSUPPORTED(cufftDeviceGetDatabaseStr)
UNSUPPORTED(cufftDeviceGetDatabaseStrSize)
UNSUPPORTED(cufftDeviceGetDeviceFunctionTraitInt64)
UNSUPPORTED(cufftDeviceGetDeviceFunctions)
UNSUPPORTED(cufftDeviceGetLTOIRSizes)
UNSUPPORTED(cufftDeviceGetLTOIRs)
UNSUPPORTED(cufftDeviceGetNumDeviceFunctions)
UNSUPPORTED(cufftDeviceGetNumLTOIRs)
UNSUPPORTED(cufftDeviceGetSemanticVersion)
UNSUPPORTED(cufftDeviceGetVersion)
UNSUPPORTED(cufftDeviceIsSupported)
UNSUPPORTED(cufftGetPlanPropertyInt64)
UNSUPPORTED(cufftResetPlanProperty)
UNSUPPORTED(cufftSetPlanPropertyInt64)
UNSUPPORTED(cufftXtClearCallback)
UNSUPPORTED(cufftXtExecDescriptor)
UNSUPPORTED(cufftXtExecDescriptorC2C)
UNSUPPORTED(cufftXtExecDescriptorC2R)
UNSUPPORTED(cufftXtExecDescriptorD2Z)
UNSUPPORTED(cufftXtExecDescriptorR2C)
UNSUPPORTED(cufftXtExecDescriptorZ2D)
UNSUPPORTED(cufftXtExecDescriptorZ2Z)
UNSUPPORTED(cufftXtFree)
UNSUPPORTED(cufftXtMakePlanGuru64)
UNSUPPORTED(cufftXtMalloc)
UNSUPPORTED(cufftXtMemcpy)
UNSUPPORTED(cufftXtQueryPlan)
UNSUPPORTED(cufftXtSetCallback)
UNSUPPORTED(cufftXtSetCallbackSharedSize)
UNSUPPORTED(cufftXtSetGPUs)
UNSUPPORTED(cufftXtSetJITCallback)
UNSUPPORTED(cufftXtSetWorkArea)
UNSUPPORTED(cufftXtSetWorkAreaPolicy)
#undef UNSUPPORTED

}  // extern "C"
