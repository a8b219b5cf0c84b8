// ldmatrix, stmatrix, wmma.load and wmma.store: matrices between memory and the registers of a
// warp.
#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "simulator/engine/access/access.h"
#include "simulator/engine/access/global_memory.h"
#include "simulator/engine/monitor/races.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/monitor/uninitialised.h"
#include "simulator/engine/ops/matrix/unchecked_fragments.h"
#include "simulator/engine/ops/matrix/whole_warp.h"
#include "simulator/engine/state/lane_addresses.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/relaxed_bytes.h"
#include "simulator/engine/state/request.h"

namespace lockstep::engine {
namespace {

using isa::Space;
using program::Matrix;
using program::MatrixRegisters;

const Matrix& matrix_of(const Warp& w, const Op& op) {
  return w.block->program->matrices[static_cast<std::size_t>(op.immediate)];
}

Request request(const Warp& w, const Op& op, std::uint32_t size) {
  Request r;
  r.op = &op;
  r.pc = w.pc - 1;
  r.size = size;
  return r;
}

// --- Rows of 16 bytes.
//
// For 8 by 8 matrices of 16 bits, lane 8 * m + i has the address of row i of matrix m. Lane l holds
// elements 2 * (l % 4) and the next of row l / 4 of a matrix (PTX ISA 9.7.14.5.15), or of column l
// / 4 if transposed. For transposed bytes, lane l holds columns l / 4 and l / 4 + 8. Of 8 rows it
// holds rows 2 * (l % 4) and the next, in one register. Of 16 rows it holds rows 4 * (l % 4) and
// the next three, in two registers. The manual shows these layouts only in figures; this code
// follows CUTLASS (cute/atom/copy_traits_sm100.hpp).
using RowsKind = program::MatrixRowsFields::Kind;

constexpr bool has_bytes(RowsKind kind) { return kind >= RowsKind::kBytesAcross16; }

struct Piece {
  int holder, byte;  // the lane that has the address of the row
};
// Part `e` of register `m`: one of two of 16 bits, or one of four bytes.
Piece piece(int lane, int m, int e, RowsKind kind) {
  const int across = lane >> 2, along = lane & 3, byte = across + 8 * (e >> 1);
  switch (kind) {
    case RowsKind::kHalves: return {8 * m + across, 2 * (2 * along + e)};
    case RowsKind::kHalvesAcross: return {8 * m + 2 * along + e, 2 * across};
    case RowsKind::kBytesAcross16: return {16 * (m / 2) + 4 * along + 2 * (m % 2) + (e & 1), byte};
    case RowsKind::kBytesAcross8: return {8 * m + 2 * along + (e & 1), byte};
  }
  return {};
}

// Expands 16 elements of `bits` bits to 16 bytes with one element each, and `missing` likewise.
void spread_row(std::byte* row, std::uint32_t& missing, int bits) {
  std::byte narrow[17] = {};
  std::memcpy(narrow, row, 16);
  std::uint32_t spread = 0;
  for (int e = 0; e < 16; ++e) {
    const int bit = e * bits, first = bit / 8, last = (bit + bits - 1) / 8;
    const int two = std::to_integer<int>(narrow[first]) | std::to_integer<int>(narrow[first + 1])
                                                              << 8;
    row[e] = static_cast<std::byte>(two >> (bit % 8) & ((1 << bits) - 1));
    spread |= ((missing >> first | missing >> last) & 1) << e;
  }
  missing = spread;
}

LaneMask lanes_with_rows(const Op& op) {
  return op.elements == 4 ? kAllLanes : (1u << (8 * op.elements)) - 1;
}

// Whether all of these generic addresses are in shared memory; these instructions may access no
// other space.
bool in_shared(Warp& w, const Op& op, const Request& r, LaneMask lanes) {
  if (static_cast<Space>(op.space) != Space::kGeneric) return true;
  LaneMask outside = 0;
  each(lanes, [&](int l) {
    outside |= LaneMask{r.address[l] - w.block->launch->shared_window >= (1ull << 32)} << l;
  });
  if (outside == 0) return true;
  check::Finding f = finding_at(w, w.pc - 1, outside, check::Kind::kInvalidInstruction);
  f.access.address = r.address[std::countr_zero(outside)];
  f.where = "the address is not one of shared memory, where this instruction reads and writes";
  report(w, std::move(f));
  return false;
}

}  // namespace

void run_load_matrix(Warp& w, const Op& op, LaneMask mask) {
  if (!whole_warp(w, op, mask)) return;
  Request r = request(w, op, 16);
  r.reads = true;
  matrix_addresses(w, op, r.address);
  const LaneMask lanes = lanes_with_rows(op);
  if (!in_shared(w, op, r, lanes) || !resolve(w, r, static_cast<Space>(op.space), lanes)) return;
  accessed_as_one(w);
  alignas(16) std::byte rows[kWarpSize][16];
  each(lanes, [&](int l) { load_element<16>(rows[l], r.host[l]); });
  if (r.unwritten != 0) begin_tracking(w);
  const auto fields = op.as<program::MatrixRowsFields>();
  const RowsKind kind = fields.kind();
  if (const int bits = fields.narrow_bits(); bits != 0) {
    each(lanes, [&](int l) {
      std::uint32_t missing = (r.unwritten >> l & 1) != 0 ? r.missing[l] : 0;
      spread_row(rows[l], missing, bits);
      if ((r.unwritten >> l & 1) != 0) r.missing[l] = missing;
    });
  }
  const int unit = has_bytes(kind) ? 1 : 2;
  const std::uint32_t unit_mask = (1u << unit) - 1;
  for (int m = 0; m < op.elements; ++m) {
    const Slot slot =
        w.block->program->slots[op.as<ListedFields>().first() + static_cast<std::uint32_t>(m)];
    if (slot == kNoSlot) continue;
    auto* d = destination<std::uint32_t>(w, slot);
    LaneMask invalid = 0;
    std::uint8_t bytes[kWarpSize] = {};
    each(mask, [&](int l) {
      std::uint32_t v = 0;
      for (int e = 0; e < 4 / unit; ++e) {
        const auto [holder, byte] = piece(l, m, e, kind);
        std::uint16_t part = 0;
        std::memcpy(&part, rows[holder] + byte, static_cast<std::size_t>(unit));
        v |= std::uint32_t{part} << (8 * unit * e);
        if (!(r.unwritten >> holder & 1) || (r.missing[holder] >> byte & unit_mask) == 0) continue;
        invalid |= 1u << l;
        bytes[l] |=
            static_cast<std::uint8_t>((r.missing[holder] >> byte & unit_mask) << (unit * e));
      }
      d[l] = v;
    });
    if (r.unwritten != 0)
      mark_register(w, slot, invalid, mask, w.pc - 1, check::Kind::kUninitialised, bytes);
  }
}

static void store_rows(Warp&, const Request& r, LaneMask lanes) {
  each(lanes, [&](int l) {
    store_element<16>(r.host[l], r.value + static_cast<std::uint32_t>(l) * r.value_stride);
  });
}

void run_store_matrix(Warp& w, const Op& op, LaneMask mask) {
  if (!whole_warp(w, op, mask)) return;
  Request r = request(w, op, 16);
  r.writes = true;
  matrix_addresses(w, op, r.address);
  const LaneMask lanes = lanes_with_rows(op);
  if (!in_shared(w, op, r, lanes)) return;
  alignas(16) std::byte rows[kWarpSize][16] = {};
  const RowsKind kind = op.as<program::MatrixRowsFields>().kind();
  const int unit = has_bytes(kind) ? 1 : 2;
  for (int m = 0; m < op.elements; ++m) {
    const Slot slot =
        w.block->program->slots[op.as<ListedFields>().first() + static_cast<std::uint32_t>(m)];
    const auto* s = source<std::uint32_t>(w, slot);
    const Validity::Word* word =
        w.control->tracking ? validity_word(w.control->frames[w.control->frame], slot) : nullptr;
    each(mask, [&](int l) {
      for (int e = 0; e < 4 / unit; ++e) {
        const auto [holder, byte] = piece(l, m, e, kind);
        const auto v = static_cast<std::uint16_t>(s[l] >> (8 * unit * e));
        std::memcpy(rows[holder] + byte, &v, static_cast<std::size_t>(unit));
        if (word == nullptr || !(word->invalid >> l & 1)) continue;
        const std::uint32_t missing = word->bytes[l] >> (unit * e) & ((1u << unit) - 1);
        if (missing == 0) continue;
        if (!(r.invalid >> holder & 1)) r.missing[holder] = 0;
        r.invalid |= 1u << holder;
        r.missing[holder] |= missing << byte;
        r.derived |= (word->derived >> l & 1) << holder;
        r.invalid_word = word;
      }
    });
  }
  r.value = rows[0];
  r.value_stride = sizeof rows[0];
  r.same = &value_is_there;
  // Rows of one instruction may lie at one place, so each row is stored as soon as it is recorded.
  if (w.block->launch->check_races) r.store = &store_rows;
  if (!resolve(w, r, static_cast<Space>(op.space), lanes)) return;
  accessed_as_one(w);
  if (r.invalid != 0) {
    note_unwritten_store(w, r);
    keep_origins(w, r);
  }
  store_rows(w, r, lanes & ~r.stored);
}

namespace {

// --- wmma: every lane moves its own elements, register by register. Elements smaller than a byte
// fill a register with one access.

// All lanes must agree on the matrix. Returns false if a finding ends the launch.
bool lattice(Warp& w, const Op& op, LaneMask mask, Lattice& out) {
  const Matrix& m = matrix_of(w, op);
  std::uint64_t base[kWarpSize];
  matrix_addresses(w, op, base);
  const int first = std::countr_zero(mask);
  const auto* strides = op.src[1] == kNoSlot ? nullptr : source<std::uint32_t>(w, op.src[1]);
  out = {base[first], strides == nullptr ? m.natural_stride : strides[first]};
  LaneMask differ = 0;
  each(mask, [&](int l) {
    differ |= LaneMask{base[l] != out.base || (strides != nullptr && strides[l] != out.stride)}
              << l;
  });
  const auto refuse = [&](LaneMask lanes, check::Kind kind, std::string where) {
    check::Finding f = finding_at(w, w.pc - 1, lanes, kind);
    f.access.address = base[std::countr_zero(lanes)];
    f.where = std::move(where);
    report(w, std::move(f));
    return false;
  };
  if (differ != 0) {
    return refuse(differ, check::Kind::kInvalidInstruction,
                  "its address or stride differs from that of lane " + std::to_string(first) +
                      ": all lanes must have the same");
  }
  // PTX ISA 9.7.14.4.3: every row starts at a multiple of the fragment's size. For a stride, 16
  // bytes are sufficient (CUDA C++ Programming Guide, warp matrix functions).
  const auto size = static_cast<std::uint64_t>(m.d.registers * (m.d.bits == 64 ? 8 : 4));
  if (out.base % size != 0) {
    return refuse(mask, check::Kind::kMisaligned,
                  "the address of this matrix must be a multiple of its fragment's size, " +
                      std::to_string(size) + " bytes");
  }
  const std::uint64_t bits = out.stride * static_cast<std::uint64_t>(m.d.bits);
  if (strides != nullptr && bits % (8 * std::min<std::uint64_t>(size, 16)) != 0) {
    return refuse(mask, check::Kind::kMisaligned,
                  "the stride is " + std::to_string(out.stride) +
                      " elements, which is no multiple of " +
                      std::to_string(std::min<std::uint64_t>(size, 16)) + " bytes");
  }
  return true;
}

// The address of element `n` of each lane.
void element_addresses(const Matrix& m, const Lattice& at, int n, std::uint64_t* out) {
  const int elements = m.d.elements();
  for (int l = 0; l < kWarpSize; ++l) {
    const auto e = static_cast<std::size_t>(l * elements + n);
    const std::uint64_t index = m.lines[e] * at.stride + m.places_in_line[e];
    out[l] = at.base + index * static_cast<std::uint64_t>(m.d.bits) / 8;
  }
}

// Whether one access of four bytes for each lane moves all elements of a register. They must be
// adjacent, in aligned words of global memory that kernels may access. r.address: of the first
// element.
bool is_word(Warp& w, const Op& op, const Matrix& m, const Lattice& at, int first, int elements,
             const Request& r) {
  if (elements == 1 || static_cast<Space>(op.space) != Space::kGlobal) return false;
  const Extent e = extent(r.address, kAllLanes);
  if (e.bits % 4 != 0 || !holds(cached(*w.block->worker, op), e.low, e.high - e.low + 4))
    return false;
  std::uint64_t next[kWarpSize];
  for (int i = 1; i < elements; ++i) {
    element_addresses(m, at, first + i, next);
    std::uint64_t apart = 0;
    for (int l = 0; l < kWarpSize; ++l)
      apart |= next[l] ^ (r.address[l] + static_cast<std::uint64_t>(i) * op.width);
    if (apart != 0) return false;
  }
  return true;
}

// Calls `move` for every access, with the register's slot, the byte of the register, and the
// request with its addresses.
template <class Move>
void each_access(Warp& w, const Op& op, const Lattice& at, bool reads, const Move& move) {
  const Matrix& m = matrix_of(w, op);
  const int per = m.d.bits >= 32 ? 1 : 32 / m.d.bits,
            accesses = m.d.bits < 8 ? 1 : per;  // a register
  for (int n = 0; n < m.d.registers; ++n) {
    for (int e = 0; e < accesses; ++e) {
      Request r = request(w, op, op.width);
      (reads ? r.reads : r.writes) = true;
      element_addresses(m, at, n * per + e, r.address);
      const bool whole = e == 0 && is_word(w, op, m, at, n * per, accesses, r);
      if (whole) {
        r.size = 4;
        e = accesses;
      }
      if (!move(r, w.block->program->slots[m.d.first + static_cast<std::uint32_t>(n)],
                whole ? 0 : e * op.width, m.d.bits == 64 ? 8 : 4))
        return;
    }
  }
}

}  // namespace

void run_load_fragment(Warp& w, const Op& op, LaneMask mask) {
  Lattice at;
  if (!whole_warp(w, op, mask) || !lattice(w, op, mask, at)) return accessed_as_one(w);
  if (load_unchecked(w, op, at, mask)) return accessed_as_one(w);
  // A register is complete only after its last element, so the marks of unwritten bytes are
  // collected first.
  std::uint8_t missing[kWarpSize] = {};
  LaneMask invalid = 0;
  each_access(w, op, at, true, [&](Request& r, Slot slot, int byte, int register_bytes) {
    if (byte == 0) invalid = 0, std::memset(missing, 0, sizeof missing);
    if (!resolve(w, r, static_cast<Space>(op.space), mask)) return false;
    if (slot == kNoSlot) return true;
    auto* d = destination<std::byte>(w, slot);
    each(mask, [&](int l) {
      std::byte v[16];  // an element has at most 8 bytes, but the compiler cannot see that
      load_element(v, r.host[l], r.size);
      std::memcpy(d + l * register_bytes + byte, v, r.size);
      if (!(r.unwritten >> l & 1)) return;
      invalid |= 1u << l;
      missing[l] |= static_cast<std::uint8_t>((r.missing[l] & ((1u << r.size) - 1)) << byte);
    });
    if (r.unwritten != 0) begin_tracking(w);
    if (w.control->tracking)
      mark_register(w, slot, invalid, mask, w.pc - 1, check::Kind::kUninitialised, missing);
    return true;
  });
  accessed_as_one(w);
}

void run_store_fragment(Warp& w, const Op& op, LaneMask mask) {
  Lattice at;
  if (!whole_warp(w, op, mask) || !lattice(w, op, mask, at)) return accessed_as_one(w);
  if (store_unchecked(w, op, at, mask)) return accessed_as_one(w);
  each_access(w, op, at, false, [&](Request& r, Slot slot, int byte, int register_bytes) {
    if (const Validity::Word* word = w.control->tracking
                                         ? validity_word(w.control->frames[w.control->frame], slot)
                                         : nullptr) {
      each(word->invalid & mask, [&](int l) {
        const std::uint32_t missing = word->bytes[l] >> byte & ((1u << r.size) - 1);
        if (missing == 0) return;
        r.invalid |= 1u << l;
        r.missing[l] = missing;
        r.derived |= word->derived & (1u << l);
        r.invalid_word = word;
      });
    }
    r.value = source<std::byte>(w, slot) + byte;
    r.value_stride = static_cast<std::uint32_t>(register_bytes);
    r.same = &value_is_there;
    if (!resolve(w, r, static_cast<Space>(op.space), mask)) return false;
    if (r.invalid != 0) {
      note_unwritten_store(w, r);
      keep_origins(w, r);
    }
    each(mask, [&](int l) { store_element(r.host[l], r.value + l * register_bytes, r.size); });
    return true;
  });
  accessed_as_one(w);
}

}  // namespace lockstep::engine
