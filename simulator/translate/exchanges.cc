#include "simulator/translate/exchanges.h"

#include <cstring>
#include <optional>

#include "simulator/program/synchronisation.h"

namespace lockstep::translate {
namespace {

using namespace Xbyak::util;  // NOLINT: the names of registers
using program::Action;
using program::is_constant;
using program::kAllLanes;
using program::kNoSlot;
using program::kWarpSize;
using program::LaneMask;
using program::SyncKind;
using R = Registers;

SyncKind kind_of(const Op& op) { return op.as<program::SyncFields>().kind(); }
bool is_shuffle(SyncKind k) { return k >= SyncKind::kShflUp && k <= SyncKind::kShflIdx; }
bool is_vote(SyncKind k) { return k >= SyncKind::kVoteAll && k <= SyncKind::kVoteBallot; }

// A constant is the same in all lanes.
std::uint32_t word_of(const program::Program& program, Slot slot) {
  std::uint32_t word;
  std::memcpy(&word, program.constants.get() + (slot & ~Slot{1}), sizeof word);
  return word;
}

// Where each lane takes its value from, and which lanes' sources are in range (PTX ISA, shfl.sync).
struct Sources {
  std::uint32_t lane[kWarpSize];
  LaneMask in_range = 0;
};
Sources sources_of(SyncKind kind, std::uint32_t b, std::uint32_t c) {
  Sources sources;
  const int step = static_cast<int>(b & 31), clamp = static_cast<int>(c & 31),
            segment = static_cast<int>(c >> 8 & 31);
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const int last = (lane & segment) | (clamp & ~segment);
    const int from = kind == SyncKind::kShflUp     ? lane - step
                     : kind == SyncKind::kShflDown ? lane + step
                     : kind == SyncKind::kShflBfly ? lane ^ step
                                                   : (lane & segment) | (step & ~segment);
    const bool in_range = kind == SyncKind::kShflUp ? from >= last : from <= last;
    sources.lane[lane] = static_cast<std::uint32_t>(in_range ? from : lane);
    sources.in_range |= LaneMask{in_range} << lane;
  }
  return sources;
}

Xbyak::RegExp place_of(Slot slot) {
  return (is_constant(slot) ? R::constants : R::file) + static_cast<int>(slot & ~Slot{1});
}

// Of each eight lanes the vectors that they take from are permuted, and blended.
void emit_moves(Xbyak::CodeGenerator& g, ConstantPool& pool, const Op& op, const Sources& sources) {
  constexpr int kVectors = 4, kLanes = kWarpSize / kVectors;
  const Xbyak::Ymm places(8), other(9);
  const auto from = [](int v) { return Xbyak::Ymm(v); };
  const auto to = [](int v) { return Xbyak::Ymm(kVectors + v); };
  for (int v = 0; v < kVectors; ++v) g.vmovdqu(from(v), ptr[place_of(op.src[0]) + 32 * v]);
  std::optional<ConstantPool::Words> loaded;
  for (int v = 0; v < kVectors; ++v) {
    const std::uint32_t* lanes = sources.lane + kLanes * v;
    ConstantPool::Words words{};
    for (int i = 0; i < kLanes; ++i) words[static_cast<std::size_t>(i)] = lanes[i] % kLanes;
    if (loaded != words) g.vmovdqa(places, pool(words));
    loaded = words;
    bool first = true;
    for (std::uint32_t source = 0; source < kVectors; ++source) {
      int taken = 0;
      for (int i = 0; i < kLanes; ++i) taken |= (lanes[i] / kLanes == source) << i;
      if (taken == 0) continue;
      g.vpermd(first ? to(v) : other, places, from(static_cast<int>(source)));
      if (!first) g.vpblendd(to(v), to(v), other, static_cast<std::uint8_t>(taken));
      first = false;
    }
  }
  for (int v = 0; v < kVectors; ++v) g.vmovdqu(ptr[place_of(op.dst) + 32 * v], to(v));
}

void emit_vote(Xbyak::CodeGenerator& g, const Op& op) {
  const Xbyak::Address votes = dword[place_of(op.src[0])];
  const SyncKind kind = kind_of(op);
  if (kind == SyncKind::kVoteBallot) {
    g.vpbroadcastd(ymm0, votes);
    for (int v = 0; v < 4; ++v) g.vmovdqu(ptr[place_of(op.dst) + 32 * v], ymm0);
    return;
  }
  g.mov(eax, votes);
  g.xor_(ecx, ecx);
  if (kind == SyncKind::kVoteAny) {
    g.test(eax, eax);
    g.setne(cl);
  } else {
    if (kind == SyncKind::kVoteUni) {
      // All or none: 0 becomes the same as -1.
      g.mov(edx, eax);
      g.not_(edx);
      g.test(eax, eax);
      g.cmovz(eax, edx);
    }
    g.cmp(eax, -1);
    g.sete(cl);
  }
  g.neg(ecx);
  g.mov(dword[place_of(op.dst)], ecx);
}

}  // namespace

bool is_exchange(const Op& op) {
  return op.action == Action::kActiveMask ||
         (op.action == Action::kSync && kind_of(op) != SyncKind::kWholeWarp);
}

bool is_known_exchange(const program::Program& program, const Op& op) {
  if (op.action != Action::kSync || op.guard != kNoSlot || op.dst == kNoSlot) return false;
  if (!is_constant(op.src[3]) || word_of(program, op.src[3]) != kAllLanes) return false;
  const SyncKind kind = kind_of(op);
  return is_vote(kind) || (is_shuffle(kind) && is_constant(op.src[1]) && is_constant(op.src[2]));
}

void emit_exchange(Xbyak::CodeGenerator& g, ConstantPool& pool, const program::Program& program,
                   const UniformLayout& uniform, const Op& op) {
  const bool shuffles = is_shuffle(kind_of(op));
  g.mov(rax, ptr[R::warp + static_cast<int>(uniform.pointer)]);
  g.mov(rax, ptr[rax + static_cast<int>(shuffles ? uniform.shuffles : uniform.votes)]);
  g.inc(qword[rax]);
  if (!shuffles) return emit_vote(g, op);
  const Sources sources =
      sources_of(kind_of(op), word_of(program, op.src[1]), word_of(program, op.src[2]));
  emit_moves(g, pool, op, sources);
  if (op.dst2 != kNoSlot) g.mov(dword[place_of(op.dst2)], sources.in_range);
}

}  // namespace lockstep::translate
