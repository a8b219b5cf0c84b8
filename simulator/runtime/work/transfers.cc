#include "simulator/runtime/work/transfers.h"

#include <cstring>
#include <string>
#include <utility>

#include "simulator/runtime/state/arrays.h"
#include "simulator/runtime/state/call_errors.h"
#include "simulator/runtime/state/describe.h"
#include "simulator/runtime/state/leaks.h"

namespace lockstep::runtime {
namespace {

enum class Side { kHost, kDevice, kEither };

// A checked range: where its bytes are for us, and whether they have shadow.
struct Range {
  std::byte* bytes = nullptr;
  memory::Address address = 0;
  bool tracked = false;
};

bool host_reachable(const memory::Allocation& a) {
  return a.kind == memory::Kind::kManaged || a.kind == memory::Kind::kPinned ||
         a.kind == memory::Kind::kRegistered;
}

// Bytes from the first to the last one of a block, both included.
bool extent(const Block& block, const Shape& shape, std::uint64_t* result) {
  std::uint64_t rows = 0, slices = 0;
  return !__builtin_mul_overflow(shape.height - 1, block.pitch, &rows) &&
         !__builtin_mul_overflow(shape.depth - 1, block.slice, &slices) &&
         !__builtin_add_overflow(rows, slices, result) &&
         !__builtin_add_overflow(*result, shape.width, result);
}

cudaError_t resolve(Runtime& runtime, const char* function, const char* what, const Block& block,
                    const Shape& shape, Side side, Range* range) {
  const auto refuse = [&](const std::string& why) {
    runtime.explain(function, std::string("the ") + what + " " + why);
    return cudaErrorInvalidValue;
  };
  std::uint64_t size = 0;
  if (!extent(block, shape, &size)) return refuse("is larger than the address space");
  if (block.at == nullptr) return refuse("is a null pointer");
  const memory::DeviceMemory& memory = *runtime.memory;
  range->address = reinterpret_cast<memory::Address>(block.at);
  range->bytes = static_cast<std::byte*>(block.at);
  const memory::Allocation* a = memory.find(range->address);
  if (a == nullptr) {
    if (memory.in_window(range->address)) {
      return refuse("(" + hexadecimal(range->address) +
                    ") is no live device memory: " + describe_place(memory, range->address));
    }
    if (arrays().find(static_cast<cudaArray_const_t>(block.at)) != nullptr)
      return refuse(
          "is a cudaArray_t, which has no address: cudaMemcpy2DToArray, "
          "cudaMemcpy2DFromArray and cudaMemcpy3D copy arrays");
    if (side == Side::kDevice)
      return refuse("(" + hexadecimal(range->address) +
                    ") is host memory where device memory is meant");
    return cudaSuccess;
  }
  if (a->freed)
    return refuse("(" + hexadecimal(range->address) + ") is " +
                  describe_place(memory, range->address));
  const std::uint64_t room = a->base + a->size - range->address;
  // Ordinary host memory may go on behind a registered part of it.
  if (size > room && !(a->kind == memory::Kind::kRegistered && side != Side::kDevice)) {
    return refuse("range of " + bytes(size) + " begins " + bytes(range->address - a->base) +
                  " into " + describe(*a) + " and ends " + bytes(size - room) + " past its end");
  }
  if (side == Side::kHost && !host_reachable(*a) && thread_state().executing == nullptr) {
    runtime.explain(function, std::string("the ") + what + " is device memory (" + describe(*a) +
                                  ") where the kind of the copy says host memory; hardware copies "
                                  "it all the same, the documentation promises nothing");
  }
  range->bytes = runtime.memory->host(*a, range->address);
  range->tracked = a->has_shadow;
  return cudaSuccess;
}

bool sides(cudaMemcpyKind kind, Side* to, Side* from) {
  switch (kind) {
    case cudaMemcpyHostToHost: *to = Side::kHost, *from = Side::kHost; return true;
    case cudaMemcpyHostToDevice: *to = Side::kDevice, *from = Side::kHost; return true;
    case cudaMemcpyDeviceToHost: *to = Side::kHost, *from = Side::kDevice; return true;
    case cudaMemcpyDeviceToDevice: *to = Side::kDevice, *from = Side::kDevice; return true;
    case cudaMemcpyDefault: *to = Side::kEither, *from = Side::kEither; return true;
  }
  return false;
}

cudaError_t resolve(Runtime& runtime, const char* function, const Block& to, const Block& from,
                    const Shape& shape, cudaMemcpyKind kind, Range* target, Range* source) {
  Side to_side, from_side;
  if (!sides(kind, &to_side, &from_side)) return cudaErrorInvalidMemcpyDirection;
  if (const cudaError_t error =
          resolve(runtime, function, "destination", to, shape, to_side, target);
      error != cudaSuccess)
    return error;
  return resolve(runtime, function, "source", from, shape, from_side, source);
}

}  // namespace

cudaError_t check_ranges(Runtime& runtime, const char* function, const Block& to, const Block& from,
                         const Shape& shape, cudaMemcpyKind kind) {
  Range target, source;
  return shape.empty() ? cudaSuccess
                       : resolve(runtime, function, to, from, shape, kind, &target, &source);
}

cudaError_t check_range(Runtime& runtime, const char* function, const Block& to,
                        const Shape& shape) {
  Range target;
  return shape.empty()
             ? cudaSuccess
             : resolve(runtime, function, "destination", to, shape, Side::kDevice, &target);
}

cudaError_t copy(Runtime& runtime, const char* function, const Block& to, const Block& from,
                 const Shape& shape, cudaMemcpyKind kind) {
  if (shape.empty()) return cudaSuccess;
  Range target, source;
  if (const cudaError_t error = resolve(runtime, function, to, from, shape, kind, &target, &source);
      error != cudaSuccess)
    return error;
  memory::DeviceMemory& memory = *runtime.memory;
  for (std::size_t z = 0; z < shape.depth; ++z) {
    for (std::size_t y = 0; y < shape.height; ++y) {
      const std::size_t t = z * to.slice + y * to.pitch, s = z * from.slice + y * from.pitch;
      std::memmove(target.bytes + t, source.bytes + s, shape.width);
      if (!target.tracked) continue;
      if (source.tracked) {
        memory.copy_written(target.address + t, source.address + s, shape.width);
      } else {
        memory.mark_written(target.address + t, shape.width);
      }
    }
  }
  if (source.tracked && !target.tracked &&
      (runtime.settings.checks & check::kInitialisation) != 0) {
    for (std::size_t z = 0; z < shape.depth; ++z) {
      if (auto finding = runtime.host_reads.check(memory, function, source.address + z * from.slice,
                                                  shape.width, shape.height, from.pitch)) {
        if (finding->by_host() && runtime.settings.go_on) {
          // Programs copy structures with their padding from buffers that a library allocates for
          // each call: it is one place all the same.
          const void* const from_where = caller();
          if (const std::string place = describe_caller(from_where); !place.empty())
            finding->detail += " The copy is " + place + ".";
          finding->caller = from_where;
        }
        runtime.report({std::move(*finding)});
      }
    }
  }
  return cudaSuccess;
}

cudaError_t fill(Runtime& runtime, const char* function, const Block& to, int value,
                 const Shape& shape) {
  if (shape.empty()) return cudaSuccess;
  Range target;
  if (const cudaError_t error =
          resolve(runtime, function, "destination", to, shape, Side::kDevice, &target);
      error != cudaSuccess)
    return error;
  for (std::size_t z = 0; z < shape.depth; ++z) {
    for (std::size_t y = 0; y < shape.height; ++y) {
      const std::size_t t = z * to.slice + y * to.pitch;
      std::memset(target.bytes + t, value, shape.width);
      if (target.tracked) runtime.memory->mark_written(target.address + t, shape.width);
    }
  }
  return cudaSuccess;
}

}  // namespace lockstep::runtime
