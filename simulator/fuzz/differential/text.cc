// Rows that need surrounding instructions of certain kinds: asynchronous copies, mbarriers,
// addresses of other state spaces, the stack, fences. Each statement moves values on its own path
// and returns them, so the resulting register values are known.
//
// In the text, %L% is a number unique to the statement. These names are defined if they are used:
// b_in, b_window (global), b_stage (32 bytes of the thread's shared memory), b_mbarrier (8 bytes,
// likewise), b_shared, b_local, b_scratch, b_output; scratch registers t0-t7 (32 bits), a0-a7 (64),
// v0-v3 (16), s0-s3 (predicates), q0 and q1.
#include <string>

#include "simulator/fuzz/differential/data.h"
#include "simulator/fuzz/differential/writer.h"

namespace lockstep::fuzz::differential {
namespace {

using isa::Opcode;
using isa::Space;
using Role = isa::OperandRule::Role;
using Value = Assignment::Value;

std::string name_of(Register r) {
  return std::string(1, kLetter[static_cast<int>(r.cls)]) + std::to_string(r.index);
}

class Text {
 public:
  Text(Writer& writer, const isa::Example& example, Statement& s, bool silicon)
      : writer_(writer),
        e_(example),
        m_(example.spelling.modifiers),
        op_(example.spelling.form->row->opcode),
        s_(s),
        silicon_(silicon) {}

  bool write(const Context& at);

 private:
  void line(std::string text) { s_.lines.push_back(std::move(text)); }
  std::string opcode() const { return e_.spelling.text; }
  bool spelled(const char* part) const { return e_.spelling.text.find(part) != std::string::npos; }
  bool takes(std::string_view operand) const {
    for (const auto& rule : *e_.operands)
      if (rule.name == operand) return true;
    return false;
  }
  Register pool(Class c) { return writer_.pool(c); }
  // Four registers of the pool, each once.
  std::vector<Register> four() {
    const int first = static_cast<int>(writer_.choose().below(8));
    std::vector<Register> v;
    for (int i = 0; i < 4; ++i)
      v.push_back({Class::k32, static_cast<std::uint8_t>((first + i) % 8)});
    return v;
  }
  static std::string vector(const std::vector<Register>& v) {
    std::string s = "{";
    for (std::size_t i = 0; i < v.size(); ++i) s += (i ? ", " : "") + name_of(v[i]);
    return s + "}";
  }
  void constant(Register to, std::uint64_t bits) {
    s_.effects.push_back({to, Value::kConstant, bits, {}, 0});
  }
  void copy(Register to, Register from) {
    s_.effects.push_back({to, Value::kRegister, 0, from, 0});
  }
  void input(Register to, std::uint32_t offset) {
    s_.effects.push_back({to, Value::kInput, 0, {}, offset});
  }
  std::string policy() {
    if (!takes("policy")) return {};
    line("createpolicy.fractional.L2::evict_first.b64 a7, 0f3f000000;");
    return ", a7";
  }
  void wait_for_mbarrier() {
    line("W%L%:\n  mbarrier.test_wait.parity.shared.b64 s0, [b_mbarrier], 0;");
    line("@!s0 bra W%L%;");
    line("mbarrier.inval.shared.b64 [b_mbarrier];");
  }
  // Stores four registers to the second half of the thread's stage.
  std::vector<Register> stage() {
    auto v = four();
    line("st.shared.v4.b32 [b_stage+16], " + vector(v) + ";");
    return v;
  }
  void result_of_stage(const std::vector<Register>& from) {
    const auto to = four();
    line("ld.shared.v4.b32 " + vector(to) + ", [b_stage];");
    for (int i = 0; i < 4; ++i)
      copy(to[static_cast<std::size_t>(i)], from[static_cast<std::size_t>(i)]);
  }

  void asynchronous_copy();
  void asynchronous_arrival();
  void bulk_copy();
  void mbarrier();
  bool address();
  void wide_atomic();
  bool wide_access();
  void stack();

  Writer& writer_;
  const isa::Example& e_;
  const isa::Modifiers& m_;
  Opcode op_;
  Statement& s_;
  bool silicon_;
};

void Text::asynchronous_copy() {
  const auto to = four();
  const std::uint32_t offset =
      static_cast<std::uint32_t>(16 * writer_.choose().below(kInputStride / 16));
  std::uint32_t read = 16;
  std::string more;
  if (takes("e")) {
    if (m_.variant == 1) {
      const bool ignored = writer_.choose().percent(50);
      if (ignored) read = 0;
      line(std::string("mov.u32 t0, ") + (ignored ? "1" : "0") + ";\nsetp.ne.u32 s0, t0, 0;");
      more = ", s0";
    } else {
      read = static_cast<std::uint32_t>(4 * writer_.choose().below(5));
      line("mov.u32 t0, " + std::to_string(read) + ";");
      more = ", t0";
    }
  }
  more += policy();
  std::string to_address = "b_stage";
  if (silicon_ && takes("policy")) {
    // With a constant policy and an address that has a uniform part, ptxas 13.0.88 at -O1 and above
    // assigns both the same uniform registers and generates an illegal instruction
    // (docs/journal/ptxas.md). So this address comes from memory.
    line("st.volatile.shared.b64 [b_stage], b_stage;\nld.volatile.shared.b64 a5, [b_stage];");
    to_address = "a5";
  }
  line(opcode() + " [" + to_address + "], [b_in+" + std::to_string(offset) + "], 16" + more + ";");
  if (op_ == Opcode::k_cp_async && writer_.choose().percent(50)) {
    line("cp.async.commit_group;");
    line("cp.async.wait_group 0;");
  } else {
    line("cp.async.wait_all;");
  }
  line("ld.shared.v4.b32 " + vector(to) + ", [b_stage];");
  for (std::uint32_t i = 0; i < 4; ++i) {
    if (4 * i < read)
      input(to[i], offset + 4 * i);
    else
      constant(to[i], 0);
  }
}

void Text::asynchronous_arrival() {
  const auto to = four();
  line("mbarrier.init.shared.b64 [b_mbarrier], 1;");
  line("cp.async.ca.shared.global [b_stage], [b_in], 16;");
  std::string where = "b_mbarrier";
  if (m_.space == Space::kNone) line("cvta.shared.u64 a6, b_mbarrier;"), where = "a6";
  line(opcode() + " [" + where + "];");
  if (!m_.no_increment) line("mbarrier.arrive.shared.b64 a0, [b_mbarrier];");
  wait_for_mbarrier();
  line("ld.shared.v4.b32 " + vector(to) + ", [b_stage];");
  for (std::uint32_t i = 0; i < 4; ++i) input(to[i], 4 * i);
}

void Text::bulk_copy() {
  if (op_ == Opcode::k_cp_async_bulk_prefetch) {
    line("mov.u32 t0, 16;");
    const std::string more = policy();
    line(opcode() + " [b_in], t0" + more + ";");
    return;
  }
  line("mov.u32 t0, 16;");
  if (spelled(".bulk_group") || op_ == Opcode::k_cp_async_bulk_commit_group ||
      op_ == Opcode::k_cp_async_bulk_wait_group) {
    const bool own_wait = op_ == Opcode::k_cp_async_bulk_wait_group;
    const auto from = stage(), to = four();
    line("ld.global.v2.b64 {a4, a5}, [b_scratch];");
    line("fence.proxy.async;");
    std::string copy_opcode = "cp.async.bulk.global.shared::cta.bulk_group", more;
    if (op_ == Opcode::k_cp_async_bulk) copy_opcode = opcode(), more = policy();
    if (m_.variant == 2) line("mov.b16 v0, 0xffff;"), more += ", v0";
    line(copy_opcode + " [b_scratch], [b_stage+16], t0" + more + ";");
    line("cp.async.bulk.commit_group;");
    if (own_wait) line(opcode() + " 0;");
    line("cp.async.bulk.wait_group 0;");
    line("fence.proxy.async;");
    line("ld.global.v4.b32 " + vector(to) + ", [b_scratch];");
    line("st.global.v2.b64 [b_scratch], {a4, a5};");
    for (std::size_t i = 0; i < 4; ++i) copy(to[i], from[i]);
    return;
  }
  const bool from_shared = m_.source_space == Space::kShared;
  std::vector<Register> from;
  if (from_shared) from = stage();
  line("mbarrier.init.shared.b64 [b_mbarrier], 1;");
  line("fence.proxy.async;");
  line("mbarrier.arrive.expect_tx.shared.b64 a0, [b_mbarrier], t0;");
  std::string more;
  if (m_.variant == 1) line("mov.b16 v0, 1;"), more = ", v0";
  more += policy();
  line(opcode() + " [b_stage], [" + (from_shared ? "b_stage+16" : "b_in") + "], t0, [b_mbarrier]" +
       more + ";");
  wait_for_mbarrier();
  if (from_shared) {
    result_of_stage(from);
  } else {
    const auto to = four();
    line("ld.shared.v4.b32 " + vector(to) + ", [b_stage];");
    for (std::uint32_t i = 0; i < 4; ++i) input(to[i], 4 * i);
  }
  line("fence.proxy.async;");  // the next copy to the stage comes after these loads
}

// An mbarrier of the thread's own: its results are known.
void Text::mbarrier() {
  std::string where = "b_mbarrier";
  if (m_.space == Space::kNone) line("cvta.shared.u64 a6, b_mbarrier;"), where = "a6";
  line("mov.u32 t1, 16;\nmov.u32 t2, 0;\nmov.u32 t3, 1;");
  const std::string init = "mbarrier.init.shared.b64 [b_mbarrier], 2;",
                    arrive = "mbarrier.arrive.shared.b64 a0, [b_mbarrier];";
  const std::string expect = "mbarrier.expect_tx.relaxed.cta.shared.b64 [b_mbarrier], t1;",
                    complete = "mbarrier.complete_tx.relaxed.cta.shared.b64 [b_mbarrier], t1;";
  if (op_ == Opcode::k_mbarrier_init)
    line("mov.u32 t4, 2;\n" + opcode() + " [" + where + "], t4;");
  else
    line(init);
  switch (op_) {
    case Opcode::k_mbarrier_init:
    case Opcode::k_mbarrier_inval: line(arrive), line(arrive); break;
    case Opcode::k_mbarrier_expect_tx:
      line(opcode() + " [" + where + "], t1;"), line(complete), line(arrive), line(arrive);
      break;
    case Opcode::k_mbarrier_complete_tx:
      line(expect), line(opcode() + " [" + where + "], t1;"), line(arrive), line(arrive);
      break;
    case Opcode::k_mbarrier_arrive:
    case Opcode::k_mbarrier_arrive_drop: {
      const std::string to = (*e_.operands)[0].role == Role::kSink ? "_" : "a0";
      const std::string count = takes("e") ? (m_.expect_tx ? ", t1" : ", t3") : "";
      line(opcode() + " " + to + ", [" + where + "]" + count + ";");
      if (m_.expect_tx) line(complete);
      line(arrive);
      break;
    }
    case Opcode::k_mbarrier_test_wait:
    case Opcode::k_mbarrier_try_wait: {
      const Register p = pool(Class::kPredicate);
      line(arrive);
      line("mbarrier.arrive.shared.b64 a1, [b_mbarrier];");
      line(opcode() + " " + name_of(p) + ", [" + where + "], " + (m_.parity ? "t2" : "a0") +
           (takes("f") ? ", t1" : "") + ";");
      constant(p, 1);
      break;
    }
    case Opcode::k_mbarrier_pending_count: {
      const Register r = pool(Class::k32);
      line(arrive);
      line(opcode() + " t4, a0;");
      // The number of pending arrivals in an arrival's state is defined in the simulated GPU;
      // hardware may count the arrival itself.
      line("min.u32 t4, t4, 0;\nmov.b32 " + name_of(r) + ", t4;");
      constant(r, 0);
      line(arrive);
      break;
    }
    default: break;
  }
  if (op_ == Opcode::k_mbarrier_inval)
    line("W%L%:\n  mbarrier.test_wait.parity.shared.b64 s0, [b_mbarrier], 0;\n@!s0 bra W%L%;\n" +
         opcode() + " [" + where + "];");
  else
    wait_for_mbarrier();
}

// Converts addresses and back, and tests their space and block.
bool Text::address() {
  const auto base = [&](Space space) -> std::string {
    switch (space) {
      case Space::kConst: line("mov.u64 a0, constants_of_programs;"); return "a0";
      case Space::kGlobal: return "b_in";
      case Space::kLocal: return "b_local";
      case Space::kParam: line("mov.b64 a0, arguments;"); return "a0";
      default: return "b_stage";
    }
  };
  const Register r = pool(Class::k32), other = pool(Class::k32);
  switch (op_) {
    case Opcode::k_cvta: {
      const std::string from = base(m_.space), space(spelled("shared::cluster")  ? "shared::cluster"
                                                     : spelled("param::entry")   ? "param::entry"
                                                     : spelled("shared::cta")    ? "shared::cta"
                                                     : m_.space == Space::kConst ? "const"
                                                     : m_.space == Space::kGlobal ? "global"
                                                     : m_.space == Space::kLocal  ? "local"
                                                     : m_.space == Space::kParam  ? "param"
                                                                                  : "shared");
      line("cvta." + space + ".u64 a1, " + from + ";");
      line("cvta.to." + space + ".u64 a2, a1;");
      line("setp.eq.u64 s0, a2, " + from + ";");
      line("selp.b32 " + name_of(r) + ", " + name_of(other) + ", 0, s0;");
      copy(r, other);
      return true;
    }
    case Opcode::k_isspacep: {
      const Register p = pool(Class::kPredicate);
      const bool shared = m_.space == Space::kShared || m_.space == Space::kSharedCluster;
      // The order of the windows is defined for these three only.
      const bool clear = shared || m_.space == Space::kGlobal || m_.space == Space::kLocal;
      constexpr Space kClear[] = {Space::kGlobal, Space::kShared, Space::kLocal};
      const Space of_address =
          clear && writer_.choose().percent(50) ? writer_.choose().of(kClear) : m_.space;
      const std::string from = base(of_address);
      const bool same = of_address == m_.space || (shared && of_address == Space::kShared);
      const char* space = of_address == Space::kConst    ? "const"
                          : of_address == Space::kGlobal ? "global"
                          : of_address == Space::kLocal  ? "local"
                          : of_address == Space::kParam  ? "param"
                                                         : "shared";
      line(std::string("cvta.") + space + ".u64 a1, " + from + ";");
      line(opcode() + " " + name_of(p) + ", a1;");
      constant(p, same);
      return true;
    }
    case Opcode::k_getctarank: {
      const bool narrow = m_.type == isa::Type::kU32;
      if (narrow && m_.space == Space::kNone) return false;
      if (m_.space == Space::kNone)
        line("cvta.shared.u64 a0, b_stage;");
      else
        line(narrow ? "cvt.u32.u64 t0, b_stage;" : "mov.u64 a0, b_stage;");
      line(opcode() + " " + name_of(r) + ", " + (narrow ? "t0" : "a0") + ";");
      constant(r, 0);
      return true;
    }
    default: {  // mapa
      const bool narrow = m_.type == isa::Type::kU32, generic = m_.space == Space::kNone;
      if (narrow && generic) return false;
      line("st.shared.b32 [b_stage], " + name_of(other) + ";\nmov.u32 t1, 0;");
      if (generic)
        line("cvta.shared.u64 a0, b_stage;");
      else
        line(narrow ? "cvt.u32.u64 t0, b_stage;" : "mov.u64 a0, b_stage;");
      line(opcode() + (narrow ? " t2, t0, t1;" : " a1, a0, t1;"));
      line(std::string(generic ? "ld.b32 " : "ld.shared::cluster.b32 ") + name_of(r) +
           (narrow ? ", [t2];" : ", [a1];"));
      copy(r, other);
      return true;
    }
  }
}

// An atomic on sixteen bytes, which are restored.
void Text::wide_atomic() {
  const bool shared = m_.space == Space::kShared || m_.space == Space::kSharedCluster;
  const std::string where = shared ? "b_shared" : "b_scratch",
                    space = shared ? ".shared" : ".global";
  const Register a = pool(Class::k64), b = pool(Class::k64), x = pool(Class::k64);
  const Register y{Class::k64, static_cast<std::uint8_t>((x.index + 1) % 4)};
  line("ld" + space + ".v2.b64 {a4, a5}, [" + where + "];");
  line("mov.b128 q0, {" + name_of(a) + ", " + name_of(b) + "};");
  std::string more;
  if (m_.atom == isa::AtomOp::kCas) {
    line("mov.b128 q2, {a4, a5};");
    line(opcode() + " q1, [" + where + "], q2, q0;");
  } else {
    more = policy();
    line(opcode() + " q1, [" + where + "], q0" + more + ";");
  }
  line("mov.b128 {a2, a3}, q1;");
  // zero, for the old value is what was there.
  line("xor.b64 a2, a2, a4;\nxor.b64 a3, a3, a5;\nor.b64 a2, a2, a3;");
  line("ld" + space + ".v2.b64 {" + name_of(x) + ", " + name_of(y) + "}, [" + where + "];");
  line("st" + space + ".v2.b64 [" + where + "], {a4, a5};");
  line("xor.b64 " + name_of(x) + ", " + name_of(x) + ", a2;");
  copy(x, a);
  copy(y, b);
}

// A load of sixteen bytes, compared with a vector load; or a store, after which the old bytes are
// restored.
bool Text::wide_access() {
  std::string where = "b_in", space = ".global";
  const bool stores = op_ == Opcode::k_st;
  switch (m_.space) {
    case Space::kShared:
    case Space::kSharedCluster: where = "b_stage", space = ".shared"; break;
    case Space::kLocal: where = "b_local", space = ".local"; break;
    case Space::kConst: where = "constants_of_programs+32", space = ".const"; break;
    case Space::kParam:
      if (stores) return false;  // parameters of calls are the calls' own
      where = "arguments+16", space = ".param";
      break;
    default:
      if (stores) where = "b_scratch";
      break;
  }
  const Register a = pool(Class::k64), b = pool(Class::k64), x = pool(Class::k64);
  const Register y{Class::k64, static_cast<std::uint8_t>((x.index + 1) % 4)};
  if (stores) {
    if (where == "b_stage") line("st.shared.v4.b32 [b_stage], {0, 0, 0, 0};");
    line("ld" + space + ".v2.b64 {a4, a5}, [" + where + "];");
    const std::string more = policy();
    line("mov.b128 q0, {" + name_of(a) + ", " + name_of(b) + "};\n" + opcode() + " [" + where +
         "], q0" + more + ";");
    line("ld" + space + ".v2.b64 {" + name_of(x) + ", " + name_of(y) + "}, [" + where + "];");
    line("st" + space + ".v2.b64 [" + where + "], {a4, a5};");
    copy(x, a), copy(y, b);
    return true;
  }
  if (where == "b_stage")
    line("st.shared.v2.b64 [b_stage], {" + name_of(a) + ", " + name_of(a) + "};");
  const std::string more = policy();
  line(opcode() + " q0, [" + where + "]" + more + ";\nmov.b128 {a2, a3}, q0;\nld" + space +
       ".v2.b64 {a4, a5}, [" + where + "];");
  line("xor.b64 a2, a2, a4;\nxor.b64 a3, a3, a5;\nor.b64 a2, a2, a3;\nxor.b64 " + name_of(x) +
       ", " + name_of(a) + ", a2;");  // zero, for both are the same
  copy(x, a);
  return true;
}

void Text::stack() {
  const Register r = pool(Class::k32), other = pool(Class::k32);
  const bool narrow = m_.type == isa::Type::kU32;
  const std::string saved = narrow ? "t6" : "a6", pointer = narrow ? "t5" : "a5",
                    type = narrow ? "u32" : "u64", size = narrow ? "t4" : "a4";
  line("stacksave." + type + " " + saved + ";");
  line((narrow ? "mov.u32 " : "mov.u64 ") + size + ", 32;");
  line("alloca." + type + " " + pointer + ", " + size +
       (op_ == Opcode::k_alloca && takes("imm16") ? ", 16" : "") + ";");
  line("st.local.b32 [" + pointer + "+12], " + name_of(other) + ";");
  line("ld.local.b32 " + name_of(r) + ", [" + pointer + "+12];");
  line("stackrestore." + type + " " + saved + ";");
  copy(r, other);
}

bool Text::write(const Context& at) {
  switch (op_) {
    case Opcode::k_mov: {
      const Register a = pool(Class::k64), b = pool(Class::k64), x = pool(Class::k64),
                     y{Class::k64, static_cast<std::uint8_t>((x.index + 1) % 4)};
      line("mov.b128 q0, {" + name_of(a) + ", " + name_of(b) + "};\nmov.b128 {" + name_of(x) +
           ", " + name_of(y) + "}, q0;");
      copy(x, a), copy(y, b);
      return true;
    }
    case Opcode::k_atom: wide_atomic(); return true;
    case Opcode::k_ld:
    case Opcode::k_ldu:
    case Opcode::k_st: return wide_access();
    case Opcode::k_activemask: {
      const Register r = pool(Class::k32);
      line("activemask.b32 t0;\nmov.u32 t1, %lanemask_eq;\nand.b32 " + name_of(r) + ", t0, t1;");
      s_.effects.push_back({r, Value::kLaneMask, 0, {}, 0});
      return true;
    }
    case Opcode::k_alloca:
    case Opcode::k_stacksave:
    case Opcode::k_stackrestore: stack(); return true;
    case Opcode::k_applypriority: line(opcode() + " [b_window], 128;"); return true;
    case Opcode::k_discard:  // memory of the block, which nobody reads
      line(
          "mov.u32 t0, %ctaid.x;\nmov.u32 t1, %tid.x;\nsetp.eq.u32 s0, t1, 0;\nmad.wide.u32 a0, "
          "t0, 128, b_output;");
      line("@s0 st.global.b32 [a0+" + std::to_string(Layout::kDiscarded) + "], t0;");
      line("add.u64 a0, a0, " + std::to_string(Layout::kDiscarded) + ";");
      line("@s0 " + opcode() + " [a0], 128;");
      return true;
    case Opcode::k_barrier_cluster_arrive:
    case Opcode::k_barrier_cluster_wait:
      if (at.level != Level::kBlock) return false;
      if (op_ == Opcode::k_barrier_cluster_arrive)
        line(opcode() + ";\nbarrier.cluster.wait;");
      else
        line("barrier.cluster.arrive;\n" + opcode() + ";");
      return true;
    case Opcode::k_cp_async:
    case Opcode::k_cp_async_commit_group:
    case Opcode::k_cp_async_wait_group:
    case Opcode::k_cp_async_wait_all: {
      if (op_ == Opcode::k_cp_async) {
        asynchronous_copy();
      } else {
        const auto to = four();
        line("cp.async.ca.shared.global [b_stage], [b_in], 16;\ncp.async.commit_group;");
        line(op_ == Opcode::k_cp_async_wait_all ? "cp.async.wait_all;" : "cp.async.wait_group 0;");
        line("ld.shared.v4.b32 " + vector(to) + ", [b_stage];");
        for (std::uint32_t i = 0; i < 4; ++i) input(to[i], 4 * i);
      }
      return true;
    }
    case Opcode::k_cp_async_mbarrier_arrive: asynchronous_arrival(); return true;
    case Opcode::k_cp_async_bulk:
    case Opcode::k_cp_async_bulk_commit_group:
    case Opcode::k_cp_async_bulk_wait_group:
    case Opcode::k_cp_async_bulk_prefetch: bulk_copy(); return true;
    case Opcode::k_createpolicy: {
      const Register r = pool(Class::k32);
      line(opcode() + " a7" + (takes("e") ? ", 0f3f000000" : "") +
           ";\nld.global.L2::cache_hint.b32 " + name_of(r) + ", [b_in+8], a7;");
      input(r, 8);
      return true;
    }
    case Opcode::k_cvta:
    case Opcode::k_isspacep:
    case Opcode::k_getctarank:
    case Opcode::k_mapa: return address();
    case Opcode::k_mbarrier_init:
    case Opcode::k_mbarrier_inval:
    case Opcode::k_mbarrier_expect_tx:
    case Opcode::k_mbarrier_complete_tx:
    case Opcode::k_mbarrier_arrive:
    case Opcode::k_mbarrier_arrive_drop:
    case Opcode::k_mbarrier_test_wait:
    case Opcode::k_mbarrier_try_wait:
    case Opcode::k_mbarrier_pending_count: mbarrier(); return true;
    case Opcode::k_nanosleep: line("mov.u32 t0, 20;\n" + opcode() + " t0;"); return true;
    case Opcode::k_pmevent: line(opcode() + " 3;"); return true;
    case Opcode::k_prefetch:
      line(opcode() + (m_.space == Space::kLocal ? " [b_local];" : " [b_in];"));
      return true;
    case Opcode::k_prefetchu: line(opcode() + " [b_in];"); return true;
    case Opcode::k_fence:
    case Opcode::k_fence_mbarrier_init:
    case Opcode::k_fence_proxy:
    case Opcode::k_membar:
    case Opcode::k_griddepcontrol: line(opcode() + ";"); return true;
    default: return false;
  }
}

}  // namespace

bool Writer::text(int example, const Context& at, Statement& s) {
  if (at.in_function) return false;
  const Catalogue& all = Catalogue::get();
  s.kind = Statement::Kind::kText;
  s.rows.push_back(all.row_of(example));
  // What comes with one of a pair is the other of it.
  const isa::Example& e = all.example(example);
  if (e.spelling.form->row->opcode == Opcode::k_mov)
    s.rows = all.rows_of(Opcode::k_mov), std::erase_if(s.rows, [&](int r) {
      return all.rows()[static_cast<std::size_t>(r)].place != Place::kText;
    });
  return Text(*this, e, s, silicon_).write(at);
}

}  // namespace lockstep::fuzz::differential
