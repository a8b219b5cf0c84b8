#include "simulator/libraries/cublas/access.h"

#include <cstdlib>
#include <cstring>

namespace lockstep::cublas {
namespace {

constexpr struct {
  cublasStatus_t status;
  const char *name, *text;
} kStatuses[] = {
    {CUBLAS_STATUS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "success"},
    {CUBLAS_STATUS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED",
     "the library was not initialized"},
    {CUBLAS_STATUS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"},
    {CUBLAS_STATUS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE",
     "an invalid value was used as an argument"},
    {CUBLAS_STATUS_ARCH_MISMATCH, "CUBLAS_STATUS_ARCH_MISMATCH",
     "an absent device architectural feature is required"},
    {CUBLAS_STATUS_MAPPING_ERROR, "CUBLAS_STATUS_MAPPING_ERROR",
     "an access to GPU memory space failed"},
    {CUBLAS_STATUS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED",
     "the function failed to launch on the GPU"},
    {CUBLAS_STATUS_INTERNAL_ERROR, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed"},
    {CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED",
     "the functionality is not supported"},
    {CUBLAS_STATUS_LICENSE_ERROR, "CUBLAS_STATUS_LICENSE_ERROR", "the license is not present"},
};

// Makes findings name the code that calls this library, not the library.
[[maybe_unused]] const bool stands_in = [] {
  lockstepStandIn(reinterpret_cast<const void*>(&fail));
  return true;
}();

lockstepRegion line(const char* name, const void* at, std::size_t bytes) {
  return {name, at, bytes, 1, 1, bytes, bytes, 0, LOCKSTEP_READS};
}

// The rows of one column of a triangle.
struct Rows {
  std::int64_t first, count;
};
Rows rows_of(const Matrix& a, std::int64_t column) {
  const std::int64_t skipped = a.has_diagonal ? 0 : 1;
  if (a.part == Matrix::Part::kLower) {
    const std::int64_t first = column + skipped;
    return {first, a.rows - first};
  }
  return {0, std::min(a.rows, column + 1 - skipped)};
}

}  // namespace

const char* name_of(cublasStatus_t status) {
  for (const auto& s : kStatuses)
    if (s.status == status) return s.name;
  return "UNKNOWN";
}

const char* text_of(cublasStatus_t status) {
  for (const auto& s : kStatuses)
    if (s.status == status) return s.text;
  return "unknown error";
}

cublasStatus_t fail(const char* call, cublasStatus_t status, const std::string& reason,
                    bool refused) {
  lockstepLibraryCallFailed(call, name_of(status), text_of(status), reason.c_str(), refused);
  return status;
}

cublasStatus_t put(const char*, cudaStream_t stream, const lockstepLibraryWork& work) {
  switch (lockstepPutLibraryWork(stream, &work)) {
    case cudaSuccess: return CUBLAS_STATUS_SUCCESS;
    case cudaErrorNotSupported: return CUBLAS_STATUS_NOT_SUPPORTED;
    default: return CUBLAS_STATUS_EXECUTION_FAILED;
  }
}

std::byte* Access::open(lockstepRegion region, Type type, int use) {
  region.alignment = size_of(type);
  region.use = use;
  void* const at = lockstepOpenRegion(running_, &region);
  if (at == nullptr) throw Refused{};
  return static_cast<std::byte*>(at);
}

std::byte* Access::open(const Vector& x, int use) {
  const std::size_t size = size_of(x.type);
  lockstepRegion region = line(x.name, x.at, size);
  if (x.inc != 0) {
    region.height = static_cast<std::size_t>(x.n);
    region.pitch = static_cast<std::size_t>(std::abs(x.inc)) * size;
  }
  return open(region, x.type, use);
}

std::byte* Access::open(const Matrix& a, int use) {
  const std::size_t size = size_of(a.type);
  lockstepRegion region = line(a.name, a.at, static_cast<std::size_t>(a.rows) * size);
  region.height = static_cast<std::size_t>(a.columns);
  region.pitch = static_cast<std::size_t>(a.ld) * size;
  region.slice = static_cast<std::size_t>(a.stride) * size;
  region.depth = a.stride == 0 ? 1 : static_cast<std::size_t>(a.batch);
  if (a.part == Matrix::Part::kAll) return open(region, a.type, use);
  // Opens column by column. A column that contains only an unaccessed diagonal is not opened.
  auto* const begin = static_cast<const std::byte*>(a.at);
  std::byte* found = nullptr;
  for (std::int64_t column = 0; column < a.columns; ++column) {
    const auto [first, count] = rows_of(a, column);
    if (count <= 0) continue;
    const std::size_t to = offset(a, first, column);
    std::byte* const at =
        open(line(a.name, begin + to, static_cast<std::size_t>(count) * size), a.type, use) - to;
    if (found == nullptr) found = at;
  }
  return found;
}

std::vector<const void*> Access::read_pointers(const char* name, const void* at,
                                               std::int64_t count) {
  std::vector<const void*> pointers(static_cast<std::size_t>(count));
  lockstepRegion region = line(name, at, pointers.size() * sizeof(void*));
  std::memcpy(pointers.data(), open(region, Type::kF64, LOCKSTEP_READS), region.width);
  return pointers;
}

void Access::use_workspace(const void* at, std::size_t bytes) {
  if (at == nullptr || bytes == 0) return;
  open(line("the workspace", at, bytes), Type::kI8, LOCKSTEP_SCRATCH);
}

}  // namespace lockstep::cublas
