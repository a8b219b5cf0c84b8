#include "simulator/translate/lean_run.h"

#include <algorithm>
#include <cstddef>

#include "simulator/isa/opcode.h"
#include "simulator/program/memory_access.h"

namespace lockstep::translate {
namespace {

using namespace Xbyak::util;  // NOLINT: the names of registers
using isa::Space;
using isa::SpecialRegister;
using program::Action;
using program::kNoSlot;
using Code = Xbyak::CodeGenerator;
using R = Registers;

// Bytes of a vector: its elements are in vector registers at once.
constexpr int kLongestVector = 16;

Lean lean_load(const Op& op) {
  if (op.width != op.register_bytes || (op.width != 4 && op.width != 8)) return Lean::kNo;
  const bool vector = op.elements != 1;
  if (vector ? op.action != Action::kLoad || op.width * op.elements > kLongestVector
             : op.dst == kNoSlot)
    return Lean::kNo;
  if (op.action == Action::kLoadKernelParameter) return Lean::kUniform;
  const auto fields = op.as<program::MemoryFields>();
  if (fields.has_any(program::kFrameAddress | program::kAcquire | program::kStrong))
    return Lean::kNo;
  const auto space = static_cast<Space>(op.space);
  const bool narrow = fields.has(program::kNarrowAddress);
  const bool fits = op.immediate % (op.width * op.elements) == 0 && op.immediate > -(1 << 20) &&
                    op.immediate < 1 << 20;
  if ((space == Space::kGlobal || space == Space::kConst) && !narrow)
    return vector                             ? Lean::kNo
           : !program::is_constant(op.src[0]) ? Lean::kGlobal
           : fits                             ? Lean::kVariable
                                              : Lean::kNo;
  if (space != Space::kShared || !narrow || !fits) return Lean::kNo;
  return op.width == 4 ? Lean::kWord : Lean::kWide;
}

}  // namespace

program::Slot element_slot(const program::Program& program, const Op& op, int element) {
  if (op.elements == 1) return op.dst;
  return program.slots[op.as<program::ListedFields>().first() + static_cast<unsigned>(element)];
}

Lean lean_of(const Op& op) {
  if (op.guard != kNoSlot) return Lean::kNo;
  if (op.action == Action::kLoad || op.action == Action::kLoadKernelParameter) return lean_load(op);
  if (op.action != Action::kSpecialRegister || op.width != 4) return Lean::kNo;
  switch (op.as<program::SpecialRegisterFields>().which()) {
    case SpecialRegister::kTidX:
    case SpecialRegister::kTidY:
    case SpecialRegister::kTidZ:
    case SpecialRegister::kLaneid: return Lean::kThreads;
    case SpecialRegister::kNtidX:
    case SpecialRegister::kNtidY:
    case SpecialRegister::kNtidZ:
    case SpecialRegister::kCtaidX:
    case SpecialRegister::kCtaidY:
    case SpecialRegister::kCtaidZ:
    case SpecialRegister::kNctaidX:
    case SpecialRegister::kNctaidY:
    case SpecialRegister::kNctaidZ: return Lean::kUniform;
    default: return Lean::kNo;
  }
}

namespace {

bool is_window(Lean lean) { return lean == Lean::kWord || lean == Lean::kWide; }

// Of an answer.
int bytes_of(Lean lean) {
  return is_window(lean)           ? static_cast<int>(sizeof(WindowPlace))
         : lean == Lean::kThreads  ? static_cast<int>(sizeof(ThreadNumbers))
         : lean == Lean::kVariable ? 8
                                   : 0;
}

// Variables farther apart than this are asked for one by one: between them some may be unwritten.
constexpr std::int32_t kFarthest = 256;

// In the loop: what a block's threads share, and the kernel's parameters.
const Xbyak::Reg64& kUniformBase = rdi;
const Xbyak::Reg64& kParameters = rsi;

}  // namespace

bool LeanRun::knows(Lean lean) const {
  switch (lean) {
    case Lean::kWord:
    case Lean::kWide: return answers_.window != nullptr;
    case Lean::kVariable: return answers_.variable != nullptr;
    case Lean::kUniform: return uniform_.pointer != 0;
    case Lean::kThreads: return answers_.threads != nullptr;
    case Lean::kGlobal:
    case Lean::kNo: break;
  }
  return false;
}

LeanRun::Use* LeanRun::same_window(Lean lean, const Op& op) {
  const auto offset = static_cast<std::int32_t>(op.immediate);
  for (Use& use : uses_) {
    if (use.lean != lean || use.window->address != op.src[0]) continue;
    const bool near =
        std::max(use.window->last, offset) - std::min(use.window->first, offset) <= kFarthest;
    if (is_window(lean) || near) return &use;
  }
  return nullptr;
}

bool LeanRun::admits(const Op& op) const {
  const Lean lean = lean_of(op);
  return knows(lean) && top_ + bytes_of(lean) <= end_;
}

void LeanRun::add(const Op& op) {
  Use use{lean_of(op), top_, nullptr, &op, false};
  if (use.lean == Lean::kUniform) {
    has_uniform_ = true;
    has_parameters_ |= op.action == Action::kLoadKernelParameter;
    return uses_.push_back(use);
  }
  asks_ = true;
  if (is_window(use.lean) || use.lean == Lean::kVariable) {
    const std::uint32_t bytes = std::uint32_t{op.width} * op.elements;
    const auto offset = static_cast<std::int32_t>(op.immediate),
               last = offset + static_cast<std::int32_t>(bytes) - 4;
    if (const Use* const other = same_window(use.lean, op)) {
      Window& window = *other->window;
      window.first = std::min(window.first, offset);
      window.last = std::max(window.last, last);
      window.alignment = std::max(window.alignment, bytes);
      return uses_.push_back({use.lean, other->at, &window, &op, true});
    }
    windows_.push_back(std::make_unique<Window>(
        Window{op.src[0], offset, last, bytes, use.lean == Lean::kWide, &op}));
    use.window = windows_.back().get();
  }
  top_ += bytes_of(use.lean);
  uses_.push_back(use);
}

void LeanRun::ask(Code& g, Xbyak::Label& refused) {
  for (const Use& use : uses_) {
    if (use.again || use.lean == Lean::kUniform) continue;
    g.mov(rdi, R::warp);
    const void* const about = use.window != nullptr ? static_cast<const void*>(use.window)
                                                    : static_cast<const void*>(use.op);
    g.mov(rsi, reinterpret_cast<std::uint64_t>(about));
    g.lea(rdx, ptr[rsp + use.at]);
    const auto asked = is_window(use.lean) ? reinterpret_cast<std::uint64_t>(answers_.window)
                       : use.lean == Lean::kVariable
                           ? reinterpret_cast<std::uint64_t>(answers_.variable)
                           : reinterpret_cast<std::uint64_t>(answers_.threads);
    g.mov(rax, asked);
    g.call(rax);
    g.test(al, al);
    g.jz(refused, Code::T_NEAR);
  }
}

void LeanRun::prepare(Code& g) const {
  if (!has_uniform_) return;
  g.mov(kUniformBase, ptr[R::warp + static_cast<int>(uniform_.pointer)]);
  if (has_parameters_)
    g.mov(kParameters, ptr[kUniformBase + static_cast<int>(uniform_.parameters)]);
}

namespace {

// The value of 4 or 8 bytes in all lanes.
void broadcast(RunOfLanes& r, const Op& op, const Xbyak::RegExp& from) {
  if (op.width == 8) {
    const Wide d = r.fresh_wide();
    r.g.vpbroadcastq(d.part[0], ptr[from]);
    r.g.vmovdqa(d.part[1], d.part[0]);
    return r.set_wide(op, d);
  }
  const Xbyak::Ymm d = r.fresh();
  r.g.vpbroadcastd(d, ptr[from]);
  r.set_word(op, d);
}

}  // namespace

void LeanRun::emit_uniform(RunOfLanes& r, const Op& op) const {
  if (op.action == Action::kLoadKernelParameter)
    return broadcast(r, op, kParameters + static_cast<int>(op.immediate));
  const auto special = op.as<program::SpecialRegisterFields>().which();
  const auto at = [&](SpecialRegister first, std::size_t place) {
    return static_cast<int>(place) + 4 * (static_cast<int>(special) - static_cast<int>(first));
  };
  const int offset = special >= SpecialRegister::kNtidX && special <= SpecialRegister::kNtidZ
                         ? at(SpecialRegister::kNtidX, uniform_.ntid)
                     : special >= SpecialRegister::kCtaidX && special <= SpecialRegister::kCtaidZ
                         ? at(SpecialRegister::kCtaidX, uniform_.ctaid)
                         : at(SpecialRegister::kNctaidX, uniform_.nctaid);
  broadcast(r, op, kUniformBase + offset);
}

void LeanRun::emit_word(RunOfLanes& r, const Use& use, Slot slot, int offset) {
  const Xbyak::Ymm d = r.fresh();
  scattered_.push_back(std::make_unique<Scattered>());
  Scattered& s = *scattered_.back();
  s.value = d.getIdx();
  s.offset = offset;
  r.g.cmp(byte[rsp + R::eighth + (use.at + static_cast<int>(offsetof(WindowPlace, scattered)))], 0);
  r.g.mov(rax, ptr[rsp + R::eighth * 8 + (use.at + static_cast<int>(offsetof(WindowPlace, from)))]);
  r.g.vmovdqu(d, ptr[rsp + R::lane * 4 + use.at]);
  r.g.jne(s.begin, Code::T_NEAR);
  r.g.vpermd(d, d, ptr[rax + s.offset]);
  r.g.L(s.back);
  r.set_word_at(*use.op, slot, d);
}

void LeanRun::emit_wide(RunOfLanes& r, const Use& use, Slot slot, int offset) {
  const Wide d = r.fresh_wide();
  const Xbyak::Xmm places(r.t0.getIdx());
  r.g.mov(rax, ptr[rsp + R::eighth * 8 + (use.at + static_cast<int>(offsetof(WindowPlace, from)))]);
  for (int part = 0; part < 2; ++part) {
    r.g.vmovdqu(places, ptr[rsp + R::lane * 4 + (use.at + 16 * part)]);
    r.g.vpcmpeqd(r.t1, r.t1, r.t1);
    r.g.vpgatherdq(d.part[part], ptr[rax + places + offset], r.t1);
  }
  r.set_wide_at(*use.op, slot, d);
}

void LeanRun::emit_elements(RunOfLanes& r, const Use& use) {
  const Op& op = *use.op;
  for (int e = 0; e < op.elements; ++e) {
    const Slot slot = element_slot(r.program(), op, e);
    const int offset = static_cast<int>(op.immediate) + e * op.width;
    if (slot == kNoSlot) continue;
    use.lean == Lean::kWord ? emit_word(r, use, slot, offset) : emit_wide(r, use, slot, offset);
  }
}

void LeanRun::emit(RunOfLanes& r, const Op& op) {
  const Use use = uses_[next_++];
  switch (use.lean) {
    case Lean::kWord:
    case Lean::kWide: return emit_elements(r, use);
    case Lean::kUniform: return emit_uniform(r, op);
    case Lean::kVariable:
      r.g.mov(rax, ptr[rsp + use.at]);
      return broadcast(r, op, rax + static_cast<int>(op.immediate));
    case Lean::kThreads: {
      const Xbyak::Ymm d = r.fresh();
      r.g.vmovdqu(d, ptr[rsp + R::lane * 4 + use.at]);
      return r.set_word(op, d);
    }
    case Lean::kGlobal:
    case Lean::kNo: break;
  }
}

void LeanRun::emit_scattered(Code& g) {
  const Xbyak::Ymm all(15), words(14);  // an operation's own temporaries
  for (const auto& s : scattered_) {
    g.L(s->begin);
    g.vpcmpeqd(all, all, all);
    g.vmovdqa(words, Xbyak::Ymm(s->value));
    g.vpgatherdd(Xbyak::Ymm(s->value), ptr[rax + words + s->offset], all);
    g.jmp(s->back, Code::T_NEAR);
  }
  scattered_.clear();
}

}  // namespace lockstep::translate
