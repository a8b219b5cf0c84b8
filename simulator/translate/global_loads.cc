#include "simulator/translate/global_loads.h"

#include <cstddef>
#include <cstdint>

#include "simulator/translate/frame.h"

namespace lockstep::translate {
namespace {

using namespace Xbyak::util;  // NOLINT: the names of registers
using program::kWarpSize;
using R = Registers;
using Code = Xbyak::CodeGenerator;

constexpr int kVectors = 4, kLanes = kWarpSize / kVectors;

// A routine's arguments: the lanes' addresses, the destination, the range's place among all ranges
// in bytes, and the operation's offset. With the carry flag it returns that a handler must look.
const Xbyak::Reg64 &kAddresses = rcx, &kResult = r8, &kRange = r9, &kOffset = rax;

// The range's begin in the host's memory. The vector registers 0 to 3 have each lane's place: bytes
// from that begin.
const Xbyak::Reg64& kHost = rdx;
const Xbyak::Ymm kLast(4), kBegin(5), kFar(6), kBits(7), kOne(8), kOther(9), kHighest(10),
    kZero(11);
Xbyak::Xmm low(const Xbyak::Ymm& v) { return Xbyak::Xmm(v.getIdx()); }

class LoadRoutine {
 public:
  LoadRoutine(Code& code, ConstantPool& pool, int width, bool masked)
      : g(code), pool_(pool), width_(width), masked_(masked) {}

  void find_range(const UniformLayout& uniform, const RangesLayout& ranges);
  void find_places();
  void load_row_or_place();
  void load_groups();
  void gather();
  void end();

 private:
  Xbyak::Address result(int vector) const { return ptr[kResult + 32 * vector]; }
  // In the frame of the code that called.
  static Xbyak::Address left_out(int first) { return ptr[rsp + (8 + kLeftOut + 4 * first)]; }
  // The places of lanes that have elements side by side, from that of the first one.
  Xbyak::Address row(int first) {
    ConstantPool::Words words{};
    for (int i = 0; i < kLanes; ++i)
      words[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>((first + i) * width_);
    return pool_(words);
  }
  void succeed() {
    g.clc();
    g.ret();
  }
  void broadcast(const Xbyak::Ymm& to) {
    width_ == 4 ? g.vpbroadcastd(to, ptr[kHost + rax]) : g.vpbroadcastq(to, ptr[kHost + rax]);
  }
  void gather(int vector) { width_ == 4 ? gather_words(vector) : gather_wide(vector); }
  void gather_words(int vector);
  void gather_wide(int vector);

  Code& g;
  ConstantPool& pool_;
  const int width_;
  const bool masked_;
  Xbyak::Label looks_, scattered_;
};

// The range that the operation has accessed last, if it is still the thread's to know.
void LoadRoutine::find_range(const UniformLayout& uniform, const RangesLayout& ranges) {
  const auto shared = [&](std::size_t field) { return ptr[rdi + static_cast<int>(field)]; };
  const auto of_range = [&](std::size_t field) { return ptr[kRange + static_cast<int>(field)]; };
  g.mov(rdi, ptr[R::warp + static_cast<int>(uniform.pointer)]);
  g.mov(r10, shared(ranges.changes));
  g.mov(r11, shared(ranges.unwritten));
  g.mov(rsi, shared(ranges.generation));
  g.mov(r10, ptr[r10]);
  g.add(r10, ptr[r11]);
  g.cmp(r10, ptr[rsi]);
  g.jne(looks_, Code::T_NEAR);
  g.cmp(dword[R::warp + static_cast<int>(ranges.overlapped)], 0);
  g.jne(looks_, Code::T_NEAR);
  g.add(kRange, shared(ranges.pointer));
  g.mov(esi, of_range(ranges.silent));
  g.sub(esi, width_);
  g.jb(looks_, Code::T_NEAR);
  g.vmovd(low(kLast), esi);
  g.vpbroadcastd(kLast, low(kLast));
  g.vpbroadcastq(kOne, of_range(ranges.begin));
  g.vmovq(low(kBegin), kOffset);
  g.vpbroadcastq(kBegin, low(kBegin));
  g.vpsubq(kBegin, kBegin, kOne);
  g.mov(kHost, of_range(ranges.begin));
  g.add(kHost, of_range(ranges.delta));
}

// Lanes that are left out count as at the range's begin.
void LoadRoutine::find_places() {
  for (int v = 0; v < kVectors; ++v) {
    const Xbyak::Ymm places(v);
    g.vpaddq(kOne, kBegin, ptr[kAddresses + 64 * v]);
    g.vpaddq(kOther, kBegin, ptr[kAddresses + (64 * v + 32)]);
    // Low and high halves, of the lanes 0 1 4 5 2 3 6 7.
    g.vshufps(places, kOne, kOther, 0x88);
    g.vshufps(kOne, kOne, kOther, 0xdd);
    g.vpermq(places, places, 0xd8);
    if (masked_) {
      g.vpermq(kOne, kOne, 0xd8);
      g.vmovdqu(kOther, left_out(kLanes * v));
      g.vpandn(places, kOther, places);
      g.vpandn(kOne, kOther, kOne);
    }
    if (v == 0) {
      g.vmovdqa(kFar, kOne);
      g.vmovdqa(kBits, places);
      g.vmovdqa(kHighest, places);
    } else {
      g.vpor(kFar, kFar, kOne);
      g.vpor(kBits, kBits, places);
      g.vpmaxud(kHighest, kHighest, places);
    }
  }
  g.vpminud(kLast, kLast, kHighest);
  g.vpxor(kLast, kLast, kHighest);
  g.vpand(kBits, kBits, pool_.all(static_cast<std::uint32_t>(width_) - 1));
  g.vpor(kLast, kLast, kFar);
  g.vpor(kLast, kLast, kBits);
  g.vptest(kLast, kLast);
  g.jnz(looks_, Code::T_NEAR);
}

// If all lanes' elements are side by side, or one.
void LoadRoutine::load_row_or_place() {
  Xbyak::Label not_a_row;
  g.mov(rax, ptr[kAddresses + 8 * (kWarpSize - 1)]);
  g.sub(rax, ptr[kAddresses]);
  g.vpbroadcastd(kBits, Xbyak::Xmm(0));
  g.cmp(rax, (kWarpSize - 1) * width_);
  g.jne(not_a_row, Code::T_NEAR);
  g.vpxor(kFar, kFar, kFar);
  for (int v = 0; v < kVectors; ++v) {
    g.vpaddd(kOne, kBits, row(kLanes * v));
    g.vpxor(kOne, kOne, Xbyak::Ymm(v));
    g.vpor(kFar, kFar, kOne);
  }
  g.vptest(kFar, kFar);
  g.jnz(scattered_, Code::T_NEAR);
  g.vmovd(eax, Xbyak::Xmm(0));
  for (int v = 0; v < kVectors * width_ / 4; ++v) {
    g.vmovdqu(kOne, ptr[kHost + rax + 32 * v]);
    g.vmovdqu(result(v), kOne);
  }
  succeed();
  g.L(not_a_row);
  g.test(rax, rax);
  g.jnz(scattered_, Code::T_NEAR);
  g.vpxor(kFar, kBits, Xbyak::Ymm(0));
  for (int v = 1; v < kVectors; ++v) {
    g.vpxor(kOne, kBits, Xbyak::Ymm(v));
    g.vpor(kFar, kFar, kOne);
  }
  g.vptest(kFar, kFar);
  g.jnz(scattered_, Code::T_NEAR);
  g.vmovd(eax, Xbyak::Xmm(0));
  broadcast(kOne);
  for (int v = 0; v < kVectors * width_ / 4; ++v) g.vmovdqu(result(v), kOne);
  succeed();
  g.L(scattered_);
}

// If the first eight lanes' elements are side by side, or one, others may be, too: these need no
// gather, which takes many times as long as a load.
void LoadRoutine::load_groups() {
  Xbyak::Label first, all;
  g.vpsubd(kBits, Xbyak::Ymm(0), kBits);
  g.vptest(kBits, kBits);
  g.jz(first, Code::T_NEAR);
  g.vpxor(kBits, kBits, row(0));
  g.vptest(kBits, kBits);
  g.jnz(all, Code::T_NEAR);
  g.L(first);
  for (int v = 0; v < kVectors; ++v) {
    Xbyak::Label one, gathered, next;
    const int parts = width_ / 4;
    g.vpbroadcastd(kBits, Xbyak::Xmm(v));
    g.vpsubd(kBits, Xbyak::Ymm(v), kBits);
    g.vmovd(eax, Xbyak::Xmm(v));
    g.vptest(kBits, kBits);
    g.jz(one, Code::T_NEAR);
    g.vpxor(kBits, kBits, row(0));
    g.vptest(kBits, kBits);
    g.jnz(gathered, Code::T_NEAR);
    for (int part = 0; part < parts; ++part) {
      g.vmovdqu(kOne, ptr[kHost + rax + 32 * part]);
      g.vmovdqu(result(parts * v + part), kOne);
    }
    g.jmp(next, Code::T_NEAR);
    g.L(one);
    broadcast(kOne);
    for (int part = 0; part < parts; ++part) g.vmovdqu(result(parts * v + part), kOne);
    g.jmp(next, Code::T_NEAR);
    g.L(gathered);
    gather(v);
    g.L(next);
  }
  succeed();
  g.L(all);
}

void LoadRoutine::gather_words(int vector) {
  if (masked_) {
    g.vpcmpeqd(kOne, kZero, left_out(kLanes * vector));
    g.vmovdqu(kOther, result(vector));
  } else {
    g.vpcmpeqd(kOne, kOne, kOne);
  }
  g.vpgatherdd(kOther, ptr[kHost + Xbyak::Ymm(vector)], kOne);
  g.vmovdqu(result(vector), kOther);
}

void LoadRoutine::gather_wide(int vector) {
  for (int part = 0; part < 2; ++part) {
    const Xbyak::Xmm places(part == 0 ? vector : kBits.getIdx());
    if (part == 1) g.vextracti128(places, Xbyak::Ymm(vector), 1);
    if (masked_) {
      g.vpmovsxdq(kOne, left_out(kLanes * vector + 4 * part));
      g.vpcmpeqq(kOne, kZero, kOne);
      g.vmovdqu(kOther, result(2 * vector + part));
    } else {
      g.vpcmpeqd(kOne, kOne, kOne);
    }
    g.vpgatherdq(kOther, ptr[kHost + places], kOne);
    g.vmovdqu(result(2 * vector + part), kOther);
  }
}

void LoadRoutine::gather() {
  if (masked_) g.vpxor(kZero, kZero, kZero);
  for (int v = 0; v < kVectors; ++v) {
    Xbyak::Label next;
    if (masked_) {
      g.cmp(byte[rsp + (8 + kMask + v)], 0);
      g.je(next, Code::T_NEAR);
    }
    gather(v);
    g.L(next);
  }
  succeed();
}

void LoadRoutine::end() {
  g.L(looks_);
  g.stc();
  g.ret();
}

}  // namespace

void GlobalLoads::emit(Code& g, const Op& op, Xbyak::Label& slow) {
  Routine& routine = of(op.width);
  routine.called = true;
  g.lea(kAddresses, ptr[R::file + static_cast<int>(op.src[0])]);
  g.lea(kResult, ptr[R::file + static_cast<int>(op.dst)]);
  g.mov(kRange.cvt32(), static_cast<std::uint32_t>(ranges_.bytes * (op.origin % ranges_.count)));
  g.mov(kOffset, op.immediate);
  g.call(routine.label);
  g.jc(slow, Code::T_NEAR);
}

void GlobalLoads::emit_routines(Code& g, ConstantPool& pool) {
  for (const int width : {4, 8}) {
    if (!of(width).called) continue;
    g.L(of(width).label);
    LoadRoutine routine(g, pool, width, masked_);
    routine.find_range(uniform_, ranges_);
    routine.find_places();
    if (!masked_) {
      routine.load_row_or_place();
      routine.load_groups();
    }
    routine.gather();
    routine.end();
  }
}

}  // namespace lockstep::translate
