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

Lean lean_load(const Op& op) {
  if (op.elements != 1 || op.width != op.register_bytes || op.dst == kNoSlot) return Lean::kNo;
  if (op.width != 4 && op.width != 8) return Lean::kNo;
  if (op.action == Action::kLoadKernelParameter) return Lean::kValue;
  const auto fields = op.as<program::MemoryFields>();
  if (fields.has_any(program::kFrameAddress | program::kAcquire | program::kStrong))
    return Lean::kNo;
  const auto space = static_cast<Space>(op.space);
  const bool narrow = fields.has(program::kNarrowAddress);
  if ((space == Space::kGlobal || space == Space::kConst) && !narrow)
    return program::is_constant(op.src[0]) ? Lean::kValue : Lean::kNo;
  const bool fits = op.immediate % 4 == 0 && op.immediate > -(1 << 20) && op.immediate < 1 << 20;
  return space == Space::kShared && narrow && op.width == 4 && fits ? Lean::kWord : Lean::kNo;
}

}  // namespace

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
    case SpecialRegister::kNctaidZ: return Lean::kValue;
    default: return Lean::kNo;
  }
}

namespace {

// Of an answer.
int bytes_of(Lean lean) {
  return lean == Lean::kWord      ? static_cast<int>(sizeof(WindowPlace))
         : lean == Lean::kThreads ? static_cast<int>(sizeof(ThreadNumbers))
                                  : 8;
}
bool asks(const Answers& answers, Lean lean) {
  return lean == Lean::kWord      ? answers.window != nullptr
         : lean == Lean::kValue   ? answers.value != nullptr
         : lean == Lean::kThreads ? answers.threads != nullptr
                                  : false;
}

}  // namespace

LeanRun::Use* LeanRun::same_window(const Op& op) {
  for (Use& use : uses_) {
    if (use.lean == Lean::kWord && use.window->address == op.src[0]) return &use;
  }
  return nullptr;
}

bool LeanRun::admits(const Op& op) const {
  const Lean lean = lean_of(op);
  return asks(answers_, lean) && top_ + bytes_of(lean) <= end_;
}

void LeanRun::add(const Op& op) {
  Use use{lean_of(op), top_, nullptr, &op, false};
  const auto offset = static_cast<std::int32_t>(op.immediate);
  if (use.lean == Lean::kWord) {
    if (const Use* const other = same_window(op)) {
      Window& window = *other->window;
      window.first = std::min(window.first, offset);
      window.last = std::max(window.last, offset);
      return uses_.push_back({use.lean, other->at, &window, &op, true});
    }
    windows_.push_back(std::make_unique<Window>(Window{op.src[0], offset, offset}));
    use.window = windows_.back().get();
  }
  top_ += bytes_of(use.lean);
  uses_.push_back(use);
}

void LeanRun::ask(Code& g, Xbyak::Label& refused) {
  for (const Use& use : uses_) {
    if (use.again) continue;
    g.mov(rdi, R::warp);
    const void* const about = use.lean == Lean::kWord ? static_cast<const void*>(use.window)
                                                      : static_cast<const void*>(use.op);
    g.mov(rsi, reinterpret_cast<std::uint64_t>(about));
    g.lea(rdx, ptr[rsp + use.at]);
    const auto asked = use.lean == Lean::kWord ? reinterpret_cast<std::uint64_t>(answers_.window)
                       : use.lean == Lean::kValue
                           ? reinterpret_cast<std::uint64_t>(answers_.value)
                           : reinterpret_cast<std::uint64_t>(answers_.threads);
    g.mov(rax, asked);
    g.call(rax);
    g.test(al, al);
    g.jz(refused, Code::T_NEAR);
  }
}

void LeanRun::emit(RunOfLanes& r, const Op& op) {
  const Use use = uses_[next_++];
  if (use.lean == Lean::kValue && op.width == 8) {
    const Wide d = r.fresh_wide();
    for (const Xbyak::Ymm& part : d.part) r.g.vpbroadcastq(part, ptr[rsp + use.at]);
    return r.set_wide(op, d);
  }
  const Xbyak::Ymm d = r.fresh();
  if (use.lean == Lean::kValue) {
    r.g.vpbroadcastd(d, ptr[rsp + use.at]);
  } else if (use.lean == Lean::kThreads) {
    r.g.vmovdqu(d, ptr[rsp + R::lane * 4 + use.at]);
  } else {
    scattered_.push_back(std::make_unique<Scattered>());
    Scattered& s = *scattered_.back();
    s.value = d.getIdx();
    s.offset = static_cast<int>(op.immediate);
    r.g.cmp(byte[rsp + R::eighth + (use.at + static_cast<int>(offsetof(WindowPlace, scattered)))],
            0);
    r.g.mov(rax,
            ptr[rsp + R::eighth * 8 + (use.at + static_cast<int>(offsetof(WindowPlace, from)))]);
    r.g.vmovdqu(d, ptr[rsp + R::lane * 4 + use.at]);
    r.g.jne(s.begin, Code::T_NEAR);
    r.g.vpermd(d, d, ptr[rax + s.offset]);
    r.g.L(s.back);
  }
  r.set_word(op, d);
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
