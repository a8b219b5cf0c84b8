#include "simulator/fuzz/differential/printer.h"

#include <set>
#include <utility>

#include "simulator/fuzz/differential/catalogue.h"
#include "simulator/fuzz/differential/data.h"
#include "simulator/fuzz/differential/needs.h"
#include "simulator/fuzz/differential/sums.h"
#include "simulator/isa/names.h"

namespace lockstep::fuzz::differential {
namespace {

using Kind = Statement::Kind;
using Space = isa::Space;

std::string number(std::uint64_t n) { return std::to_string(n); }
std::string register_name(Register r) {
  return std::string(1, kLetter[static_cast<int>(r.cls)]) + number(r.index);
}
std::string r(int n) { return "r" + number(static_cast<std::uint64_t>(n)); }
std::string p(int n) { return "p" + number(static_cast<std::uint64_t>(n)); }

class Printer {
 public:
  Printer(const Program& program, const std::string& kernel) : program_(program), kernel_(kernel) {}

  std::string kernel() {
    needs_ = needs_of(program_);
    std::string functions;
    for (std::size_t i = 0; i < program_.functions.size(); ++i) functions += signature(i) + ";\n";
    for (std::size_t i = 0; i < program_.functions.size(); ++i)
      function(i), functions += text_, text_.clear();
    in_function_ = false;
    text_ = functions + ".visible .entry " + kernel_ +
            "(.param .u64 input, .param .u64 output, .param .u64 scratch, .param .u64 sums, .param "
            ".u64 zero, .param .align 16 .b8 arguments[" +
            number(kArgumentBytes) + "])\n{\n";
    registers();
    prologue();
    list(program_.body, "0xffffffff");
    epilogue();
    line("}");
    return std::move(text_);
  }

 private:
  void line(const std::string& s) { (text_ += s) += '\n'; }
  void registers() {
    line(
        ".reg .pred p<4>, s<1>;\n.reg .b16 h<4>;\n.reg .b32 r<8>, t<4>, e<2>;\n.reg .b64 d<4>, "
        "x<4>;");
  }

  bool kept(Class c, int i) const { return uses(c, i) && (program_.kept >> kept_bit(c, i) & 1); }
  bool uses(Class c, int i) const { return needs_.pool[static_cast<int>(c)][i]; }
  bool uses(Class c, int from, int to) const { return needs_.uses(c, from, to); }

  // Predicates are initialised by comparing initial values of other registers.
  void predicates() {
    for (int i = 0; i < 4; ++i)
      if (uses(Class::kPredicate, i))
        line("setp.lt.s32 " + p(i) + ", " + r(i) + ", " + r(i + 4) + ";");
  }

  void prologue() {
    const std::string bytes = number(program_.threads);
    line(
        ".reg .b64 b_in, b_window, b_output, b_scratch, b_sums, b_shared, b_board, b_board0, "
        "b_local, b_stage, b_mbarrier, b_shared_sums; .reg .b32 thread, global_thread;");
    if (needs_.shared)
      line(".shared .align 64 .b8 " + kernel_ + "_shared[" + number(kPrivate * program_.threads) +
           "];");
    if (needs_.board)
      line(".shared .align 16 .b8 " + kernel_ + "_board[" +
           number(kBoardStride * program_.threads) + "];");
    if (needs_.stage)
      line(".shared .align 32 .b8 " + kernel_ + "_stage[" + number(32 * program_.threads) +
           "];\n.shared .align 8 .b64 " + kernel_ + "_mbarriers[" + bytes + "];");
    if (needs_.shared_sums)
      line(".shared .align 8 .b64 " + kernel_ + "_sums[" + number(kSums) + "];");
    if (needs_.local) line(".local .align 64 .b8 " + kernel_ + "_local[" + number(kPrivate) + "];");
    line("mov.u32 thread, %tid.x;\nmov.u32 t0, %ctaid.x;\nmad.lo.u32 global_thread, t0, " + bytes +
         ", thread;");
    line("ld.param.u64 x0, [input];\nld.param.u64 b_output, [output];");
    line("mad.wide.u32 b_in, global_thread, " + number(kInputStride) + ", x0;");
    if (needs_.window) line("mov.u64 b_window, x0;");
    if (needs_.scratch)
      line("ld.param.u64 x1, [scratch];\nmad.wide.u32 b_scratch, global_thread, " +
           number(kPrivate) + ", x1;");
    if (needs_.sums) line("ld.param.u64 b_sums, [sums];");
    const auto shared = [&](const char* base, const char* array, std::uint32_t stride) {
      line("mov.u64 x1, " + kernel_ + array + ";\nmad.wide.u32 " + std::string(base) +
           ", thread, " + number(stride) + ", x1;");
    };
    if (needs_.shared) {
      shared("b_shared", "_shared", kPrivate);
      fill("shared", "b_shared");
    }
    if (needs_.local) {
      line("mov.u64 b_local, " + kernel_ + "_local;");
      fill("local", "b_local");
    }
    if (needs_.board)
      shared("b_board", "_board", kBoardStride), line("mov.u64 b_board0, " + kernel_ + "_board;");
    if (needs_.stage) shared("b_stage", "_stage", 32), shared("b_mbarrier", "_mbarriers", 8);
    if (needs_.shared_sums) {
      line("mov.u64 b_shared_sums, " + kernel_ +
           "_sums;\nmad.wide.u32 x1, thread, 8, b_shared_sums;\nsetp.lt.u32 s0, thread, " +
           number(kSums) + ";\nmov.u64 x2, " + number(kSumStart) +
           ";\n@s0 st.shared.b64 [x1], x2;\nbar.sync 0;");
    }
    if (uses(Class::k32, 0, 4)) line("ld.global.v4.b32 {r0, r1, r2, r3}, [b_in];");
    if (uses(Class::k32, 4, 8)) line("ld.global.v4.b32 {r4, r5, r6, r7}, [b_in+16];");
    if (uses(Class::k64, 0, 2)) line("ld.global.v2.b64 {d0, d1}, [b_in+32];");
    if (uses(Class::k64, 2, 4)) line("ld.global.v2.b64 {d2, d3}, [b_in+48];");
    if (uses(Class::k16, 0, 4)) line("ld.global.v4.b16 {h0, h1, h2, h3}, [b_in+64];");
    predicates();
  }

  // Initialises the thread's own bytes from its input.
  void fill(const char* space, const char* base) {
    for (std::uint32_t i = 0; i < kPrivate; i += 16)
      line("ld.global.v4.b32 {t0, t1, t2, t3}, [b_in+" + number(i + 32) + "];\nst." +
           std::string(space) + ".v4.b32 [" + base + "+" + number(i) + "], {t0, t1, t2, t3};");
  }

  // Stores the final registers and the block's sums.
  void results() {
    line("mad.wide.u32 x3, global_thread, " + number(Layout::kOutput) + ", b_output;");
    const auto store = [&](Class c, int n, const char* type, int at, int bytes) {
      for (int i = 0; i < n; ++i)
        if (kept(c, i))
          line(std::string("st.global.") + type + " [x3+" +
               number(static_cast<std::uint64_t>(at + i * bytes)) + "], " +
               register_name({c, static_cast<std::uint8_t>(i)}) + ";");
    };
    store(Class::k32, 8, "b32", 0, 4), store(Class::k64, 4, "b64", 32, 8),
        store(Class::k16, 4, "b16", 64, 2);
    bool any = false;
    for (int i = 0; i < 4; ++i) {
      if (!kept(Class::kPredicate, i)) continue;
      line("selp.b32 t1, " + number(std::uint64_t{1} << i) + ", 0, " + p(i) + ";");
      line(any ? "or.b32 t0, t0, t1;" : "mov.b32 t0, t1;");
      any = true;
    }
    if (any) line("st.global.b32 [x3+72], t0;");
  }

  void epilogue() {
    results();
    if (needs_.shared_sums) {
      line("bar.sync 0;\nsetp.lt.u32 s0, thread, " + number(kSums) + ";\n@!s0 bra DONE;");
      line(
          "mad.wide.u32 x1, thread, 8, b_shared_sums;\nld.shared.b64 x2, [x1];\nmov.u32 t0, "
          "%ctaid.x;\nmad.wide.u32 x3, t0, " +
          number(8 * kSums) + ", b_output;");
      line("mad.wide.u32 x3, thread, 8, x3;\nst.global.b64 [x3+" +
           number(Layout(program_).shared_sums) + "], x2;\nDONE:");
    }
    line("exit;");
  }

  std::string function_name(std::size_t i) const { return kernel_ + "_f" + number(i); }
  std::string signature(std::size_t i) const {
    return ".func (.param .align 8 .b8 out[24]) " + function_name(i) +
           "(.param .b32 in0, .param .b64 in1, .param .align 8 .b8 in2[8], .param .b32 depth)";
  }

  void function(std::size_t i) {
    const Function& f = program_.functions[i];
    in_function_ = true;
    line(signature(i) + "\n{");
    registers();
    line("ld.param.b32 r0, [in0];\nld.param.b64 d0, [in1];\nld.param.v2.b32 {r1, r2}, [in2];");
    line(
        "add.u32 r3, r0, 1;\nxor.b32 r4, r1, r2;\nmov.b32 r5, 0x3f800000;\nadd.u32 r6, r2, "
        "0x3f000000;\nmov.b32 r7, r0;");
    line(
        "mov.b64 d1, {r1, r2};\nmov.b64 d2, 0x3ff0000000000000;\nxor.b64 d3, d0, d1;\nmov.b32 {h0, "
        "h1}, r0;\nmov.b32 {h2, h3}, r2;");
    for (int k = 0; k < 4; ++k) line("setp.lt.s32 " + p(k) + ", " + r(k) + ", " + r(k + 4) + ";");
    list(f.body, "");
    if (f.recursive) {
      line("ld.param.b32 e0, [depth];\nsetp.eq.u32 s0, e0, 0;\n@s0 bra LAST;\nsub.u32 e0, e0, 1;");
      call(function_name(i), "r0", "d1", "r3", "r4", "e0", "r1", "r2");
      line("LAST:");
    }
    line(
        "st.param.b32 [out], r1;\nst.param.v2.b32 [out+8], {r2, r5};\nst.param.b64 [out+16], "
        "d1;\nret;\n}");
  }

  void call(const std::string& target, const std::string& in0, const std::string& in1,
            const std::string& in2, const std::string& in3, const std::string& depth,
            const std::string& to0, const std::string& to1, const std::string& prototype = {},
            bool uniform = false) {
    line(
        "{\n.param .b32 p_in0, p_depth;\n.param .b64 p_in1;\n.param .align 8 .b8 p_in2[8];\n.param "
        ".align 8 .b8 p_out[24];");
    line("st.param.b32 [p_in0], " + in0 + ";\nst.param.b64 [p_in1], " + in1 +
         ";\nst.param.v2.b32 [p_in2], {" + in2 + ", " + in3 + "};\nst.param.b32 [p_depth], " +
         depth + ";");
    line("call" + std::string(uniform ? ".uni" : "") + " (p_out), " + target +
         ", (p_in0, p_in1, p_in2, p_depth)" + (prototype.empty() ? "" : ", " + prototype) + ";");
    line("ld.param.b32 " + to0 +
         ", [p_out];\nld.param.v2.b32 {t0, t1}, [p_out+8];\nld.param.b64 x0, [p_out+16];\nmov.b64 "
         "{t2, t3}, x0;\nxor.b32 t0, t0, t1;\nxor.b32 t2, t2, t3;\nxor.b32 " +
         to1 + ", t0, t2;\n}");
  }

  // The base register of an address, and its offset.
  std::string address(const Address& a, const isa::Modifiers& m, int operand) {
    std::string base;
    switch (a.region) {
      case Region::kInput: base = a.window ? "b_window" : "b_in"; break;
      case Region::kScratch: base = "b_scratch"; break;
      case Region::kShared: base = "b_shared"; break;
      case Region::kLocal: base = "b_local"; break;
      case Region::kConstant: base = "constants_of_programs"; break;
      case Region::kArguments: base = "arguments"; break;
      case Region::kBoard: base = a.others ? "b_board0" : "b_board"; break;
      case Region::kGlobalSums: base = "b_sums"; break;
      case Region::kSharedSums: base = "b_shared_sums"; break;
    }
    const std::string x = "a" + number(static_cast<std::uint64_t>(operand % 4));
    const std::string rest = a.offset ? "+" + number(a.offset) : "";
    if (a.index >= 0) {
      line("and.b32 t4, " + r(a.index) + ", " + number(a.count - 1) + ";");
      if (a.warp) line("and.b32 t5, thread, 0xffffffe0;\nadd.u32 t4, t4, t5;");
      if (a.region == Region::kConstant) line("mov.u64 " + x + ", " + base + ";"), base = x;
      line("mad.wide.u32 " + x + ", t4, " + number(a.scale) + ", " + base + ";");
      base = x;
    }
    const bool generic = m.space == Space::kNone || m.space == Space::kGeneric;
    const bool is_shared = a.region == Region::kShared || a.region == Region::kSharedSums ||
                           a.region == Region::kBoard;
    if (generic && (is_shared || a.region == Region::kLocal)) {
      line(std::string("cvta.") + (is_shared ? "shared" : "local") + ".u64 " + x + ", " + base +
           ";");
      base = x;
    }
    return "[" + base + rest + "]";
  }

  // Temporaries belong to one statement, as in nvcc's PTX: a register allocator reuses their slots.
  void unit(const std::vector<Instruction>& unit, const std::string& mask) {
    std::set<std::pair<int, int>> temporaries;
    bool addresses = false;
    const auto note = [&](Register x) {
      if (x.index >= kPool[static_cast<int>(x.cls)])
        temporaries.emplace(static_cast<int>(x.cls), x.index);
    };
    for (const Instruction& i : unit) {
      for (const Operand& o : i.operands) {
        if (o.kind == Operand::Kind::kRegister || o.kind == Operand::Kind::kNegated) note(o.reg);
        for (const Register x : o.elements) note(x);
        addresses |= o.kind == Operand::Kind::kAddress || o.kind == Operand::Kind::kPolicy;
      }
    }
    const bool scope = addresses || !temporaries.empty();
    if (scope) line("{");
    for (const auto& [c, n] : temporaries) {
      constexpr const char* kTypes[] = {".pred", ".b16", ".b32", ".b64", ".b128"};
      line(std::string(".reg ") + kTypes[c] + " " + kLetter[c] +
           number(static_cast<std::uint64_t>(n)) + ";");
    }
    if (addresses) line(".reg .b32 t4, t5; .reg .b64 a0, a1, a2, a3, a7;");
    for (const Instruction& i : unit) instruction(i, mask);
    if (scope) line("}");
  }

  void instruction(const Instruction& i, const std::string& mask) {
    const isa::Example& e = Catalogue::get().example(i.example);
    std::vector<std::string> operands;
    for (std::size_t n = 0; n < i.operands.size(); ++n) {
      const Operand& o = i.operands[n];
      switch (o.kind) {
        case Operand::Kind::kRegister: operands.push_back(register_name(o.reg)); break;
        case Operand::Kind::kNegated: operands.push_back("!" + register_name(o.reg)); break;
        case Operand::Kind::kImmediate: operands.push_back(o.text); break;
        case Operand::Kind::kVector: {
          std::string v = "{";
          for (std::size_t k = 0; k < o.elements.size(); ++k)
            v += (k ? ", " : "") + register_name(o.elements[k]);
          operands.push_back(v + "}");
          break;
        }
        case Operand::Kind::kPair:
          operands.push_back(register_name(o.elements[0]) + "|" + register_name(o.elements[1]));
          break;
        case Operand::Kind::kAddress:
          operands.push_back(address(o.address, e.spelling.modifiers, static_cast<int>(n)));
          break;
        case Operand::Kind::kMask: operands.push_back(mask); break;
        case Operand::Kind::kPolicy:
          line("createpolicy.fractional.L2::evict_last.b64 a7, 0f3f000000;");
          operands.push_back("a7");
          break;
        case Operand::Kind::kSpecial:
          operands.push_back(std::string(isa::special_register_name(o.special)));
          break;
      }
    }
    std::string s =
        i.guard >= 0 ? std::string(i.guard_negated ? "@!" : "@") + p(i.guard) + " " : "";
    s += e.spelling.text;
    for (std::size_t n = 0; n < operands.size(); ++n) s += (n ? ", " : " ") + operands[n];
    line(s + ";");
  }

  // A bit of the arguments for the statement's own predicate.
  void argument_bit(const Statement& s, const std::string& d) {
    line("ld.param.u32 t0, [arguments+" + number(s.argument / 32 * 4) + "];\nand.b32 t0, t0, " +
         number(std::uint64_t{1} << s.argument % 32) + ";\nsetp.ne.u32 l" + d + ", t0, 0;");
  }

  void list(const std::vector<Statement>& list, const std::string& mask) {
    for (const Statement& s : list) statement(s, mask);
  }

  void barrier(int variant, int mask_variant) {
    constexpr const char* kBlock[] = {"bar.sync 0;", "barrier.sync 1;",
                                      "barrier.cta.sync.aligned 2;", "bar.cta.sync 3;",
                                      "barrier.sync 4, "};
    if (mask_variant)
      line("bar.warp.sync 0xffffffff;");
    else
      line(kBlock[variant % 5] + (variant % 5 == 4 ? number(program_.threads) + ";" : ""));
  }

  void statement(const Statement& s, const std::string& mask);

  const Program& program_;
  std::string kernel_;
  Needs needs_;
  std::string text_;
  int labels_ = 0;
  bool in_function_ = false;
  std::vector<std::pair<std::string, std::string>>
      loops_;  // where an iteration ends, where the loop does
};

void Printer::statement(const Statement& s, const std::string& mask) {
  const std::string n = number(static_cast<std::uint64_t>(labels_++)),
                    d = "_" + n;  // d: of the statement's own registers
  const auto label = [&](const char* kind) { return std::string(kind) + n; };
  const bool scope = s.kind != Kind::kUnit && s.kind != Kind::kBarrier &&
                     s.kind != Kind::kExchange && s.kind != Kind::kLeaveIf &&
                     s.kind != Kind::kText && s.kind != Kind::kEnd;
  if (scope)
    line("{\n.reg .b32 c" + d + ", m" + d + "; .reg .pred l" + d + "; .reg .b64 w" + d + ";");
  switch (s.kind) {
    case Kind::kUnit:
    case Kind::kBarrier: unit(s.unit, mask); break;
    case Kind::kIf: {
      std::string inside = mask, condition = (s.negated ? "!" : "") + p(s.predicate),
                  opposite = (s.negated ? "" : "!") + p(s.predicate);
      if (s.uniform) {
        argument_bit(s, d);
        condition = (s.negated ? "!l" : "l") + d, opposite = (s.negated ? "l" : "!l") + d;
      } else if (s.tracked) {
        inside = "m" + d;
        line("vote.sync.ballot.b32 " + inside + ", " + condition + ", " + mask + ";");
      }
      line("@" + opposite + " bra " + label("ELSE") + ";");
      list(s.body, inside);
      if (!s.other.empty()) line("bra " + label("END") + ";");
      line(label("ELSE") + ":");
      if (!s.other.empty()) {
        if (s.tracked && !s.uniform) line("xor.b32 " + inside + ", " + inside + ", " + mask + ";");
        list(s.other, inside);
        line(label("END") + ":");
      }
      break;
    }
    case Kind::kDead:
      line("ld.param.u64 x0, [zero];\nld.global.b32 t0, [x0];\nsetp.eq.u32 l" + d + ", t0, 0;\n@l" +
           d + " bra " + label("LIVE") + ";");
      list(s.body, mask);
      if (s.variant == 1) line("exit;");
      if (s.variant == 2) line("trap;");
      if (s.variant == 3)
        line(label("EVER") + ":\nadd.u32 r0, r0, 1;\nst.global.b32 [b_output], r0;\nbra " +
             label("EVER") + ";");
      line(label("LIVE") + ":");
      break;
    case Kind::kLoop: {
      std::string inside = mask;
      const std::string c = "c" + d, l = "l" + d;
      switch (s.trips) {
        case Statement::Trips::kConstant:
          line("mov.u32 " + c + ", " + number(s.count) + ";");
          break;
        case Statement::Trips::kArgument:
          line("ld.param.u32 " + c + ", [arguments+" + number(4 * s.argument) + "];");
          break;
        case Statement::Trips::kLanes: line("and.b32 " + c + ", " + r(s.reg) + ", 3;"); break;
      }
      if (s.tracked) inside = "m" + d, line("mov.b32 " + inside + ", " + mask + ";");
      if (s.walk >= 0) line("mov.b64 w" + d + ", b_in;");
      loops_.emplace_back(label("NEXT"), label("END"));
      line(label("LOOP") + ":");
      if (!s.at_bottom) {
        line("setp.ne.u32 " + l + ", " + c + ", 0;");
        if (s.tracked) line("vote.sync.ballot.b32 " + inside + ", " + l + ", " + inside + ";");
        line("@!" + l + " bra " + label("END") + ";\nsub.u32 " + c + ", " + c + ", 1;");
      }
      if (s.walk >= 0) {
        line("{\n.reg .b32 t7;\nld.global.b32 t7, [w" + d + "];\nadd.u64 w" + d + ", w" + d +
             ", 4;\nxor.b32 " + r(s.walk) + ", " + r(s.walk) + ", t7;\n}");
      }
      list(s.body, inside);
      line(label("NEXT") + ":");
      if (s.at_bottom)
        line("sub.u32 " + c + ", " + c + ", 1;\nsetp.ne.u32 " + l + ", " + c + ", 0;\n@" + l +
             " bra " + label("LOOP") + ";");
      else
        line("bra " + label("LOOP") + ";");
      line(label("END") + ":");
      loops_.pop_back();
      break;
    }
    case Kind::kLeaveIf:
      if (loops_.empty()) break;  // the reducer has removed the loop
      line((s.negated ? "@!" : "@") + p(s.predicate) + " bra " +
           (s.go_on ? loops_.back().first : loops_.back().second) + ";");
      break;
    case Kind::kSwitch: {
      std::string labels;
      for (std::size_t i = 0; i < 4; ++i)
        labels += (i ? ", " : "") + label("CASE") + "_" + number(i);
      line(label("TARGETS") + ": .branchtargets " + labels + ";\nand.b32 t0, " + r(s.reg) +
           ", 3;\nbrx.idx t0, " + label("TARGETS") + ";");
      for (std::size_t i = 0; i < 4; ++i) {
        line(label("CASE") + "_" + number(i) + ":");
        if (i < s.cases.size()) list(s.cases[i], mask);
        if (i < 3 && (s.variant == 0 || i != 1))
          line("bra " + label("END") + ";");  // variant 1: falls through once
      }
      line(label("END") + ":");
      break;
    }
    case Kind::kIrreducible:
      if (s.uniform) argument_bit(s, d);
      line("mov.u32 c" + d + ", " + number(s.count) + ";\n@" +
           (s.uniform ? "l" + d : p(s.predicate)) + " bra " + label("MIDDLE") + ";\n" +
           label("TOP") + ":");
      list(s.body, mask);
      line(label("MIDDLE") + ":");
      list(s.other, mask);
      line("sub.u32 c" + d + ", c" + d + ", 1;\nsetp.ne.u32 l" + d + ", c" + d + ", 0;\n@l" + d +
           " bra " + label("TOP") + ";");
      break;
    case Kind::kCall: {
      std::string target = function_name(static_cast<std::size_t>(s.function)), prototype;
      if (s.alternative >= 0) {
        line(".reg .b64 a0, a1;\nmov.u64 a0, " + target + ";\nmov.u64 a1, " +
             function_name(static_cast<std::size_t>(s.alternative)) + ";\nselp.b64 a0, a0, a1, " +
             p(s.predicate) + ";");
        target = "a0";
        prototype = label("PROTOTYPE");
        line(prototype +
             ": .callprototype (.param .align 8 .b8 _[24]) _ (.param .b32 _, .param .b64 _, .param "
             ".align 8 .b8 _[8], .param .b32 _);");
      }
      line("mov.u32 e1, " + number(s.count) + ";");
      call(target, r(s.registers[0]), "d" + number(s.registers[1]), r(s.registers[2]),
           r(s.registers[3]), "e1", r(s.registers[4]), r(s.registers[5]), prototype);
      break;
    }
    case Kind::kExchange:
      unit(s.unit, mask);
      barrier(s.variant, s.variant == 100);
      list(s.body, mask);
      barrier(s.variant + 1, s.variant == 100);
      break;
    case Kind::kHandOver: {
      const std::string half = number(program_.threads / 2), id = s.unit[1].operands[0].text;
      unit({s.unit[0]}, mask);
      line("setp.lt.u32 l" + d + ", thread, " + half + ";\n@l" + d + " bra " + label("ARRIVES") +
           ";");
      line((s.variant == 0   ? "bar.sync "
            : s.variant == 1 ? "barrier.sync "
                             : "barrier.sync.aligned ") +
           id + ", " + number(program_.threads) + ";");
      list(s.body, mask);
      line("bra " + label("END") + ";\n" + label("ARRIVES") + ":");
      unit({s.unit[1]}, mask);
      line(label("END") + ":\nbar.sync 0;");
      break;
    }
    case Kind::kText:
      line(
          "{\n.reg .pred s<4>;\n.reg .b16 v<4>;\n.reg .b32 t<8>;\n.reg .b64 a<8>;\n.reg .b128 "
          "q<4>;");
      for (std::string l : s.lines) {
        for (std::size_t at; (at = l.find("%L%")) != std::string::npos;) l.replace(at, 3, n);
        line(l);
      }
      line("}");
      break;
    case Kind::kEnd:
      line((s.negated ? "@" : "@!") + p(s.predicate) + " bra " + label("GO_ON") + ";");
      results();
      line("exit;\n" + label("GO_ON") + ":");
      break;
  }
  if (scope) line("}");
}

}  // namespace

std::string module_of(std::span<const Program> programs, int target) {
  std::string text =
      ".version 9.0\n.target sm_" +
      number(static_cast<std::uint64_t>(target != 0 ? target : programs.front().target)) +
      (target == 0 && programs.front().suffix ? std::string(1, programs.front().suffix) : "") +
      "\n.address_size 64\n.const .align 16 .b32 constants_of_programs[" +
      number(kConstantBytes / 4) + "] = {";
  for (std::size_t i = 0; i < constant_data().size(); ++i)
    text += (i ? ", " : "") + number(constant_data()[i]);
  text += "};\n";
  for (std::size_t i = 0; i < programs.size(); ++i)
    text += Printer(programs[i], "k" + number(i)).kernel();
  return text;
}

}  // namespace lockstep::fuzz::differential
