// Copies, fills and arrays.
#include "tests/calls/driver/rig.h"

namespace lockstep::calls::driver {
namespace in_copy {

// Where a copy may read or write: memory of `bytes` at least, mostly.
struct Place {
  CUdeviceptr at = 0;
  std::string name;
  bool of_host = false;
};

// A source. Its content is constant: nobody writes to memory of the rig but fills of all of it.
Place source(Rig& rig, std::size_t bytes) {
  if (rig.random.chance(50)) return {rig.constants(), "constants", false};
  if (rig.random.chance(5)) return {0, "0", false};
  Memory* const m = rig.pick(rig.memory);
  if (m == nullptr || m->size < bytes) return {rig.constants(), "constants", false};
  return {m->at, m->name, m->of_host()};
}

Place target(Rig& rig) {
  if (rig.random.chance(5)) return {0, "0", false};
  const CUdeviceptr at = rig.slot();
  return {at, rig.slot_name(), false};
}

constexpr std::size_t kBytes[] = {0, 1, 4, 32, kSlotBytes};

void copy(Rig& rig) {
  const std::size_t bytes = rig.random.of(kBytes);
  const Place from = source(rig, kSlotBytes), to = target(rig);
  const auto s = rig.stream();
  const char* const a = to.name.c_str();
  const char* const b = from.name.c_str();
  switch (rig.random.below(7)) {
    case 0:
      return rig.answer(text("cuMemcpy(%s, %s, %zu)", a, b, bytes),
                        DRIVER(cuMemcpy)(to.at, from.at, bytes));
    case 1:
      return rig.answer(text("cuMemcpyAsync(%s, %s, %zu, %s)", a, b, bytes, s.name.c_str()),
                        DRIVER(cuMemcpyAsync)(to.at, from.at, bytes, s.it));
    case 2:
      return rig.answer(text("cuMemcpyDtoD(%s, %s, %zu)", a, b, bytes),
                        DRIVER(cuMemcpyDtoD)(to.at, from.at, bytes));
    case 3:
      return rig.answer(text("cuMemcpyDtoDAsync(%s, %s, %zu, %s)", a, b, bytes, s.name.c_str()),
                        DRIVER(cuMemcpyDtoDAsync)(to.at, from.at, bytes, s.it));
    case 4: {
      unsigned char room[kSlotBytes];
      for (unsigned char& byte : room) byte = static_cast<unsigned char>(rig.random.below(256));
      return rig.answer(text("cuMemcpyHtoD(%s, room %016llx, %zu)", a,
                             static_cast<unsigned long long>(digest(room, bytes)), bytes),
                        DRIVER(cuMemcpyHtoD)(to.at, room, bytes));
    }
    case 5: {
      unsigned char room[kSlotBytes] = {};
      const CUresult result = DRIVER(cuMemcpyDtoH)(room, from.at, bytes);
      return rig.answer(text("cuMemcpyDtoH(room, %s, %zu)", b, bytes), result,
                        text("%016llx", static_cast<unsigned long long>(digest(room, bytes))));
    }
    default:
      return rig.answer(text("cuMemcpyPeer(%s, %s, %zu)", a, b, bytes),
                        DRIVER(cuMemcpyPeer)(to.at, rig.context(), from.at, rig.context(), bytes));
  }
}

void fill(Rig& rig) {
  const CUdeviceptr slot = rig.slot();
  const std::size_t offset = rig.random.of({0, 0, 0, 1, 2, 4});
  const std::size_t count = rig.random.of({std::size_t{0}, std::size_t{1}, std::size_t{8}});
  const unsigned value = static_cast<unsigned>(rig.random.below(70000));
  const auto s = rig.stream();
  const bool later = rig.random.chance(50);
  const std::string to = text("%s+%zu, %u, %zu", rig.slot_name().c_str(), offset, value, count) +
                         (later ? ", " + s.name : "");
  switch (rig.random.below(3)) {
    case 0:
      return rig.answer(
          text("cuMemsetD8(%s)", to.c_str()),
          later ? DRIVER(cuMemsetD8Async)(slot + offset, static_cast<unsigned char>(value), count,
                                          s.it)
                : DRIVER(cuMemsetD8)(slot + offset, static_cast<unsigned char>(value), count));
    case 1:
      return rig.answer(
          text("cuMemsetD16(%s)", to.c_str()),
          later ? DRIVER(cuMemsetD16Async)(slot + offset, static_cast<unsigned short>(value), count,
                                           s.it)
                : DRIVER(cuMemsetD16)(slot + offset, static_cast<unsigned short>(value), count));
    default:
      return rig.answer(text("cuMemsetD32(%s)", to.c_str()),
                        later ? DRIVER(cuMemsetD32Async)(slot + offset, value, count, s.it)
                              : DRIVER(cuMemsetD32)(slot + offset, value, count));
  }
}

void fill_rows(Rig& rig) {
  const CUdeviceptr slot = rig.slot();
  const std::size_t pitch = rig.random.of({std::size_t{0}, std::size_t{16}, std::size_t{32}});
  const std::size_t width = rig.random.of({std::size_t{0}, std::size_t{1}, std::size_t{4}});
  const std::size_t height = rig.random.of({std::size_t{0}, std::size_t{1}, std::size_t{2}});
  const unsigned value = static_cast<unsigned>(rig.random.below(70000));
  const std::string to =
      text("%s, %zu, %u, %zu, %zu", rig.slot_name().c_str(), pitch, value, width, height);
  switch (rig.random.below(3)) {
    case 0:
      return rig.answer(
          text("cuMemsetD2D8(%s)", to.c_str()),
          DRIVER(cuMemsetD2D8)(slot, pitch, static_cast<unsigned char>(value), width, height));
    case 1:
      return rig.answer(
          text("cuMemsetD2D16(%s)", to.c_str()),
          DRIVER(cuMemsetD2D16)(slot, pitch, static_cast<unsigned short>(value), width, height));
    default:
      return rig.answer(text("cuMemsetD2D32(%s)", to.c_str()),
                        DRIVER(cuMemsetD2D32)(slot, pitch, value, width, height));
  }
}

// The places of a copy of rows: host memory, a slot, or an array.
struct Side {
  CUmemorytype type = CU_MEMORYTYPE_DEVICE;
  CUdeviceptr at = 0;
  CUarray array = nullptr;
  std::string name;
};

unsigned char g_room[kSlotBytes];

Side side(Rig& rig, bool writes) {
  const int which = static_cast<int>(rig.random.below(10));
  if (which < 3) {
    if (Array* const a = rig.pick(rig.arrays)) return {CU_MEMORYTYPE_ARRAY, 0, a->it, a->name};
  }
  if (which == 3) return {CU_MEMORYTYPE_UNIFIED, rig.constants(), nullptr, "unified constants"};
  if (which == 4)
    return {CU_MEMORYTYPE_HOST, reinterpret_cast<CUdeviceptr>(g_room), nullptr, "room"};
  if (which == 5 && rig.random.chance(30))
    return {static_cast<CUmemorytype>(9), rig.constants(), nullptr, "type 9"};
  if (!writes) return {CU_MEMORYTYPE_DEVICE, rig.constants(), nullptr, "constants"};
  const CUdeviceptr slot = rig.slot();
  return {CU_MEMORYTYPE_DEVICE, slot, nullptr, rig.slot_name()};
}

void copy_rows(Rig& rig) {
  CUDA_MEMCPY2D c = {};
  const Side from = side(rig, false), to = side(rig, true);
  if (to.name == "unified constants") return;  // constants stay as they are
  c.srcMemoryType = from.type;
  c.srcHost = reinterpret_cast<void*>(from.at);
  c.srcDevice = from.at;
  c.srcArray = from.array;
  c.srcPitch = rig.random.of(
      {std::size_t{16}, std::size_t{16}, std::size_t{0}, std::size_t{32}, std::size_t{3}});
  c.srcXInBytes = rig.random.of({std::size_t{0}, std::size_t{0}, std::size_t{0}, std::size_t{4}});
  c.srcY = rig.random.of({std::size_t{0}, std::size_t{0}, std::size_t{0}, std::size_t{1}});
  c.dstMemoryType = to.type;
  c.dstHost = reinterpret_cast<void*>(to.at);
  c.dstDevice = to.at;
  c.dstArray = to.array;
  c.dstPitch = rig.random.of(
      {std::size_t{16}, std::size_t{16}, std::size_t{0}, std::size_t{32}, std::size_t{3}});
  c.dstXInBytes = rig.random.of({std::size_t{0}, std::size_t{0}, std::size_t{0}, std::size_t{4}});
  c.dstY = rig.random.of({std::size_t{0}, std::size_t{0}, std::size_t{0}, std::size_t{1}});
  c.WidthInBytes = rig.random.of(
      {std::size_t{4}, std::size_t{8}, std::size_t{0}, std::size_t{12}, std::size_t{20}});
  c.Height = rig.random.of({std::size_t{1}, std::size_t{2}, std::size_t{0}});
  if (from.array != nullptr || to.array != nullptr) {  // whole elements (use_array)
    c.srcXInBytes *= 4, c.dstXInBytes *= 4;
    c.WidthInBytes = c.WidthInBytes / 8 * 16;
  }
  // What lies beyond slots, constants and room is nobody's.
  auto bytes = [&](std::size_t pitch, std::size_t x, std::size_t y) {
    return (y + c.Height) * pitch + x + c.WidthInBytes;
  };
  if (bytes(c.srcPitch, c.srcXInBytes, c.srcY) > kSlotBytes * 2 ||
      bytes(c.dstPitch, c.dstXInBytes, c.dstY) > kSlotBytes * 2)
    return;
  const bool later = rig.random.chance(30);
  const auto s = rig.stream();
  const CUresult result = later                   ? DRIVER(cuMemcpy2DAsync)(&c, s.it)
                          : rig.random.chance(30) ? DRIVER(cuMemcpy2DUnaligned)(&c)
                                                  : DRIVER(cuMemcpy2D)(&c);
  rig.answer(text("cuMemcpy2D({%s %zu +%zu,%zu} -> {%s %zu +%zu,%zu}, %zu x %zu)%s",
                  from.name.c_str(), c.srcPitch, c.srcXInBytes, c.srcY, to.name.c_str(), c.dstPitch,
                  c.dstXInBytes, c.dstY, c.WidthInBytes, c.Height, later ? " async" : ""),
             result);
  if (later) rig.wait();  // room is used again
}

void create_array(Rig& rig) {
  static const struct {
    CUarray_format format;
    std::size_t bytes;
  } kFormats[] = {{CU_AD_FORMAT_UNSIGNED_INT8, 1},  {CU_AD_FORMAT_UNSIGNED_INT16, 2},
                  {CU_AD_FORMAT_UNSIGNED_INT32, 4}, {CU_AD_FORMAT_FLOAT, 4},
                  {CU_AD_FORMAT_HALF, 2},           {static_cast<CUarray_format>(0x77), 1}};
  const auto format = rig.random.of(kFormats);
  CUDA_ARRAY_DESCRIPTOR d = {};
  d.Width = rig.random.of({std::size_t{16}, std::size_t{4}, std::size_t{1}, std::size_t{0}});
  d.Height = rig.random.of({std::size_t{0}, std::size_t{1}, std::size_t{4}});
  d.Format = format.format;
  d.NumChannels = rig.random.of({1u, 1u, 2u, 4u, 3u, 0u});
  const std::string name = rig.number("array");
  CUarray array = nullptr;
  const CUresult result = DRIVER(cuArrayCreate)(&array, &d);
  rig.answer(text("cuArrayCreate(&%s, {%zu, %zu, %#x, %u})", name.c_str(), d.Width, d.Height,
                  d.Format, d.NumChannels),
             result);
  if (result != CUDA_SUCCESS) return;
  const std::size_t element = format.bytes * d.NumChannels;
  // New memory has a known content.
  std::vector<unsigned char> bytes(d.Width * std::max<std::size_t>(d.Height, 1) * element, 0x33);
  CUDA_MEMCPY2D c = {};
  c.srcMemoryType = CU_MEMORYTYPE_HOST;
  c.srcHost = bytes.data();
  c.srcPitch = d.Width * element;
  c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  c.dstArray = array;
  c.WidthInBytes = d.Width * element;
  c.Height = std::max<std::size_t>(d.Height, 1);
  rig.answer(text("cuMemcpy2D(%s, 0x33)", name.c_str()), DRIVER(cuMemcpy2D)(&c));
  rig.arrays.push_back({array, name, d.Width, d.Height, element});
}

void use_array(Rig& rig) {
  Array* const a = rig.pick(rig.arrays);
  if (a == nullptr) return;
  // Whole elements of at most 16 bytes: an H200 also copies a part of one.
  const std::size_t offset =
      rig.random.of({std::size_t{0}, std::size_t{0}, std::size_t{16}, std::size_t{1008}});
  const std::size_t bytes =
      rig.random.of({std::size_t{0}, std::size_t{16}, std::size_t{16}, std::size_t{32}});
  const char* const name = a->name.c_str();
  switch (rig.random.below(6)) {
    case 0: {
      unsigned char room[32] = {};
      const CUresult result = DRIVER(cuMemcpyAtoH)(room, a->it, offset, bytes);
      return rig.answer(text("cuMemcpyAtoH(room, %s, %zu, %zu)", name, offset, bytes), result,
                        text("%016llx", static_cast<unsigned long long>(digest(room, bytes))));
    }
    case 1: {
      unsigned char room[32] = {1, 2, 3, 4, 5, 6, 7, 8};
      return rig.answer(text("cuMemcpyHtoA(%s, %zu, room, %zu)", name, offset, bytes),
                        DRIVER(cuMemcpyHtoA)(a->it, offset, room, bytes));
    }
    case 2: {
      const CUdeviceptr slot = rig.slot();
      return rig.answer(
          text("cuMemcpyAtoD(%s, %s, %zu, %zu)", rig.slot_name().c_str(), name, offset, bytes),
          DRIVER(cuMemcpyAtoD)(slot, a->it, offset, bytes));
    }
    case 3:
      return rig.answer(text("cuMemcpyDtoA(%s, %zu, constants, %zu)", name, offset, bytes),
                        DRIVER(cuMemcpyDtoA)(a->it, offset, rig.constants(), bytes));
    case 4: {
      CUDA_ARRAY3D_DESCRIPTOR d = {};
      const CUresult result = DRIVER(cuArray3DGetDescriptor)(&d, a->it);
      return rig.answer(text("cuArray3DGetDescriptor(%s)", name), result,
                        text("%zu %zu %zu %#x %u %u", d.Width, d.Height, d.Depth, d.Format,
                             d.NumChannels, d.Flags));
    }
    default: {
      CUDA_ARRAY_DESCRIPTOR d = {};
      const CUresult result = DRIVER(cuArrayGetDescriptor)(&d, a->it);
      return rig.answer(text("cuArrayGetDescriptor(%s)", name), result,
                        text("%zu %zu %#x %u", d.Width, d.Height, d.Format, d.NumChannels));
    }
  }
}

void destroy_array(Rig& rig) {
  Array* const a = rig.pick(rig.arrays);
  if (a == nullptr || rig.random.chance(20))
    return rig.answer("cuArrayDestroy(null)", DRIVER(cuArrayDestroy)(nullptr));
  rig.wait();
  rig.answer(text("cuArrayDestroy(%s)", a->name.c_str()), DRIVER(cuArrayDestroy)(a->it));
  rig.remove(rig.arrays, a);
}

}  // namespace in_copy

std::vector<Call<Rig>> copy_calls() {
  using namespace in_copy;
  return {{10, copy},        {6, fill},      {3, fill_rows},    {7, copy_rows},
          {4, create_array}, {6, use_array}, {1, destroy_array}};
}

}  // namespace lockstep::calls::driver
