// Memory arguments of cuBLAS functions, and an operation's access to them when it is executed
// (simulator/library_work.h).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "simulator/libraries/cublas/elements.h"
#include "simulator/libraries/cublas/names.h"
#include "simulator/library_work.h"

namespace lockstep::cublas {

// n elements, |inc| apart. If inc < 0, the last element is the first in memory, as in BLAS. If inc
// is 0, there is one element.
struct Vector {
  const char* name = "";
  const void* at = nullptr;
  std::int64_t n = 0, inc = 1;
  Type type = Type::kF32;
};

// A column-major matrix. Columns lie `ld` elements apart, the matrices of a batch `stride` elements
// apart.
struct Matrix {
  enum class Part { kAll, kLower, kUpper };  // kLower, kUpper: a triangle with its diagonal
  const char* name = "";
  const void* at = nullptr;
  std::int64_t rows = 0, columns = 0, ld = 0;
  Type type = Type::kF32;
  std::int64_t batch = 1, stride = 0;
  Part part = Part::kAll;
  bool has_diagonal = true;  // false: a triangle with ones on its diagonal, which is not accessed
};

// A factor: its value at the time of the call, or its address if it is read when the operation is
// executed.
struct Scalar {
  const char* name = "";
  const void* on_device = nullptr;
  Type type = Type::kF32;
  std::array<std::byte, 16> value{};
};

// The address of a result, on the host or on the device.
struct Result {
  void* at = nullptr;
  bool on_device = false;
  Type type = Type::kF32;
};

// Thrown if an operation's memory is not accessible. The error has been reported.
struct Refused {};

// The accesses of one execution of an operation. Everything that is read must be opened before
// anything that is written. Each function throws Refused.
class Access {
 public:
  explicit Access(lockstepRunningWork* running) : running_(running) {}

  // The address of the first element in memory.
  const std::byte* read(const Vector& x) { return open(x, LOCKSTEP_READS); }
  // The same for an operand that must not overlap the result.
  const std::byte* read_alone(const Vector& x) { return open(x, LOCKSTEP_READS_ALONE); }
  const std::byte* read_alone(const Matrix& a) { return open(a, LOCKSTEP_READS_ALONE); }
  std::byte* write(const Vector& x) { return open(x, LOCKSTEP_WRITES); }
  const std::byte* read(const Matrix& a) { return open(a, LOCKSTEP_READS); }
  std::byte* write(const Matrix& a) { return open(a, LOCKSTEP_WRITES); }
  // Reads the pointers of a batch from device memory.
  std::vector<const void*> read_pointers(const char* name, const void* at, std::int64_t count);
  void use_workspace(const void* at, std::size_t bytes);

  template <class T>
  T value(const Scalar& s) {
    return load<T>(s.type, s.on_device == nullptr
                               ? s.value.data()
                               : read(Vector{s.name, s.on_device, 1, 1, s.type}));
  }
  template <class T>
  void give(const Result& result, T value) {
    store<T>(result.type,
             result.on_device ? write(Vector{"result", result.at, 1, 1, result.type})
                              : static_cast<std::byte*>(result.at),
             value);
  }

 private:
  std::byte* open(const Vector& x, int use);
  std::byte* open(const Matrix& a, int use);
  std::byte* open(lockstepRegion region, Type type, int use);

  lockstepRunningWork* running_;
};

// Copies a vector's elements to a dense array in logical order, and back.
template <class T>
std::vector<T> gather(const Vector& x, const std::byte* at) {
  std::vector<T> values(static_cast<std::size_t>(x.n));
  const std::size_t size = size_of(x.type);
  std::int64_t place = x.inc < 0 ? (1 - x.n) * x.inc : 0;
  for (T& value : values) {
    value = load<T>(x.type, at + static_cast<std::size_t>(place) * size);
    place += x.inc;
  }
  return values;
}
template <class T>
void scatter(const Vector& x, std::byte* at, const std::vector<T>& values) {
  const std::size_t size = size_of(x.type);
  std::int64_t place = x.inc < 0 ? (1 - x.n) * x.inc : 0;
  for (const T& value : values) {
    store<T>(x.type, at + static_cast<std::size_t>(place) * size, value);
    place += x.inc;
  }
}

// The offset in bytes of a matrix element.
inline std::size_t offset(const Matrix& a, std::int64_t row, std::int64_t column) {
  return static_cast<std::size_t>(row + column * a.ld) * size_of(a.type);
}

// Reports that the call fails, with the reason.
cublasStatus_t fail(const char* call, cublasStatus_t status, const std::string& reason,
                    bool refused = false);
const char* name_of(cublasStatus_t status);
const char* text_of(cublasStatus_t status);

// Puts an operation into the stream. `body` takes (Access&) and is called at each execution.
// `pointers` are the arguments that point to device memory.
cublasStatus_t put(const char* call, cudaStream_t stream, const lockstepLibraryWork& work);

template <class Body>
cublasStatus_t put(const char* call, cudaStream_t stream,
                   std::initializer_list<const void*> pointers, Body body, bool waits = false) {
  lockstepLibraryWork work{};
  work.call = call;
  work.data = new Body(std::move(body));
  work.release = [](void* data) { delete static_cast<Body*>(data); };
  work.run = [](const void* data, lockstepRunningWork* running) {
    Access access(running);
    try {
      (*static_cast<const Body*>(data))(access);
      return 0;
    } catch (const Refused&) {
      return 1;
    }
  };
  work.pointers = pointers.begin();
  work.pointer_count = pointers.size();
  work.waits = waits ? 1 : 0;
  return put(call, stream, work);
}

}  // namespace lockstep::cublas
