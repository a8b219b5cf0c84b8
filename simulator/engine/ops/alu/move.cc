// Moves and selections: PTX ISA 9.7.9 (mov, with its packing and unpacking forms) and 9.7.6 (selp,
// slct).
#include "simulator/engine/ops/alu/forms.h"
#include "simulator/engine/ops/alu/lanes.h"

namespace lockstep::engine::alu {
namespace {

template <class T>
LOCKSTEP_INLINE T same(T a) {
  return a;
}

void move_predicate(Warp& w, const Op& op, LaneMask mask) {
  set_predicate(w, op.dst, source_predicate(w, op, 0), mask);
}

// Part `Index` (0: least significant) of a wide register, to or from a register of its own.
template <class Part, int Parts>
LOCKSTEP_INLINE void store_part(Warp& w, Slot slot, const Part* r, LaneMask mask) {
  if (slot == kNoSlot) return;  // the sink, _
  store_lanes(destination<Part>(w, slot), r, mask);
}

// Through local copies: a destination may be one of the sources' own slots.
template <class Whole, class Part, int Parts>
void unpack(Warp& w, const Op& op, LaneMask mask) {
  const Part* a = source<Part>(w, op.src[0]);
  Part r[Parts][kWarpSize];
  for (int i = 0; i < kWarpSize; ++i) {
    for (int p = 0; p < Parts; ++p) r[p][i] = a[i * Parts + p];
  }
  store_part<Part, Parts>(w, op.dst, r[0], mask);
  store_part<Part, Parts>(w, op.dst2, r[1], mask);
  if constexpr (Parts == 4) {
    store_part<Part, Parts>(w, op.src[1], r[2], mask);
    store_part<Part, Parts>(w, op.src[2], r[3], mask);
  }
}

template <class Whole, class Part, int Parts>
void pack(Warp& w, const Op& op, LaneMask mask) {
  Part r[kWarpSize * Parts];
  for (int p = 0; p < Parts; ++p) {
    const Part* a = source<Part>(w, op.src[p]);
    for (int i = 0; i < kWarpSize; ++i) r[i * Parts + p] = a[i];
  }
  Whole whole[kWarpSize];
  __builtin_memcpy(whole, r, sizeof r);
  store_lanes(destination<Whole>(w, op.dst), whole, mask);
}

template <class Whole, class Part, int Parts>
Handler pack_or_unpack(const AluKey& key) {
  bool packs = key.register_bytes[0] == sizeof(Whole);
  bool unpacks = key.register_bytes[Parts] == sizeof(Whole);
  for (int p = 0; p < Parts; ++p) {
    packs = packs && key.register_bytes[p + 1] == sizeof(Part);
    unpacks = unpacks && key.register_bytes[p] == sizeof(Part);
  }
  return packs ? &pack<Whole, Part, Parts> : unpacks ? &unpack<Whole, Part, Parts> : nullptr;
}

// 128-bit registers are moved as a whole; no arithmetic uses them.
struct Bits128 {
  u64 low, high;
};

int width_of(Type type) {
  switch (type) {
    case Type::kB8: return 1;
    case Type::kB16:
    case Type::kU16:
    case Type::kS16:
    case Type::kF16:
    case Type::kBF16: return 2;
    case Type::kB32:
    case Type::kU32:
    case Type::kS32:
    case Type::kF32:
    case Type::kF16x2:
    case Type::kBF16x2: return 4;
    case Type::kB64:
    case Type::kU64:
    case Type::kS64:
    case Type::kF64: return 8;
    case Type::kB128: return 16;
    default: return -1;
  }
}

// The response of clusterlaunchcontrol.try_cancel, which is opaque to programs: the index of the
// cluster's first block, and whether the cluster was cancelled.
struct CancelAnswer {
  u32 at[3], canceled;
};
void query_canceled(Warp& w, const Op& op, LaneMask mask) {
  const auto* a = source<CancelAnswer>(w, op.src[0]);
  LaneMask r = 0;
  for (int i = 0; i < kWarpSize; ++i) r |= LaneMask{a[i].canceled != 0} << i;
  set_predicate(w, op.dst, r, mask);
}
template <int Dimension>
LOCKSTEP_INLINE u32 first_block(CancelAnswer a) {
  return a.at[Dimension];
}
Handler query_form(const AluKey& key) {
  switch (key.modifiers.variant) {
    case 0: return widths(key, 0, 16) ? &query_canceled : nullptr;
    // The fourth value has no meaning.
    case 1: return widths(key, 4, 4, 4, 4, 16) ? &unpack<Bits128, u32, 4> : nullptr;
    case 2: return widths(key, 4, 16) ? &unary<u32, CancelAnswer, first_block<0>> : nullptr;
    case 3: return widths(key, 4, 16) ? &unary<u32, CancelAnswer, first_block<1>> : nullptr;
    case 4: return widths(key, 4, 16) ? &unary<u32, CancelAnswer, first_block<2>> : nullptr;
    default: return nullptr;
  }
}

Handler move_form(const AluKey& key) {
  const bool vector =
      key.modifiers.variant !=
      0;  // so the table of forms distinguishes packing and unpacking from plain moves
  if (!only(key, vector ? std::uint32_t{kVariant} : 0u) || vector != (key.operand_count > 2))
    return nullptr;
  if (key.modifiers.type == Type::kPred) return widths(key, 0, 0) ? &move_predicate : nullptr;
  const int n = width_of(key.modifiers.type);
  if (key.operand_count == 2 && !key.has_second_destination) {
    if (key.register_bytes[0] != n || key.register_bytes[1] != n) return nullptr;
    switch (n) {
      case 1: return &unary<u8, u8, same<u8>>;
      case 2: return &unary<u16, u16, same<u16>>;
      case 4: return &unary<u32, u32, same<u32>>;
      case 8: return &unary<u64, u64, same<u64>>;
      case 16: return &unary<Bits128, Bits128, same<Bits128>>;
      default: return nullptr;
    }
  }
  if (key.operand_count == 3) {
    switch (n) {
      case 2: return pack_or_unpack<u16, u8, 2>(key);
      case 4: return pack_or_unpack<u32, u16, 2>(key);
      case 8: return pack_or_unpack<u64, u32, 2>(key);
      case 16: return pack_or_unpack<Bits128, u64, 2>(key);
      default: return nullptr;
    }
  }
  if (key.operand_count == 5) {
    switch (n) {
      case 4: return pack_or_unpack<u32, u8, 4>(key);
      case 8: return pack_or_unpack<u64, u16, 4>(key);
      case 16: return pack_or_unpack<Bits128, u32, 4>(key);
      default: return nullptr;
    }
  }
  return nullptr;
}

// d = p ? a : b, lane by lane.
template <class T>
void select(Warp& w, const Op& op, LaneMask mask) {
  const T* a = source<T>(w, op.src[0]);
  const T* b = source<T>(w, op.src[1]);
  const Lanes<T> chosen(source_predicate(w, op, 2));
  T* d = destination<T>(w, op.dst);
  if (mask == kAllLanes) [[likely]] {
#pragma GCC ivdep
    for (int i = 0; i < kWarpSize; ++i) d[i] = chosen.words[i] != 0 ? a[i] : b[i];
  } else {
    const Lanes<T> selected(mask);
#pragma GCC ivdep
    for (int i = 0; i < kWarpSize; ++i) {
      const T r = chosen.words[i] != 0 ? a[i] : b[i];
      d[i] = selected.words[i] != 0 ? r : d[i];
    }
  }
}

Handler select_form(const AluKey& key) {
  if (!only(key, 0)) return nullptr;
  const int n = width_of(key.modifiers.type);
  if (!widths(key, n, n, n, 0)) return nullptr;
  switch (n) {
    case 2: return &select<u16>;
    case 4: return &select<u32>;
    case 8: return &select<u64>;
    default: return nullptr;
  }
}

// d = c >= 0 ? a : b. A NaN selects b, -0 counts as zero; .ftz flushes a subnormal c to zero.
template <class T, bool Flush>
LOCKSTEP_INLINE T choose_by_float(T a, T b, f32 c) {
  const bool negative_subnormal = Flush && (bits_as<u32>(c) & 0x7f800000u) == 0;
  return c >= 0.0f || negative_subnormal ? a : b;
}

template <class T>
Handler choose_form(const AluKey& key) {
  constexpr int n = sizeof(T);
  if (!widths(key, n, n, n, 4)) return nullptr;
  if (key.modifiers.source_type == Type::kS32 && only(key, kSourceType))
    return &ternary<T, T, T, s32, [](T a, T b, s32 c) { return c >= 0 ? a : b; }>;
  if (key.modifiers.source_type == Type::kF32 && only(key, kSourceType | kFtz))
    return key.modifiers.ftz ? &ternary<T, T, T, f32, choose_by_float<T, true>>
                             : &ternary<T, T, T, f32, choose_by_float<T, false>>;
  return nullptr;
}

}  // namespace

Handler resolve_move(const AluKey& key) {
  switch (key.opcode) {
    case Opcode::k_mov: return move_form(key);
    case Opcode::k_clusterlaunchcontrol_query_cancel: return query_form(key);
    case Opcode::k_selp: return select_form(key);
    case Opcode::k_slct:
      switch (width_of(key.modifiers.type)) {
        case 2: return choose_form<u16>(key);
        case 4: return choose_form<u32>(key);
        case 8: return choose_form<u64>(key);
        default: return nullptr;
      }
    default: return nullptr;
  }
}

}  // namespace lockstep::engine::alu
