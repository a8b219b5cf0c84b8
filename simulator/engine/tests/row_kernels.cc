#include "simulator/engine/tests/row_kernels.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>
#include <vector>

namespace lockstep::engine {
namespace {

using isa::Opcode;
using isa::OperandRule;
using isa::Space;
using Role = OperandRule::Role;

// In the second turn an overwritten source shows.
constexpr int kTurns = 2;
// Bytes of shared and local memory of each thread: more than any instruction reads.
constexpr std::uint32_t kWrittenBytes = 64;

// The registers of an operand: "{r8, r9}|p9" -> r8 r9 p9.
std::vector<std::string> registers_in(std::string_view text) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < text.size(); ++i) {
    // Neither the end of a word nor a selector.
    const bool begins =
        i == 0 || !(std::isalnum(static_cast<unsigned char>(text[i - 1])) ||
                    std::string_view("_$.").find(text[i - 1]) != std::string_view::npos);
    if (!begins || std::string_view("pchrdq").find(text[i]) == std::string_view::npos) continue;
    std::size_t end = i + 1;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end]))) ++end;
    if (end > i + 1) all.emplace_back(text.substr(i, end - i));
  }
  return all;
}

// Splits the operands of an example at commas outside brackets and braces.
std::vector<std::string> operands_of(const std::string& text) {
  std::vector<std::string> all;
  const std::size_t begin = text.find(' ');
  if (begin == std::string::npos) return all;
  int depth = 0;
  std::string one;
  for (const char c : text.substr(begin + 1)) {
    if (c == '[' || c == '{' || c == '(') ++depth;
    if (c == ']' || c == '}' || c == ')') --depth;
    if ((c == ',' && depth == 0) || c == ';') {
      all.push_back(one);
      one.clear();
    } else {
      one += c;
    }
  }
  return all;
}

// Whether the operand is a matrix in memory, whose address all lanes have.
bool is_matrix(const isa::Example& e) {
  const Opcode op = e.spelling.form->row->opcode;
  return op == Opcode::k_wmma_load || op == Opcode::k_wmma_store;
}

// Whether the instruction may depend on a thread's shared or local memory. Instructions on
// registers only do not.
bool reads_memory(const isa::Example& e) {
  const Opcode op = e.spelling.form->row->opcode;
  if (op == Opcode::k_mapa || op == Opcode::k_getctarank || op == Opcode::k_alloca ||
      op == Opcode::k_stacksave || op == Opcode::k_stackrestore)
    return true;
  return std::any_of(e.operands->begin(), e.operands->end(), [](const OperandRule& rule) {
    return rule.role == Role::kAddress || rule.role == Role::kImage || rule.role == Role::kTensor ||
           rule.role == Role::kFunction;
  });
}

class Writer {
 public:
  explicit Writer(Before b) : before(b) {}

  const Before before;
  std::string text;

  void module(const isa::FormRow& row) {
    line(".version 9.0\n.target " + isa::target_of(row) + "\n.address_size 64");
    line(".func callee(.param .align 16 .b8 in[64])\n{\nret;\n}");
    line(".const .align 16 .b32 constants[64] = {7, 6, 5, 4, 3, 2, 1};");
  }

  void kernel(const isa::Example& e, std::size_t number) {
    loads_ = 0;
    line(".visible .entry row" + std::to_string(number) +
         "(.param .u64 input, .param .u64 data, .param .u64 output, .param .u64 unwritten, .param "
         ".align 16 .b8 argument[64])\n{");
    registers(e);
    line(
        ".reg .pred again, tp; .reg .b16 th<4>; .reg .b32 tr<4>, id, turn; .reg .b64 td<4>, in, "
        "own, out, offset; .reg .b128 tq;");
    line(".shared .align 256 .b8 tile[" + std::to_string(kRowThreads * kRowStretch) +
         "];\n.shared .align 8 .b64 objects[" + std::to_string(kRowThreads) + "];");
    line(".local .align 32 .b8 stack[" + std::to_string(kRowStretch) + "];");
    line("$targets: .branchtargets $end; .param .align 16 .b8 outgoing[64];");
    line("mov.u32 id, %tid.x; mul.wide.u32 offset, id, " + std::to_string(kRowStretch) + ";");
    line(
        "ld.param.u64 in, [input]; add.u64 in, in, offset;\nld.param.u64 own, [data]; add.u64 own, "
        "own, offset;");
    line("ld.param.u64 out, [output]; mul.wide.u32 td0, id, " + std::to_string(kRowOutput) +
         "; add.u64 out, out, td0;");
    // Initialises the shared and local memory, and one mbarrier object for each thread.
    if (reads_memory(e)) {
      line("mov.u64 td1, tile; add.u64 td1, td1, offset; mov.u64 td2, stack; mov.b64 td3, 3;");
      const bool much = is_matrix(e) || e.spelling.form->row->opcode == Opcode::k_tensormap_replace;
      const std::uint32_t written = much ? kRowStretch : kWrittenBytes;
      for (std::uint32_t at = 0; at < written; at += 16) {
        line("st.shared.v2.b64 [td1+" + std::to_string(at) +
             "], {td3, td3}; st.local.v2.b64 [td2+" + std::to_string(at) + "], {td3, td3};");
      }
    }
    const Opcode op = e.spelling.form->row->opcode;
    const bool bulk = op == Opcode::k_cp_async_bulk || op == Opcode::k_cp_reduce_async_bulk;
    if ((bulk || e.text.find("mbarrier") != std::string::npos) && op != Opcode::k_mbarrier_init &&
        op != Opcode::k_mbarrier_inval) {
      line("mov.u64 td0, objects; mad.wide.u32 td0, id, 8, td0; mbarrier.init.shared.b64 [td0], " +
           std::to_string(bulk ? 1 : 100) + ";");
    }
    if (bulk) line("fence.proxy.async;");
    line("mov.b64 td3, 1; st.param.b64 [outgoing], td3;");
    sources(e);
    line("mov.u32 turn, 0;\nbra.uni $first;\n$next:\nadd.u32 turn, turn, 1;\n$first:");
    if (op == Opcode::k_barrier_cluster_wait) line("barrier.cluster.arrive;");
    if (op == Opcode::k_mbarrier_inval)
      line(
          "mov.u64 td0, objects; mad.wide.u32 td0, id, 8, td0; mbarrier.init.shared.b64 [td0], 1;");
    if (before == Before::kUnwritten) spoil(e);
    line(e.text);
    finish(e);
    results(e);
    if (before == Before::kNothing) temporaries();
    line("setp.lt.u32 again, turn, " + std::to_string(before == Before::kOnce ? 0 : kTurns - 1) +
         ";\n@again bra $next;\n$end:\nret;\n}");
  }

 private:
  void line(const std::string& s) { (text += s) += '\n'; }

  // Declares only the registers of the example: hundreds of names would dominate the compile time.
  void registers(const isa::Example& e) {
    const std::vector<std::string> names = registers_in(e.text);
    for (const std::string& name : std::set<std::string>(names.begin(), names.end())) {
      const std::string_view type = name[0] == 'p'   ? ".pred "
                                    : name[0] == 'c' ? ".b8 "
                                    : name[0] == 'h' ? ".b16 "
                                    : name[0] == 'r' ? ".b32 "
                                    : name[0] == 'd' ? ".b64 "
                                                     : ".b128 ";
      line(".reg " + std::string(type) + name + ";");
    }
  }

  // Sets a register to a number that differs between threads and registers.
  void load(const std::string& name) {
    const std::string at = "[in+" + std::to_string(16 * (loads_++ % (kRowStretch / 16))) + "]";
    switch (name[0]) {
      case 'p': line("ld.global.b32 tr0, " + at + "; setp.gt.u32 " + name + ", tr0, 40;"); break;
      case 'c': line("ld.global.b8 " + name + ", " + at + ";"); break;
      case 'h': line("ld.global.b16 " + name + ", " + at + ";"); break;
      case 'r': line("ld.global.b32 " + name + ", " + at + ";"); break;
      case 'd': line("ld.global.b64 " + name + ", " + at + ";"); break;
      default: line("ld.global.b64 td0, " + at + "; mov.b128 " + name + ", {td0, in};"); break;
    }
  }

  void set(const std::string& name, const std::string& value) {
    if (name[0] == 'p') return load(name);
    line((name[0] == 'h'   ? "mov.b16 "
          : name[0] == 'r' ? "mov.b32 "
                           : "mov.b64 ") +
         name + ", " + value + ";");
  }

  // Sets a register to an address that the thread may use: its own range, or its mbarrier.
  void address(const std::string& name, Space space, bool object) {
    const char* base = space == Space::kLocal                                      ? "stack"
                       : space == Space::kConst                                    ? "constants"
                       : space == Space::kParam                                    ? "argument"
                       : object                                                    ? "objects"
                       : space == Space::kShared || space == Space::kSharedCluster ? "tile"
                                                                                   : nullptr;
    if (base == nullptr) {
      line("mov.b64 " + name + ", own;");
    } else if (object) {
      line("mov.u64 td0, objects; mad.wide.u32 " + name + ", id, 8, td0;");
    } else if (space == Space::kLocal || space == Space::kConst || space == Space::kParam) {
      line("mov.u64 " + name + ", " + base + ";");
    } else {
      line("mov.u64 td0, tile; add.u64 " + name + ", td0, offset;");
    }
    if (object && space == Space::kNone) line("cvta.shared.u64 " + name + ", " + name + ";");
  }

  void sources(const isa::Example& e) {
    const Opcode op = e.spelling.form->row->opcode;
    const isa::Modifiers& m = e.spelling.modifiers;
    const std::vector<std::string> operands = operands_of(e.text);
    int addresses = 0;
    for (std::size_t n = 0; n < operands.size() && n < e.operands->size(); ++n) {
      const OperandRule& rule = (*e.operands)[n];
      if (rule.is_destination()) continue;
      const std::vector<std::string> names = registers_in(operands[n]);
      if (rule.name == "[tm]") {  // of tensor memory
        set(names[0], "0");
        continue;
      }
      if (rule.role == Role::kAddress) {
        ++addresses;
        const bool object = rule.name == "[m]" || e.text.starts_with("mbarrier") ||
                            e.text.starts_with("cp.async.mbarrier");
        const Space space = addresses == 1 || object         ? m.space
                            : m.source_space != Space::kNone ? m.source_space
                                                             : Space::kGlobal;
        for (const std::string& name : names) {
          address(name, space, object);
          if (is_matrix(e)) line("sub.u64 " + name + ", " + name + ", offset;");
        }
        continue;
      }
      for (const std::string& name : names) {
        if (is_matrix(e) && rule.name == "e") {
          set(name,
              isa::bits_of(m.type) < 8 ? "256" : "64");  // bytes between rows: rows do not overlap
        } else {
          set_source(op, rule.name, name);
        }
      }
    }
  }

  // Sets an operand to a value for which PTX defines the instruction.
  void set_source(Opcode op, std::string_view rule, const std::string& name) {
    switch (op) {
      case Opcode::k_mma:
      case Opcode::k_mma_sp:
        if (name[0] == 'h') return set(name, "0");  // where scales are
        break;
      case Opcode::k_bar:
      case Opcode::k_barrier:
        if (name[0] != 'p') return set(name, rule == "a" ? "1" : "32");
        break;
      case Opcode::k_shfl_sync:
        if (rule == "g") return set(name, "-1");
        if (rule == "f") return set(name, "31");
        break;
      case Opcode::k_vote_sync:
      case Opcode::k_match_sync:
      case Opcode::k_redux_sync:
      case Opcode::k_elect_sync:
        if (rule == "e") return set(name, "-1");
        break;
      case Opcode::k_bar_warp_sync: return set(name, "-1");
      case Opcode::k_brx_idx: return set(name, "0");
      case Opcode::k_cp_async_bulk:
        if (rule == "e") return set(name, "16");
        if (rule == "f") return set(name, "1");
        break;
      case Opcode::k_cp_async_bulk_prefetch:
      case Opcode::k_cp_reduce_async_bulk:
        if (rule == "e") return set(name, "16");
        break;
      case Opcode::k_cp_async:
        if (rule == "e" && name[0] == 'r') return set(name, "4");
        break;
      case Opcode::k_mbarrier_init:
      case Opcode::k_mbarrier_arrive:
      case Opcode::k_mbarrier_arrive_drop:
      case Opcode::k_mbarrier_expect_tx:
      case Opcode::k_mbarrier_complete_tx:
      case Opcode::k_mbarrier_test_wait:
      case Opcode::k_mbarrier_try_wait:
        if (name[0] == 'r') return set(name, rule == "f" ? "16" : "1");
        break;
      case Opcode::k_mapa:
        if (rule == "e") return set(name, "0");
        [[fallthrough]];
      case Opcode::k_getctarank:
        address("td1", Space::kShared, false);
        return line(name[0] == 'r' ? "cvt.u32.u64 " + name + ", td1;"
                                   : "mov.b64 " + name + ", td1;");
      case Opcode::k_alloca: return set(name, "32");
      case Opcode::k_stackrestore:
        return line(
            "stacksave.u64 td0; cvt.u32.u64 tr0, td0; mov.b" +
            std::string(name[0] == 'r' ? "32 " + name + ", tr0;" : "64 " + name + ", td0;"));
      default: break;
    }
    load(name);
  }

  // The instructions required before the example may execute again.
  void finish(const isa::Example& e) {
    switch (e.spelling.form->row->opcode) {
      case Opcode::k_barrier_cluster_arrive: return line("barrier.cluster.wait;");
      case Opcode::k_mbarrier_init:
        return line(
            "mov.u64 td0, objects; mad.wide.u32 td0, id, 8, td0; mbarrier.inval.shared.b64 [td0];");
      case Opcode::k_cp_async: return line("cp.async.wait_all;");
      case Opcode::k_cvta: {
        // Addresses of parameters and constants vary between runs: the kernel compares distances.
        const Space space = e.spelling.modifiers.space;
        if (space != Space::kParam && space != Space::kConst) return;
        line(space == Space::kParam ? "cvta.param.u64 td0, argument;"
                                    : "cvta.const.u64 td0, constants;");
        const std::string to = e.spelling.modifiers.to ? "add" : "sub";
        for_results(e, [&](const std::string& name) {
          line(to + ".u64 " + name + ", " + name + ", td0;");
        });
        return;
      }
      case Opcode::k_cp_async_bulk:
      case Opcode::k_cp_reduce_async_bulk:
        if (e.spelling.modifiers.space == Space::kGlobal)
          return line("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;");
        line(
            "mov.u64 td0, objects; mad.wide.u32 td0, id, 8, td0; "
            "mbarrier.arrive.expect_tx.shared.b64 td1, [td0], 16; mbarrier.try_wait.shared.b64 tp, "
            "[td0], "
            "td1;");
        return;
      default: return;
    }
  }

  // Makes the example's destinations unwritten, except those that it also reads.
  void spoil(const isa::Example& e) {
    line(
        "ld.param.u64 td0, [unwritten]; add.u64 td0, td0, offset; ld.global.b64 td1, [td0]; "
        "cvt.u32.u64 tr0, td1; cvt.u16.u64 th0, td1; setp.eq.u32 tp, tr0, "
        "7;");
    for_results(e, [&](const std::string& name) {
      switch (name[0]) {
        case 'p': return line("mov.pred " + name + ", tp;");
        case 'c': return line("cvt.u8.u32 " + name + ", tr0;");
        case 'h': return line("mov.b16 " + name + ", th0;");
        case 'r': return line("mov.b32 " + name + ", tr0;");
        case 'd': return line("mov.b64 " + name + ", td1;");
        default: return line("mov.b128 " + name + ", {td1, td1};");
      }
    });
  }

  void results(const isa::Example& e) {
    for_results(e, [&](const std::string& name) { store(name); });
  }

  template <class Visit>
  void for_results(const isa::Example& e, Visit visit) {
    const std::vector<std::string> operands = operands_of(e.text);
    for (std::size_t n = 0; n < operands.size() && n < e.operands->size(); ++n) {
      if (!(*e.operands)[n].is_destination()) continue;
      for (const std::string& name : registers_in(operands[n])) visit(name);
    }
  }

  // Computes with the value, so that an unwritten value causes a finding.
  void store(const std::string& name) {
    switch (name[0]) {
      case 'p': line("selp.b32 tr1, 1, 0, " + name + "; st.global.b32 [out], tr1;"); break;
      case 'c':
        line("cvt.u16.u8 th0, " + name + "; add.u16 th1, th0, 0; st.global.b16 [out], th1;");
        break;
      case 'h': line("add.u16 th1, " + name + ", 0; st.global.b16 [out], th1;"); break;
      case 'r': line("add.u32 tr1, " + name + ", 0; st.global.b32 [out], tr1;"); break;
      case 'd': line("add.u64 td1, " + name + ", 0; st.global.b64 [out], td1;"); break;
      default:
        line("mov.b128 {td0, td1}, " + name +
             "; add.u64 td0, td0, 0; add.u64 td1, td1, 0; st.global.v2.b64 [out], {td0, td1};");
        break;
    }
    line("add.u64 out, out, 16;");
  }

  // Sets values of every width, so that every free storage is reused.
  void temporaries() {
    line(
        "{ .reg .pred tp<3>; .reg .b16 th<3>; .reg .b32 tr<3>; .reg .b64 td<3>; .reg .b128 tq<3>;");
    line(
        "ld.global.b16 th0, [in+2]; ld.global.b16 th1, [in+18]; ld.global.b32 tr0, [in+4]; "
        "ld.global.b32 tr1, [in+20];");
    line(
        "ld.global.b64 td0, [in+8]; ld.global.b64 td1, [in+24]; mov.b128 tq0, {td0, td1}; mov.b128 "
        "tq1, {td1, td0};");
    line("setp.lt.u32 tp0, tr0, tr1; setp.lt.u32 tp1, tr1, 50;");
    line(
        "add.u16 th2, th0, th1; add.u32 tr2, tr0, tr1; add.u64 td2, td0, td1; selp.b32 tr0, 1, 0, "
        "tp0; selp.b32 tr1, 2, 0, tp1; add.u32 tr2, tr2, tr0; add.u32 "
        "tr2, tr2, tr1;");
    line(
        "st.global.b16 [out], th2; st.global.b32 [out+4], tr2; st.global.b64 [out+8], td2; "
        "mov.b128 {td0, td1}, tq0; st.global.b64 [out+16], td1;");
    line("mov.b128 {td0, td1}, tq1; st.global.b64 [out+24], td1; add.u64 out, out, 32; }");
  }

  std::uint32_t loads_ = 0;
};

}  // namespace

std::string row_module(std::span<const isa::Example> examples, Before before) {
  Writer w(before);
  w.module(*examples.front().spelling.form->row);
  for (std::size_t i = 0; i < examples.size(); ++i) w.kernel(examples[i], i);
  return std::move(w.text);
}

std::vector<isa::Example> aliased(const isa::Example& example) {
  std::vector<std::string> written, read;
  const std::vector<std::string> operands = operands_of(example.text);
  for (std::size_t n = 0; n < operands.size() && n < example.operands->size(); ++n) {
    auto& list = (*example.operands)[n].is_destination() ? written : read;
    // Only the ends of a long vector.
    std::vector<std::string> names = registers_in(operands[n]);
    if (names.size() > 2) names.erase(names.begin() + 1, names.end() - 1);
    for (std::string& name : names) list.push_back(std::move(name));
  }
  std::vector<isa::Example> all;
  for (const std::string& d : written) {
    for (const std::string& s : read) {
      if (d[0] != s[0]) continue;
      isa::Example e = example;
      // The destination is the first operand; no other operand has its name.
      e.text.replace(e.text.find(d, e.text.find(' ')), d.size(), s);
      all.push_back(std::move(e));
    }
  }
  return all;
}

}  // namespace lockstep::engine
