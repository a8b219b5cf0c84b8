#include "simulator/engine/ops/matrix/unchecked_fragments.h"

#include "simulator/engine/access/global_memory.h"
#include "simulator/engine/monitor/progress.h"
#include "simulator/engine/monitor/races.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/relaxed_bytes.h"
#include "simulator/engine/state/written_bits.h"

namespace lockstep::engine {
namespace {

using isa::Space;
using program::Matrix;

// A matrix in global memory that needs no further check and is not counted: every line is in
// bounds, and no races are searched for there.
struct Unchecked {
  std::byte* bytes =
      nullptr;  // in the host's memory; nullptr: the accesses of each lane are checked
  bool shadowed = false;
  int lines = 0;
  std::uint32_t length = 0;  // bytes of a line
  std::uint64_t pitch = 0;   // bytes from line to line
};
Unchecked unchecked(Warp& w, const Op& op, const Matrix& m, const Lattice& at, bool writes) {
  Worker& k = *w.block->worker;
  if (static_cast<Space>(op.space) != Space::kGlobal || m.d.bits < 8) return {};
  if (k.counting || w.control->tracking) return {};
  const auto element = static_cast<std::uint32_t>(m.d.bits) / 8;
  Unchecked u;
  u.pitch = at.stride * element;
  u.lines = m.by_columns ? m.d.columns : m.d.rows;
  u.length = static_cast<std::uint32_t>(m.by_columns ? m.d.rows : m.d.columns) * element;
  const std::uint64_t span = u.pitch * static_cast<std::uint64_t>(u.lines - 1) + u.length;
  CachedRange& c = cached(k, op);
  if (!holds(c, at.base, span) && !refill_from_others(k, c, at.base, span)) return {};
  if (writes && !c.writable) return {};
  // A store may inform the host behind a fence.
  if (k.races != nullptr &&
      (c.raced || w.overlapped != 0 || (writes && w.block->races.has_fenced_in(w.index))))
    return {};
  u.shadowed = c.shadowed;
  u.bytes = reinterpret_cast<std::byte*>(at.base + static_cast<std::uint64_t>(c.delta));
  return u;
}
// Calls `look` with the place of each line in the written-shadow, until it returns false.
template <class Look>
bool each_line(const Warp& w, const Unchecked& u, const Lattice& at, Look look) {
  memory::DeviceMemory& memory = *w.block->worker->memory;
  for (int i = 0; u.shadowed && i < u.lines; ++i) {
    const std::uint64_t line = at.base + u.pitch * static_cast<std::uint64_t>(i);
    if (!look(memory.written_shadow(line & ~7ull), line & 7)) return false;
  }
  return true;
}

// Calls `move` for each element, with its place in the registers and in memory. `registers`: where
// those of a slot are.
template <class Element, class Registers, class Move>
void move_elements(const Warp& w, const Matrix& m, const Unchecked& u, Registers registers,
                   Move move) {
  constexpr int kPer = sizeof(Element) >= 4 ? 1 : static_cast<int>(4 / sizeof(Element));
  std::byte* lines[256];  // as many as their type can number
  for (int i = 0; i < u.lines; ++i) lines[i] = u.bytes + u.pitch * static_cast<std::uint64_t>(i);
  const std::uint8_t *const line = m.lines.data(), *const place = m.places_in_line.data();
  const int elements = m.d.elements();
  for (int n = 0; n < m.d.registers; ++n) {
    const Slot slot = w.block->program->slots[m.d.first + static_cast<std::uint32_t>(n)];
    if (slot == kNoSlot) continue;
    auto* const r = registers(slot);
    for (int l = 0; l < kWarpSize; ++l) {
      for (int e = 0; e < kPer; ++e) {
        const int i = l * elements + n * kPer + e;
        move(r + (l * kPer + e) * static_cast<int>(sizeof(Element)),
             lines[line[i]] + place[i] * sizeof(Element));
      }
    }
  }
}
template <class Element>
void load_elements(Warp& w, const Matrix& m, const Unchecked& u) {
  move_elements<Element>(
      w, m, u, [&](Slot slot) { return destination<std::byte>(w, slot); },
      [](std::byte* to, const std::byte* from) { load_element<sizeof(Element)>(to, from); });
}
template <class Element>
void store_elements(Warp& w, const Matrix& m, const Unchecked& u) {
  move_elements<Element>(
      w, m, u, [&](Slot slot) { return source<std::byte>(w, slot); },
      [](const std::byte* from, std::byte* to) { store_element<sizeof(Element)>(to, from); });
}
// Calls `f` with a value of the elements' size.
template <class F>
void by_bits(int bits, F f) {
  switch (bits) {
    case 8: return f(std::uint8_t{});
    case 16: return f(std::uint16_t{});
    case 32: return f(std::uint32_t{});
    default: return f(std::uint64_t{});
  }
}

}  // namespace

bool load_unchecked(Warp& w, const Op& op, const Lattice& at, LaneMask mask) {
  const Matrix& m = w.block->program->matrices[static_cast<std::size_t>(op.immediate)];
  const Unchecked u = unchecked(w, op, m, at, false);
  if (mask != kAllLanes || u.bytes == nullptr ||
      !each_line(w, u, at, [&](const std::uint8_t* shadow, std::uint64_t first) {
        return all_written(shadow, first, u.length);
      }))
    return false;
  by_bits(m.d.bits, [&](auto element) { load_elements<decltype(element)>(w, m, u); });
  return true;
}
bool store_unchecked(Warp& w, const Op& op, const Lattice& at, LaneMask mask) {
  const Matrix& m = w.block->program->matrices[static_cast<std::size_t>(op.immediate)];
  const Unchecked u = unchecked(w, op, m, at, true);
  if (mask != kAllLanes || u.bytes == nullptr) return false;
  on_write(*w.block->worker);
  each_line(w, u, at, [&](std::uint8_t* shadow, std::uint64_t first) {
    return set_written(shadow, first, u.length), true;
  });
  by_bits(m.d.bits, [&](auto element) { store_elements<decltype(element)>(w, m, u); });
  return true;
}

}  // namespace lockstep::engine
