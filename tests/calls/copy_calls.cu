// Copies and fills.
#include "tests/calls/rig.h"

namespace lockstep::calls {
namespace in_copy {

__device__ unsigned symbol[64];
__constant__ unsigned constant[64];

struct Place {
  char* at = nullptr;
  std::size_t room = 0;
  std::string name;
};

// Memory of the calls, from its start or from some byte on. Sometimes nothing.
Place place(Rig& rig) {
  Memory* const m = rig.pick(rig.memory);
  if (m == nullptr || m->kind == Memory::kPool || rig.random.chance(3)) return {nullptr, 0, "null"};
  const std::size_t offset = rig.random.chance(30) ? rig.random.below(m->size) : 0;
  return {static_cast<char*>(m->at) + offset, m->size - offset,
          text("%s+%zu", m->name.c_str(), offset)};
}

// Copies between two places of one allocation may overlap: their result is undefined.
bool overlap(const Place& a, const Place& b, std::size_t bytes) {
  return a.at < b.at + bytes && b.at < a.at + bytes;
}

int kind(Rig& rig) {
  return rig.random.chance(60) ? cudaMemcpyDefault : static_cast<int>(rig.random.below(6));
}

void copy(Rig& rig) {
  const Place to = place(rig), from = place(rig);
  const std::size_t room = to.room < from.room ? to.room : from.room;
  const std::size_t bytes = rig.random.chance(10) ? 0 : room;
  if (bytes != 0 && overlap(to, from, bytes)) return;
  const int how = kind(rig);
  // A direction that contradicts the pointers is undefined behaviour.
  if (how != cudaMemcpyDefault && how < 4 && bytes != 0 && !rig.random.chance(30)) return;
  rig.answer(text("cudaMemcpy(%s, %s, %zu, %d)", to.name.c_str(), from.name.c_str(), bytes, how),
             cudaMemcpy(to.at, from.at, bytes, static_cast<cudaMemcpyKind>(how)));
}

void copy_rows(Rig& rig) {
  const Place to = place(rig), from = place(rig);
  const std::size_t to_pitch = rig.random.of({1, 16, 64, 100}),
                    from_pitch = rig.random.of({1, 16, 64, 100});
  const std::size_t width = rig.random.of({0, 1, 16, 64}), height = rig.random.of({0, 1, 3});
  const std::size_t to_bytes = height == 0 ? 0 : (height - 1) * to_pitch + width,
                    from_bytes = height == 0 ? 0 : (height - 1) * from_pitch + width;
  if (to_bytes > to.room || from_bytes > from.room) return;
  if (overlap(to, from, to_bytes > from_bytes ? to_bytes : from_bytes)) return;
  rig.answer(text("cudaMemcpy2D(%s, %zu, %s, %zu, %zu, %zu)", to.name.c_str(), to_pitch,
                  from.name.c_str(), from_pitch, width, height),
             cudaMemcpy2D(to.at, to_pitch, from.at, from_pitch, width, height, cudaMemcpyDefault));
}

void copy_in_order(Rig& rig) {
  const auto stream = rig.stream();
  const std::size_t bytes = rig.random.chance(10) ? 0 : kSlotBytes;
  unsigned* const to = rig.slot();
  rig.answer(text("cudaMemcpyAsync(%s, constants, %zu, %s)", rig.slot_name().c_str(), bytes,
                  stream.name.c_str()),
             cudaMemcpyAsync(to, rig.constants(), bytes, cudaMemcpyDeviceToDevice, stream.it));
}

void copy_symbol(Rig& rig) {
  unsigned host[64] = {};
  const std::size_t offset = rig.random.of({0, 4, 128, 252, 256, 260});
  const std::size_t bytes = rig.random.of({0, 4, 128, 256, 257});
  const bool to = rig.random.chance(50);
  const int how = rig.random.chance(80) ? (to ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost)
                                        : static_cast<int>(rig.random.below(6));
  if (bytes > sizeof host) {
    return rig.answer(
        text("cudaMemcpyToSymbol(symbol, host, %zu, %zu, %d)", bytes, offset, how),
        cudaMemcpyToSymbol(symbol, host, bytes, offset, static_cast<cudaMemcpyKind>(how)));
  }
  const auto direction = static_cast<cudaMemcpyKind>(how);
  switch (rig.random.below(2)) {
    case 0:
      return rig.answer(
          text("cudaMemcpy%sSymbol(symbol, %zu, %zu, %d)", to ? "To" : "From", bytes, offset, how),
          to ? cudaMemcpyToSymbol(symbol, host, bytes, offset, direction)
             : cudaMemcpyFromSymbol(host, symbol, bytes, offset, direction));
    default:
      return rig.answer(text("cudaMemcpy%sSymbol(constant, %zu, %zu, %d)", to ? "To" : "From",
                             bytes, offset, how),
                        to ? cudaMemcpyToSymbol(constant, host, bytes, offset, direction)
                           : cudaMemcpyFromSymbol(host, constant, bytes, offset, direction));
  }
}

void ask_symbol(Rig& rig) {
  static unsigned no_symbol = 0;
  void* at = nullptr;
  std::size_t size = 0;
  switch (rig.random.below(4)) {
    case 0: return rig.answer("cudaGetSymbolAddress(symbol)", cudaGetSymbolAddress(&at, symbol));
    case 1:
      return rig.answer("cudaGetSymbolSize(constant)", cudaGetSymbolSize(&size, constant),
                        text("%zu", sizeof constant));
    case 2:
      return rig.answer("cudaGetSymbolAddress(no symbol)", cudaGetSymbolAddress(&at, no_symbol));
    default: return rig.answer("cudaGetSymbolSize(no symbol)", cudaGetSymbolSize(&size, no_symbol));
  }
}

void fill(Rig& rig) {
  const Place to = place(rig);
  const std::size_t bytes = rig.random.chance(10) ? 0 : to.room;
  const int value = rig.random.of({0, 1, 255, 256, -1});
  rig.answer(text("cudaMemset(%s, %d, %zu)", to.name.c_str(), value, bytes),
             cudaMemset(to.at, value, bytes));
}

void fill_rows(Rig& rig) {
  const Place to = place(rig);
  const std::size_t pitch = rig.random.of({0, 1, 16, 64}), width = rig.random.of({0, 1, 16, 64});
  const std::size_t height = rig.random.of({0, 1, 3});
  if (height != 0 && (height - 1) * pitch + width > to.room) return;
  rig.answer(text("cudaMemset2D(%s, %zu, 7, %zu, %zu)", to.name.c_str(), pitch, width, height),
             cudaMemset2D(to.at, pitch, 7, width, height));
}

void fill_in_order(Rig& rig) {
  const auto stream = rig.stream();
  const std::size_t bytes = rig.random.chance(10) ? 0 : kSlotBytes;
  unsigned* const to = rig.slot();
  rig.answer(
      text("cudaMemsetAsync(%s, 9, %zu, %s)", rig.slot_name().c_str(), bytes, stream.name.c_str()),
      cudaMemsetAsync(to, 9, bytes, stream.it));
}

void copy_volume(Rig& rig) {
  const Place to = place(rig), from = place(rig);
  cudaMemcpy3DParms p = {};
  const std::size_t pitch = rig.random.of({0, 16, 32});
  p.extent = {rig.random.of({std::size_t{0}, std::size_t{1}, std::size_t{16}}),
              rig.random.of({std::size_t{0}, std::size_t{1}, std::size_t{2}}),
              rig.random.of({std::size_t{0}, std::size_t{1}, std::size_t{2}})};
  if (to.room < 200 || from.room < 200 || overlap(to, from, 200)) return;
  p.srcPtr = {from.at, pitch, rig.random.of({std::size_t{0}, std::size_t{16}}), 2};
  p.dstPtr = {to.at, pitch, 16, 2};
  p.kind = cudaMemcpyDefault;
  rig.answer(text("cudaMemcpy3D(%s, %s, pitch %zu, %zu x %zu x %zu)", to.name.c_str(),
                  from.name.c_str(), pitch, p.extent.width, p.extent.height, p.extent.depth),
             cudaMemcpy3D(&p));
}

void copy_far(Rig& rig) {
  // More than any memory holds.
  Memory* const m = rig.pick(rig.memory);
  if (m == nullptr || m->kind != Memory::kDevice) return;
  const std::size_t bytes = std::size_t{1} << 45;
  rig.answer(text("cudaMemset(%s, 0, 2^45)", m->name.c_str()), cudaMemset(m->at, 0, bytes));
}

void copy_between_devices(Rig& rig) {
  const Place to = place(rig), from = place(rig);
  const std::size_t bytes = to.room < from.room ? to.room : from.room;
  if (overlap(to, from, bytes)) return;
  const int to_device = rig.random.of({0, 0, 0, 99}), from_device = rig.random.of({0, 0, 0, -1});
  rig.answer(text("cudaMemcpyPeer(%s, %d, %s, %d, %zu)", to.name.c_str(), to_device,
                  from.name.c_str(), from_device, bytes),
             cudaMemcpyPeer(to.at, to_device, from.at, from_device, bytes));
}

}  // namespace in_copy

std::vector<Call<Rig>> copy_calls() {
  using namespace in_copy;
  return {{8, copy},        {5, copy_rows}, {8, copy_in_order},       {4, copy_symbol},
          {2, ask_symbol},  {5, fill},      {3, fill_rows},           {6, fill_in_order},
          {3, copy_volume}, {1, copy_far},  {2, copy_between_devices}};
}

}  // namespace lockstep::calls
