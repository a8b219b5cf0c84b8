#include "simulator/coverage/page.h"

#include <map>
#include <set>
#include <string_view>

#include "simulator/coverage/coverage.h"
#include "simulator/isa/names.h"
#include "simulator/vectors/recording.h"
#include "simulator/vectors/vectors.h"

namespace lockstep::coverage {
namespace {

using isa::FormRow;
using isa::Modifiers;
using isa::Opcode;
using isa::Type;

bool is_half(Type t) { return t == Type::kF16 || t == Type::kF16x2 || t == Type::kBF16 || t == Type::kBF16x2; }
bool is_float(Type t) { return t == Type::kF32 || t == Type::kF64 || t == Type::kF32x2; }

// What judges the results of a row's spellings, besides recorded vectors: an independent reference on the host, or, for the approximate
// instructions, the manual's bound around one.
std::string judged_by(const FormRow& row, const Modifiers& m) {
  const bool half = is_half(m.type) || is_half(m.source_type);
  switch (row.opcode) {
    case Opcode::k_setp: case Opcode::k_set: case Opcode::k_testp: return half ? "half_test" : "compare_test";
    case Opcode::k_mov: case Opcode::k_selp: case Opcode::k_slct: return "move_test";
    case Opcode::k_cvt: case Opcode::k_cvt_pack: return half ? "half_test, convert_test" : "convert_test";
    case Opcode::k_and: case Opcode::k_or: case Opcode::k_xor: case Opcode::k_not: case Opcode::k_cnot: case Opcode::k_shl: case Opcode::k_shr:
    case Opcode::k_shf: case Opcode::k_lop3: case Opcode::k_popc: case Opcode::k_clz: case Opcode::k_brev: case Opcode::k_bfind:
    case Opcode::k_bfe: case Opcode::k_bfi: case Opcode::k_fns: case Opcode::k_szext: case Opcode::k_bmsk: case Opcode::k_prmt:
      return "bits_test";
    case Opcode::k_ex2: case Opcode::k_tanh: case Opcode::k_sin: case Opcode::k_cos: case Opcode::k_lg2: case Opcode::k_rsqrt:
      return half ? "half_test (bound)" : "float_test (bound)";
    case Opcode::k_add: case Opcode::k_sub: case Opcode::k_mul: case Opcode::k_mad: case Opcode::k_fma: case Opcode::k_div: case Opcode::k_rem:
    case Opcode::k_min: case Opcode::k_max: case Opcode::k_abs: case Opcode::k_neg: case Opcode::k_rcp: case Opcode::k_sqrt: case Opcode::k_copysign:
      if (m.type == Type::kF32x2 || (m.type == Type::kF32 && half)) return "packed_float_test";
      if (half) return "half_test";
      if (m.approx || m.full) return "float_test (bound)";
      return is_float(m.type) ? "float_test" : "integer_test";
    case Opcode::k_addc: case Opcode::k_subc: case Opcode::k_madc: case Opcode::k_sad: case Opcode::k_mul24: case Opcode::k_mad24: case Opcode::k_dp4a:
    case Opcode::k_dp2a: case Opcode::k_vabsdiff4:
      return "integer_test";
    case Opcode::k_ld: case Opcode::k_ldu: case Opcode::k_st: case Opcode::k_isspacep: case Opcode::k_cvta: case Opcode::k_prefetch: case Opcode::k_prefetchu:
    case Opcode::k_applypriority: case Opcode::k_createpolicy:
      return "load_test, checks_test";
    case Opcode::k_atom: case Opcode::k_red: return "atomics_test";
    case Opcode::k_shfl_sync: case Opcode::k_vote_sync: case Opcode::k_match_sync: case Opcode::k_redux_sync: case Opcode::k_activemask:
    case Opcode::k_elect_sync: case Opcode::k_bar: case Opcode::k_barrier: case Opcode::k_bar_warp_sync:
      return "exchange_test, checks_test";
    case Opcode::k_tex: case Opcode::k_tld4: case Opcode::k_txq: case Opcode::k_suld: case Opcode::k_sust: case Opcode::k_sured: case Opcode::k_suq:
      return "image_ops_test, image_test";
    case Opcode::k_mapa: case Opcode::k_getctarank: case Opcode::k_barrier_cluster_arrive: case Opcode::k_barrier_cluster_wait: return "cluster_test";
    case Opcode::k_cp_async: case Opcode::k_cp_async_commit_group: case Opcode::k_cp_async_wait_group: case Opcode::k_cp_async_wait_all:
    case Opcode::k_cp_async_mbarrier_arrive: case Opcode::k_cp_async_bulk: case Opcode::k_cp_async_bulk_commit_group:
    case Opcode::k_cp_async_bulk_wait_group: case Opcode::k_cp_async_bulk_prefetch: case Opcode::k_discard: case Opcode::k_fence_mbarrier_init:
    case Opcode::k_fence_proxy: case Opcode::k_mbarrier_init: case Opcode::k_mbarrier_inval: case Opcode::k_mbarrier_expect_tx:
    case Opcode::k_mbarrier_complete_tx: case Opcode::k_mbarrier_arrive: case Opcode::k_mbarrier_arrive_drop: case Opcode::k_mbarrier_test_wait:
    case Opcode::k_mbarrier_try_wait: case Opcode::k_mbarrier_pending_count:
      return "async_test";
    default: return "control_test, checks_test";
  }
}

std::string cell(std::string_view text) {
  std::string s;
  for (const char c : text) {
    if (c == '|') s += '\\';
    s += c;
  }
  return s;
}

std::string version(int ptx) { return std::to_string(ptx / 10) + "." + std::to_string(ptx % 10); }

// How many spellings of each row a recording has.
std::map<const FormRow*, std::size_t> recorded(const std::string& path) {
  const vectors::Recording recording = vectors::read_recording(path);
  std::map<const FormRow*, std::set<std::string>> spellings;
  for (const vectors::VectorForm& f : vectors::vector_forms()) {
    if (recording.forms.contains(f.name)) spellings[f.spelling.form->row].insert(f.spelling.text);
  }
  std::map<const FormRow*, std::size_t> counts;
  for (const auto& [row, texts] : spellings) counts[row] = texts.size();
  return counts;
}

}  // namespace

std::string coverage_page(const std::string& recording) {
  std::map<const FormRow*, Modifiers> sample;
  for (const isa::Spelling& s : isa::enumerate_forms()) sample.emplace(s.form->row, s.modifiers);
  const auto vectors = recorded(recording);
  const std::vector<RowCoverage> rows = measure();
  std::size_t spellings = 0, examples = 0, executed = 0, whole = 0, with_vectors = 0, vector_spellings = 0;
  for (const RowCoverage& r : rows) {
    spellings += r.spellings;
    examples += r.examples;
    executed += r.executed;
    whole += r.executed == r.examples;
    if (const auto it = vectors.find(r.row); it != vectors.end()) ++with_vectors, vector_spellings += it->second;
  }
  std::string s =
      "# PTX that the simulated GPU executes\n\n"
      "Generated by `bazel run //simulator/coverage:update` from the table of instruction forms, `simulator/isa/form_rows.inc`, which also feeds\n"
      "parser and decoder; `simulator/isa/forms.h` says how a form is written. Do not edit: `//simulator/coverage:coverage_test` compares.\n\n"
      "- **PTX**, **sm**: the version and the target from which the form exists. `//simulator/isa:forms_test` has ptxas assemble every form for that\n"
      "  target, and refuse it for the one before; the same test has our parser read it.\n"
      "- **Spellings**: the opcodes that the row stands for.\n"
      "- **Executed**: of the examples tried (all spellings of small rows; of large ones so many that every two words meet), those that the\n"
      "  decoder gave a handler. Any other is refused when a module is loaded, by name and line; nothing is ignored.\n"
      "- **Judged by**: the test in `//simulator/engine/...` that holds the results against an independent reference; `(bound)`: within the error that\n"
      "  the manual documents for an approximate instruction.\n"
      "- **Vectors**: spellings with results recorded on an NVIDIA H100 (`golden/instructions/h100.zst`) that `//simulator/vectors:replay_test`\n"
      "  replays. Spellings that differ in cache hints, scope or memory order only are recorded once.\n\n";
  s += "Rows: " + std::to_string(rows.size()) + ", executed completely: " + std::to_string(whole) + ". Spellings: " + std::to_string(spellings) +
       ". Examples tried: " + std::to_string(examples) + ", executed: " + std::to_string(executed) + ". Rows with recorded vectors: " +
       std::to_string(with_vectors) + ", spellings recorded: " + std::to_string(vector_spellings) + ".\n";
  bool any = false;
  for (const RowCoverage& r : rows) {
    if (r.executed == r.examples) continue;
    if (!any) s += "\n## Not executed\n\n";
    any = true;
    s += "- `" + std::string(r.row->syntax) + "`: " + std::to_string(r.examples - r.executed) + " of " + std::to_string(r.examples) + "\n";
  }
  std::string_view opcode;
  for (const RowCoverage& r : rows) {
    const std::string_view name = r.row->syntax.substr(0, r.row->syntax.find_first_of(".{ "));
    if (name != opcode) {
      s += "\n## " + std::string(name) + "\n\n| Form | Choices | PTX | sm | Spellings | Executed | Judged by | Vectors |\n|---|---|---|---|---|---|---|---|\n";
      opcode = name;
    }
    const auto it = vectors.find(r.row);
    s += "| `" + cell(r.row->syntax) + "` | " + (r.row->choices.empty() ? "" : "`" + cell(r.row->choices) + "`") + " | " + version(r.row->ptx) + " | " +
         std::to_string(r.row->sm) + (r.row->suffix != 0 ? std::string(1, r.row->suffix) : std::string()) + " | " + std::to_string(r.spellings) + " | " +
         (r.executed == r.examples ? "yes" : std::to_string(r.executed) + " of " + std::to_string(r.examples)) + " | " +
         judged_by(*r.row, sample[r.row]) + " | " + (it == vectors.end() ? "" : std::to_string(it->second)) + " |\n";
  }
  return s;
}

}  // namespace lockstep::coverage
