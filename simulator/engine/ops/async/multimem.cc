#include "simulator/engine/ops/async/multimem.h"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "simulator/engine/access/access.h"
#include "simulator/engine/monitor/progress.h"
#include "simulator/engine/monitor/races.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/monitor/uninitialised.h"
#include "simulator/engine/ops/async/async_copy.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/relaxed_bytes.h"
#include "simulator/engine/state/request.h"
#include "simulator/engine/state/turns.h"
#include "simulator/engine/state/worker.h"

namespace lockstep::engine {
namespace {

using isa::AtomOp;
using isa::Space;
using isa::Type;
using program::Multimem;

// The number format of one element of the type.
enum class NumberKind { kUnsigned, kSigned, kHalf, kBrain, kE4M3, kE5M2, kFloat, kDouble };
struct NumberElement {
  NumberKind kind;
  std::uint32_t bytes;
};
NumberElement element_of(Type t) {
  switch (t) {
    case Type::kF16:
    case Type::kF16x2: return {NumberKind::kHalf, 2};
    case Type::kBF16:
    case Type::kBF16x2: return {NumberKind::kBrain, 2};
    case Type::kE4M3:
    case Type::kE4M3x2:
    case Type::kE4M3x4: return {NumberKind::kE4M3, 1};
    case Type::kE5M2:
    case Type::kE5M2x2:
    case Type::kE5M2x4: return {NumberKind::kE5M2, 1};
    case Type::kF32: return {NumberKind::kFloat, 4};
    case Type::kF64: return {NumberKind::kDouble, 8};
    default:
      return {isa::is_signed(t) ? NumberKind::kSigned : NumberKind::kUnsigned,
              static_cast<std::uint32_t>(isa::size_of(t))};
  }
}

std::uint64_t bits_at(const std::byte* bytes, std::uint32_t count) {
  std::uint64_t v = 0;
  std::memcpy(&v, bytes, count);
  return v;
}

// An 8-bit format with `fraction` fraction bits. e4m3 has no infinity, and its NaN is 0x7f.
double of_eight(std::uint32_t bits, int fraction) {
  const std::uint32_t magnitude = bits & 0x7f, field = magnitude >> fraction,
                      rest = magnitude & ((1u << fraction) - 1);
  const int bias = fraction == 3 ? 7 : 15;
  double v;
  if (fraction == 3 ? magnitude == 0x7f : magnitude > 0x7c) {
    v = NAN;
  } else if (fraction == 2 && magnitude == 0x7c) {
    v = INFINITY;
  } else {
    v = std::ldexp(field == 0 ? rest : rest + (1u << fraction),
                   static_cast<int>(std::max(field, 1u)) - bias - fraction);
  }
  return bits >> 7 & 1 ? -v : v;
}
// Rounds to nearest even. Values beyond the largest finite one become that value, as with
// cvt.satfinite.
std::uint32_t to_eight(double v, int fraction) {
  const std::uint32_t sign = std::signbit(v) ? 0x80 : 0;
  if (std::isnan(v)) return 0x7f;
  const std::uint32_t largest = fraction == 3 ? 0x7e : 0x7b;
  const int bias = fraction == 3 ? 7 : 15;
  const double magnitude = std::fabs(v);
  if (magnitude == 0) return sign;
  const int e = std::isinf(v) ? 1000 : std::max(std::ilogb(magnitude), 1 - bias);
  if (e > bias + 1) return sign | largest;
  const auto places =
      static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, fraction - e)));
  return sign | std::min(largest, places + (static_cast<std::uint32_t>(e + bias - 1) << fraction));
}

double value_of(NumberKind kind, std::uint64_t bits) {
  switch (kind) {
    case NumberKind::kHalf: return static_cast<double>(_cvtsh_ss(static_cast<std::uint16_t>(bits)));
    case NumberKind::kBrain:
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits << 16)));
    case NumberKind::kE4M3: return of_eight(static_cast<std::uint32_t>(bits), 3);
    case NumberKind::kE5M2: return of_eight(static_cast<std::uint32_t>(bits), 2);
    case NumberKind::kFloat:
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    default: return std::bit_cast<double>(bits);
  }
}
std::uint64_t bits_of(NumberKind kind, double v) {
  const bool nan = std::isnan(v);
  switch (kind) {
    case NumberKind::kHalf:
      return nan ? 0x7fff : _cvtss_sh(static_cast<float>(v), _MM_FROUND_TO_NEAREST_INT);
    case NumberKind::kBrain: {
      const auto u = std::bit_cast<std::uint32_t>(static_cast<float>(v));
      return nan ? 0x7fff : (u + 0x7fff + (u >> 16 & 1)) >> 16;
    }
    case NumberKind::kE4M3: return to_eight(v, 3);
    case NumberKind::kE5M2: return to_eight(v, 2);
    case NumberKind::kFloat:
      return nan ? 0x7fffffff : std::bit_cast<std::uint32_t>(static_cast<float>(v));
    default: return nan ? 0x7fffffffffffffff : std::bit_cast<std::uint64_t>(v);
  }
}

std::uint64_t combine_integers(AtomOp op, bool is_signed, std::uint32_t bytes, std::uint64_t a,
                               std::uint64_t b) {
  const auto extended = [&](std::uint64_t v) {
    return bytes == 4 ? std::int64_t{static_cast<std::int32_t>(v)} : static_cast<std::int64_t>(v);
  };
  const bool less = is_signed ? extended(a) < extended(b) : a < b;
  switch (op) {
    case AtomOp::kMin: return less ? a : b;
    case AtomOp::kMax: return less ? b : a;
    case AtomOp::kAnd: return a & b;
    case AtomOp::kOr: return a | b;
    case AtomOp::kXor: return a ^ b;
    default: return a + b;
  }
}

// The smaller or larger of two values: minus zero is less than zero, and a NaN loses.
std::uint64_t extreme(AtomOp op, NumberKind kind, std::uint64_t a, std::uint64_t b) {
  const double x = value_of(kind, a), y = value_of(kind, b);
  if (std::isnan(x) || std::isnan(y)) {
    return std::isnan(x) && std::isnan(y) ? bits_of(kind, x) : std::isnan(x) ? b : a;
  }
  const bool less = x < y || (x == y && std::signbit(x) && !std::signbit(y));
  return less == (op == AtomOp::kMin) ? a : b;
}

std::uint64_t combine(AtomOp op, const NumberElement& e, std::uint64_t a, std::uint64_t b) {
  if (e.kind == NumberKind::kUnsigned || e.kind == NumberKind::kSigned)
    return combine_integers(op, e.kind == NumberKind::kSigned, e.bytes, a, b);
  if (op != AtomOp::kAdd) return extreme(op, e.kind, a, b);
  // f64 has more than twice the bits of the smaller types: rounding the f64 sum again changes
  // nothing.
  return bits_of(e.kind, value_of(e.kind, a) + value_of(e.kind, b));
}

// One lane's access.
class MultimemLane {
 public:
  MultimemLane(Warp& w, const Op& op, int lane)
      : w_(w),
        op_(op),
        access_(w.block->program->multimem[op.as<SideDataFields>().index()]),
        element_(element_of(access_.type)),
        lane_(lane),
        pc_(w.pc - 1),
        register_bytes_(static_cast<std::uint32_t>(isa::size_of(access_.type))),
        size_(register_bytes_ * access_.elements) {}

  void run() {
    const std::uint64_t address = address_of(w_, access_.address, lane_);
    if (address % size_ != 0) {
      report_misaligned_copy(w_, pc_, 1u << lane_, address, size_);
      return;
    }
    std::uint64_t offset = 0;
    const memory::MulticastRange* range =
        w_.block->worker->memory->multicast.find(address, size_, &offset);
    if (range == nullptr) return refuse(address, "the address is none of a multicast object");
    gather_operands();
    for (const int device : range->devices) {
      const std::uint64_t place = range->place(device, offset, size_);
      if (place == 0)
        return refuse(address, "device " + std::to_string(device) +
                                   " has no memory bound to the multicast object there, or has it "
                                   "mapped nowhere");
      if (!visit(place)) return;
      first_ = false;
    }
    if (access_.what == Multimem::What::kLoadReduce) put_results();
  }

 private:
  void refuse(std::uint64_t address, std::string where) {
    check::Finding f = finding_at(w_, pc_, 1u << lane_, check::Kind::kInvalidInstruction);
    f.access.address = address;
    f.access.size = size_;
    f.where = std::move(where);
    f.detail =
        "cuMulticastCreate makes an object, cuMulticastBindMem binds memory of each device to it, "
        "and cuMemMap gives it addresses.";
    report(w_, std::move(f));
  }

  void gather_operands() {
    if (access_.what == Multimem::What::kLoadReduce) return;
    for (std::uint32_t e = 0; e < access_.elements; ++e) {
      std::byte* to = value_ + e * register_bytes_;
      switch (register_bytes_) {
        case 1: std::memcpy(to, &source<std::uint8_t>(w_, access_.data[e])[lane_], 1); break;
        case 2: std::memcpy(to, &source<std::uint16_t>(w_, access_.data[e])[lane_], 2); break;
        case 4: std::memcpy(to, &source<std::uint32_t>(w_, access_.data[e])[lane_], 4); break;
        default: std::memcpy(to, &source<std::uint64_t>(w_, access_.data[e])[lane_], 8); break;
      }
    }
  }

  // Accesses the memory of one device.
  bool visit(std::uint64_t place) {
    Op target = side(op_, Space::kGlobal);
    target.as<MemoryFields>().add(access_.order);
    Request r;
    r.op = &target;
    r.pc = pc_;
    r.size = size_;
    std::fill(r.address, r.address + kWarpSize, place);
    r.reads = access_.what != Multimem::What::kStore;
    r.writes = access_.what != Multimem::What::kLoadReduce;
    r.counts_changes = access_.what == Multimem::What::kReduce;
    if (!resolve(w_, r, Space::kGlobal, 1u << lane_)) return false;
    if (r.unwritten != 0 && !report_unwritten_change(w_, r, Space::kGlobal, r.unwritten))
      return false;
    switch (access_.what) {
      case Multimem::What::kStore: store_element(r.host[lane_], value_, size_); break;
      case Multimem::What::kReduce: reduce(r.host[lane_]); break;
      case Multimem::What::kLoadReduce: take(r.host[lane_]); break;
    }
    if (r.reads && w_.block->worker->between_blocks)
      after_strong_read(w_, target, r.address, 1u << lane_);
    return true;
  }

  void take(const std::byte* host) {
    std::byte now[16];
    load_element(now, host, size_);
    for (std::uint32_t at = 0, n = 0; at < size_; at += element_.bytes, ++n) {
      const std::uint64_t bits = bits_at(now + at, element_.bytes);
      if (first_) {
        sums_[n] =
            access_.wide_sum ? std::bit_cast<std::uint64_t>(value_of(element_.kind, bits)) : bits;
      } else if (access_.wide_sum) {
        const double sum = std::bit_cast<double>(sums_[n]) + value_of(element_.kind, bits);
        sums_[n] = std::bit_cast<std::uint64_t>(rounded(sum));
      } else {
        sums_[n] = combine(access_.reduction, element_, sums_[n], bits);
      }
    }
  }
  // Rounds to .acc::f32 or, for 8-bit types, to .acc::f16.
  double rounded(double v) const {
    if (element_.bytes == 2) return static_cast<double>(static_cast<float>(v));
    return value_of(NumberKind::kHalf, bits_of(NumberKind::kHalf, v));
  }

  // Reduces each unit of four or eight bytes separately.
  void reduce(std::byte* host) {
    const std::uint32_t unit = element_.bytes == 8 ? 8 : 4;
    bool changed = false;
    for (std::uint32_t at = 0; at < size_; at += unit) {
      changed |= unit == 8 ? reduce_unit<std::uint64_t>(host + at, value_ + at)
                           : reduce_unit<std::uint32_t>(host + at, value_ + at);
    }
    on_write(*w_.block->worker, changed);
  }
  template <class U>
  bool reduce_unit(std::byte* host, const std::byte* value) {
    U* const p = reinterpret_cast<U*>(host);
    U old = __atomic_load_n(p, __ATOMIC_SEQ_CST), now;
    do {
      now = 0;
      for (std::uint32_t at = 0; at < sizeof(U); at += element_.bytes) {
        const U mask = element_.bytes == sizeof(U) ? ~U{0} : (U{1} << 8 * element_.bytes) - 1;
        const std::uint64_t sum = combine(access_.reduction, element_, old >> 8 * at & mask,
                                          bits_at(value + at, element_.bytes));
        now |= (static_cast<U>(sum) & mask) << 8 * at;
      }
    } while (!__atomic_compare_exchange_n(p, &old, now, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    return now != old;
  }

  void put_results() {
    std::byte out[16];
    for (std::uint32_t at = 0, n = 0; at < size_; at += element_.bytes, ++n) {
      const std::uint64_t bits =
          access_.wide_sum ? bits_of(element_.kind, std::bit_cast<double>(sums_[n])) : sums_[n];
      std::memcpy(out + at, &bits, element_.bytes);
    }
    for (std::uint32_t e = 0; e < access_.elements; ++e) {
      const Slot slot = access_.data[e];
      if (slot == kNoSlot) continue;
      const std::byte* from = out + e * register_bytes_;
      switch (register_bytes_) {
        case 1: std::memcpy(&destination<std::uint8_t>(w_, slot)[lane_], from, 1); break;
        case 2: std::memcpy(&destination<std::uint16_t>(w_, slot)[lane_], from, 2); break;
        case 4: std::memcpy(&destination<std::uint32_t>(w_, slot)[lane_], from, 4); break;
        default: std::memcpy(&destination<std::uint64_t>(w_, slot)[lane_], from, 8); break;
      }
    }
  }

  Warp& w_;
  const Op& op_;
  const Multimem& access_;
  NumberElement element_;
  int lane_;
  std::uint32_t pc_, register_bytes_, size_;
  bool first_ = true;
  std::byte value_[16] = {};
  std::uint64_t sums_[16] = {};
};

}  // namespace

void run_multimem(Warp& w, const Op& op, LaneMask mask) {
  for (LaneMask todo = mask; todo != 0 && w.event != Event::kAbort; todo &= todo - 1)
    MultimemLane(w, op, std::countr_zero(todo)).run();
  const std::uint8_t order = w.block->program->multimem[op.as<SideDataFields>().index()].order;
  if ((order & kRelease) != 0) released(w);
  if ((order & kAcquire) != 0) acquired(w);
  if ((order & kStrong) != 0) strong_access(w);
}

}  // namespace lockstep::engine
