// Instructions and the operations to which they are lowered. The handlers are stand-ins that record
// the action for which they were chosen.
#include "simulator/compile/lower.h"

#include <gmock/gmock.h>

#include <map>
#include <set>

#include "simulator/compile/frame.h"
#include "simulator/compile/registers.h"
#include "simulator/compile/testing.h"
#include "simulator/isa/category.h"
#include "simulator/isa/form_examples.h"
#include "simulator/isa/forms.h"
#include "simulator/program/images.h"
#include "simulator/program/memory_access.h"
#include "simulator/program/synchronisation.h"
#include "simulator/ptx/effects.h"

namespace lockstep::compile {
namespace lower_test {

using program::Action;
using program::Op;
using program::OperandUse;
using program::ValidityTransfer;
using testing::Compiled;
using testing::FakeHandlers;
using ::testing::HasSubstr;

std::string kernel(const std::string& body) {
  return ".extern .func g ();\n.global .align 16 .b8 variable[64];\n.shared .align 16 .b8 "
         "s[64];\n.func f(.param .b32 a)\n{\nret;\n}\n"
         ".entry k(.param .u64 x, .param .u32 n)\n{\n.reg .pred p<8>; .reg .b16 h<8>; .reg .b32 "
         "r<8>; .reg .b64 d<8>; .reg .b128 q<4>; .local .b8 l[16];\n" +
         body + "\nret;\n}\n";
}

// The operations of one instruction in a kernel. Each register has its own slot.
struct Lowered {
  Compiled compiled;
  std::vector<Op> ops;
  std::vector<ValidityTransfer> transfers;

  explicit Lowered(const std::string& instruction)
      : compiled(kernel(instruction), program::RegisterPlaces::kSeparate) {
    if (compiled.program == nullptr) return;
    const program::Function& f = compiled.program->functions.back();
    for (std::uint32_t pc = f.entry; pc + 2 < f.end; ++pc) {  // without ret and the function's end
      ops.push_back(compiled.program->ops[pc]);
      transfers.push_back(compiled.program->transfers[pc]);
    }
  }
  const Op& op(std::size_t n = 0) const {
    return ops.at(n);
  }  // throws, which fails the test, if there is none
  int action(std::size_t n = 0) const {
    return n < ops.size() ? FakeHandlers::chosen_for(ops[n]) : -2;
  }
};

int number(Action a) { return static_cast<int>(a); }

TEST(Lower, ALoadHasItsAddressItsWidthAndItsOrder) {
  const Lowered l("ld.acquire.gpu.global.s16 r1, [d1+24];");
  ASSERT_EQ(l.ops.size(), 1u);
  EXPECT_EQ(l.action(), FakeHandlers::kLoad);
  const Op& op = l.op(0);
  EXPECT_EQ(op.immediate, 24);
  EXPECT_EQ(op.width, 2);
  EXPECT_EQ(op.register_bytes, 4);
  EXPECT_EQ(op.as<program::MemoryFields>().flags(),
            program::kSignExtend | program::kStrong | program::kAcquire);
  EXPECT_EQ(op.space, static_cast<std::uint8_t>(isa::Space::kGlobal));
  EXPECT_EQ(l.transfers[0], ValidityTransfer::kLoad);
}

// Whether a kernel's accesses to shared memory are checked byte by byte. This is the case if an
// access of less than four bytes may be to shared memory.
TEST(Lower, NarrowAccessesToSharedMemoryAreJudgedByTheByte) {
  const std::map<std::string, bool> may_be_shared = {{"", true},
                                                     {".shared", true},
                                                     {".shared::cta", true},
                                                     {".shared::cluster", true},
                                                     {".global", false}};
  const std::map<std::string, int> bytes = {{"b8", 1},  {"u8", 1},  {"s8", 1},  {"b16", 2},
                                            {"u16", 2}, {"s16", 2}, {"b32", 4}, {"f32", 4},
                                            {"b64", 8}, {"f64", 8}};
  for (const auto& [space, shared] : may_be_shared) {
    for (const auto& [type, size] : bytes) {
      const std::string data = size < 4 ? "h1" : size == 4 ? "r1" : "d2";
      for (const std::string& access :
           {"ld" + space + "." + type + " " + data + ", [d1];",
            "st" + space + "." + type + " [d1], " + data + ";",
            "ld.volatile" + space + "." + type + " " + data + ", [d1];",
            "st" + space + ".v2." + type + " [d1], {" + data + ", " + data + "};"}) {
        const Lowered l(access);
        ASSERT_EQ(l.compiled.error, "") << access;
        EXPECT_EQ(l.compiled.program->functions.back().byte_granular, shared && size < 4) << access;
      }
    }
    for (const std::string& update : {"atom" + space + ".cas.b16 h1, [d1], h2, h3;",
                                      "red" + space + ".add.noftz.f16 [d1], h2;"}) {
      const Lowered l(update);
      ASSERT_EQ(l.compiled.error, "") << update;
      EXPECT_TRUE(l.compiled.program->functions.back().byte_granular || !shared) << update;
    }
    EXPECT_FALSE(Lowered("red" + space + ".add.u32 [d1], r2;")
                     .compiled.program->functions.back()
                     .byte_granular)
        << space;
  }
}

TEST(Lower, AVectorsRegistersAreListed) {
  const Lowered l("st.shared.v2.u32 [r1], {r2, r3};");
  EXPECT_EQ(l.action(), FakeHandlers::kStore);
  const auto& slots = l.compiled.program->slots;
  ASSERT_EQ(slots.size(), 2u);
  EXPECT_NE(slots[0], slots[1]);
  EXPECT_EQ(l.op(0).as<program::MemoryFields>().flags(), program::kNarrowAddress);
}

TEST(Lower, AKernelsParameterIsReadByItsOffset) {
  const Lowered l("ld.param.u32 r1, [n];");
  EXPECT_EQ(l.action(), number(Action::kLoadKernelParameter));
  EXPECT_EQ(l.op(0).immediate, 8);
}

TEST(Lower, AnAtomicWhoseResultNobodyReadsHasNone) {
  EXPECT_EQ(Lowered("atom.global.add.u32 r1, [d1], r2;").op(0).dst, program::kNoSlot);
  EXPECT_NE(Lowered("atom.global.add.u32 r1, [d1], r2; mov.u32 r3, r1;").op(0).dst,
            program::kNoSlot);
  const Lowered l("atom.global.min.s32 r1, [d1], r2;");
  EXPECT_EQ(l.action(), number(Action::kAtomic));
  EXPECT_EQ(l.op(0).as<program::AtomicFields>().what(), isa::AtomOp::kMin);
  EXPECT_TRUE(l.op(0).as<program::MemoryFields>().has(program::kSignExtend));
}

TEST(Lower, ASpecialRegisterAsAnOperandIsReadFirst) {
  const Lowered l("cvt.u64.u32 d1, %tid.x;");
  ASSERT_EQ(l.ops.size(), 2u);
  EXPECT_EQ(l.action(0), number(Action::kSpecialRegister));
  EXPECT_EQ(l.action(1), FakeHandlers::kCompute);
  EXPECT_EQ(l.op(0).dst, l.op(1).src[0]);
}

TEST(Lower, MovFromASpecialRegisterIsOneOperation) {
  EXPECT_EQ(Lowered("mov.u32 r1, %ctaid.y;").ops.size(), 1u);
}

TEST(Lower, AGuardIsKept) {
  const Lowered l("@!p1 add.u32 r1, r2, r3;");
  EXPECT_TRUE(l.op(0).guard_negated);
  EXPECT_NE(l.op(0).guard, program::kNoSlot);
}

TEST(Lower, BranchesLeadToTheirTargets) {
  const Compiled c(kernel("L: add.u32 r1, r2, r3; @p1 bra L; bra M; add.u32 r1, r1, r1; M: exit;"));
  const program::Function& f = c.program->functions.back();
  EXPECT_EQ(c.program->ops[f.entry + 1].as<program::BranchFields>().target(), f.entry);
  EXPECT_EQ(c.program->ops[f.entry + 2].as<program::BranchFields>().target(), f.entry + 4);
}

TEST(Lower, BarriersAndCollectivesSayWhatTheyAre) {
  const auto barrier = [](const char* text) {
    const Lowered l(text);
    const auto fields = l.op(0).as<program::BarrierFields>();
    return std::pair(fields.kind(), fields.is_aligned());
  };
  EXPECT_EQ(barrier("bar.sync 0;"), std::pair(program::kBarSync, true));
  EXPECT_EQ(barrier("barrier.arrive 1, 64;"), std::pair(program::kBarArrive, false));
  EXPECT_EQ(barrier("barrier.red.popc.u32 r1, 0, p1;"), std::pair(program::kBarRedPopc, false));
  EXPECT_EQ(barrier("bar.red.and.pred p2, 0, p1;"), std::pair(program::kBarRedAnd, true));
  const Lowered shuffle("shfl.sync.bfly.b32 r1|p1, r2, 1, 31, -1;");
  EXPECT_EQ(shuffle.action(), number(Action::kSync));
  EXPECT_EQ(shuffle.op(0).as<program::SyncFields>().kind(), program::SyncKind::kShflBfly);
  EXPECT_NE(shuffle.op(0).dst2, program::kNoSlot);
  EXPECT_EQ(Lowered("redux.sync.max.s32 r1, r2, -1;").op(0).as<program::SyncFields>().kind(),
            program::SyncKind::kReduxMaxS);
  EXPECT_EQ(Lowered("vote.sync.uni.pred p1, p2, -1;").op(0).as<program::SyncFields>().kind(),
            program::SyncKind::kVoteUni);
}

TEST(Lower, ANegatedPredicateOfACollectiveIsAnOperationOfItsOwn) {
  const Lowered l("vote.sync.any.pred p1, !p2, -1;");
  ASSERT_EQ(l.ops.size(), 2u);
  EXPECT_EQ(l.action(0), FakeHandlers::kCompute);
  EXPECT_EQ(l.op(0).dst, l.op(1).src[0]);
}

TEST(Lower, AMbarrierSaysWhatItDoes) {
  const Lowered l("mbarrier.arrive.expect_tx.shared.b64 d1, [r1], r2;");
  EXPECT_EQ(l.action(), number(Action::kMbarrier));
  EXPECT_EQ(l.op(0).as<program::MbarrierFields>().what(), program::MbarrierOp::kArrive);
  EXPECT_TRUE(l.op(0).as<program::MbarrierFields>().has(program::kWithTx));
  EXPECT_TRUE(l.op(0).as<program::MemoryFields>().has(program::kRelease));
  EXPECT_EQ(Lowered("mbarrier.pending_count.b64 r1, d1;").action(), number(Action::kPendingCount));
}

TEST(Lower, CopiesSayHowMuchIsCopied) {
  const Lowered l("cp.async.ca.shared.global [r1], [d1+4], 8, r2;");
  EXPECT_EQ(l.action(), number(Action::kCopyAsync));
  EXPECT_EQ(l.op(0).width, 8);
  EXPECT_EQ(l.op(0).as<program::CopyAsyncFields>().source_offset(), 4);
  EXPECT_EQ(l.op(0).as<program::CopyAsyncFields>().mode(), program::CopyMode::kSourceSize);
  EXPECT_EQ(Lowered("cp.async.wait_group 2;").op(0).immediate, 2);
  EXPECT_EQ(Lowered("cp.async.wait_all;").op(0).immediate, -1);
}

TEST(Lower, AddressesAreConvertedBetweenSpaces) {
  EXPECT_EQ(
      Lowered("cvta.to.shared.u64 d1, d2;").op(0).as<program::AddressConversionFields>().which(),
      program::AddressConversion::kToShared);
  EXPECT_EQ(Lowered("cvta.local.u64 d1, d2;").op(0).as<program::AddressConversionFields>().which(),
            program::AddressConversion::kFromLocal);
  EXPECT_EQ(Lowered("cvta.global.u64 d1, d2;").action(), FakeHandlers::kCompute)
      << "a global address is a generic address";
  EXPECT_EQ(Lowered("mapa.shared::cluster.u32 r1, r2, r3;").action(), number(Action::kMapAddress));
}

TEST(Lower, AHintIsAnOperationThatDoesNothing) {
  for (const char* hint : {"prefetch.global.L2 [d1];", "pmevent 3;", "prefetchu.L1 [d1];"}) {
    const Lowered l(hint);
    EXPECT_EQ(l.action(), number(Action::kHint)) << hint;
    EXPECT_TRUE(l.compiled.program->uses.empty()) << hint;
  }
}

TEST(Lower, ASurfacesModifiersArePacked) {
  const Lowered l("suld.b.2d.v2.b32.clamp {r1, r2}, [d1, {r3, r4}];");
  ASSERT_EQ(l.action(), number(Action::kSurfaceLoad));
  const auto form = program::ImageForm::of(l.op(0));
  EXPECT_EQ(form.geometry, isa::Geometry::k2d);
  EXPECT_EQ(form.border, isa::Border::kClamp);
}

TEST(Lower, ACallHasItsArgumentsAndItsTarget) {
  const Lowered l("{ .param .b32 a; st.param.b32 [a], r1; call f, (a); }");
  const auto& calls = l.compiled.program->calls;
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].function, 0);
  EXPECT_EQ(calls[0].arguments.size(), 1u);
  EXPECT_TRUE(l.compiled.program->functions.back().calls);
}

TEST(Lower, WhatCannotBeRunIsRefusedByNameAndLine) {
  EXPECT_THAT(Lowered("st.param.u32 [n], r1;").compiled.error, HasSubstr("line"));
  EXPECT_THAT(Lowered("st.param.u32 [n], r1;").compiled.error,
              HasSubstr("'st.param.u32' writes a kernel parameter"));
  EXPECT_THAT(Lowered("ld.param.u64 d1, [n];").compiled.error,
              HasSubstr("reaches outside the parameter 'n' of 4 bytes"));
  EXPECT_THAT(Lowered("call g, ();").compiled.error,
              HasSubstr("which nothing in the program defines"));
}

// Registers of an instruction whose values the simulated GPU does not read, so that unwritten ones
// are not detected.
std::set<std::uint32_t> not_looked_at(const ptx::Instruction& i) {
  std::set<std::uint32_t> all;
  const auto add = [&](const ptx::Operand& o) { all.insert(o.index); };
  for (std::size_t n = 0; n < i.operands.size(); ++n) {
    const ptx::Operand& o = i.operands[n];
    // Cache policies only control caches.
    if (i.rules != nullptr && (*i.rules)[n].name == "policy") add(o);
    if (i.opcode == isa::Opcode::k_createpolicy && !(*i.rules)[n].is_destination()) add(o);
    // The padding of a structure that is passed by value.
    if (i.opcode == isa::Opcode::k_st && i.modifiers.space == isa::Space::kParam) {
      add(o);
      std::ranges::for_each(o.elements, add);
    }
    // The time limit of a wait.
    if (i.opcode == isa::Opcode::k_mbarrier_try_wait && n == 3) add(o);
    // The last of four coordinates of an image (isa::coordinates_of), and of a three-dimensional
    // gradient.
    const bool image = isa::category_of(i.opcode) == isa::Category::kTexture ||
                       isa::category_of(i.opcode) == isa::Category::kSurface;
    if (image && o.kind == ptx::Operand::Kind::kAddress && !o.elements.empty() &&
        o.elements[0].elements.size() == 4 && i.modifiers.geometry != isa::Geometry::kAcube)
      add(o.elements[0].elements[3]);
    if (image && n >= 2 && o.elements.size() == 4) add(o.elements[3]);
  }
  return all;
}

// Whether an operation reads and writes the instruction's operands. Exceptions: a branch's
// predicate is its guard, a call's operands are in Call, and hints read nothing.
bool reads_its_operands(const isa::FormRow& row) {
  const isa::Category category = isa::category_of(row.opcode);
  return isa::flow_of(row.opcode) == isa::Flow::kNext && category != isa::Category::kHint &&
         category != isa::Category::kCacheHint;
}

// Compares the registers that a kernel's operations read and write with the table of forms.
void expect_registers_of_the_table(const ptx::Function& function, const program::Program& p,
                                   const program::Function& kernel) {
  // Registers lie after the .param variables.
  program::Function layout;
  layout.parameter_offsets = ptx::parameter_offsets(function);
  const program::Slot after = Frame(function, layout).file_bytes();
  RegisterAllocation places = allocate_registers(function, program::RegisterPlaces::kSeparate);
  std::set<program::Slot> of_registers;
  for (program::Slot& slot : places.slots) {
    slot += slot == program::kNoSlot ? 0 : after;
    of_registers.insert(slot);
  }
  struct Slots {
    std::set<program::Slot> read, written;
  };
  std::vector<Slots> used(function.body.size() + 1);
  for (std::uint32_t pc = kernel.entry; pc < kernel.end; ++pc) {
    Slots& of_instruction = used[p.origin(pc).instruction];
    for (std::uint32_t u = p.use_begin[pc]; u < p.use_begin[pc + 1]; ++u) {
      if (!of_registers.contains(p.uses[u].slot)) continue;  // a scratch slot
      (p.uses[u].role == OperandUse::Role::kWrite ? of_instruction.written : of_instruction.read)
          .insert(p.uses[u].slot);
    }
  }
  for (std::size_t n = 0; n < function.body.size(); ++n) {
    const ptx::Instruction& i = function.body[n];
    if (i.row == nullptr || !reads_its_operands(*i.row)) continue;
    std::set<program::Slot> must_read, must_write;
    const std::set<std::uint32_t> ignored = not_looked_at(i);
    for (const ptx::RegisterAccess& a : ptx::register_accesses(i)) {
      if (a.writes) {
        must_write.insert(places.slots[a.index]);
      } else if (!ignored.contains(a.index)) {
        must_read.insert(places.slots[a.index]);
      }
    }
    EXPECT_EQ(used[n].read, must_read) << "what is read: " << i.text << ", PTX line " << i.ptx_line;
    // An atomic whose result is not read has no destination.
    if (isa::category_of(i.opcode) != isa::Category::kAtomic) {
      EXPECT_EQ(used[n].written, must_write)
          << "what is written: " << i.text << ", PTX line " << i.ptx_line;
    }
  }
}

// The registers that an instruction's operations use must be those in the table of forms. The two
// lists were written independently.
TEST(Lower, EveryExampleUsesTheRegistersThatTheTableNames) {
  std::map<std::string, std::vector<isa::Example>> by_target;
  for (isa::Example& e : isa::pairwise_examples()) {
    const isa::FormRow& row = *e.spelling.form->row;
    if (!reads_its_operands(row)) continue;
    by_target["sm_" + std::to_string(row.sm) + (row.suffix != 0 ? "a" : "")].push_back(
        std::move(e));
  }
  std::size_t instructions = 0;
  for (const auto& [target, examples] : by_target) {
    auto parsed = ptx::parse(isa::example_module(examples, "9.0", target));
    ASSERT_TRUE(std::holds_alternative<ptx::Module>(parsed)) << target;
    const ptx::Module module = std::get<ptx::Module>(std::move(parsed));
    memory::DeviceMemory memory;
    static const FakeHandlers handlers;
    const auto compiled =
        compile({&module, 1}, memory, 0, {}, program::RegisterPlaces::kSeparate, handlers);
    ASSERT_TRUE(std::holds_alternative<std::unique_ptr<program::Program>>(compiled))
        << target << ": " << std::get<program::LoadError>(compiled).message;
    const program::Program& p = *std::get<std::unique_ptr<program::Program>>(compiled);
    auto kernel = p.functions.begin();
    for (const ptx::Function& f : module.functions) {
      if (!f.is_kernel) continue;
      kernel = std::find_if(kernel, p.functions.end(),
                            [](const program::Function& function) { return function.is_kernel; });
      ASSERT_NE(kernel, p.functions.end());
      expect_registers_of_the_table(f, p, *kernel++);
      instructions += f.body.size();
    }
  }
  EXPECT_GT(instructions, 20000u);
}

}  // namespace lower_test
}  // namespace lockstep::compile
