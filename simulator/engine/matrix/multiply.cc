// mma, mma.sp, wmma.mma and movmatrix: what a warp's lanes do with matrices in their registers.
#include <algorithm>
#include <cstring>
#include <vector>

#include "simulator/engine/checks/uninitialised.h"
#include "simulator/engine/checks/written_bits.h"
#include "simulator/engine/launch/launch_state.h"
#include "simulator/engine/matrix/invalid_elements.h"
#include "simulator/engine/matrix/whole_warp.h"
#include "simulator/matrix/fragments.h"
#include "simulator/matrix/unit.h"

namespace lockstep::engine {
namespace {

using program::Matrix;
using program::MatrixRegisters;

// Enough for every matrix of mma and wmma: 32 by 64 elements, and 16 by 256 bits.
constexpr int kElements = 4096;

// The elements of a matrix, out of the registers of all lanes.
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
      for (int e = 0; e < per; ++e) v |= static_cast<std::uint32_t>(in[places[l * elements + e]]) << (m.bits * e);
      destination<std::uint32_t>(w, slots[r])[l] = v;
    });
  }
}

// For every element that a sparse A has, its column in the whole matrix.
void columns_of(const Warp& w, const Matrix& m, std::uint8_t* columns) {
  const auto* metadata = source<std::uint32_t>(w, m.metadata);
  const matrix::Sparsity sparsity{m.operation.a, m.operation.shape};
  std::size_t at = 0;
  for (int row = 0; row < m.operation.shape.m; ++row) {
    for (int group = 0; group < sparsity.groups(); ++group) {
      const Matrix::Bits place = m.metadata_places[static_cast<std::size_t>(row * sparsity.groups() + group)];
      const std::uint32_t bits = metadata[place.lane] >> place.shift & 15;
      for (int n = 0; n < sparsity.stored(); ++n) columns[at++] = static_cast<std::uint8_t>(group * sparsity.group() + sparsity.column(bits, n));
    }
  }
}

}  // namespace

void run_multiply(Warp& w, const Op& op, LaneMask mask) {
  if (!whole_warp(w, op, mask)) return;
  const Matrix& m = w.block->program->matrices[static_cast<std::size_t>(op.immediate)];
  std::uint64_t a[kElements], b[kElements], c[1024], d[1024];
  std::uint8_t columns[kElements];
  gather(w, m.a, a);
  gather(w, m.b, b);
  gather(w, m.c, c);
  if (m.operation.sparse) columns_of(w, m, columns);
  matrix::Operation operation = m.operation;
  operation.compute_capability = w.block->launch->config->compute_capability;
  const isa::Shape& s = operation.shape;
  for (int part = 0; part < m.multiplications; ++part) {
    matrix::multiply(operation, a + part * s.m * s.k, b + part * s.n * s.k, c + part * s.m * s.n, columns, d + part * s.m * s.n);
  }
  if (w.control->tracking) follow_multiplication(w, m, operation.sparse ? columns : nullptr);
  scatter(w, m.d, d, mask);
}

void run_move_matrix(Warp& w, const Op& op, LaneMask mask) {
  if (!whole_warp(w, op, mask)) return;
  std::uint32_t value[kWarpSize];
  std::memcpy(value, source<std::uint32_t>(w, op.src[1]), sizeof value);
  if (w.control->tracking) follow_transposition(w, op);
  // Row l / 4 of the result has columns 2 * (l % 4) and the next (PTX ISA 9.7.14.5.16).
  std::uint32_t* d = destination<std::uint32_t>(w, op.dst);
  each(mask, [&](int l) {
    const int row = l >> 2, column = 2 * (l & 3);
    const auto element = [&](int i, int j) { return value[4 * i + (j >> 1)] >> (16 * (j & 1)) & 0xffffu; };
    d[l] = element(column, row) | element(column + 1, row) << 16;
  });
}

}  // namespace lockstep::engine
