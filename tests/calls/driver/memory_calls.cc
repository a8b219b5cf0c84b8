// Allocations, their ends, and what is asked about pointers.
#include <cstdlib>
#include <cstring>

#include "tests/calls/driver/rig.h"

namespace lockstep::calls::driver {
namespace in_memory {

constexpr std::size_t kSizes[] = {1, 4, 100, 256, 4096, 5000, 65536};

// New memory has a known content.
void keep(Rig& rig, const Memory& m) {
  if (m.of_host()) {
    std::memset(m.host(), 0x33, m.size);
  } else if (DRIVER(cuMemsetD8)(m.at, 0x33, m.size) != CUDA_SUCCESS) {
    return;  // it exists, and is never used
  }
  rig.memory.push_back(m);
}

std::size_t size(Rig& rig) { return rig.random.chance(10) ? 0 : rig.random.of(kSizes); }

void allocate(Rig& rig) {
  const std::string name = rig.number("device");
  CUdeviceptr at = 0;
  const std::size_t bytes =
      rig.random.chance(8) ? std::size_t{1} << rig.random.of({44, 50, 63}) : size(rig);
  const CUresult result = DRIVER(cuMemAlloc)(rig.random.chance(95) ? &at : nullptr, bytes);
  rig.answer(text("cuMemAlloc(&%s, %zu)", name.c_str(), bytes), result);
  if (at != 0) keep(rig, {at, bytes, Memory::kDevice, name});
}

void allocate_pitched(Rig& rig) {
  const std::string name = rig.number("pitched");
  const std::size_t width = rig.random.of({0u, 1u, 100u, 512u, 513u, 5000u});
  const std::size_t height = rig.random.of({0u, 1u, 7u});
  const unsigned element = rig.random.of({4u, 8u, 16u, 4u, 2u, 0u, 32u});
  CUdeviceptr at = 0;
  std::size_t pitch = 0;
  const CUresult result = DRIVER(cuMemAllocPitch)(&at, &pitch, width, height, element);
  rig.answer(text("cuMemAllocPitch(&%s, %zu, %zu, %u)", name.c_str(), width, height, element),
             result, text("pitch %zu", pitch));
  if (result == CUDA_SUCCESS && at != 0 && pitch * height != 0)
    keep(rig, {at, pitch * height, Memory::kDevice, name});
}

void allocate_host(Rig& rig) {
  const std::string name = rig.number("pinned");
  const std::size_t bytes = size(rig);
  void* at = nullptr;
  CUresult result = CUDA_SUCCESS;
  if (rig.random.chance(40)) {
    result = DRIVER(cuMemAllocHost)(&at, bytes);
    rig.answer(text("cuMemAllocHost(&%s, %zu)", name.c_str(), bytes), result,
               at == nullptr ? "null" : "not null");
  } else {
    const unsigned flags = rig.random.of({0u, 1u, 2u, 3u, 4u, 7u, 8u, 16u, 0x80000000u});
    result = DRIVER(cuMemHostAlloc)(&at, bytes, flags);
    rig.answer(text("cuMemHostAlloc(&%s, %zu, %#x)", name.c_str(), bytes, flags), result,
               at == nullptr ? "null" : "not null");
  }
  if (result == CUDA_SUCCESS && at != nullptr)
    keep(rig, {reinterpret_cast<CUdeviceptr>(at), bytes, Memory::kPinned, name});
}

void allocate_managed(Rig& rig) {
  const std::string name = rig.number("managed");
  const std::size_t bytes = size(rig);
  const unsigned flags = rig.random.of({1u, 1u, 1u, 2u, 4u, 0u, 3u, 8u});
  CUdeviceptr at = 0;
  const CUresult result = DRIVER(cuMemAllocManaged)(&at, bytes, flags);
  rig.answer(text("cuMemAllocManaged(&%s, %zu, %#x)", name.c_str(), bytes, flags), result);
  if (result == CUDA_SUCCESS && at != 0) keep(rig, {at, bytes, Memory::kManaged, name});
}

void allocate_pageable(Rig& rig) {
  const std::size_t bytes = rig.random.of({4096u, 8192u, 65536u});
  keep(rig, {reinterpret_cast<CUdeviceptr>(std::aligned_alloc(4096, bytes)), bytes,
             Memory::kPageable, rig.number("pageable")});
}

void release(Rig& rig) {
  Memory* const m = rig.pick(rig.memory);
  if (m == nullptr) return;
  const std::size_t offset = rig.random.chance(10) && m->size > 4 ? 4 : 0;
  // Mostly by the call that belongs to it.
  const bool by_host = rig.random.chance(85) ? m->kind == Memory::kPinned : rig.random.chance(50);
  rig.wait();
  const CUresult result = by_host ? DRIVER(cuMemFreeHost)(static_cast<char*>(m->host()) + offset)
                                  : DRIVER(cuMemFree)(m->at + offset);
  rig.answer(text("%s(%s+%zu)", by_host ? "cuMemFreeHost" : "cuMemFree", m->name.c_str(), offset),
             result);
  if (result == CUDA_SUCCESS) rig.remove(rig.memory, m);
}

void release_nothing(Rig& rig) {
  char local = 0;
  switch (rig.random.below(4)) {
    case 0: return rig.answer("cuMemFree(0)", DRIVER(cuMemFree)(0));
    case 1: return rig.answer("cuMemFreeHost(null)", DRIVER(cuMemFreeHost)(nullptr));
    case 2: return rig.answer("cuMemFreeHost(local)", DRIVER(cuMemFreeHost)(&local));
    default: return rig.answer("cuMemFree(0x1000)", DRIVER(cuMemFree)(0x1000));
  }
}

void register_host(Rig& rig) {
  Memory* const m = rig.pick(rig.memory);
  if (m == nullptr || (m->kind != Memory::kPageable && rig.random.chance(70))) return;
  const unsigned flags = rig.random.of({0u, 0u, 1u, 2u, 3u, 16u, 64u});
  const std::size_t bytes = rig.random.chance(10) ? 0 : m->size;
  const CUresult result = DRIVER(cuMemHostRegister)(m->host(), bytes, flags);
  rig.answer(text("cuMemHostRegister(%s, %zu, %#x)", m->name.c_str(), bytes, flags), result);
  if (result == CUDA_SUCCESS) m->kind = Memory::kRegistered;
}

void unregister_host(Rig& rig) {
  Memory* const m = rig.pick(rig.memory);
  if (m == nullptr || (m->kind != Memory::kRegistered && rig.random.chance(60))) return;
  const CUresult result = DRIVER(cuMemHostUnregister)(m->host());
  rig.answer(text("cuMemHostUnregister(%s)", m->name.c_str()), result);
  if (result == CUDA_SUCCESS) m->kind = Memory::kPageable;
}

// A pointer to ask about: into memory, a variable, or nothing.
struct Pointer {
  CUdeviceptr at = 0;
  std::string name;
};

Pointer pointer(Rig& rig) {
  static int local = 0;
  switch (rig.random.below(12)) {
    case 0: return {0, "0"};
    case 1: return {reinterpret_cast<CUdeviceptr>(&local), "local"};
    case 2: return {0x1000, "0x1000"};
    case 3: return {rig.constants() + 8, "constants+8"};
    default: break;
  }
  const Memory* const m = rig.pick(rig.memory);
  if (m == nullptr) return {rig.constants(), "constants"};
  const std::size_t offset = rig.random.chance(30) ? m->size / 2 : 0;
  return {m->at + offset, text("%s+%zu", m->name.c_str(), offset)};
}

void ask_attribute(Rig& rig) {
  const Pointer p = pointer(rig);
  const int which = static_cast<int>(rig.random.below(26));
  // P2P tokens are NVIDIA's own; ids and handles have no fixed values. Copies of managed memory are
  // synchronous at times.
  if (which == CU_POINTER_ATTRIBUTE_P2P_TOKENS ||
      (which == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS && p.name.rfind("managed", 0) == 0))
    return;
  alignas(16) unsigned char value[64] = {};
  const CUresult result =
      DRIVER(cuPointerGetAttribute)(value, static_cast<CUpointer_attribute>(which), p.at);
  std::string values;
  unsigned number = 0;
  std::uint64_t wide = 0;
  std::memcpy(&number, value, 4);
  std::memcpy(&wide, value, 8);
  switch (which) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: values = wide == 0 ? "null" : "not null"; break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: values = text("%d", static_cast<int>(number)); break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER: values = wide == p.at ? "same" : "another"; break;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_MAPPED: values = text("%d", value[0]); break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: values = text("%d", static_cast<int>(wide)); break;
    default: break;
  }
  rig.answer(text("cuPointerGetAttribute(%d, %s)", which, p.name.c_str()), result, values);
}

void ask_attributes(Rig& rig) {
  const Pointer p = pointer(rig);
  unsigned type = 99, managed = 99;  // the driver writes four bytes of each
  int ordinal = -99;
  CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                 CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                 CU_POINTER_ATTRIBUTE_IS_MANAGED};
  void* values[] = {&type, &ordinal, &managed};
  const CUresult result = DRIVER(cuPointerGetAttributes)(3, which, values, p.at);
  rig.answer(text("cuPointerGetAttributes(%s)", p.name.c_str()), result,
             text("%u %d %u", type, ordinal, managed));
}

void set_attribute(Rig& rig) {
  const Pointer p = pointer(rig);
  const int which = rig.random.of({6, 6, 6, 1, 2, 99});
  unsigned value = static_cast<unsigned>(rig.random.below(2));
  rig.answer(text("cuPointerSetAttribute(%u, %d, %s)", value, which, p.name.c_str()),
             DRIVER(cuPointerSetAttribute)(&value, static_cast<CUpointer_attribute>(which), p.at));
}

void ask_range(Rig& rig) {
  const Pointer p = pointer(rig);
  CUdeviceptr base = 0;
  std::size_t bytes = 0;
  const bool both = rig.random.chance(80);
  const CUresult result = DRIVER(cuMemGetAddressRange)(&base, both ? &bytes : nullptr, p.at);
  rig.answer(text("cuMemGetAddressRange(%s)", p.name.c_str()), result,
             text("%d %d", static_cast<int>(p.at - base), static_cast<int>(bytes)));
}

void ask_host(Rig& rig) {
  Memory* const m = rig.pick(rig.memory);
  if (m == nullptr) return;
  if (rig.random.chance(50)) {
    CUdeviceptr at = 0;
    const unsigned flags = rig.random.chance(10) ? 1 : 0;
    const CUresult result = DRIVER(cuMemHostGetDevicePointer)(&at, m->host(), flags);
    return rig.answer(text("cuMemHostGetDevicePointer(%s, %u)", m->name.c_str(), flags), result,
                      at == m->at ? "same" : "another");
  }
  unsigned flags = 0;
  const CUresult result = DRIVER(cuMemHostGetFlags)(&flags, m->host());
  // Small allocations may be portable although nobody asked for it.
  rig.answer(text("cuMemHostGetFlags(%s)", m->name.c_str()), result, text("%#x", flags & ~1u));
}

void allocate_in_order(Rig& rig) {
  const std::size_t bytes = size(rig);
  const auto s = rig.stream();
  const std::string name = rig.number("pool_memory");
  CUdeviceptr at = 0;
  const CUresult result = DRIVER(cuMemAllocAsync)(&at, bytes, s.it);
  rig.answer(text("cuMemAllocAsync(&%s, %zu, %s)", name.c_str(), bytes, s.name.c_str()), result);
  if (result != CUDA_SUCCESS || at == 0) return;
  rig.answer(text("cuMemsetD8Async(%s, 7, %zu, %s)", name.c_str(), bytes, s.name.c_str()),
             DRIVER(cuMemsetD8Async)(at, 7, bytes, s.it));
  if (rig.random.chance(20)) {
    rig.wait();
    return rig.answer(text("cuMemFree(%s)", name.c_str()), DRIVER(cuMemFree)(at));
  }
  rig.answer(text("cuMemFreeAsync(%s, %s)", name.c_str(), s.name.c_str()),
             DRIVER(cuMemFreeAsync)(at, s.it));
}

}  // namespace in_memory

std::vector<Call<Rig>> memory_calls() {
  using namespace in_memory;
  return {{6, allocate},         {2, allocate_pitched},  {5, allocate_host},
          {4, allocate_managed}, {3, allocate_pageable}, {5, release},
          {2, release_nothing},  {4, register_host},     {3, unregister_host},
          {14, ask_attribute},   {4, ask_attributes},    {2, set_attribute},
          {4, ask_range},        {4, ask_host},          {3, allocate_in_order}};
}

}  // namespace lockstep::calls::driver
