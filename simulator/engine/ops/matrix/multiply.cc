// mma, mma.sp, wmma.mma and movmatrix: operations on matrices in a warp's registers.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/monitor/uninitialised.h"
#include "simulator/engine/ops/matrix/invalid_elements.h"
#include "simulator/engine/ops/matrix/registers.h"
#include "simulator/engine/ops/matrix/whole_warp.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/written_bits.h"
#include "simulator/matrix/fragments.h"
#include "simulator/matrix/group_scaled.h"
#include "simulator/matrix/unit.h"

namespace lockstep::engine {
namespace {

using program::Matrix;

// Enough for every matrix of mma and wmma: 32 by 64 elements, and 16 by 256 bits.
constexpr int kElements = 4096;

// Extracts narrow elements, which are stored one in a byte.
void take_narrow(const Matrix::Narrow& narrow, std::uint64_t* elements, int count) {
  if (narrow.mask == 0xff) return;
  for (int i = 0; i < count; ++i) elements[i] = elements[i] >> narrow.shift & narrow.mask;
}

// The scales of 16 rows or 8 columns, `per_line` bytes each (PTX ISA 9.7.14.3.2). The scales of row
// r are in quad r mod 8, in the thread selected by twice the thread selector plus r / 8. The scales
// of column n are in the selected thread of quad n. Returns false if a selector is invalid, which
// ends the launch.
bool scales_of(Warp& w, const Matrix::Scales& s, int per_line, int lines,
               std::vector<std::uint8_t>& scales) {
  const auto* byte = source<std::uint16_t>(w, s.byte);
  const auto* thread = source<std::uint16_t>(w, s.thread);
  const int threads = lines == 16 ? 2 : 4;
  for (int l = 0; l < kWarpSize; ++l) {
    const bool differs = byte[l] != byte[0] || thread[l] != thread[0];
    if (!differs && byte[l] % per_line == 0 && byte[l] + per_line <= 4 && thread[l] < threads)
      continue;
    check::Finding f = finding_at(w, w.pc - 1, 1u << l, check::Kind::kInvalidInstruction);
    f.where = differs ? "the selectors of scales differ between lanes"
                      : "no scales begin in byte " + std::to_string(byte[l]) + " of thread " +
                            std::to_string(thread[l]);
    f.detail = "All lanes name the same: a byte from which " + std::to_string(per_line) +
               " are there, and a thread from 0 to " + std::to_string(threads - 1) + ".";
    report(w, std::move(f));
    return false;
  }
  const auto* data = source<std::uint32_t>(w, s.data);
  for (int line = 0; line < lines; ++line) {
    const int lane = lines == 16 ? 4 * (line % 8) + 2 * thread[0] + line / 8 : 4 * line + thread[0];
    for (int i = 0; i < per_line; ++i)
      scales.push_back(static_cast<std::uint8_t>(data[lane] >> (8 * (byte[0] + i))));
  }
  return true;
}

void multiply_scaled(Warp& w, const Matrix& m, matrix::Operation& o, const std::uint64_t* a,
                     const std::uint64_t* b, const std::uint64_t* c, const std::uint8_t* columns,
                     std::uint64_t* d) {
  std::vector<std::uint8_t> of_rows, of_columns;
  if (!scales_of(w, m.row_scales, m.scales_per_line, o.shape.m, of_rows) ||
      !scales_of(w, m.column_scales, m.scales_per_line, o.shape.n, of_columns)) {
    w.event = Event::kAbort;
    return;
  }
  if (m.packed)
    return matrix::multiply_group_scaled(
        o.shape, a, b, c, columns,
        {of_rows.data(), of_columns.data(), m.scales_per_line, m.fine_scales}, d);
  std::int16_t exponents[2][16];
  const auto fill = [](const std::vector<std::uint8_t>& scales, std::int16_t* to) {
    for (const std::uint8_t v : scales)
      *to++ = v == 255 ? matrix::Operation::kNotANumber : static_cast<std::int16_t>(v - 127);
  };
  fill(of_rows, exponents[0]);
  fill(of_columns, exponents[1]);
  o.row_scales = exponents[0];
  o.column_scales = exponents[1];
  matrix::multiply(o, a, b, c, columns, d);
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
  take_narrow(m.narrow_a, a, m.a.rows * m.a.columns);
  take_narrow(m.narrow_b, b, m.b.rows * m.b.columns);
  if (m.scales_per_line != 0)
    multiply_scaled(w, m, operation, a, b, c, operation.sparse ? columns : nullptr, d);
  if (w.event == Event::kAbort) return;
  for (int part = 0; m.scales_per_line == 0 && part < m.multiplications; ++part) {
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
