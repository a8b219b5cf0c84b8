#include "simulator/engine/ops/matrix/registers.h"

#include "simulator/engine/state/block.h"
#include "simulator/engine/state/written_bits.h"
#include "simulator/matrix/fragments.h"

namespace lockstep::engine {

using program::Matrix;
using program::MatrixRegisters;

void gather(const Warp& w, const MatrixRegisters& m, std::uint64_t* out) {
  const Slot* slots = w.block->program->slots.data() + m.first;
  const int per = m.bits >= 32 ? 1 : 32 / m.bits, elements = m.elements();
  for (int r = 0; r < m.registers; ++r) {
    const std::uint16_t* places = m.places.data() + r * per;
    if (m.bits == 64) {
      const auto* v = source<std::uint64_t>(w, slots[r]);
      for (int l = 0; l < kWarpSize; ++l) out[places[l * elements]] = v[l];
      continue;
    }
    const auto* v = source<std::uint32_t>(w, slots[r]);
    const std::uint32_t mask = m.bits == 32 ? ~0u : (1u << m.bits) - 1;
    for (int l = 0; l < kWarpSize; ++l) {
      for (int e = 0; e < per; ++e) out[places[l * elements + e]] = v[l] >> (m.bits * e) & mask;
    }
  }
}

void scatter(Warp& w, const MatrixRegisters& m, const std::uint64_t* in, LaneMask mask) {
  const Slot* slots = w.block->program->slots.data() + m.first;
  const int per = m.bits >= 32 ? 1 : 32 / m.bits, elements = m.elements();
  for (int r = 0; r < m.registers; ++r) {
    if (slots[r] == kNoSlot) continue;
    const std::uint16_t* places = m.places.data() + r * per;
    each(mask, [&](int l) {
      if (m.bits == 64) {
        destination<std::uint64_t>(w, slots[r])[l] = in[places[l * elements]];
        return;
      }
      std::uint32_t v = 0;
      for (int e = 0; e < per; ++e)
        v |= static_cast<std::uint32_t>(in[places[l * elements + e]]) << (m.bits * e);
      destination<std::uint32_t>(w, slots[r])[l] = v;
    });
  }
}

void columns_of(const Warp& w, const Matrix& m, std::uint8_t* columns) {
  const auto* metadata = source<std::uint32_t>(w, m.metadata);
  const matrix::Sparsity sparsity{m.packed ? isa::Type::kS4 : m.operation.a, m.operation.shape};
  std::size_t at = 0;
  for (int row = 0; row < m.operation.shape.m; ++row) {
    for (int group = 0; group < sparsity.groups(); ++group) {
      const Matrix::Bits place =
          m.metadata_places[static_cast<std::size_t>(row * sparsity.groups() + group)];
      const std::uint32_t bits = metadata[place.lane] >> place.shift & 15;
      for (int n = 0; n < sparsity.stored(); ++n)
        columns[at++] =
            static_cast<std::uint8_t>(group * sparsity.group() + sparsity.column(bits, n));
    }
  }
}

}  // namespace lockstep::engine
