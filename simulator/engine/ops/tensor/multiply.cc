// tcgen05.mma: D = A * B + D, with D in tensor memory (PTX ISA 9.7.16.10).
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "simulator/engine/monitor/progress.h"
#include "simulator/engine/monitor/races.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/monitor/tensor_order.h"
#include "simulator/engine/ops/async/async_copy.h"
#include "simulator/engine/ops/matrix/shared_matrix.h"
#include "simulator/engine/ops/tensor/descriptors.h"
#include "simulator/engine/ops/tensor/queue.h"
#include "simulator/engine/ops/tensor/tensor.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/matrix/tensor_layout.h"

namespace lockstep::engine {
namespace {

using check::Kind;
using isa::Type;
using program::TensorOperation;

// Where the rows of a matrix of `rows` rows lie.
TensorRegion region_of(std::uint32_t address, int rows, std::uint32_t columns) {
  const std::uint32_t lane = tensor_lane(address);
  return {lane, rows == 64 ? kTensorLanes - kTensorGroup : kTensorLanes, tensor_column(address),
          columns, rows == 64};
}

// 128 rows begin in lane 0, 64 in lane 0 or 16.
bool may_begin(std::uint32_t address, int rows) {
  const std::uint32_t lane = tensor_lane(address);
  return lane == 0 || (rows == 64 && lane == kTensorGroup);
}

std::uint32_t word_of(std::uint32_t address, int row, int rows, std::uint32_t column) {
  return TensorMemory::word(
      tensor_lane(address) + static_cast<std::uint32_t>(matrix::tensor_lane_of_row(row, rows)),
      tensor_column(address) + column);
}

std::uint32_t columns_of_a(const TensorProduct& p) {
  return p.operation.shape.k * static_cast<std::uint32_t>(p.stored_bits()) / 32;
}

bool is_disabled(const TensorWork& work, std::uint32_t word) {
  const std::uint32_t lane = word % kTensorLanes;
  return (work.disabled[lane / 32] >> lane % 32 & 1) != 0;
}

void negate(std::vector<std::uint64_t>& elements, Type type) {
  const int bits = type == Type::kTF32                          ? 32
                   : type == Type::kF16 || type == Type::kBF16  ? 16
                   : type == Type::kE2M1                        ? 4
                   : type == Type::kE2M3 || type == Type::kE3M2 ? 6
                                                                : 8;
  for (std::uint64_t& e : elements) e ^= std::uint64_t{1} << (bits - 1);
}

// The bytes of a matrix in shared memory as they are now, checked when the work was issued.
std::vector<std::uint64_t> read_shared(const Block& b, std::uint64_t bits, int rows, int columns,
                                       int width, bool across, Type type) {
  Descriptor d;
  understand(bits, d);
  std::vector<std::uint64_t> out(static_cast<std::size_t>(rows) *
                                 static_cast<std::size_t>(columns));
  each_chunk(d, rows, columns, width, across, [&](std::uint32_t address, int line, int first) {
    for (int e = 0; e < 128 / width; ++e) {
      std::uint64_t v = 0;
      std::memcpy(&v, b.shared.bytes.get() + address + e * width / 8,
                  static_cast<std::size_t>(width / 8));
      const int at = first + e;
      out[static_cast<std::size_t>(across ? at * columns + line : line * columns + at)] = v;
    }
  });
  spread_narrow(out.data(), out.size(), type);
  return out;
}

std::vector<std::uint64_t> read_a_of_tensor_memory(const TensorMemory& t, const TensorWork& work,
                                                   const TensorProduct& p) {
  const int rows = p.operation.shape.m, k = p.operation.shape.k, width = p.stored_bits(),
            per = 32 / width;
  const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
  std::vector<std::uint64_t> out;
  out.reserve(static_cast<std::size_t>(rows * k));
  for (int row = 0; row < rows; ++row) {
    for (int e = 0; e < k; ++e) {
      const std::uint32_t word =
          (*t.words)[word_of(work.a_tensor, row, rows, static_cast<std::uint32_t>(e / per))];
      out.push_back(word >> (e % per * width) & mask);
    }
  }
  return out;
}

// Scales of `count` rows or columns, which lie in 32 lanes, the same in each quarter, and the next
// 32 in the next column: a byte each, 2 to the power of it less 127.
std::vector<std::int16_t> scales_of(const TensorMemory& t, std::uint32_t address, int count,
                                    int byte) {
  constexpr int kBias = 127, kNaN = 255;
  std::vector<std::int16_t> scales;
  for (int n = 0; n < count; ++n) {
    const std::uint32_t word =
        (*t.words)[TensorMemory::word(static_cast<std::uint32_t>(n % 32),
                                      tensor_column(address) + static_cast<std::uint32_t>(n / 32))];
    const auto v = static_cast<int>(word >> (8 * byte) & 255);
    scales.push_back(v == kNaN ? matrix::Operation::kNotANumber
                               : static_cast<std::int16_t>(v - kBias));
  }
  return scales;
}

// Whether the scales are there: columns of all lanes that somebody has written.
bool access_scales(Warp& w, int lane, const TensorWork& work, std::uint32_t address, int count,
                   const char* whose) {
  const TensorRegion region{0, kTensorLanes, tensor_column(address),
                            static_cast<std::uint32_t>((count + 31) / 32)};
  if (!access_tensor(w, lane, work.access, region, false)) return false;
  for (std::uint32_t c = 0; c < region.columns; ++c) {
    for (std::uint32_t l = 0; l < kTensorLanes; ++l) {
      if (w.block->tensor->written[TensorMemory::word(l, region.column + c)]) continue;
      return refuse_tensor(w, lane, Kind::kUninitialised,
                           std::string("the scales of ") + whose +
                               " were never written in column " +
                               std::to_string(region.column + c) + ", lane " + std::to_string(l),
                           "tcgen05.cp.32x128b.warpx4 writes them to all four quarters.");
    }
  }
  return true;
}

// The accumulator times 2^-scale.
std::uint64_t scaled(std::uint64_t bits, Type type, int scale) {
  if (scale == 0) return bits;
  if (type == Type::kF32) {
    const auto v = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    return std::bit_cast<std::uint32_t>(std::ldexp(v, -scale));
  }
  // A power of two less, into the subnormal numbers with ties to even.
  const auto sign = static_cast<std::uint32_t>(bits & 0x8000);
  int exponent = static_cast<int>(bits >> 10 & 31);
  std::uint32_t significand = static_cast<std::uint32_t>(bits & 0x3ff);
  if (exponent == 31) return bits;
  if (exponent != 0) significand |= 0x400;
  exponent = std::max(exponent, 1) - scale;
  if (exponent >= 1 && (significand & 0x400) != 0)
    return sign | static_cast<std::uint32_t>(exponent) << 10 | (significand & 0x3ff);
  const int down = 1 - exponent;
  if (down <= 0) return sign | significand;
  const std::uint32_t kept = down > 11 ? 0 : significand >> down,
                      rest = down > 11 ? 0 : significand & ((1u << down) - 1),
                      half = down > 11 ? 1 : 1u << (down - 1);
  return sign | (kept + (rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0));
}

bool issue_multiply(Warp& w, const Op& op, int lane) {
  const TensorOperation& o = listed_operation_of(w, op);
  Block& b = *w.block;
  TensorMemory& t = tensor_of(b);
  TensorWork work;
  work.of = &o;
  work.warp = w.index;
  work.lane = static_cast<std::uint32_t>(lane);
  work.pc = w.pc - 1;
  work.d = static_cast<std::uint32_t>(address_of(w, o.address, lane));
  work.b = source<std::uint64_t>(w, o.b)[lane];
  work.instruction = source<std::uint32_t>(w, o.instruction)[lane];
  work.accumulates = ((predicate(w, o.accumulates) >> lane & 1) != 0) != o.accumulates_negated;
  for (int n = 0; n < 4; ++n) {
    if (o.disabled[n] != kNoSlot) work.disabled[n] = source<std::uint32_t>(w, o.disabled[n])[lane];
  }
  const auto refuse = [&](std::string where, const char* detail) {
    refuse_tensor(w, lane, Kind::kInvalidInstruction, std::move(where), detail);
    w.event = Event::kAbort;
    return false;
  };
  TensorProduct p;
  if (const std::string why = understand(work.instruction, o.kind, p); !why.empty())
    return refuse("its instruction descriptor " + why,
                  "PTX ISA 9.7.16.4.2 has the fields of the descriptor.");
  const isa::Shape& s = p.operation.shape;
  if (!may_begin(work.d, s.m))
    return refuse("the accumulator begins in lane " + std::to_string(tensor_lane(work.d)),
                  "128 rows begin in lane 0, 64 rows in lane 0 or 16.");
  Descriptor da, db;
  if (const std::string why = understand(work.b, db); !why.empty())
    return refuse("the descriptor of B " + why, "PTX ISA 9.7.16.4.1 has the fields.");
  work.access = begin_tensor_access(w, lane, TensorAccess::What::kMultiply);
  std::vector<MatrixBytes> read;
  const int width = p.stored_bits();
  if (o.a == kNoSlot) {
    work.a_tensor = static_cast<std::uint32_t>(address_of(w, o.a_address, lane));
    if (!may_begin(work.a_tensor, s.m))
      return refuse("A begins in lane " + std::to_string(tensor_lane(work.a_tensor)),
                    "128 rows begin in lane 0, 64 rows in lane 0 or 16.");
    if (p.a_across)
      return refuse("its instruction descriptor transposes an A in tensor memory",
                    "There a row lies in a lane.");
    const TensorRegion region = region_of(work.a_tensor, s.m, columns_of_a(p));
    if (!access_tensor(w, lane, work.access, region, false)) return false;
    for (int row = 0; row < s.m; ++row) {
      for (std::uint32_t c = 0; c < region.columns; ++c) {
        if (t.written[word_of(work.a_tensor, row, s.m, c)]) continue;
        if (!refuse_tensor(w, lane, Kind::kUninitialised,
                           "A in tensor memory was never written in column " +
                               std::to_string(region.column + c) + ", row " + std::to_string(row),
                           "tcgen05.st or tcgen05.cp must write it first."))
          return false;
        row = s.m;
        break;
      }
    }
  } else {
    work.a = source<std::uint64_t>(w, o.a)[lane];
    if (const std::string why = understand(work.a, da); !why.empty())
      return refuse("the descriptor of A " + why, "PTX ISA 9.7.16.4.1 has the fields.");
    std::vector<std::uint64_t> whole(std::size_t{s.m} * s.k);
    if (!read_matrix(w, op, da, s.m, s.k, width, p.a_across, whole.data(), read)) return false;
  }
  if (o.row_scales.slot != kNoSlot) {
    work.row_scales = static_cast<std::uint32_t>(address_of(w, o.row_scales, lane));
    work.column_scales = static_cast<std::uint32_t>(address_of(w, o.column_scales, lane));
    if (!access_scales(w, lane, work, work.row_scales, s.m, "A") ||
        !access_scales(w, lane, work, work.column_scales, s.n, "B"))
      return false;
  }
  std::vector<std::uint64_t> whole(std::size_t{s.n} * s.k);
  if (!read_matrix(w, op, db, s.n, s.k, width, p.b_across, whole.data(), read)) return false;
  accessed_as_one(w);
  const TensorRegion region = region_of(work.d, s.m, s.n);
  if (!access_tensor(w, lane, work.access, region, true)) return false;
  bool reported = false;
  for (int row = 0; row < s.m; ++row) {
    for (std::uint32_t c = 0; c < s.n; ++c) {
      const std::uint32_t at = word_of(work.d, row, s.m, c);
      if (is_disabled(work, at)) continue;
      if (work.accumulates && !t.written[at] && !reported) {
        reported = true;
        if (!refuse_tensor(w, lane, Kind::kUninitialised,
                           "the accumulator was never written in column " +
                               std::to_string(region.column + c) + ", row " + std::to_string(row),
                           "The first product of a sum must not add to the accumulator: "
                           "enable-input-d is false there."))
          return false;
      }
      t.written[at] = true;
    }
  }
  enqueue(w, work, std::move(read));
  return true;
}

}  // namespace

void do_multiply(Block& b, const TensorWork& work) {
  TensorMemory& t = *b.tensor;
  TensorProduct p;
  understand(work.instruction, work.of->kind, p);
  matrix::Operation o = p.operation;
  o.compute_capability = b.launch->config->compute_capability;
  o.warpgroup = true;
  const isa::Shape s = o.shape;
  const int width = p.stored_bits();
  std::vector<std::uint64_t> a = work.of->a == kNoSlot
                                     ? read_a_of_tensor_memory(t, work, p)
                                     : read_shared(b, work.a, s.m, s.k, width, p.a_across, o.a),
                             rhs = read_shared(b, work.b, s.n, s.k, width, p.b_across, o.b);
  if (p.a_negated) negate(a, o.a);
  if (p.b_negated) negate(rhs, o.b);
  std::vector<std::uint64_t> c(std::size_t{s.m} * s.n), d(c.size());
  const std::uint64_t mask = o.d == Type::kF16 ? 0xffff : 0xffffffff;
  for (int row = 0; work.accumulates && row < s.m; ++row) {
    for (std::uint32_t n = 0; n < s.n; ++n)
      c[static_cast<std::size_t>(row) * s.n + n] =
          scaled((*t.words)[word_of(work.d, row, s.m, n)] & mask, o.d, work.of->scale);
  }
  std::vector<std::int16_t> rows, columns;
  if (work.of->row_scales.slot != kNoSlot) {
    rows = scales_of(t, work.row_scales, s.m, p.row_scale);
    columns = scales_of(t, work.column_scales, s.n, p.column_scale);
    o.column_scales = columns.data();
  }
  constexpr int kRows = 16;
  o.shape.m = kRows;
  for (int row = 0; row < s.m; row += kRows) {
    const auto at = static_cast<std::size_t>(row);
    if (!rows.empty()) o.row_scales = rows.data() + at;
    matrix::multiply(o, a.data() + at * s.k, rhs.data(), c.data() + at * s.n, nullptr,
                     d.data() + at * s.n);
  }
  std::vector<std::uint32_t>& words = on_write(*b.worker, t.words);
  for (int row = 0; row < s.m; ++row) {
    for (std::uint32_t n = 0; n < s.n; ++n) {
      const std::uint32_t at = word_of(work.d, row, s.m, n);
      if (!is_disabled(work, at))
        words[at] = static_cast<std::uint32_t>(d[static_cast<std::size_t>(row) * s.n + n]);
    }
  }
}

void run_tensor_multiply(Warp& w, const Op& op, LaneMask mask) {
  for (LaneMask todo = mask; todo != 0 && w.event != Event::kAbort; todo &= todo - 1) {
    if (!issue_multiply(w, op, std::countr_zero(todo))) return;
  }
}

}  // namespace lockstep::engine
