#include "simulator/translate/run_of_lanes.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "simulator/translate/frame.h"
#include "simulator/translate/lean.h"
#include "simulator/translate/operations.h"

namespace lockstep::translate {
namespace {

using namespace Xbyak::util;  // NOLINT: the names of registers
using program::is_constant;
using program::kNoSlot;
using R = Registers;

// Operations of a run that are worth a look whether one of eight lanes is active.
constexpr std::size_t kWorthALook = 3;

// Where each accumulates the predicate that it has: the bytes of the loop's turns, the last on top.
const Xbyak::Reg32& accumulator(std::size_t i) {
  static const Xbyak::Reg32 all[] = {r8d, r9d, r10d, r11d, r15d, ebp};
  return all[i];
}

}  // namespace

bool RunOfLanes::skips() const { return masked_ && ops_.size() >= kWorthALook; }

void RunOfLanes::begin() {
  g.xor_(ecx, ecx);
  g.xor_(edx, edx);
  g.L(loop_);
  if (!skips()) return;
  for (std::size_t i = 0; i < predicates_.size(); ++i) g.shr(accumulator(i), 8);
  g.cmp(byte[rsp + R::eighth + kMask], 0);
  g.je(next_, Xbyak::CodeGenerator::T_NEAR);
}

void RunOfLanes::end() {
  for (const Value& v : values_) {
    if (v.dirty) store(v);
  }
  g.L(next_);
  g.add(ecx, 8);
  g.inc(edx);
  g.cmp(edx, 4);
  g.jne(loop_, Xbyak::CodeGenerator::T_NEAR);
  for (std::size_t i = 0; i < predicates_.size(); ++i) {
    const Xbyak::Address place = dword[R::file + predicates_[i]];
    if (masked_) {
      g.mov(eax, place);
      g.xor_(accumulator(i), eax);
      g.and_(accumulator(i), dword[rsp + kMask]);
      g.xor_(accumulator(i), eax);
    }
    g.mov(place, accumulator(i));
  }
}

Xbyak::Address RunOfLanes::at(Slot slot, int bytes, int part) const {
  const Xbyak::Reg64& base = is_constant(slot) ? R::constants : R::file;
  const auto offset = static_cast<int>(slot & ~Slot{1});
  if (bytes == 0) return ptr[base + R::eighth + offset];
  return ptr[base + R::lane * bytes + (offset + 32 * part)];
}

RunOfLanes::Value* RunOfLanes::find(Slot slot, Kind kind) {
  for (Value& v : values_) {
    if (v.slot == slot && v.kind == kind) return &v;
  }
  return nullptr;
}

void RunOfLanes::touch(const Value& v) {
  for (const int reg : v.reg) {
    if (reg >= 0) pinned_ |= 1u << reg;
  }
}

RunOfLanes::NextUse RunOfLanes::next_use(Slot slot) const {
  std::size_t i = at_ + 1;
  for (; i < places_.size(); ++i) {
    bool read = false, written = false;
    for (const Place& p : places_[i]) {
      if (p.slot == slot) (p.written ? written : read) = true;
    }
    if (read || written) return {i - at_, !read && ops_[i]->guard == kNoSlot};
  }
  return {i - at_, false};
}

void RunOfLanes::free(Value& v) {
  for (const int reg : v.reg) {
    if (reg >= 0) taken_ &= ~(1u << reg);
  }
  values_.erase(values_.begin() + (&v - values_.data()));
}

void RunOfLanes::drop(Slot slot) {
  for (std::size_t i = values_.size(); i-- > 0;) {
    if (values_[i].slot == slot) free(values_[i]);
  }
}

// Of the lanes that are left out, the old value stays.
void RunOfLanes::store_masked(const Value& v) {
  const Xbyak::Ymm t(12);
  const Xbyak::Xmm half(12);
  const auto left_out = [&](int part) { return ptr[rsp + R::lane * 4 + (kLeftOut + 16 * part)]; };
  switch (v.kind) {
    case Kind::kHalf:
      g.vmovdqu(half, left_out(0));
      g.vpackssdw(half, half, left_out(1));
      g.vpblendvb(half, Xbyak::Xmm(v.reg[0]), at(v.slot, 2), half);
      g.vmovdqu(at(v.slot, 2), half);
      break;
    case Kind::kWord:
      g.vmovdqu(t, left_out(0));
      g.vblendvps(t, Xbyak::Ymm(v.reg[0]), at(v.slot, 4), t);
      g.vmovdqu(at(v.slot, 4), t);
      break;
    case Kind::kWide:
      for (int part = 0; part < 2; ++part) {
        g.vpmovsxdq(t, left_out(part));
        g.vblendvpd(t, Xbyak::Ymm(v.reg[part]), at(v.slot, 8, part), t);
        g.vmovdqu(at(v.slot, 8, part), t);
      }
      break;
    case Kind::kMask:  // its accumulator has it
    case Kind::kNone: break;
  }
}

void RunOfLanes::store(const Value& v) {
  if (masked_) return store_masked(v);
  switch (v.kind) {
    case Kind::kHalf: g.vmovdqu(at(v.slot, 2), Xbyak::Xmm(v.reg[0])); break;
    case Kind::kWord: g.vmovdqu(at(v.slot, 4), Xbyak::Ymm(v.reg[0])); break;
    case Kind::kWide:
      for (int part = 0; part < 2; ++part) g.vmovdqu(at(v.slot, 8, part), Xbyak::Ymm(v.reg[part]));
      break;
    case Kind::kMask:  // its accumulator has it
    case Kind::kNone: break;
  }
}

int RunOfLanes::allocate() {
  for (;;) {
    const int reg = std::countr_one(taken_);
    if (reg < vectors_) {
      taken_ |= 1u << reg;
      pinned_ |= 1u << reg;
      return reg;
    }
    // The one that is used last gives way.
    Value* last = nullptr;
    NextUse of_last;
    for (Value& v : values_) {
      const bool pinned =
          (pinned_ >> v.reg[0] & 1) != 0 || (v.reg[1] >= 0 && (pinned_ >> v.reg[1] & 1) != 0);
      if (pinned) continue;
      const NextUse use = next_use(v.slot);
      if (last != nullptr && use.distance <= of_last.distance) continue;
      last = &v;
      of_last = use;
    }
    if (last->dirty && !of_last.overwrites) store(*last);
    free(*last);
  }
}

RunOfLanes::Value& RunOfLanes::take(Slot slot, Kind kind, int reg0, int reg1, bool dirty) {
  values_.push_back({kind, slot, dirty, {reg0, reg1}});
  touch(values_.back());
  return values_.back();
}

Xbyak::Ymm RunOfLanes::fresh() { return Xbyak::Ymm(allocate()); }

Xbyak::Ymm RunOfLanes::word(Slot slot) {
  if (Value* const v = find(slot, Kind::kWord)) {
    touch(*v);
    return Xbyak::Ymm(v->reg[0]);
  }
  const Xbyak::Ymm value = fresh();
  g.vmovdqu(value, at(slot, 4));
  take(slot, Kind::kWord, value.getIdx(), -1, false);
  return value;
}

Wide RunOfLanes::wide(Slot slot) {
  if (Value* const v = find(slot, Kind::kWide)) {
    touch(*v);
    return {{Xbyak::Ymm(v->reg[0]), Xbyak::Ymm(v->reg[1])}};
  }
  const Wide value = fresh_wide();
  for (int part = 0; part < 2; ++part) g.vmovdqu(value.part[part], at(slot, 8, part));
  take(slot, Kind::kWide, value.part[0].getIdx(), value.part[1].getIdx(), false);
  return value;
}

Xbyak::Xmm RunOfLanes::half(Slot slot) {
  if (Value* const v = find(slot, Kind::kHalf)) {
    touch(*v);
    return Xbyak::Xmm(v->reg[0]);
  }
  const Xbyak::Ymm value = fresh();
  g.vmovdqu(Xbyak::Xmm(value.getIdx()), at(slot, 2));
  take(slot, Kind::kHalf, value.getIdx(), -1, false);
  return Xbyak::Xmm(value.getIdx());
}

Xbyak::Ymm RunOfLanes::mask(Slot slot, bool negated) {
  Value* v = find(slot, Kind::kMask);
  if (v == nullptr) {
    const Xbyak::Ymm value = fresh();
    const auto written = std::find(written_.begin(), written_.end(), slot);
    if (written == written_.end()) {
      g.movzx(eax, byte[(is_constant(slot) ? R::constants : R::file) + R::eighth +
                        static_cast<int>(slot & ~Slot{1})]);
    } else {
      g.mov(eax, accumulator(accumulator_of(slot)));
      g.shr(eax, 24);
    }
    const Xbyak::Address bits = pool({1, 2, 4, 8, 16, 32, 64, 128});
    g.vmovd(Xbyak::Xmm(value.getIdx()), eax);
    g.vpbroadcastd(value, Xbyak::Xmm(value.getIdx()));
    g.vpand(value, value, bits);
    g.vpcmpeqd(value, value, bits);
    v = &take(slot, Kind::kMask, value.getIdx(), -1, false);
  }
  touch(*v);
  const Xbyak::Ymm value(v->reg[0]);
  if (!negated) return value;
  g.vpxor(t0, value, pool.all(~0u));
  return t0;
}

Wide RunOfLanes::wide_mask(Slot slot, bool negated) {
  const Xbyak::Ymm m = mask(slot, negated);
  g.vpmovsxdq(t1, Xbyak::Xmm(m.getIdx()));
  g.vextracti128(Xbyak::Xmm(t2.getIdx()), m, 1);
  g.vpmovsxdq(t2, Xbyak::Xmm(t2.getIdx()));
  return {{t1, t2}};
}

void RunOfLanes::set_word(const Op& op, Xbyak::Ymm value) { set_word_at(op, op.dst, value); }

void RunOfLanes::set_word_at(const Op& op, Slot slot, Xbyak::Ymm value) {
  if (op.guard != kNoSlot) {
    const Xbyak::Ymm old = word(slot), m = mask(op.guard, op.guard_negated);
    g.vblendvps(value, old, value, m);
  }
  drop(slot);
  take(slot, Kind::kWord, value.getIdx(), -1, true);
}

void RunOfLanes::set_wide(const Op& op, Wide value) { set_wide_at(op, op.dst, value); }

void RunOfLanes::set_wide_at(const Op& op, Slot slot, Wide value) {
  if (op.guard != kNoSlot) {
    const Wide old = wide(slot), m = wide_mask(op.guard, op.guard_negated);
    for (int part = 0; part < 2; ++part)
      g.vblendvpd(value.part[part], old.part[part], value.part[part], m.part[part]);
  }
  drop(slot);
  take(slot, Kind::kWide, value.part[0].getIdx(), value.part[1].getIdx(), true);
}

void RunOfLanes::set_half(const Op& op, Xbyak::Ymm value) { set_half_at(op, op.dst, value); }

void RunOfLanes::set_half_at(const Op& op, Slot slot, Xbyak::Ymm value) {
  if (op.guard != kNoSlot) {
    const Xbyak::Xmm old = half(slot), low(value.getIdx()), narrow(t1.getIdx());
    const Xbyak::Ymm m = mask(op.guard, op.guard_negated);
    g.vextracti128(narrow, m, 1);
    g.vpackssdw(narrow, Xbyak::Xmm(m.getIdx()), narrow);
    g.vpblendvb(low, old, low, narrow);
  }
  drop(slot);
  take(slot, Kind::kHalf, value.getIdx(), -1, true);
}

void RunOfLanes::set_mask(const Op& op, Xbyak::Ymm value) {
  if (op.guard != kNoSlot) {
    const Xbyak::Ymm old = mask(op.dst, false), m = mask(op.guard, op.guard_negated);
    g.vblendvps(value, old, value, m);
  }
  const Xbyak::Reg32& whole = accumulator(accumulator_of(op.dst));
  g.vmovmskps(eax, value);
  if (std::find(written_.begin(), written_.end(), op.dst) == written_.end()) {
    written_.push_back(op.dst);
    if (!skips()) g.shr(whole, 8);
  } else {
    g.and_(whole, 0x00ffffff);
  }
  g.shl(eax, 24);
  g.or_(whole, eax);
  drop(op.dst);
  take(op.dst, Kind::kMask, value.getIdx(), -1, false);
}

std::size_t RunOfLanes::accumulator_of(Slot slot) const {
  return static_cast<std::size_t>(std::find(predicates_.begin(), predicates_.end(), slot) -
                                  predicates_.begin());
}

std::uint32_t RunOfLanes::constant(Slot slot) const {
  std::uint32_t word;
  std::memcpy(&word, program_.constants.get() + (slot & ~Slot{1}), sizeof word);
  return word;
}

bool RunOfLanes::admits(const Op& op, const program::Meaning& meaning) {
  return admits(op, places_of(op, meaning), mode_of(meaning));
}

// What the address of a load is, is asked before the run begins.
bool RunOfLanes::admits_lean(const Op& op) {
  const Lean lean = lean_of(op);
  const bool reads_register =
      (lean == Lean::kWord || lean == Lean::kWide) && !is_constant(op.src[0]);
  if (reads_register && writes(op.src[0], 4 * program::kWarpSize)) return false;
  std::vector<Place> places;
  for (int e = 0; e < op.elements; ++e) {
    if (const Slot slot = element_slot(program_, op, e); slot != kNoSlot)
      places.push_back({slot, op.width, true});
  }
  return admits(op, std::move(places), Mode::kAny);
}

bool RunOfLanes::writes(Slot slot, Slot bytes) const {
  for (const std::vector<Place>& places : places_) {
    for (const Place& p : places) {
      const Slot end = p.slot + (p.bytes == 0 ? 4u : 32u * static_cast<unsigned>(p.bytes));
      if (p.written && p.slot < slot + bytes && slot < end) return true;
    }
  }
  return false;
}

bool RunOfLanes::admits(const Op& op, std::vector<Place> places, Mode mode) {
  std::vector<Extent> extents = extents_;
  std::vector<Slot> predicates = predicates_;
  bool fits = true;
  const auto name = [&](Slot slot, int bytes) {
    if (slot == kNoSlot || is_constant(slot)) return;
    const Extent e{slot, bytes == 0 ? 4u : 32u * static_cast<unsigned>(bytes)};
    if (std::find(extents.begin(), extents.end(), e) != extents.end()) return;
    for (const Extent& other : extents)
      fits &= e.begin >= other.begin + other.bytes || other.begin >= e.begin + e.bytes;
    extents.push_back(e);
  };
  for (const Place& p : places) {
    name(p.slot, p.bytes);
    if (p.written && p.bytes == 0 &&
        std::find(predicates.begin(), predicates.end(), p.slot) == predicates.end())
      predicates.push_back(p.slot);
  }
  fits &= mode == Mode::kAny || mode_ == Mode::kAny || mode == mode_;
  if (!fits || predicates.size() > kAccumulators) return false;
  ops_.push_back(&op);
  places_.push_back(std::move(places));
  extents_ = std::move(extents);
  predicates_ = std::move(predicates);
  if (mode != Mode::kAny) mode_ = mode;
  return true;
}

}  // namespace lockstep::translate
