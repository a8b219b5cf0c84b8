// Virtual memory: each call reserves, creates, maps and gives back memory of its own.
#include "tests/calls/driver/rig.h"

namespace lockstep::calls::driver {
namespace in_virtual_memory {

CUmemAllocationProp properties(Rig& rig, std::string& name) {
  CUmemAllocationProp p = {};
  p.type = rig.random.chance(90) ? CU_MEM_ALLOCATION_TYPE_PINNED : CU_MEM_ALLOCATION_TYPE_INVALID;
  p.location.type =
      rig.random.chance(90) ? CU_MEM_LOCATION_TYPE_DEVICE : CU_MEM_LOCATION_TYPE_INVALID;
  p.location.id = rig.random.chance(90) ? 0 : 99;
  name = text("{%d, {%d, %d}}", p.type, p.location.type, p.location.id);
  return p;
}

void ask_granularity(Rig& rig) {
  std::string name;
  const CUmemAllocationProp p = properties(rig, name);
  const int option = rig.random.of({0, 1, 2});
  std::size_t bytes = 0;
  const CUresult result = DRIVER(cuMemGetAllocationGranularity)(
      &bytes, &p, static_cast<CUmemAllocationGranularity_flags>(option));
  rig.answer(text("cuMemGetAllocationGranularity(%s, %d)", name.c_str(), option), result,
             text("%zu", bytes));
}

void give_back(Rig& rig, CUmemGenericAllocationHandle memory, CUdeviceptr at,
               std::size_t reserved) {
  rig.answer("cuMemRelease(memory)", DRIVER(cuMemRelease)(memory));
  rig.answer(text("cuMemAddressFree(at, %zu)", reserved), DRIVER(cuMemAddressFree)(at, reserved));
}

void map(Rig& rig) {
  constexpr std::size_t kUnit = std::size_t{2} << 20;
  CUdeviceptr at = 0;
  const std::size_t reserved = rig.random.of({kUnit, kUnit, 2 * kUnit, kUnit / 2, std::size_t{0}});
  const std::size_t alignment =
      rig.random.of({std::size_t{0}, std::size_t{0}, kUnit, std::size_t{3}});
  const CUresult reserving = DRIVER(cuMemAddressReserve)(&at, reserved, alignment, 0, 0);
  rig.answer(text("cuMemAddressReserve(%zu, %zu)", reserved, alignment), reserving);
  std::string name;
  const CUmemAllocationProp p = properties(rig, name);
  const std::size_t created =
      rig.random.of({kUnit, kUnit, kUnit, 2 * kUnit, std::size_t{4096}, std::size_t{0}});
  CUmemGenericAllocationHandle memory = 0;
  const CUresult creating = DRIVER(cuMemCreate)(&memory, created, &p, 0);
  rig.answer(text("cuMemCreate(%zu, %s)", created, name.c_str()), creating);
  bool mapped = false;
  if (reserving == CUDA_SUCCESS && creating == CUDA_SUCCESS) {
    const std::size_t size =
        rig.random.chance(85) ? created : rig.random.of({kUnit / 2, 2 * kUnit});
    const std::size_t offset = rig.random.chance(90) ? 0 : 4096;
    const CUdeviceptr to = at + (rig.random.chance(90) ? 0 : 4096);
    if (size > reserved) return give_back(rig, memory, at, reserved);  // an H200 maps it
    const CUresult mapping = DRIVER(cuMemMap)(to, size, offset, memory, 0);
    rig.answer(text("cuMemMap(at+%d, %zu, %zu)", static_cast<int>(to - at), size, offset), mapping);
    mapped = mapping == CUDA_SUCCESS;
  }
  if (mapped) {
    unsigned long long may = 99;
    CUmemLocation where = {};
    where.type = CU_MEM_LOCATION_TYPE_DEVICE;
    const CUresult asking = DRIVER(cuMemGetAccess)(&may, &where, at);
    rig.answer("cuMemGetAccess(at)", asking, text("%llu", may));
    CUmemAccessDesc access = {};
    access.location = where;
    access.location.id = rig.random.chance(90) ? 0 : 99;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    const std::size_t size = rig.random.chance(90) ? created : kUnit / 2;
    const CUresult allowing = DRIVER(cuMemSetAccess)(at, size, &access, 1);
    rig.answer(text("cuMemSetAccess(at, %zu, {%d, %d})", size, access.location.id, access.flags),
               allowing);
    if (allowing == CUDA_SUCCESS) {
      unsigned words[2] = {};
      rig.answer("cuMemsetD32(at, 9, 2)", DRIVER(cuMemsetD32)(at, 9, 2));
      const CUresult reading = DRIVER(cuMemcpyDtoH)(words, at, 8);
      rig.answer("cuMemcpyDtoH(words, at, 8)", reading, text("%u %u", words[0], words[1]));
    }
    if (rig.random.chance(50)) {
      CUmemGenericAllocationHandle same = 0;
      const CUresult retained =
          DRIVER(cuMemRetainAllocationHandle)(&same, reinterpret_cast<void*>(at));
      rig.answer("cuMemRetainAllocationHandle(at)", retained, same == memory ? "same" : "another");
      if (retained == CUDA_SUCCESS) rig.answer("cuMemRelease(same)", DRIVER(cuMemRelease)(same));
    }
    if (rig.random.chance(30))
      rig.answer(text("cuMemAddressFree(at, %zu)", reserved),
                 DRIVER(cuMemAddressFree)(at, reserved));
    rig.wait();
    rig.answer(text("cuMemUnmap(at, %zu)", created), DRIVER(cuMemUnmap)(at, created));
  }
  if (creating == CUDA_SUCCESS) {
    CUmemAllocationProp is = {};
    const CUresult asking = DRIVER(cuMemGetAllocationPropertiesFromHandle)(&is, memory);
    rig.answer("cuMemGetAllocationPropertiesFromHandle(memory)", asking,
               text("%d %d %d", is.type, is.location.type, is.location.id));
    rig.answer("cuMemRelease(memory)", DRIVER(cuMemRelease)(memory));
  }
  if (reserving == CUDA_SUCCESS)
    rig.answer(text("cuMemAddressFree(at, %zu)", reserved), DRIVER(cuMemAddressFree)(at, reserved));
}

void wrong(Rig& rig) {
  CUdeviceptr at = 0;
  CUmemGenericAllocationHandle memory = 0;
  std::string name;
  const CUmemAllocationProp p = properties(rig, name);
  switch (rig.random.below(6)) {
    case 0: return rig.answer("cuMemRelease(0)", DRIVER(cuMemRelease)(0));
    case 1: return rig.answer("cuMemUnmap(0x1000)", DRIVER(cuMemUnmap)(0x1000, 4096));
    case 2: return rig.answer("cuMemAddressFree(0x1000)", DRIVER(cuMemAddressFree)(0x1000, 4096));
    case 3:
      return rig.answer("cuMemAddressReserve(flags 1)",
                        DRIVER(cuMemAddressReserve)(&at, std::size_t{2} << 20, 0, 0, 1));
    case 4:
      return rig.answer("cuMemCreate(flags 1)",
                        DRIVER(cuMemCreate)(&memory, std::size_t{2} << 20, &p, 1));
    default:
      return rig.answer("cuMemCreate(null)",
                        DRIVER(cuMemCreate)(nullptr, std::size_t{2} << 20, &p, 0));
  }
}

}  // namespace in_virtual_memory

std::vector<Call<Rig>> virtual_memory_calls() {
  using namespace in_virtual_memory;
  return {{2, ask_granularity}, {4, map}, {2, wrong}};
}

}  // namespace lockstep::calls::driver
