// Allocations, their ends, and what is asked about pointers.
#include <cstdlib>
#include <cstring>

#include "tests/calls/rig.h"

namespace lockstep::calls {
namespace in_memory {

constexpr std::size_t kSizes[] = {1, 4, 100, 256, 4096, 5000, 65536};

// New memory has a known content.
void keep(Rig& rig, void* at, std::size_t size, Memory::Kind kind, const std::string& name) {
  if (kind == Memory::kPageable || kind == Memory::kPinned || kind == Memory::kRegistered) {
    std::memset(at, 0x33, size);
  } else if (!rig.captures.empty() || cudaMemset(at, 0x33, size) != cudaSuccess) {
    cudaGetLastError();
    return;  // it exists, and is never used
  }
  rig.memory.push_back({at, size, kind, name});
}

void allocate(Rig& rig) {
  const std::size_t size = rig.random.chance(10) ? 0 : rig.random.of(kSizes);
  const std::string name = rig.number("device");
  void* at = nullptr;
  const cudaError_t error = cudaMalloc(&at, size);
  rig.answer(text("cudaMalloc(&%s, %zu)", name.c_str(), size), error,
             at == nullptr ? "null" : "not null");
  if (error == cudaSuccess && at != nullptr) keep(rig, at, size, Memory::kDevice, name);
}

void allocate_too_much(Rig& rig) {
  void* at = nullptr;
  const std::size_t size = std::size_t{1} << rig.random.of({44, 50, 63});
  rig.answer(text("cudaMalloc(&p, %zu)", size), cudaMalloc(&at, size));
}

void allocate_host(Rig& rig) {
  const std::size_t size = rig.random.chance(10) ? 0 : rig.random.of(kSizes);
  const unsigned flags = rig.random.of({0u, 1u, 2u, 3u, 4u, 7u, 8u, 16u, 0x80000000u});
  const std::string name = rig.number("pinned");
  void* at = nullptr;
  const cudaError_t error = cudaHostAlloc(&at, size, flags);
  rig.answer(text("cudaHostAlloc(&%s, %zu, %#x)", name.c_str(), size, flags), error,
             at == nullptr ? "null" : "not null");
  if (error == cudaSuccess && at != nullptr) keep(rig, at, size, Memory::kPinned, name);
}

void allocate_managed(Rig& rig) {
  const std::size_t size = rig.random.chance(10) ? 0 : rig.random.of(kSizes);
  const unsigned flags = rig.random.of({1u, 1u, 1u, 2u, 4u, 0u, 3u, 8u});
  const std::string name = rig.number("managed");
  void* at = nullptr;
  const cudaError_t error = cudaMallocManaged(&at, size, flags);
  rig.answer(text("cudaMallocManaged(&%s, %zu, %#x)", name.c_str(), size, flags), error);
  if (error == cudaSuccess && at != nullptr) keep(rig, at, size, Memory::kManaged, name);
}

void allocate_pageable(Rig& rig) {
  const std::size_t size = rig.random.of({4096u, 8192u, 65536u});
  void* const at = std::aligned_alloc(4096, size);
  keep(rig, at, size, Memory::kPageable, rig.number("pageable"));
}

void allocate_pitched(Rig& rig) {
  const std::size_t width = rig.random.of({std::size_t{0}, std::size_t{1}, std::size_t{100},
                                           std::size_t{512}, std::size_t{513}, std::size_t{5000}});
  const std::size_t height = rig.random.of({0, 1, 7});
  const std::string name = rig.number("pitched");
  void* at = nullptr;
  std::size_t pitch = 0;
  const cudaError_t error = cudaMallocPitch(&at, &pitch, width, height);
  rig.answer(text("cudaMallocPitch(&%s, %zu, %zu)", name.c_str(), width, height), error,
             text("pitch %zu", pitch));
  if (error == cudaSuccess && at != nullptr && pitch * height != 0)
    keep(rig, at, pitch * height, Memory::kDevice, name);
}

void release(Rig& rig) {
  Memory* const m = rig.pick(rig.memory);
  if (m == nullptr) return;
  const std::size_t offset = rig.random.chance(10) && m->size > 4 ? 4 : 0;
  void* const at = static_cast<char*>(m->at) + offset;
  // Mostly by the call that belongs to it.
  const bool by_host = rig.random.chance(85) ? m->kind == Memory::kPinned : rig.random.chance(50);
  if (m->kind == Memory::kPool) return;
  const cudaError_t error = by_host ? cudaFreeHost(at) : cudaFree(at);
  rig.answer(text("%s(%s+%zu)", by_host ? "cudaFreeHost" : "cudaFree", m->name.c_str(), offset),
             error);
  if (error == cudaSuccess) rig.remove(rig.memory, m);
}

void release_nothing(Rig& rig) {
  char local = 0;
  switch (rig.random.below(6)) {
    case 0: return rig.answer("cudaFree(null)", cudaFree(nullptr));
    case 1: return rig.answer("cudaFreeHost(null)", cudaFreeHost(nullptr));
    case 2: return rig.answer("cudaFree(local)", cudaFree(&local));
    case 3: return rig.answer("cudaFreeHost(local)", cudaFreeHost(&local));
    case 4: return rig.answer("cudaFreeArray(null)", cudaFreeArray(nullptr));
    default: return rig.answer("cudaFree(0x1000)", cudaFree(reinterpret_cast<void*>(0x1000)));
  }
}

void register_host(Rig& rig) {
  Memory* const m = rig.pick(rig.memory);
  if (m == nullptr || (m->kind != Memory::kPageable && rig.random.chance(70))) return;
  const unsigned flags = rig.random.of({0u, 0u, 1u, 2u, 3u, 16u, 64u});
  const std::size_t size = rig.random.chance(10) ? 0 : m->size;
  const cudaError_t error = cudaHostRegister(m->at, size, flags);
  rig.answer(text("cudaHostRegister(%s, %zu, %#x)", m->name.c_str(), size, flags), error);
  if (error == cudaSuccess) m->kind = Memory::kRegistered;
}

void unregister_host(Rig& rig) {
  Memory* const m = rig.pick(rig.memory);
  if (m == nullptr || (m->kind != Memory::kRegistered && rig.random.chance(60))) return;
  const cudaError_t error = cudaHostUnregister(m->at);
  rig.answer(text("cudaHostUnregister(%s)", m->name.c_str()), error);
  if (error == cudaSuccess) m->kind = Memory::kPageable;
}

void ask_attributes(Rig& rig) {
  Memory* const m = rig.pick(rig.memory);
  if (m == nullptr) return;
  const std::size_t offset = rig.random.chance(30) ? m->size / 2 : 0;
  cudaPointerAttributes a = {};
  const cudaError_t error = cudaPointerGetAttributes(&a, static_cast<char*>(m->at) + offset);
  rig.answer(
      text("cudaPointerGetAttributes(%s+%zu)", m->name.c_str(), offset), error,
      text("type %d, device %d, device pointer %s, host pointer %s", a.type, a.device,
           a.devicePointer == nullptr ? "null" : "set", a.hostPointer == nullptr ? "null" : "set"));
}

void ask_host_pointer(Rig& rig) {
  Memory* const m = rig.pick(rig.memory);
  if (m == nullptr) return;
  void* at = nullptr;
  const unsigned flags = rig.random.chance(10) ? 1 : 0;
  const cudaError_t error = cudaHostGetDevicePointer(&at, m->at, flags);
  rig.answer(text("cudaHostGetDevicePointer(%s, %u)", m->name.c_str(), flags), error,
             at == m->at ? "same" : "another");
}

void ask_host_flags(Rig& rig) {
  Memory* const m = rig.pick(rig.memory);
  if (m == nullptr) return;
  unsigned flags = 0;
  // Small allocations may be portable although nobody asked for it.
  const cudaError_t error = cudaHostGetFlags(&flags, m->at);
  rig.answer(text("cudaHostGetFlags(%s)", m->name.c_str()), error,
             text("%#x", flags & ~cudaHostAllocPortable));
}

void advise(Rig& rig) {
  Memory* const m = rig.pick(rig.memory);
  if (m == nullptr || (m->kind != Memory::kManaged && rig.random.chance(60))) return;
  const int advice = static_cast<int>(rig.random.below(9));
  const std::size_t size = rig.random.chance(10) ? 0 : m->size;
  cudaMemLocation where = {rig.random.of({cudaMemLocationTypeDevice, cudaMemLocationTypeHost,
                                          cudaMemLocationTypeInvalid}),
                           rig.random.of({0, 0, 0, 99, -1})};
  rig.answer(text("cudaMemAdvise(%s, %zu, %d, {%d, %d})", m->name.c_str(), size, advice, where.type,
                  where.id),
             cudaMemAdvise(m->at, size, static_cast<cudaMemoryAdvise>(advice), where));
}

void prefetch(Rig& rig) {
  Memory* const m = rig.pick(rig.memory);
  if (m == nullptr || (m->kind != Memory::kManaged && rig.random.chance(60))) return;
  const std::size_t size = rig.random.chance(10) ? 0 : m->size;
  const auto stream = rig.stream();
  cudaMemLocation where = {rig.random.of({cudaMemLocationTypeDevice, cudaMemLocationTypeHost}),
                           rig.random.of({0, 0, 0, 99})};
  rig.answer(text("cudaMemPrefetchAsync(%s, %zu, {%d, %d}, %s)", m->name.c_str(), size, where.type,
                  where.id, stream.name.c_str()),
             cudaMemPrefetchAsync(m->at, size, where, 0, stream.it));
}

void allocate_in_order(Rig& rig) {
  const std::size_t size = rig.random.chance(10) ? 0 : rig.random.of(kSizes);
  const auto stream = rig.stream();
  const std::string name = rig.number("pool_memory");
  void* at = nullptr;
  Named<cudaMemPool_t>* const pool = rig.random.chance(50) ? rig.pick(rig.pools) : nullptr;
  const cudaError_t error = pool == nullptr
                                ? cudaMallocAsync(&at, size, stream.it)
                                : cudaMallocFromPoolAsync(&at, size, pool->it, stream.it);
  rig.answer(text("cudaMallocAsync(&%s, %zu, %s, %s)", name.c_str(), size,
                  pool == nullptr ? "default" : pool->name.c_str(), stream.name.c_str()),
             error, at == nullptr ? "null" : "not null");
  if (error == cudaSuccess && at != nullptr && rig.captures.empty())
    rig.memory.push_back({at, size, Memory::kPool, name});
}

void release_in_order(Rig& rig) {
  Memory* const m = rig.pick(rig.memory);
  if (m == nullptr || !rig.captures.empty()) return;
  if (m->kind != Memory::kPool && rig.random.chance(80)) return;
  if (m->kind == Memory::kDevice) return;  // whether a call waits decides what it may free
  const auto stream = rig.stream();
  cudaDeviceSynchronize();  // it may have been allocated in another stream
  cudaGetLastError();
  const cudaError_t error = cudaFreeAsync(m->at, stream.it);
  rig.answer(text("cudaFreeAsync(%s, %s)", m->name.c_str(), stream.name.c_str()), error);
  if (error == cudaSuccess) rig.remove(rig.memory, m);
}

void create_pool(Rig& rig) {
  cudaMemPoolProps p = {};
  p.allocType = rig.random.of(
      {cudaMemAllocationTypePinned, cudaMemAllocationTypePinned, cudaMemAllocationTypeInvalid});
  p.location = {rig.random.of({cudaMemLocationTypeDevice, cudaMemLocationTypeDevice,
                               cudaMemLocationTypeInvalid}),
                rig.random.of({0, 0, 0, 99})};
  const std::string name = rig.number("pool");
  cudaMemPool_t pool = nullptr;
  const cudaError_t error = cudaMemPoolCreate(&pool, &p);
  rig.answer(text("cudaMemPoolCreate(&%s, %d, {%d, %d})", name.c_str(), p.allocType,
                  p.location.type, p.location.id),
             error);
  if (error == cudaSuccess) rig.pools.push_back({pool, name});
}

void use_pool(Rig& rig) {
  Named<cudaMemPool_t> pool = {nullptr, "default"};
  if (Named<cudaMemPool_t>* const own = rig.random.chance(60) ? rig.pick(rig.pools) : nullptr) {
    pool = *own;
  } else if (cudaDeviceGetDefaultMemPool(&pool.it, 0) != cudaSuccess) {
    return;
  }
  const int which = rig.random.of({1, 2, 3, 4, 5, 6, 7, 8, 0, 99});
  const auto attribute = static_cast<cudaMemPoolAttr>(which);
  std::uint64_t value = rig.random.of({0u, 1u, 4096u});
  switch (rig.random.below(4)) {
    case 0:
      return rig.answer(text("cudaMemPoolSetAttribute(%s, %d, %d)", pool.name.c_str(), which,
                             static_cast<int>(value)),
                        cudaMemPoolSetAttribute(pool.it, attribute, &value));
    case 1: {
      value = 0;
      const cudaError_t error = cudaMemPoolGetAttribute(pool.it, attribute, &value);
      // How much is reserved is the implementation's affair.
      return rig.answer(text("cudaMemPoolGetAttribute(%s, %d)", pool.name.c_str(), which), error,
                        which <= 4 ? text("%llu", static_cast<unsigned long long>(value)) : "");
    }
    case 2:
      return rig.answer(
          text("cudaMemPoolTrimTo(%s, %d)", pool.name.c_str(), static_cast<int>(value)),
          cudaMemPoolTrimTo(pool.it, value));
    default:
      return rig.answer(text("cudaDeviceSetMemPool(0, %s)", pool.name.c_str()),
                        cudaDeviceSetMemPool(0, pool.it));
  }
}

}  // namespace in_memory

std::vector<Call<Rig>> memory_calls() {
  using namespace in_memory;
  return {{8, allocate},          {1, allocate_too_much},
          {6, allocate_host},     {6, allocate_managed},
          {3, allocate_pageable}, {3, allocate_pitched},
          {6, release},           {3, release_nothing},
          {5, register_host},     {4, unregister_host},
          {6, ask_attributes},    {3, ask_host_pointer},
          {3, ask_host_flags},    {4, advise},
          {4, prefetch},          {5, allocate_in_order},
          {5, release_in_order},  {2, create_pool},
          {4, use_pool}};
}

}  // namespace lockstep::calls
