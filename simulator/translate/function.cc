#include "simulator/translate/function.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "simulator/translate/exchanges.h"
#include "simulator/translate/frame.h"
#include "simulator/translate/global_loads.h"
#include "simulator/translate/lean_run.h"
#include "simulator/translate/operations.h"
#include "simulator/translate/run_of_lanes.h"
#include "simulator/translate/translation.h"

namespace lockstep::translate {
namespace {

using namespace Xbyak::util;  // NOLINT: the names of registers
using program::BranchFields;
using program::kNoSlot;
using program::OpKind;
using R = Registers;
using Code = Xbyak::CodeGenerator;

// Flushing of subnormal operands and results.
constexpr std::uint32_t kFlushing = 0x8040;

// Fills the frame for some lanes: which these are, and where another split waits.
void set_lanes(Code& g, ConstantPool& pool, const Xbyak::Reg32& mask, const Xbyak::Reg32& limit) {
  g.mov(dword[rsp + kMask], mask);
  g.mov(dword[rsp + kLimit], limit);
  g.vmovd(xmm0, mask);
  g.vpbroadcastd(ymm0, xmm0);
  g.vpxor(ymm2, ymm2, ymm2);
  for (std::uint32_t i = 0; i < 4; ++i) {
    ConstantPool::Words bits;
    for (std::uint32_t lane = 0; lane < 8; ++lane) bits[lane] = 1u << (8 * i + lane);
    g.vpand(ymm1, ymm0, pool(bits));
    g.vpcmpeqd(ymm1, ymm1, ymm2);
    g.vmovdqu(ptr[rsp + (kLeftOut + 32 * static_cast<int>(i))], ymm1);
  }
}

class FunctionTranslator {
 public:
  FunctionTranslator(const program::Program& program, const program::Function& function,
                     const WarpLayout& layout, const Watch& watch, const Answers& answers,
                     Lanes lanes)
      : program_(program),
        function_(function),
        layout_(layout),
        watch_(watch),
        answers_(answers),
        masked_(lanes == Lanes::kSome),
        loads_(layout.uniform, layout.ranges, masked_) {}

  FunctionCode translate();

 private:
  bool is_leader(std::uint32_t pc) const { return leaders_[pc - function_.entry]; }
  Xbyak::Label& label(std::uint32_t pc) { return labels_[pc - function_.entry]; }
  void find_leaders();
  std::uint32_t emit_run(std::uint32_t pc, std::uint32_t limit, bool lean);
  void emit_refused();
  const Run* begin_watch(std::uint32_t begin, std::uint32_t end);
  void end_watch(const Run* run);
  void call_watch(Watch::Call call, const Run* run);
  void emit_call(const Op& op, std::uint32_t pc);
  void emit_exchange(const Op& op, std::uint32_t pc);
  void emit_load(const Op& op, std::uint32_t pc);
  void emit_branch(const Op& op, std::uint32_t pc);
  void count();
  void leave(std::uint32_t pc, Why why);
  void end_frame();
  void emit_splits();
  void emit_jump(std::uint32_t from, std::uint32_t target);

  // Code that is rarely run, emitted after the function.
  struct Cold {
    Xbyak::Label label;
    std::uint32_t pc, counted;
    Why why;
  };
  Xbyak::Label& cold(std::uint32_t pc, std::uint32_t counted, Why why) {
    cold_.push_back(std::make_unique<Cold>(Cold{{}, pc, counted, why}));
    return cold_.back()->label;
  }

  // Where lanes part or meet, emitted after the function: the engine is called.
  struct Turn {
    Xbyak::Label label;
    std::uint32_t pc = 0, target = 0;
    bool divides = false;  // eax has the lanes that branch to `target`
  };
  Xbyak::Label& turn(const Turn& t) {
    turns_.push_back(std::make_unique<Turn>(t));
    return turns_.back()->label;
  }
  bool has_splits() const { return layout_.splits.divide != nullptr; }

  // A run whose engine has answered no, again without what it was asked for; or a load whose
  // handler must look.
  struct Refused {
    Xbyak::Label label, back;
    std::uint32_t pc = 0, end = 0, pending = 0;
  };
  Refused& refusal(std::uint32_t pc, std::uint32_t end) {
    refused_.push_back(std::make_unique<Refused>());
    Refused& r = *refused_.back();
    r.pc = pc;
    r.end = end;
    r.pending = pending_;
    return r;
  }

  const program::Program& program_;
  const program::Function& function_;
  const WarpLayout& layout_;
  const Watch& watch_;
  const Answers& answers_;
  const bool masked_;
  GlobalLoads loads_;
  Code g_{4096, Xbyak::AutoGrow};  // without AutoGrow its pages would be executable, too
  ConstantPool pool_;
  FunctionCode out_;
  std::vector<bool> leaders_;
  std::vector<Xbyak::Label> labels_;
  std::vector<std::unique_ptr<Cold>> cold_;
  std::vector<std::unique_ptr<Turn>> turns_;
  std::vector<std::unique_ptr<Refused>> refused_;
  std::vector<LeanRun> leans_;
  std::uint32_t pending_ = 0;  // operations that have been emitted and not been counted
};

void FunctionTranslator::find_leaders() {
  leaders_.assign(function_.end - function_.entry + 1, false);
  leaders_[0] = true;
  for (std::uint32_t pc = function_.entry; pc < function_.end; ++pc) {
    const Op& op = program_.ops[pc];
    if (op.kind != OpKind::kBranch && op.kind != OpKind::kControl) continue;
    leaders_[pc + 1 - function_.entry] = true;
    if (op.kind == OpKind::kBranch)
      leaders_[op.as<BranchFields>().target() - function_.entry] = true;
    if (op.action == program::Action::kBranchTable) {
      for (const std::uint32_t target : program_.tables[op.as<program::SideDataFields>().index()])
        leaders_[target - function_.entry] = true;
    }
  }
}

void FunctionTranslator::count() {
  if (pending_ != 0) g_.add(R::count, static_cast<int>(pending_));
  pending_ = 0;
}

// Everything before has been counted.
void FunctionTranslator::leave(std::uint32_t pc, Why why) {
  masked_ ? g_.mov(ecx, dword[rsp + kMask]) : g_.mov(ecx, ~0u);
  g_.mov(eax, pc);
  g_.lea(rdx, ptr[R::count * 4 + static_cast<int>(why)]);
  end_frame();
}

// The lanes are in ecx, the place in eax, and rdx is Left::ended.
void FunctionTranslator::end_frame() {
  g_.shl(rcx, 32);
  g_.or_(rax, rcx);
  g_.vzeroupper();
  g_.add(rsp, kFrame);
  for (const auto& reg : {r15, r14, r13, r12, rbp, rbx}) g_.pop(reg);
  g_.ret();
}

// Calls the engine where lanes part or meet, and goes on where it says.
void FunctionTranslator::emit_splits() {
  if (turns_.empty()) return;
  Xbyak::Label next, leaves;
  for (const auto& t : turns_) {
    g_.L(t->label);
    g_.vzeroupper();
    g_.mov(rdi, R::warp);
    g_.mov(esi, t->pc);
    if (t->divides) {
      g_.mov(ecx, eax);
      g_.mov(edx, t->target);
      g_.mov(r8, R::count);
    } else {
      g_.mov(rdx, R::count);
    }
    g_.mov(rax, t->divides ? reinterpret_cast<std::uint64_t>(layout_.splits.divide)
                           : reinterpret_cast<std::uint64_t>(layout_.splits.meet));
    g_.jmp(next, Code::T_NEAR);
  }
  g_.L(next);
  g_.call(rax);
  g_.xor_(r14d, r14d);
  g_.mov(ecx, dword[R::warp + static_cast<int>(layout_.active)]);
  g_.mov(esi, dword[R::warp + static_cast<int>(layout_.limit)]);
  g_.test(rax, rax);
  g_.jz(leaves, Code::T_NEAR);
  set_lanes(g_, pool_, ecx, esi);
  g_.jmp(rax);
  g_.L(leaves);
  g_.mov(eax, dword[R::warp + static_cast<int>(layout_.pc)]);
  g_.movzx(edx, dl);
  end_frame();
}

void FunctionTranslator::call_watch(Watch::Call call, const Run* run) {
  g_.vzeroupper();
  g_.mov(rdi, R::warp);
  g_.mov(rsi, reinterpret_cast<std::uint64_t>(run));
  g_.mov(rax, reinterpret_cast<std::uint64_t>(call));
  g_.call(rax);
}
// nullptr: nobody watches.
const Run* FunctionTranslator::begin_watch(std::uint32_t begin, std::uint32_t end) {
  if (watch_.before == nullptr) return nullptr;
  const Run* const run = out_.runs.emplace_back(std::make_unique<Run>(Run{begin, end})).get();
  call_watch(watch_.before, run);
  return run;
}
void FunctionTranslator::end_watch(const Run* run) {
  if (run != nullptr) call_watch(watch_.after, run);
}

// Emits the run that begins at `pc` and ends before `limit` at the latest, and returns its end;
// `pc` if there is none. `lean`: with operations that the engine is asked about.
std::uint32_t FunctionTranslator::emit_run(std::uint32_t pc, std::uint32_t limit, bool lean) {
  RunOfLanes run(g_, pool_, program_, masked_);
  LeanRun leans(answers_, layout_.uniform, kAnswers, kAnswerBytes);
  const auto emitter = [&](std::uint32_t at) {
    return emitter_of(program_.ops[at], program_.meanings[at], program_);
  };
  std::uint32_t end = pc;
  while (end < limit && (end == pc || !is_leader(end))) {
    const Op& op = program_.ops[end];
    if (lean && leans.admits(op)) {
      if (!run.admits_lean(op)) break;
      leans.add(op);
    } else if (emitter(end) == nullptr || !run.admits(op, program_.meanings[end])) {
      break;
    }
    ++end;
  }
  if (end == pc) return pc;
  Refused* refused = nullptr;
  if (leans.asks()) {
    refused = &refusal(pc, end);
    g_.vzeroupper();
    leans.ask(g_, refused->label);
  }
  const Run* const watched = begin_watch(pc, end);
  const bool flushes = run.mode() == Mode::kFlushing;
  if (flushes) {
    g_.vstmxcsr(dword[rsp + kOldControl]);
    g_.mov(eax, dword[rsp + kOldControl]);
    g_.or_(eax, kFlushing);
    g_.mov(dword[rsp + kNewControl], eax);
    g_.vldmxcsr(dword[rsp + kNewControl]);
  }
  leans.prepare(g_);
  run.begin();
  for (std::uint32_t at = pc; at < end; ++at) {
    const Op& op = program_.ops[at];
    if (const Emitter emit = emitter(at))
      emit(run, op, program_.meanings[at]);
    else
      leans.emit(run, op);
    run.next();
  }
  run.end();
  if (flushes) g_.vldmxcsr(dword[rsp + kOldControl]);
  end_watch(watched);
  pending_ += end - pc;
  if (refused != nullptr) g_.L(refused->back);
  leans_.push_back(std::move(leans));
  return end;
}

void FunctionTranslator::emit_refused() {
  for (const auto& refused : refused_) {
    g_.L(refused->label);
    pending_ = refused->pending;
    for (std::uint32_t pc = refused->pc; pc < refused->end;) {
      const std::uint32_t end = emit_run(pc, refused->end, /*lean=*/false);
      if (end == pc) emit_call(program_.ops[pc], pc);
      pc = std::max(end, pc + 1);
    }
    g_.jmp(refused->back, Code::T_NEAR);
  }
  pending_ = 0;
}

// What the interpreter's loop does with an operation that computes, accesses memory or exchanges.
void FunctionTranslator::emit_call(const Op& op, std::uint32_t pc) {
  ++pending_;
  Xbyak::Label skip;
  const bool may_fail = op.kind != OpKind::kCompute;
  if (may_fail) g_.mov(dword[R::warp + static_cast<int>(layout_.pc)], pc + 1);
  if (op.guard != kNoSlot) {
    const Xbyak::Reg64& base = program::is_constant(op.guard) ? R::constants : R::file;
    g_.mov(edx, dword[base + static_cast<int>(op.guard & ~Slot{1})]);
    if (op.guard_negated) g_.not_(edx);
    masked_ ? g_.and_(edx, dword[rsp + kMask]) : g_.test(edx, edx);
    g_.jz(skip, Code::T_NEAR);
  } else {
    masked_ ? g_.mov(edx, dword[rsp + kMask]) : g_.mov(edx, ~0u);
  }
  g_.vzeroupper();
  g_.mov(rdi, R::warp);
  g_.mov(rsi, reinterpret_cast<std::uint64_t>(&op));
  g_.mov(rax, reinterpret_cast<std::uint64_t>(op.run));
  g_.call(rax);
  if (may_fail) {
    g_.cmp(byte[R::warp + static_cast<int>(layout_.event)], 0);
    g_.jne(cold(pc + 1, pending_, Why::kEvent), Code::T_NEAR);
  }
  g_.L(skip);
}

void FunctionTranslator::emit_exchange(const Op& op, std::uint32_t pc) {
  if (masked_ || layout_.uniform.pointer == 0 || !is_known_exchange(program_, op))
    return emit_call(op, pc);
  ++pending_;
  const Run* const watched = begin_watch(pc, pc + 1);
  translate::emit_exchange(g_, pool_, program_, layout_.uniform, op);
  end_watch(watched);
}

void FunctionTranslator::emit_load(const Op& op, std::uint32_t pc) {
  Refused& refused = refusal(pc, pc + 1);
  ++pending_;
  const Run* const watched = begin_watch(pc, pc + 1);
  loads_.emit(g_, op, refused.label);
  end_watch(watched);
  g_.L(refused.back);
}

// Everything before has been counted.
void FunctionTranslator::emit_jump(std::uint32_t from, std::uint32_t target) {
  if (target <= from) {
    g_.dec(dword[R::warp + static_cast<int>(layout_.time_slice)]);
    g_.jle(cold(target, 0, Why::kSliceOver), Code::T_NEAR);
  }
  g_.jmp(label(target), Code::T_NEAR);
}

void FunctionTranslator::emit_branch(const Op& op, std::uint32_t pc) {
  const std::uint32_t target = op.as<BranchFields>().target();
  ++pending_;
  count();
  if (op.guard == kNoSlot) return emit_jump(pc, target);
  Xbyak::Label stays;
  const Xbyak::Reg64& base = program::is_constant(op.guard) ? R::constants : R::file;
  g_.mov(eax, dword[base + static_cast<int>(op.guard & ~Slot{1})]);
  if (op.guard_negated) g_.not_(eax);
  masked_ ? g_.and_(eax, dword[rsp + kMask]) : g_.test(eax, eax);
  g_.jz(stays, Code::T_NEAR);
  masked_ ? g_.cmp(eax, dword[rsp + kMask]) : g_.cmp(eax, -1);
  if (has_splits())
    g_.jne(turn({{}, pc + 1, target, true}), Code::T_NEAR);
  else  // The interpreter divides the warp: it executes the branch, and counts it.
    g_.jne(cold(pc, ~0u, Why::kInterpret), Code::T_NEAR);
  emit_jump(pc, target);
  g_.L(stays);
}

FunctionCode FunctionTranslator::translate() {
  find_leaders();
  labels_.resize(leaders_.size());
  for (std::uint32_t pc = function_.entry; pc < function_.end;) {
    const Op& op = program_.ops[pc];
    if (is_leader(pc)) {
      count();
      g_.L(label(pc));
      if (masked_) {
        // Another split waits here, or before.
        g_.cmp(dword[rsp + kLimit], pc);
        g_.jbe(has_splits() ? turn({{}, pc}) : cold(pc, 0, Why::kMet), Code::T_NEAR);
        out_.stops.push_back(pc);
      }
      if (op.kind != OpKind::kControl || is_exchange(op))
        out_.entries.emplace_back(pc, static_cast<std::uint32_t>(g_.getSize()));
    }
    if (is_exchange(op)) {
      emit_exchange(op, pc);
      ++pc;
    } else if (op.kind == OpKind::kControl) {
      count();
      leave(pc, Why::kInterpret);
      ++pc;
    } else if (op.kind == OpKind::kBranch) {
      emit_branch(op, pc);
      ++pc;
    } else if (const std::uint32_t end = emit_run(pc, function_.end, /*lean=*/true); end != pc) {
      pc = end;
    } else {
      loads_.admits(op) ? emit_load(op, pc) : emit_call(op, pc);
      ++pc;
    }
  }
  // A function ends with a control operation. A warp that falls out of it all the same goes on as
  // the interpreter would.
  count();
  g_.L(label(function_.end));
  leave(function_.end, Why::kInterpret);
  emit_refused();
  loads_.emit_routines(g_, pool_);
  for (LeanRun& leans : leans_) {
    leans.emit_scattered(g_);
    for (auto& window : leans.take_windows()) out_.windows.push_back(std::move(window));
  }
  for (const auto& c : cold_) {
    g_.L(c->label);
    if (c->counted != 0) g_.add(R::count, static_cast<int>(c->counted));
    leave(c->pc, c->why);
  }
  emit_splits();
  pool_.emit(g_);
  g_.ready(Xbyak::CodeArray::PROTECT_RW);
  out_.code.assign(g_.getCode(), g_.getCode() + g_.getSize());
  return std::move(out_);
}

}  // namespace

FunctionCode translate_function(const program::Program& program, const program::Function& function,
                                const WarpLayout& layout, const Watch& watch,
                                const Answers& answers, Lanes lanes) {
  return FunctionTranslator(program, function, layout, watch, answers, lanes).translate();
}

std::vector<std::uint8_t> enter_code(Lanes lanes) {
  Code g(4096, Xbyak::AutoGrow);
  ConstantPool pool;
  for (const auto& reg : {rbx, rbp, r12, r13, r14, r15}) g.push(reg);
  g.sub(rsp, kFrame);
  g.mov(R::warp, rdi);
  g.mov(R::file, rsi);
  g.mov(R::constants, rdx);
  g.xor_(r14d, r14d);
  if (lanes == Lanes::kSome) {
    set_lanes(g, pool, r8d, r9d);
  }
  g.jmp(rcx);
  pool.emit(g);
  g.ready(Xbyak::CodeArray::PROTECT_RW);
  return {g.getCode(), g.getCode() + g.getSize()};
}

}  // namespace lockstep::translate
