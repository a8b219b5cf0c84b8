// mma, mma.sp, wmma.mma and movmatrix: what a warp's lanes do with matrices in their registers.
#include <algorithm>
#include <cstring>
#include <vector>

#include "simulator/engine/monitor/uninitialised.h"
#include "simulator/engine/ops/matrix/invalid_elements.h"
#include "simulator/engine/ops/matrix/registers.h"
#include "simulator/engine/ops/matrix/whole_warp.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/written_bits.h"
#include "simulator/matrix/fragments.h"
#include "simulator/matrix/unit.h"

namespace lockstep::engine {
namespace {

using program::Matrix;

// Enough for every matrix of mma and wmma: 32 by 64 elements, and 16 by 256 bits.
constexpr int kElements = 4096;

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
    matrix::multiply(operation, a + part * s.m * s.k, b + part * s.n * s.k, c + part * s.m * s.n,
                     columns, d + part * s.m * s.n);
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
    const auto element = [&](int i, int j) {
      return value[4 * i + (j >> 1)] >> (16 * (j & 1)) & 0xffffu;
    };
    d[l] = element(column, row) | element(column + 1, row) << 16;
  });
}

}  // namespace lockstep::engine
