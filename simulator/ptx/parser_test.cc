// Tests what the parser produces, and what it refuses.
#include "simulator/ptx/parser.h"

#include <gtest/gtest.h>

#include <string>

namespace lockstep::ptx {
namespace parser_test {

using Kind = Operand::Kind;

constexpr char kHeader[] = ".version 9.0\n.target sm_90\n.address_size 64\n";

Module module_of(const std::string& text) {
  auto result = parse(kHeader + text);
  if (const auto* e = std::get_if<ParseError>(&result)) {
    ADD_FAILURE() << e->to_string();
    return {};
  }
  return std::get<Module>(std::move(result));
}

// A kernel with registers of every kind around `body`, which begins on line 7 of the PTX.
std::string kernel(const std::string& body) {
  return ".visible .entry k(.param .u64 a, .param .u32 n)\n{\n.reg .pred %p<8>; .reg .b16 %h<8>; "
         ".reg .b32 %r<8>; .reg .b64 %d<8>; .reg .f32 %f<8>; .reg .f64 %g<8>;\n" +
         body + "\nret;\n}\n";
}

Function function_of(const std::string& body) {
  Module m = module_of(kernel(body));
  return m.functions.empty() ? Function{} : m.functions.back();
}

// The register's name, of a register operand.
std::string name(const Function& f, const Operand& o) { return f.registers.at(o.index).name; }

std::string error_of(const std::string& text) {
  const auto result = parse(text);
  if (const auto* e = std::get_if<ParseError>(&result)) return e->to_string();
  for (const Function& f : std::get<Module>(result).functions) {
    if (f.unknown) return ParseError{f.unknown->line, f.name, f.unknown->message}.to_string();
  }
  return "accepted";
}

// ---- Instructions -------------------------------------------------------------------------------

TEST(Instructions, KeepOpcodeModifiersOperandsGuardAndLine) {
  const Function f = function_of("@!%p1 add.rn.ftz.f32 %f1, %f2, 0f40000000;");
  ASSERT_EQ(f.body.size(), 2u);
  const Instruction& i = f.body[0];
  EXPECT_EQ(i.opcode, Opcode::k_add);
  EXPECT_EQ(i.modifiers.type, Type::kF32);
  EXPECT_EQ(i.modifiers.rounding, isa::Rounding::kNearestEven);
  EXPECT_TRUE(i.modifiers.ftz);
  EXPECT_FALSE(i.modifiers.sat);
  EXPECT_TRUE(i.guard.present);
  EXPECT_TRUE(i.guard.negated);
  EXPECT_EQ(f.registers[i.guard.index].name, "%p1");
  ASSERT_EQ(i.operands.size(), 3u);
  EXPECT_EQ(name(f, i.operands[0]), "%f1");
  EXPECT_EQ(i.operands[2].kind, Kind::kImmediate);
  EXPECT_EQ(i.operands[2].bits, 0x40000000u);
  EXPECT_TRUE(i.operands[2].is_float);
  EXPECT_EQ(i.ptx_line, 7);
  EXPECT_EQ(i.text, "add.rn.ftz.f32");
}

TEST(Instructions, ImmediatesTakeTheTypesBits) {
  const Function f = function_of(
      "add.s32 %r1, %r2, -1; mov.u16 %h1, 70000; mov.f64 %g1, 0f3F800000; mov.pred %p1, 1; mov.b32 "
      "%r1, 0f3F800000;");
  EXPECT_EQ(f.body[0].operands[2].bits, 0xffffffffu);
  EXPECT_EQ(f.body[1].operands[1].bits, 70000u & 0xffff);
  EXPECT_EQ(f.body[2].operands[1].bits, 0x3ff0000000000000ull);
  EXPECT_EQ(f.body[3].operands[1].bits, 1u);
  EXPECT_EQ(f.body[4].operands[1].bits, 0x3f800000u);
}

TEST(Instructions, AddressesOfAllKinds) {
  const Function f = function_of(
      ".shared .align 4 .b8 s[64];\nld.global.u32 %r1, [%d1+-4]; ld.shared.u32 %r1, [s+8]; "
      "ld.param.u32 %r1, [n]; st.global.v2.u32 [%d1-8], {%r1, %r2}; "
      "ld.global.u32 %r1, [64]; atom.global.add.u32 _, [%d2], 1;");
  const auto& b = f.body;
  EXPECT_TRUE(b[0].operands[1].has_register);
  EXPECT_EQ(b[0].operands[1].offset, -4);
  EXPECT_EQ(b[1].operands[1].symbol, "s");
  EXPECT_EQ(b[1].operands[1].offset, 8);
  EXPECT_EQ(b[2].operands[1].symbol, "n");
  EXPECT_EQ(b[3].modifiers.vector, 2);
  EXPECT_EQ(b[3].operands[0].offset, -8);
  ASSERT_EQ(b[3].operands[1].elements.size(), 2u);
  EXPECT_FALSE(b[4].operands[1].has_register);
  EXPECT_EQ(b[4].operands[1].offset, 64);
  EXPECT_EQ(b[5].operands[0].kind, Kind::kSink);
}

TEST(Instructions, PairsNegatedPredicatesAndSpecialRegisters) {
  const Function f = function_of(
      "setp.lt.and.s32 %p1|%p2, %r1, 5, !%p3; mov.u32 %r1, %ctaid.y; shfl.sync.idx.b32 %r1|%p1, "
      "%r2, 0, 31, -1; setp.eq.u32 %p1, %r1, WARP_SZ;");
  ASSERT_EQ(f.body[0].operands[0].kind, Kind::kPair);
  EXPECT_EQ(name(f, f.body[0].operands[0].elements[1]), "%p2");
  EXPECT_EQ(f.body[0].operands[3].kind, Kind::kNegatedPredicate);
  EXPECT_EQ(f.body[0].modifiers.compare, isa::Compare::kLt);
  EXPECT_EQ(f.body[0].modifiers.bool_op, isa::BoolOp::kAnd);
  EXPECT_EQ(f.body[1].operands[1].special, SpecialRegister::kCtaidY);
  EXPECT_EQ(f.body[2].modifiers.shfl, isa::ShflMode::kIdx);
  EXPECT_EQ(f.body[3].operands[2].bits, 32u);
}

TEST(Instructions, TheSameWordMeansWhatItsOpcodeSays) {
  const Function f = function_of(
      "mul.lo.u32 %r1, %r2, %r3; setp.lo.u32 %p1, %r1, %r2; mul.wide.s32 %d1, %r1, 4; "
      "vote.sync.all.pred %p1, %p2, -1; bar.red.and.pred %p1, 0, %p2; and.b32 %r1, %r2, %r3; "
      "atom.global.and.b32 %r1, [%d1], %r2; barrier.cluster.arrive.release.aligned;");
  EXPECT_EQ(f.body[0].modifiers.half, isa::Half::kLo);
  EXPECT_EQ(f.body[1].modifiers.compare, isa::Compare::kLo);
  EXPECT_EQ(f.body[2].modifiers.half, isa::Half::kWide);
  EXPECT_EQ(f.body[3].modifiers.vote, isa::VoteMode::kAll);
  EXPECT_EQ(f.body[4].modifiers.bool_op, isa::BoolOp::kAnd);
  EXPECT_EQ(f.body[4].modifiers.bar, isa::BarMode::kRed);
  EXPECT_TRUE(f.body[4].modifiers.aligned);
  EXPECT_EQ(f.body[5].opcode, Opcode::k_and);
  EXPECT_EQ(f.body[6].modifiers.atom, isa::AtomOp::kAnd);
  EXPECT_EQ(f.body[7].opcode, Opcode::k_barrier_cluster_arrive);
  EXPECT_EQ(f.body[7].modifiers.semantics, isa::Semantics::kRelease);
  EXPECT_EQ(f.body[7].modifiers.scope, isa::Scope::kNone);
}

// ---- Labels, scopes, control flow ---------------------------------------------------------------

TEST(Labels, BranchesForwardAndBackwardBecomeIndices) {
  const Function f = function_of("L1:\nadd.s32 %r1, %r1, 1;\n@%p1 bra L2;\nbra.uni L1;\nL2:");
  EXPECT_EQ(f.body[1].operands[0].kind, Kind::kLabel);
  EXPECT_EQ(f.body[1].operands[0].index, 3u);
  EXPECT_EQ(f.body[2].operands[0].index, 0u);
  EXPECT_TRUE(f.body[2].modifiers.uniform);
}

TEST(Labels, BranchTargetsBecomeAList) {
  const Function f =
      function_of("ts: .branchtargets A, B, A;\nbrx.idx %r1, ts;\nA:\nadd.s32 %r1, %r1, 1;\nB:");
  const Operand& list = f.body[0].operands[1];
  ASSERT_EQ(list.kind, Kind::kList);
  ASSERT_EQ(list.elements.size(), 3u);
  EXPECT_EQ(list.elements[0].index, 1u);
  EXPECT_EQ(list.elements[1].index, 2u);
  EXPECT_EQ(list.elements[2].kind, Kind::kLabel);
}

TEST(Scopes, InnerRegistersVariablesAndLabelsHideOuterOnes) {
  const Function f = function_of(
      ".reg .b32 x; .local .b32 v;\nmov.u32 x, 1;\n{ .reg .f32 x; .local .b64 v; mov.f32 x, "
      "0f00000000; st.local.u64 [v], %d1; bra L; L: }\n"
      "{ .reg .b64 x; mov.u64 x, 2; bra L; L: }\nmov.u32 x, 3; st.local.u32 [v], %r1;");
  EXPECT_EQ(f.registers[f.body[0].operands[0].index].type, Type::kB32);
  EXPECT_EQ(f.registers[f.body[1].operands[0].index].type, Type::kF32);
  EXPECT_EQ(f.registers[f.body[4].operands[0].index].type, Type::kB64);
  EXPECT_EQ(f.body[0].operands[0].index, f.body[6].operands[0].index);
  EXPECT_EQ(f.body[3].operands[0].index, 4u);  // the L of its own block
  EXPECT_EQ(f.body[5].operands[0].index, 6u);
  ASSERT_EQ(f.variables.size(), 2u);
  EXPECT_NE(f.variables[0].name, f.variables[1].name);
  EXPECT_EQ(f.body[2].operands[0].symbol, f.variables[1].name);
  EXPECT_EQ(f.body[7].operands[0].symbol, f.variables[0].name);
}

TEST(Calls, DirectIndirectAndThroughPrototypes) {
  const Module m = module_of(
      ".func (.param .b32 r) callee(.param .b32 x, .param .b64 y) { .reg .b32 %t; ld.param.b32 %t, "
      "[x]; st.param.b32 [r], %t; ret; }\n"
      ".extern .func stop() .noreturn;\n" +
      kernel("{ .param .b32 p0; .param .b64 p1; .param .b32 out; call.uni (out), callee, (p0, p1); "
             "}\ncall stop;\n"
             "proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[16]);\n"
             "{ .param .b32 p0; .param .align 8 .b8 p1[16]; .param .b32 out; call (out), %d1, (p0, "
             "p1), proto; }"));
  ASSERT_EQ(m.functions.size(), 3u);
  EXPECT_FALSE(m.functions[0].is_kernel);
  EXPECT_EQ(m.functions[0].results.size(), 1u);
  EXPECT_TRUE(m.functions[1].is_declaration);
  EXPECT_TRUE(m.functions[1].is_extern);
  EXPECT_TRUE(m.functions[1].noreturn);
  const Function& f = m.functions[2];
  const Instruction& direct = f.body[0];
  ASSERT_EQ(direct.operands.size(), 4u);
  EXPECT_EQ(direct.operands[0].elements.at(0).symbol, "out");
  EXPECT_EQ(direct.operands[1].symbol, "callee");
  EXPECT_EQ(direct.operands[2].elements.size(), 2u);
  EXPECT_EQ(direct.operands[3].kind, Kind::kNone);
  EXPECT_TRUE(f.body[1].operands[2].elements.empty());
  const Instruction& indirect = f.body[2];
  EXPECT_EQ(indirect.operands[1].kind, Kind::kRegister);
  EXPECT_EQ(indirect.operands[2].elements.at(0).symbol, "p0#2");
  EXPECT_EQ(indirect.operands[3].symbol, "proto");
  const Prototype& p = f.prototypes.at("proto");
  EXPECT_EQ(p.results.size(), 1u);
  ASSERT_EQ(p.parameters.size(), 2u);
  EXPECT_EQ(p.parameters[1].size, 16u);
  EXPECT_EQ(p.parameters[1].alignment, 8u);
}

// ---- Declarations -------------------------------------------------------------------------------

TEST(Variables, SizesAlignmentsAndLinkage) {
  const Module m = module_of(
      ".visible .global .align 16 .b8 g[48];\n.const .f32 c[2][3];\n.extern .shared .align 16 .b8 "
      "dynamic[];\n.weak .global .v4 .f32 w;\n"
      ".global .attribute(.managed) .align 4 .u32 managed;\n.common .global .b32 "
      "shared_by_all[4];\n.extern .global .u64 elsewhere;");
  ASSERT_EQ(m.variables.size(), 7u);
  EXPECT_EQ(m.variables[0].size, 48u);
  EXPECT_EQ(m.variables[0].alignment, 16u);
  EXPECT_TRUE(m.variables[0].is_visible);
  EXPECT_EQ(m.variables[1].space, Space::kConst);
  EXPECT_EQ(m.variables[1].size, 24u);
  EXPECT_EQ(m.variables[1].alignment, 4u);
  EXPECT_TRUE(m.variables[2].is_extern);
  EXPECT_EQ(m.variables[2].size, 0u);
  EXPECT_EQ(m.variables[3].size, 16u);
  EXPECT_EQ(m.variables[3].alignment, 16u);
  EXPECT_TRUE(m.variables[3].is_weak);
  EXPECT_TRUE(m.variables[4].is_managed);
  EXPECT_TRUE(m.variables[6].is_extern);
}

TEST(Variables, InitialisersFillBytesInOrder) {
  const Module m = module_of(
      ".global .u16 a[4] = {1, 0x203};\n.const .f32 b[] = {1.0, 0fC0000000};\n.global .s8 c[2][2] "
      "= {{1, -1}, {2}};\n.global .f64 d = 0d3FF0000000000000;\n.global .u32 e = 1 << 4 | 3;");
  EXPECT_EQ(m.variables[0].initial, (std::vector<std::uint8_t>{1, 0, 3, 2})) << "the rest is zero";
  EXPECT_EQ(m.variables[1].size, 8u);
  EXPECT_EQ(m.variables[1].initial, (std::vector<std::uint8_t>{0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0}));
  EXPECT_EQ(m.variables[2].initial, (std::vector<std::uint8_t>{1, 0xff, 2}));
  EXPECT_EQ(m.variables[3].initial, (std::vector<std::uint8_t>{0, 0, 0, 0, 0, 0, 0xf0, 0x3f}));
  EXPECT_EQ(m.variables[4].initial, (std::vector<std::uint8_t>{19, 0, 0, 0}));
}

TEST(Variables, InitialisersMayHoldAddresses) {
  const Module m = module_of(
      ".func f;\n.global .b32 x[4];\n.global .u64 t[4] = {f, generic(x)+12, x-4, 7};\n.global .u8 "
      "bytes[2] = {0xFF(x), 0xFF00(generic(x))};");
  const Variable& t = m.variables[1];
  ASSERT_EQ(t.relocations.size(), 3u);
  EXPECT_EQ(t.relocations[0].symbol, "f");
  EXPECT_FALSE(t.relocations[0].generic);
  EXPECT_EQ(t.relocations[1].symbol, "x");
  EXPECT_TRUE(t.relocations[1].generic);
  EXPECT_EQ(t.relocations[1].addend, 12);
  EXPECT_EQ(t.relocations[1].offset, 8u);
  EXPECT_EQ(t.relocations[2].addend, -4);
  EXPECT_EQ(t.initial[24], 7);
  const Variable& bytes = m.variables[2];
  EXPECT_EQ(bytes.relocations.at(1).mask, 0xff00u);
  EXPECT_EQ(bytes.relocations.at(1).size, 1u);
}

TEST(Parameters, OffsetsFollowNaturalAlignment) {
  const Module m = module_of(
      ".entry k(.param .u8 a, .param .u64 .ptr .global .align 16 b, .param .u16 c, .param .align "
      "16 .b8 d[20], .param .f32 e) { ret; }\n.entry none { ret; }");
  EXPECT_EQ(parameter_offsets(m.functions[0]), (std::vector<std::uint32_t>{0, 8, 16, 32, 52, 56}));
  EXPECT_EQ(parameter_offsets(m.functions[1]), (std::vector<std::uint32_t>{0}));
}

TEST(Kernels, LaunchDirectives) {
  const Module m = module_of(
      ".entry a .maxntid 256 .minnctapersm 2 { ret; }\n.entry b .reqntid 8, 4, 2 .maxnreg 64 { "
      "ret; }\n"
      ".entry c .explicitcluster .reqnctapercluster 2, 1, 1 { ret; }\n.entry d .maxclusterrank 4 { "
      "ret; }");
  EXPECT_EQ(m.functions[0].max_threads[0], 256u);
  EXPECT_EQ(m.functions[0].max_threads[2], 1u);
  EXPECT_EQ(m.functions[0].min_blocks, 2u);
  EXPECT_EQ(m.functions[1].required_threads[1], 4u);
  EXPECT_EQ(m.functions[1].max_registers, 64u);
  EXPECT_TRUE(m.functions[2].explicit_cluster);
  EXPECT_EQ(m.functions[2].required_cluster[0], 2u);
  EXPECT_EQ(m.functions[3].max_cluster_rank, 4u);
}

// As in a driver. Targets newer than the oldest device that nvcc supports are still refused.
TEST(Modules, OfOlderDevicesAreTaken) {
  const std::string body =
      ".address_size 64\n.entry k(.param .u64 p) { .reg .u64 %d<2>; .reg .u32 %r<2>; ld.param.u64 "
      "%d0, [p]; ";
  EXPECT_EQ(error_of(".version 3.0\n.target sm_20\n" + body + "ld.global.u32 %r0, [%d0]; ret; }"),
            "accepted");
  EXPECT_NE(
      error_of(".version 7.0\n.target sm_50\n" + body + "cp.async.wait_all; ret; }").find("sm_80"),
      std::string::npos);
}

// Compilers for these devices wrote the option into every module, and an H100's driver accepts
// them.
TEST(Modules, ThatMapF64AreTakenWithoutInstructionsOnIt) {
  const std::string head = ".version 1.4\n.target sm_10, map_f64_to_f32\n",
                    registers = "{ .reg .f32 %f<3>; .reg .f64 %g<3>; ";
  EXPECT_EQ(error_of(head + ".entry k " + registers + "add.f32 %f0, %f1, %f2; exit; }"),
            "accepted");
  for (const std::string wide : {"add.f64 %g0, %g1, %g2;", "cvt.rn.f32.f64 %f0, %g0;"})
    EXPECT_NE(error_of(head + ".entry k " + registers + wide + " exit; }")
                  .find("' under the target option map_f64_to_f32 is not supported"),
              std::string::npos)
        << wide;
}

TEST(Modules, OfTheFirstDevicesMultiplyAndAddAsFma) {
  const auto text = [](const std::string& target, const std::string& instruction) {
    return ".version 1.4\n.target " + target + "\n.entry k { .reg .f32 %f<4>; " + instruction +
           " %f0, %f1, %f2, %f3; exit; }";
  };
  for (const bool saturates : {false, true}) {
    const std::string written = saturates ? "mad.sat.f32" : "mad.f32";
    ASSERT_EQ(error_of(text("sm_13", written)), "accepted");
    const Module m = std::get<Module>(parse(text("sm_13", written)));
    const Instruction& i = m.functions[0].body[0];
    EXPECT_EQ(i.text, written);
    EXPECT_EQ(i.modifiers.rounding, isa::Rounding::kNearestEven);
    EXPECT_TRUE(i.modifiers.ftz);
    EXPECT_EQ(i.modifiers.sat, saturates);
    EXPECT_NE(error_of(text("sm_20", written)).find("no instruction"), std::string::npos);
  }
}

TEST(Modules, HeaderDeclarationsAndAliases) {
  const auto result = parse(
      ".version 8.3\n.target sm_90a, debug\n.address_size 64\n.func f { ret; }\n.alias g, "
      "f;\n.func h;\n.func h { ret; }\n.section .debug_info { .b8 1, 2 { } }");
  ASSERT_TRUE(std::holds_alternative<Module>(result)) << std::get<ParseError>(result).to_string();
  const Module& m = std::get<Module>(result);
  EXPECT_EQ(m.version_major, 8);
  EXPECT_EQ(m.version_minor, 3);
  EXPECT_EQ(m.target, "sm_90a");
  EXPECT_EQ(m.target_number, 90);
  EXPECT_EQ(m.target_suffix, 'a');
  ASSERT_EQ(m.aliases.size(), 1u);
  ASSERT_EQ(m.functions.size(), 2u);
  EXPECT_FALSE(m.functions[1].is_declaration);
}

TEST(Locations, LinesFilesAndInlinedCalls) {
  const Module m =
      module_of(kernel(".loc 1 10 3\nmov.u32 %r1, 1;\n.loc 2 20 5, function_name $str0, inlined_at "
                       "1 11 7\nmov.u32 %r2, 2;\n"
                       ".loc 3 30 1, function_name $str0+6, inlined_at 2 20 5\nmov.u32 %r3, 3;") +
                ".file 1 \"a.cu\"\n.file 2 \"b.cuh\", 123, 456\n.file 3 \"c.cuh\"\n.section "
                ".debug_str\n{\n$str0:\n.b8 111,117,116,101,114,0\n.b8 105,110,0\n}\n");
  const Function& f = m.functions[0];
  EXPECT_EQ(f.body[0].source.line, 10);
  EXPECT_EQ(m.files.at(1), "a.cu");
  EXPECT_EQ(f.body[0].source.inlined_at, -1);
  EXPECT_EQ(m.files.at(static_cast<std::size_t>(f.body[1].source.file)), "b.cuh");
  const InlineSite& outer =
      m.inline_sites.at(static_cast<std::size_t>(f.body[1].source.inlined_at));
  EXPECT_EQ(outer.function, "outer");
  EXPECT_EQ(outer.caller.line, 11);
  const InlineSite& inner =
      m.inline_sites.at(static_cast<std::size_t>(f.body[2].source.inlined_at));
  EXPECT_EQ(inner.function, "in");
  EXPECT_EQ(inner.caller.line, 20);
  EXPECT_EQ(inner.caller.inlined_at, f.body[1].source.inlined_at);  // the chain goes on to line 11
}

// PTX ISA 9.1 allows it, 9.0 does not.
TEST(Versions, VolatileAccessOfLocalMemoryIsPlain) {
  const auto text = [](const char* version) {
    return std::string(".version ") + version +
           "\n.target sm_90\n.address_size 64\n.visible .entry k() { .local .align 8 .b8 l[16]; "
           ".reg .b64 %d<3>; ld.volatile.local.u64 %d1, [l]; st.volatile.local.u64 [l], %d1; ret; "
           "}";
  };
  const Module m = std::get<Module>(parse(text("9.1")));
  EXPECT_EQ(m.functions[0].body[0].opcode, isa::Opcode::k_ld);
  EXPECT_EQ(m.functions[0].body[1].opcode, isa::Opcode::k_st);
  EXPECT_EQ(m.functions[0].body[1].modifiers.space, isa::Space::kLocal);
  EXPECT_EQ(m.functions[0].body[1].modifiers.semantics, isa::Semantics::kNone);
  EXPECT_NE(error_of(text("9.0")).find("no instruction 'ld.volatile.local.u64'"),
            std::string::npos);
}

// As ptxas has it.
TEST(Operands, OneElementInBracesIsTheElement) {
  for (const char* body : {"ld.global.b32 {%r1}, [%d1];", "ld.param.b32 {%r1}, [%d1];",
                           "ld.volatile.b32 {%r1}, [%d1];", "ldu.global.b32 {%r1}, [%d1];",
                           "ld.global.nc.b32 {%r1}, [%d1];", "mov.b32 %r1, {%r2};",
                           "mov.b32 {%r1}, %r2;", "mov.b64 {%d1}, %d2;", "mov.b32 %r1, {5};"}) {
    const Module m = module_of(kernel(body));
    EXPECT_EQ(m.functions[0].body[0].operands[0].kind, Operand::Kind::kRegister) << body;
    EXPECT_NE(m.functions[0].body[0].operands[1].kind, Operand::Kind::kVector) << body;
  }
  for (const char* body : {"st.global.b32 [%d1], {%r1};", "st.shared.b32 [%r2], {7};"}) {
    EXPECT_NE(module_of(kernel(body)).functions[0].body[0].operands[1].kind, Operand::Kind::kVector)
        << body;
  }
  for (const char* body :
       {"add.u32 {%r1}, %r2, %r3;", "add.u32 %r1, {%r2}, %r3;", "mov.u32 {%r1}, %r2;",
        "ld.global.v2.b32 {%r1}, [%d1];", "ld.global.b32 {%r1, %r2}, [%d1];",
        "atom.global.add.u32 {%r1}, [%d1], %r2;", "ld.global.b32 {_}, [%d1];"}) {
    EXPECT_NE(error_of(kHeader + kernel(body)), "accepted") << body;
  }
}

// The same holds for the metadata of a sparse product and for a scale, but not for the selectors of
// lanes and bytes.
TEST(Operands, MetadataAndScalesMayStandInBraces) {
  const std::string sum = "{%f0, %f1, %f2, %f3}",
                    sparse =
                        "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.tf32."
                        "tf32.f32 " +
                        sum + ", {%r0, %r1, %r2, %r3}, {%r4, %r5, %r6, %r7}, " + sum,
                    warpgroup = "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 " + sum +
                                ", %d0, %d1, ",
                    scaled =
                        "mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row."
                        "col.f32.e2m1.e2m1.f32.ue4m3 " +
                        sum + ", {%r0, %r1, %r2, %r3}, {%r4, %r5}, " + sum;
  const auto of = [](const char* target, const std::string& body) {
    return error_of(std::string(".version 9.0\n.target ") + target + "\n.address_size 64\n" +
                    kernel(body));
  };
  for (const char* e : {"%r1", "{%r1}"}) {
    EXPECT_EQ(of("sm_90a", sparse + ", " + e + ", 0;"), "accepted") << e;
    EXPECT_EQ(of("sm_90a", warpgroup + e + ", 0, 1, 1, 1, 0, 0;"), "accepted") << e;
    EXPECT_EQ(of("sm_120a", scaled + ", " + e + ", {%h0, %h1}, " + e + ", {%h2, %h3};"), "accepted")
        << e;
  }
  EXPECT_NE(of("sm_90a", sparse + ", %r1, {0};"), "accepted");
  EXPECT_NE(of("sm_120a", scaled + ", {1}, {%h0, %h1}, {%r1}, {%h2, %h3};"), "accepted");
}

TEST(Operands, AVariableStandsWhereItsAddressIsTaken) {
  const std::string t = ".shared .align 8 .b8 t[16];\n";
  for (const char* body :
       {"mov.b32 %r1, t;", "mov.b64 %d1, t+4;", "cvta.shared.u64 %d1, t;",
        "cvta.shared.u64 %d1, t+8;", "mapa.u64 %d1, t, 1;", "mapa.shared::cluster.u32 %r1, t+4, 1;",
        "getctarank.shared::cluster.u32 %r1, t;"}) {
    EXPECT_EQ(error_of(kHeader + kernel(t + body)), "accepted") << body;
  }
  for (const char* body :
       {"cvta.to.shared.u64 %d1, t;", "add.u64 %d1, t, 4;", "cvt.u64.u32 %d1, t;"}) {
    EXPECT_NE(error_of(kHeader + kernel(t + body)), "accepted") << body;
  }
}

// An instruction that fits no form affects only its own function.
TEST(Functions, WithAnUnknownInstructionAreUnknownAlone) {
  const Module m = module_of(
      ".func (.param .b32 r) half(.param .b32 x) {\n.reg .b32 %r<2>;\n{ "
      "istypep.unheard.b32 %r1; "
      "}\n@%none bra $nowhere;\n}\n.entry k() { ret; }\n"
      ".entry l() { .reg .b32 %r<2>;\nadd.u32 %r0, {%r1}, %r1; }\n");
  ASSERT_EQ(m.functions.size(), 3u);
  ASSERT_TRUE(m.functions[0].unknown.has_value());
  EXPECT_EQ(m.functions[0].unknown->line, 6);
  EXPECT_EQ(m.functions[0].unknown->message, "unknown instruction 'istypep.unheard.b32'");
  EXPECT_TRUE(m.functions[0].body.empty());
  EXPECT_EQ(m.functions[0].parameters.size(), 1u);
  EXPECT_FALSE(m.functions[1].unknown.has_value());
  EXPECT_EQ(m.functions[1].body.size(), 1u);
  ASSERT_TRUE(m.functions[2].unknown.has_value());
  EXPECT_EQ(m.functions[2].unknown->line, 11);
}

// A mistake that no assembler accepts refuses the module, as in a driver.
TEST(Functions, WithAnotherMistakeRefuseTheModule) {
  for (const char* body :
       {"add.u32 %r1, %none, %r2;", "bra $nowhere;", "call nothing;", "frobnicate.u32 %r1, %r2;",
        "istypep.unheard; {", ".reg .b32 %r<2>; ]"}) {
    EXPECT_TRUE(std::holds_alternative<ParseError>(parse(kHeader + kernel(body)))) << body;
  }
}

// ---- What is refused ----------------------------------------------------------------------------

struct Refused {
  const char* body;     // of a kernel; stands on line 7
  const char* message;  // what the error must contain
};

class Body : public testing::TestWithParam<Refused> {};

TEST_P(Body, IsRefusedWithLineKernelAndReason) {
  const std::string error = error_of(kHeader + kernel(GetParam().body));
  EXPECT_TRUE(error.starts_with("PTX line 7, in k: ")) << error;
  EXPECT_NE(error.find(GetParam().message), std::string::npos) << error;
}

INSTANTIATE_TEST_SUITE_P(
    Refused, Body,
    testing::Values(
        Refused{"frobnicate.u32 %r1, %r2;", "unknown instruction 'frobnicate.u32'"},
        Refused{"istypep.b32 [%r1], 32;", "unknown instruction 'istypep.b32'"},
        Refused{"tcgen05.unheard.b32 [%r1], %r2;",
                "'tcgen05.unheard.b32' is not implemented by the simulated GPU"},
        Refused{"add.rn.s32 %r1, %r2, %r3;",
                "no instruction 'add.rn.s32': after 'add.rn' there may be"},
        Refused{"mul.u32 %r1, %r2, %r3;", ", not .u32"},
        Refused{"fma.f32 %f1, %f2, %f3, %f4;", "no instruction 'fma.f32'"},
        Refused{"ld.const.nc.u32 %r1, [%d1];", "no instruction 'ld.const.nc.u32'"},
        Refused{"ld.acquire.global.u32 %r1, [%d1];", "no instruction"},
        Refused{"setp.num.s32 %p1, %r1, %r2;", "no instruction"},
        Refused{"shfl.idx.b32 %r1, %r2, 0, 31;", "no instruction 'shfl.idx.b32'"},
        Refused{"add.s32 %r1, %r2;", "'add.s32': takes 3 operands, not 2"},
        Refused{"add.s32 %r1, %r2, %r3, %r4;", "takes 3 operands, not 4"},
        Refused{"ret %r1;", "takes 0 operands, not 1"},
        Refused{"add.s32 %r1, %r2, %r9;", "undefined register '%r9'"},
        Refused{"add.s32 %r1, %r2, %r01;", "undefined register '%r01'"},
        Refused{"add.s32 %r1, %r2, x;", "'x' is no register declared here"},
        Refused{"@%p9 add.s32 %r1, %r2, 1;", "undefined register '%p9'"},
        Refused{"@%r1 add.s32 %r1, %r2, 1;", "%r1 is no predicate"},
        Refused{"bra nowhere;", "undefined label 'nowhere'"},
        Refused{"{ inner: } bra inner;", "undefined label 'inner'"},
        Refused{"brx.idx %r1, nowhere;", "undefined label 'nowhere'"},
        Refused{"ts: .branchtargets nowhere; brx.idx %r1, ts;", "undefined label 'nowhere'"},
        Refused{"mov.u64 %d1, nothing;", "undefined symbol 'nothing'"},
        Refused{"ld.global.u32 %r1, [nothing];", "undefined symbol 'nothing'"},
        Refused{"call nothing;", "undefined symbol 'nothing'"},
        Refused{"call (nothing), k;", "undefined symbol 'nothing'"},
        Refused{"call %d1, (%r1), proto;", "undefined prototype 'proto'"},
        Refused{"call %d1;", "an indirect call names its .callprototype"},
        Refused{"{ .reg .b32 inner; } add.s32 inner, %r1, 1;",
                "'inner' is no register declared here"},
        Refused{"add.s32 %f1, %r1, %r2;", "%f1 is a register of .f32, not of .s32"},
        Refused{"add.f32 %f1, %f2, %r1; add.f32 %f1, %g1, %f2;",
                "%g1 is a register of .f64, not of .f32"},
        Refused{"add.s64 %d1, %d2, %r1;", "not of .s64"},
        Refused{"add.s32 %p1, %r1, %r2;", "not of .s32"},
        Refused{"ld.global.u32 %h1, [%d1];", "%h1 is a register of .b16, not of .u32"},
        Refused{"ld.global.u32 %r1, [%f1+%d1];", "expected an offset"},
        Refused{"ld.global.u32 %r1, [%h1];", "%h1 cannot hold an address"},
        Refused{"ld.global.u32 %r1, %d1;", "an address [..] is wanted"},
        Refused{"ld.global.v2.u32 %r1, [%d1];", "a vector of 2 is wanted"},
        Refused{"ld.global.v4.u32 {%r1, %r2}, [%d1];", "a vector of 4 is wanted, this has 2"},
        Refused{"mov.b64 %d1, {%r1, %h1};", "%h1 is not 32 bits wide"},
        Refused{"mov.u32 5, %r1;", "a constant is no destination"},
        Refused{"mov.u32 %tid.x, %r1;", "a special register is no destination"},
        Refused{"add.s32 %r1, %tid.x, 1;", "only mov and cvt read special registers"},
        Refused{"mov.u64 %d1, %tid.x;", "%tid.x is of .u32, not of .u64"},
        Refused{"add.s32 %r1, %r2, 0f3F800000;", "a floating-point constant where .s32 is wanted"},
        Refused{"add.f32 %f1, %f2, 1;", "an integer constant where .f32 is wanted"},
        Refused{"add.f16 %h1, %h2, 0x3C00;", "no constant can be written for .f16"},
        Refused{"add.s32 %r1, _, %r2;", "'_' is no source"},
        Refused{"lop3.b32 %r1, %r2, %r3, %r4, %r5;", "an integer constant is wanted"},
        Refused{"add.rn.f32x2 %d1, %d2, %d3;",
                "needs PTX ISA 8.6 and sm_100; this module is 9.0 for sm_90"},
        Refused{"setmaxnreg.inc.sync.aligned.u32 64;", "sm_90a"},
        Refused{"add.s32 %r1, %r2, 1", "expected ';' or ','"},
        Refused{"add.s32 %r1, %r2, (1;", "expected an operand"},
        Refused{"add.s32 %r1, %r2, 1/0;", "expected an operand"},
        Refused{"add.s32 %r1, %r2, `;", "no token of PTX"},
        Refused{".reg .b32 %r<4>;", "registers %r<> are declared twice"},
        Refused{".reg .b32 x, x;", "register x is declared twice"},
        Refused{".reg .b32 x<99999999>;", "expected a number of registers"},
        Refused{".local .b32 v; .local .b32 v;", "variable v is declared twice"},
        Refused{".local .b32 v = 5;", "only .global and .const variables have initialisers"},
        Refused{"L: L: add.s32 %r1, %r1, 1;", "label 'L' is defined twice"},
        Refused{".maxntid 5;", "expected a directive that may stand in a function"},
        Refused{"@%p1 L: ret;", "unknown instruction 'L'"}));

struct RefusedModule {
  const char* text;  // after the header; its first line is line 4
  const char* message;
};
class ModuleText : public testing::TestWithParam<RefusedModule> {};

TEST_P(ModuleText, IsRefusedWithReason) {
  const std::string error = error_of(kHeader + std::string(GetParam().text));
  EXPECT_TRUE(error.starts_with("PTX line 4")) << error;
  EXPECT_NE(error.find(GetParam().message), std::string::npos) << error;
}

INSTANTIATE_TEST_SUITE_P(
    Refused, ModuleText,
    testing::Values(
        RefusedModule{".global .u32 x[2] = {1, 2, 3};", "more initialisers than elements"},
        RefusedModule{".global .u32 x[2][2] = {{1, 2, 3}};", "more initialisers than elements"},
        RefusedModule{".global .u32 x[2][2] = {1, {2, 3}, {4, 5}};",
                      "more initialisers than elements"},
        RefusedModule{".global .b128 x = {x};", "wider than 64 bits"},
        RefusedModule{".global .u32 x = {{1}};", "nested deeper than the array"},
        RefusedModule{".global .u32 x = 1.5;", "does not fit the type .u32"},
        RefusedModule{".global .f32 x = 1;", "does not fit the type .f32"},
        RefusedModule{".global .u64 x = y;", "undefined symbol 'y'"},
        RefusedModule{".global .u32 x; .global .u32 x;", "variable x is defined twice"},
        RefusedModule{".global .u32 x[];", "the array x has no size"},
        RefusedModule{".global .u32 x[4][];", "only the first dimension may be left open"},
        RefusedModule{".global .u64 x[1000000000][1000000000];", "larger than any memory"},
        RefusedModule{".global .align 3 .b8 x;", "no power of two"},
        RefusedModule{".global .pred x;", "a predicate cannot be in memory"},
        RefusedModule{".global .frob x;", "expected a type"},
        RefusedModule{".const[2] .u32 x;", "numbered constant banks"},
        RefusedModule{".func f { ret; } .func f { ret; }", "function f is defined twice"},
        RefusedModule{".func f(.reg .b32 x) { ret; }", "parameters in registers are not supported"},
        RefusedModule{".entry (.param .b32 r) f { ret; }", "a kernel returns nothing"},
        RefusedModule{".func f(.param .b32 x); .func g { call f; ret; }",
                      "f takes 1 arguments and returns 0 values; the call has 0 and 0"},
        RefusedModule{".entry e { ret; } .entry k { call e; ret; }",
                      "a kernel cannot be called: e"},
        RefusedModule{".entry k { call k; ret; }", "a kernel cannot be called: k"},
        RefusedModule{".func f(.param .b64 p) { ret; } "
                      ".entry k { .param .b32 x; call f, (x); ret; }",
                      "p of f has 8 bytes; the call passes 4"},
        RefusedModule{".func f(.param .align 4 .b8 p[8]) { ret; } "
                      ".entry k { .param .align 4 .b8 x[12]; call f, (x); ret; }",
                      "p of f has 8 bytes; the call passes 12"},
        RefusedModule{
            ".func (.param .b32 v) f { ret; } .entry k { .param .b64 x; call (x), f; ret; }",
            "v of f has 4 bytes; the call passes 8"},
        RefusedModule{".func f(.param .b64 p) { ret; } .entry k { .reg .b32 r; call f, (r); ret; }",
                      "p of f has 8 bytes; the call passes 4"},
        RefusedModule{".entry f { ret;", "'{' is never closed"},
        RefusedModule{".alias f, g;", "undefined symbol 'g'"},
        RefusedModule{".section .debug_info { {", "'{' is never closed"},
        RefusedModule{"add.s32 %r1, %r2, 1;", "expected a directive of module scope"},
        RefusedModule{".tex .u64 t;", "expected a directive of module scope"}));

// Negative controls: ptxas accepts each of these calls.
TEST(Calls, TakeWhatHasTheSizeOfTheParameter) {
  EXPECT_EQ(error_of(kHeader + std::string(R"(
.func f(.param .align 4 .b8 p[8], .param .b32 q) { ret; }
.func open(.param .align 8 .b8 p[]) { ret; }
.func (.param .b32 v) passes_on(.param .b32 a) { call (v), passes_on, (a); ret; }
.entry k
{
  .reg .b32 r;
  .param .align 4 .b32 x[2];
  .param .align 8 .b8 y[24];
  { .param .f32 z; call f, (x, z); }
  call f, (x, r);
  call f, (x, 5);
  call open, (y);
  ret;
})")),
            "accepted");
}

TEST(Header, MustBeThereAndBeUnderstood) {
  EXPECT_NE(error_of("").find("expected '.version'"), std::string::npos);
  EXPECT_NE(error_of(".entry k { ret; }").find("expected '.version'"), std::string::npos);
  EXPECT_NE(error_of(".version 9\n.target sm_90").find("expected a version such as 9.0"),
            std::string::npos);
  EXPECT_NE(error_of(".version 9.0\n.target x86").find("expected a target such as sm_90"),
            std::string::npos);
  EXPECT_NE(error_of(".version 9.0\n.target sm_90\n.address_size 32").find("only 64-bit addresses"),
            std::string::npos);
}

// A module that is cut anywhere is refused or is shorter; the parser never crashes.
TEST(Robustness, EveryTruncationIsSurvived) {
  const std::string whole =
      kHeader +
      kernel(
          ".loc 1 2 3, function_name $s, inlined_at 1 2 3\nts: .branchtargets A;\nA: brx.idx %r1, "
          "ts; @!%p1 ld.global.v2.u32 {%r1, _}, [%d1+8]; "
          "{ .param .b32 q; st.param.b32 [q], 0f3F800000; }") +
      ".global .u64 t[2] = {generic(t)+8, 0xFF(t)};\n.section .debug_str { $s: .b8 65, 0 }\n.file "
      "1 \"a\"\n";
  ASSERT_EQ(error_of(whole), "accepted");
  int refused = 0;
  for (std::size_t n = 0; n < whole.size(); ++n)
    refused += error_of(whole.substr(0, n)) != "accepted";
  EXPECT_GT(refused, static_cast<int>(whole.size() / 2));
}

// Inputs that would exhaust the parser's stack or the machine's memory.
TEST(Robustness, DepthAndSizesHaveLimits) {
  const std::string parentheses(100000, '('), signs(100000, '-'), braces(100000, '{');
  EXPECT_NE(error_of(kHeader + (".global .u32 x = " + parentheses)).find("expected an initialiser"),
            std::string::npos);
  EXPECT_NE(error_of(kHeader + (".global .u32 x = " + signs)).find("expected an initialiser"),
            std::string::npos);
  std::string choices = ".global .u32 x = ";
  for (int i = 0; i < 100000; ++i) choices += "1?";
  EXPECT_NE(error_of(kHeader + choices).find("expected an initialiser"), std::string::npos);
  EXPECT_NE(
      error_of(kHeader + kernel("mov.b64 " + braces)).find("nested deeper than any instruction's"),
      std::string::npos);
  std::string dimensions = ".global .u8 x";
  for (int i = 0; i < 100; ++i) dimensions += "[1]";
  EXPECT_NE(error_of(kHeader + dimensions + ";").find("more than 32 dimensions"),
            std::string::npos);
  EXPECT_NE(error_of(kHeader + std::string(".global .u8 x[][1099511627777];"))
                .find("larger than any memory"),
            std::string::npos);
  EXPECT_NE(error_of(kHeader + std::string(".global .u8 x[][536870912] = {{1},{2}};"))
                .find("beyond the first 256 MiB"),
            std::string::npos);
  EXPECT_NE(error_of(kHeader + std::string(".entry k { .weak"))
                .find("expected a state space, found the end of the text"),
            std::string::npos);
  EXPECT_NE(error_of(kHeader + kernel(".weak 7;")).find("expected a state space, found '7'"),
            std::string::npos);
  EXPECT_NE(error_of(kHeader + kernel(".reg .b32 %many<4000000>;")).find("a number of registers"),
            std::string::npos);
  EXPECT_NE(error_of(".version 9223372036854775807.9\n.target sm_90").find("expected a version"),
            std::string::npos);
  EXPECT_NE(error_of(".version 9.0\n.target sm_18446744073709551615").find("expected a target"),
            std::string::npos);
}

// Zeros after the last initialiser are not stored.
TEST(Declarations, AnInitialiserKeepsNoMoreThanItSays) {
  const Module m =
      module_of(".global .u8 x[1073741824] = {1, 2}; .global .u32 y[2][2] = {1, 2, {3}};");
  ASSERT_EQ(m.variables.size(), 2u);
  EXPECT_EQ(m.variables[0].size, 1073741824u);
  EXPECT_EQ(m.variables[0].initial.size(), 2u);
  EXPECT_EQ(m.variables[1].initial.size(), 12u);
}

// Text of inline PTX may omit the space: "mov.u32%0, %1;". ptxas 13.0 accepts it.
TEST(Words, APercentSignBeginsAnother) {
  const Module m = module_of(kernel("mov.u32%r1,%r2;"));
  ASSERT_EQ(m.functions.size(), 1u);
  EXPECT_EQ(m.functions[0].body.at(0).operands.size(), 2u);
}

TEST(Robustness, EveryDamagedByteIsSurvived) {
  const std::string whole =
      kHeader + kernel(
                    "add.s32 %r1, %r2, 0x10; setp.lt.u32 %p1|%p2, %r1, 7; @%p1 bra L; call k, "
                    "(%r1, 1); L: mov.b64 {%r1, %r2}, %d1;");
  for (std::size_t i = 0; i < whole.size(); ++i)
    for (const char c : {'\0', '\n', '.', '{', '}', '(', ':', '"', '9', '%', '\xff'}) {
      std::string damaged = whole;
      damaged[i] = c;
      (void)parse(damaged);
    }
}

}  // namespace parser_test
}  // namespace lockstep::ptx
