#include "simulator/engine/ops/matrix/invalid_elements.h"

#include <vector>

#include "simulator/engine/monitor/uninitialised.h"
#include "simulator/engine/state/block.h"
#include "simulator/engine/state/written_bits.h"

namespace lockstep::engine {
namespace {

using program::Matrix;
using program::MatrixRegisters;

// The invalid elements of a matrix, and the origin of their values.
struct Invalid {
  std::vector<bool> elements;
  const Validity::Word* word = nullptr;
};

// The bytes of a register that contain element `e` of `bits` bits.
std::uint8_t bytes_of(int bits, int e) {
  if (bits >= 32) return 0xff;
  const int first = bits * e / 8, last = (bits * (e + 1) - 1) / 8;
  return static_cast<std::uint8_t>((2u << last) - (1u << first));
}

Invalid invalid_of(Warp& w, const MatrixRegisters& m) {
  Invalid result;
  Frame& frame = w.control->frames[w.control->frame];
  const int per = m.bits >= 32 ? 1 : 32 / m.bits, elements = m.elements();
  for (int r = 0; r < m.registers; ++r) {
    const Validity::Word* word =
        validity_word(frame, w.block->program->slots[m.first + static_cast<std::uint32_t>(r)]);
    if (word == nullptr || word->invalid == 0) continue;
    result.elements.resize(static_cast<std::size_t>(m.rows * m.columns));
    each(word->invalid, [&](int l) {
      for (int e = 0; e < per; ++e) {
        if ((word->bytes[l] & bytes_of(m.bits, e)) == 0) continue;
        result.elements[m.places[static_cast<std::size_t>(l * elements + r * per + e)]] = true;
        result.word = word;
      }
    });
  }
  return result;
}

// Marks computed values as derived. `pc` and `kind` are those of their source.
void mark_computed(Warp& w, Slot slot, LaneMask lanes, const std::uint8_t* bytes, std::uint32_t pc,
                   check::Kind kind) {
  mark_register(w, slot, lanes, kAllLanes, pc, kind, bytes);
  if (Validity::Word* word =
          lanes == 0 ? nullptr : validity_word(w.control->frames[w.control->frame], slot))
    word->derived |= lanes;
}

}  // namespace

void follow_multiplication(Warp& w, const Matrix& m, const std::uint8_t* columns) {
  const Invalid a = invalid_of(w, m.a), b = invalid_of(w, m.b), c = invalid_of(w, m.c);
  const Validity::Word* from = a.word != nullptr ? a.word : b.word != nullptr ? b.word : c.word;
  std::uint32_t pc = from == nullptr ? 0 : from->pc;
  const check::Kind kind = from == nullptr ? check::Kind::kUninitialised : from->kind;
  const isa::Shape& s = m.operation.shape;
  const int stored = m.operation.sparse ? s.k / 2 : s.k;
  const auto depends = [&](int part, int i, int j) {
    if (!c.elements.empty() && c.elements[static_cast<std::size_t>((part * s.m + i) * s.n + j)])
      return true;
    if (a.elements.empty() && b.elements.empty()) return false;
    for (int k = 0; k < stored; ++k) {
      const int column = columns != nullptr ? columns[i * stored + k] : k;
      if (!a.elements.empty() &&
          a.elements[static_cast<std::size_t>((part * s.m + i) * stored + k)])
        return true;
      if (!b.elements.empty() &&
          b.elements[static_cast<std::size_t>((part * s.n + j) * s.k + column)])
        return true;
    }
    return false;
  };
  const int per = m.d.bits >= 32 ? 1 : 32 / m.d.bits, elements = m.d.elements();
  for (int r = 0; r < m.d.registers; ++r) {
    const Slot slot = w.block->program->slots[m.d.first + static_cast<std::uint32_t>(r)];
    if (slot == kNoSlot) continue;
    LaneMask lanes = 0;
    std::uint8_t bytes[kWarpSize] = {};
    for (int l = 0; from != nullptr && l < kWarpSize; ++l) {
      for (int e = 0; e < per; ++e) {
        const int place = m.d.places[static_cast<std::size_t>(l * elements + r * per + e)];
        const int row = place / m.d.columns, column = place % m.d.columns;
        if (depends(row / s.m, row % s.m, column)) {
          lanes |= 1u << l;
          bytes[l] |= bytes_of(m.d.bits, e);
        }
      }
    }
    mark_computed(w, slot, lanes, bytes, pc, kind);
  }
}

void follow_transposition(Warp& w, const Op& op) {
  const Validity::Word* word = validity_word(w.control->frames[w.control->frame], op.src[1]);
  if (word == nullptr || word->invalid == 0)
    return mark_register(w, op.dst, 0, kAllLanes, w.pc - 1);
  const Validity::Word from = *word;
  LaneMask lanes = 0;
  std::uint8_t bytes[kWarpSize] = {};
  for (int l = 0; l < kWarpSize; ++l) {
    for (int e = 0; e < 2; ++e) {
      const int row = 2 * (l & 3) + e, column = l >> 2, holder = 4 * row + (column >> 1);
      if (!(from.invalid >> holder & 1) || (from.bytes[holder] >> (2 * (column & 1)) & 3) == 0)
        continue;
      lanes |= 1u << l;
      bytes[l] |= static_cast<std::uint8_t>(3 << (2 * e));
    }
  }
  mark_register(w, op.dst, lanes, kAllLanes, from.pc, from.kind, bytes);
}

}  // namespace lockstep::engine
