#include "simulator/fuzz/random_program.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "simulator/isa/form_examples.h"
#include "simulator/isa/forms.h"

namespace lockstep::fuzz {
namespace {

using isa::Space;

// The input, as a list of choices.
class Choices {
 public:
  explicit Choices(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  bool empty() const { return bytes_.empty(); }
  std::size_t below(std::size_t n) {
    std::size_t v = byte();
    if (n > 256) v = v << 8 | byte();
    return v % n;
  }
  bool one_in(std::size_t n) { return below(n) == n - 1; }
  template <class T, std::size_t N>
  const T& of(const T (&list)[N]) {
    return list[below(N)];
  }

 private:
  std::uint8_t byte() {
    if (bytes_.empty()) return 0;
    const std::uint8_t b = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return b;
  }
  std::span<const std::uint8_t> bytes_;
};

// Examples of every row of the table, and of rows with an address operand.
struct Forms {
  std::vector<std::vector<isa::Example>> all, memory;
};

bool has_address(const isa::Example& e) {
  return std::ranges::any_of(*e.operands, [](const isa::OperandRule& rule) {
    return rule.role == isa::OperandRule::Role::kAddress;
  });
}

const Forms& forms() {
  static const Forms forms = [] {
    Forms f;
    const isa::Form* last = nullptr;
    for (isa::Example& e : isa::pairwise_examples()) {
      if (e.spelling.form != last) f.all.emplace_back();
      last = e.spelling.form;
      f.all.back().push_back(std::move(e));
    }
    for (const auto& row : f.all) {
      if (has_address(row.front())) f.memory.push_back(row);
    }
    return f;
  }();
  return forms;
}

// The examples use registers in groups of eight: operand n uses those from 8 n on.
constexpr std::size_t kGroups = 5;

// What addresses begin with; declared and set by the prologue.
constexpr const char* kGlobalBases[] = {"written", "variable", "unwritten", "freed"};
constexpr const char* kGenericBases[] = {"written",  "shared_generic", "local_generic",
                                         "variable", "remote_generic", "unwritten"};
constexpr const char* kAnyBases[] = {
    "shared", "local",          "constant", "written", "shared_generic", "local_generic",
    "remote", "remote_generic", "barrier",  "freed",   "thread",         "function"};
constexpr std::string_view kStrides[] = {"4", "0",   "8",  "16",   "1",
                                         "3", "128", "-4", "4096", "0x100000000"};
constexpr std::string_view kOffsets[] = {"0",
                                         "8",
                                         "16",
                                         "1",
                                         "-1",
                                         "60",
                                         "64",
                                         "256",
                                         "1020",
                                         "4095",
                                         "4096",
                                         "-16",
                                         "0x100000",
                                         "0x7fffffff",
                                         "0xffffffff",
                                         "-0x200000000",
                                         "0x7fffffffffffffff",
                                         "0xfffffffffffffff8"};
constexpr std::string_view kValues[] = {"0",   "1",          "16",         "32", "0xffffffff",
                                        "2",   "31",         "33",         "4",  "64",
                                        "255", "0x80000000", "0x7fffffff", "48", "0x10001"};

class Writer {
 public:
  explicit Writer(std::span<const std::uint8_t> bytes) : choose_(bytes) {}

  RandomProgram write() {
    RandomProgram p;
    constexpr std::uint32_t kBlocks[] = {33, 32, 64, 1, 7, 100};
    p.block.x = choose_.of(kBlocks);
    if (choose_.one_in(4)) p.block.y = 2;
    p.grid.x = static_cast<std::uint32_t>(1 + choose_.below(3));
    if (choose_.one_in(3)) p.cluster.x = p.grid.x = 2;
    p.cooperative = choose_.one_in(4);
    constexpr std::uint32_t kDynamic[] = {0, 64, 1000};
    p.dynamic_shared = choose_.of(kDynamic);
    constexpr std::uint32_t kChecks[] = {check::kAllChecks,
                                         check::kAllChecks & ~std::uint32_t{check::kInitialisation},
                                         0,
                                         check::kBounds,
                                         check::kRaces,
                                         check::kSynchronisation};
    p.checks = choose_.of(kChecks);
    p.schedule_seed = choose_.below(3);
    prologue(choose_.one_in(3));
    labels_ = 1 + choose_.below(6);
    for (std::size_t i = 0; !choose_.empty() && i < kMaxSteps; ++i) {
      if (i % 4 == 0 && i / 4 < labels_) line("L" + std::to_string(i / 4) + ":");
      step();
      steps_ = i + 1;
    }
    for (std::size_t i = (steps_ + 3) / 4; i < labels_; ++i) line("L" + std::to_string(i) + ":");
    line("$end:\n  ret;\n}");
    if (target_ == kHopper) text_.replace(text_.find(kBlackwell), kBlackwell.size(), kHopper);
    p.ptx = std::move(text_);
    return p;
  }

 private:
  static constexpr std::size_t kMaxSteps = 64;
  static constexpr std::string_view kHopper = "sm_90a", kBlackwell = "sm_100a";

  void line(std::string_view s) { (text_ += s) += '\n'; }

  void prologue(bool recursive) {
    line(".version 9.0\n.target " + std::string(kBlackwell) + "\n.address_size 64");
    line(".extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 arguments);");
    line(".extern .func (.param .b64 result) malloc(.param .b64 bytes);");
    line(".extern .func free(.param .b64 pointer);");
    text_ += ".global .align 16 .b8 variable_of_module[256] = {";
    // A format string, perhaps.
    constexpr std::string_view kText[] = {"%d",  "%s",     "%5.3f ", "%llx", "%n",   "%*d",  "%%",
                                          "%c%", "%9999s", "\\",     "%hhd", "%.*s", "%p\n", "%La"};
    std::string format;
    for (int i = 0; i < 3; ++i) format += choose_.of(kText);
    for (const char c : format) text_ += std::to_string(static_cast<int>(c)) + ", ";
    line("0};");
    line(".const .align 16 .b32 constant_of_module[16] = {1, 2, 3};");
    line(".shared .align 16 .b8 shared_of_module[1024];");
    line(".shared .align 8 .b64 barrier_of_module;");
    line(".extern .shared .align 16 .b8 dynamic_of_module[];");
    line(
        ".func callee(.param .align 16 .b8 in[64])\n{\n  .reg .b64 x; .reg .pred p;\n  "
        "ld.param.b64 x, [in+8];");
    if (recursive) {
      line(
          "  .param .align 16 .b8 out[64];\n  sub.s64 x, x, 1;\n  st.param.b64 [out+8], x;\n  "
          "setp.eq.s64 p, x, 0;\n  @!p call callee, (out);");
    }
    line("  ret;\n}");
    line(
        ".visible .entry main(.param .b64 parameter0, .param .b64 parameter1, .param .b64 "
        "parameter2, .param .align 16 .b8 argument[64])\n{");
    line(
        ".reg .pred p<64>; .reg .b8 c<64>; .reg .b16 h<64>; .reg .b32 r<64>; .reg .b64 d<64>; .reg "
        ".b128 q<64>;");
    line(
        ".reg .b64 written, unwritten, freed, shared, shared_generic, local, local_generic, "
        "constant, variable, remote, remote_generic,");
    line("  barrier, thread, function; .reg .b32 id, rank;");
    line(".local .align 16 .b8 local_of_kernel[128];");
    line("$targets: .branchtargets L0, $end; .param .align 16 .b8 outgoing[64];");
    line("mov.u32 id, %tid.x; cvt.u64.u32 thread, id; mov.u64 function, callee;");
    line(
        "ld.param.u64 written, [parameter0]; ld.param.u64 unwritten, [parameter1]; ld.param.u64 "
        "freed, [parameter2];");
    line(
        "mov.u64 shared, shared_of_module; cvta.shared.u64 shared_generic, shared; mov.u64 "
        "barrier, barrier_of_module;");
    line(
        "mov.u64 local, local_of_kernel; cvta.local.u64 local_generic, local; mov.u64 constant, "
        "constant_of_module;");
    line(
        "mov.u64 variable, variable_of_module; mov.u32 rank, 1; mapa.shared::cluster.u64 remote, "
        "shared, rank;");
    line("mapa.u64 remote_generic, shared_generic, rank;");
    for (std::size_t g = 0; g < kGroups; ++g) {
      const std::string n = std::to_string(8 * g), next = std::to_string(8 * g + 1);
      line("add.u32 r" + n + ", id, " + n + "; mov.u32 r" + next + ", %laneid; cvt.u64.u32 d" + n +
           ", r" + n + "; mov.b64 d" + next + ", written;");
      line("cvt.u16.u32 h" + n + ", r" + n + "; mov.b16 h" + next + ", 7; setp.lt.u32 p" + n +
           ", id, " + std::to_string(7 * g + 3) + ";");
      line("setp.ne.u32 p" + next + ", id, 0; mov.b128 q" + n + ", {d" + n + ", d" + next + "};");
    }
    if (choose_.one_in(2)) line("@!p1 mbarrier.init.shared.b64 [barrier], 33;\nbar.sync 0;");
    if (choose_.one_in(2))
      line("mov.b32 r2, 5; st.shared.v4.b32 [shared_of_module], {r0, r1, r2, r2};");
  }

  void step() {
    switch (choose_.below(8)) {
      case 0:
      case 1:
      case 2:
      case 3: form(forms().memory); break;
      case 4:
      case 5: form(forms().all); break;
      case 6: branch(); break;
      default: call(); break;
    }
  }

  std::string guard() {
    if (!choose_.one_in(4)) return {};
    return std::string(choose_.one_in(2) ? "@!p" : "@p") +
           std::to_string(8 * choose_.below(kGroups)) + " ";
  }

  void branch() {
    const std::string p = "p" + std::to_string(8 * choose_.below(kGroups)),
                      r = "r" + std::to_string(8 * choose_.below(kGroups));
    constexpr std::string_view kTests[] = {"lt.u32", "eq.u32", "gt.s32", "ne.u32"};
    constexpr std::string_view kSides[] = {"id", "r0", "r8", "r16"};
    line("setp." + std::string(choose_.of(kTests)) + " " + p + ", " +
         std::string(choose_.of(kSides)) + ", " + std::string(choose_.of(kValues)) + ";");
    line("add.u32 " + r + ", " + r + ", 1;");
    line((choose_.one_in(8) ? "" : "@" + p + " ") + "bra L" +
         std::to_string(choose_.below(labels_)) + ";");
  }

  // Sets `d` to an address in `space` in most cases.
  void address(const std::string& d, Space space) {
    std::string_view base;
    if (choose_.one_in(8)) {
      base = choose_.of(kAnyBases);
    } else if (space == Space::kGlobal) {
      base = choose_.of(kGlobalBases);
    } else if (space == Space::kShared) {
      base = "shared";
    } else if (space == Space::kSharedCluster) {
      base = choose_.one_in(2) ? "remote" : "shared";
    } else if (space == Space::kLocal) {
      base = "local";
    } else if (space == Space::kConst) {
      base = "constant";
    } else {
      base = choose_.of(kGenericBases);
    }
    const std::string_view stride = choose_.of(kStrides);
    line("mad.lo.s64 " + d + ", thread, " + std::string(stride) + ", " + std::string(base) + ";");
    if (choose_.one_in(4))
      line("add.s64 " + d + ", " + d + ", " + std::string(choose_.of(kOffsets)) + ";");
    if (choose_.one_in(32)) line("mov.b64 " + d + ", " + std::string(choose_.of(kOffsets)) + ";");
  }

  // An instruction of the table. Its registers are shifted by some groups, so that results of one
  // instruction become operands of another.
  void form(const std::vector<std::vector<isa::Example>>& rows) {
    const std::vector<isa::Example>& row = rows[choose_.below(rows.size())];
    const isa::Example& e = row[choose_.below(row.size())];
    // No target has all forms: the first form that only one of the two has determines the target.
    const isa::FormRow& of = *e.spelling.form->row;
    const bool on_hopper = isa::exists_on(of, 90, 'a'), on_blackwell = isa::exists_on(of, 100, 'a');
    if (!on_hopper && !on_blackwell) return;
    if ((target_ == kHopper && !on_hopper) || (target_ == kBlackwell && !on_blackwell)) return;
    if (on_hopper != on_blackwell) target_ = on_hopper ? kHopper : kBlackwell;
    const std::size_t rotation = choose_.below(kGroups);
    const auto moved = [&](std::size_t n) {
      return std::to_string((n / 8 + rotation) % kGroups * 8 + n % 8);
    };
    if (choose_.one_in(4))
      line("mov.b32 r" + std::to_string(8 * choose_.below(kGroups)) + ", " +
           std::string(choose_.of(kValues)) + ";");
    const auto& m = e.spelling.modifiers;
    int addresses = 0;
    for (std::size_t i = 0; i < e.operands->size(); ++i) {
      const isa::OperandRule& rule = (*e.operands)[i];
      if (rule.role != isa::OperandRule::Role::kAddress) continue;
      ++addresses;
      const bool object = rule.name == "[m]" || e.text.starts_with("mbarrier") ||
                          e.text.starts_with("cp.async.mbarrier");
      const std::string d = "d" + moved(8 * i);
      if (object && !choose_.one_in(4)) {
        line("mov.b64 " + d + ", barrier;");
      } else {
        address(d, addresses == 1                   ? m.space
                   : m.source_space != Space::kNone ? m.source_space
                                                    : Space::kGlobal);
      }
    }
    const std::size_t opcode_end =
        e.text.find(' ') == std::string::npos ? e.text.size() : e.text.find(' ');
    std::string s = guard() + e.text.substr(0, opcode_end);
    for (std::size_t i = opcode_end; i < e.text.size();) {
      const char c = e.text[i], before = e.text[i - 1];
      const bool name = std::string_view("phrdq").find(c) != std::string_view::npos &&
                        std::string_view(" {[|!").find(before) != std::string_view::npos;
      std::size_t end = i + 1;
      while (name && end < e.text.size() && e.text[end] >= '0' && e.text[end] <= '9') ++end;
      s += c;
      if (end > i + 1) s += moved(std::stoul(e.text.substr(i + 1, end - i - 1)));
      i = end;
    }
    line(s);
  }

  // Functions of the device's library, and one of its own.
  void call() {
    const std::string a = "d" + std::to_string(8 * choose_.below(kGroups)),
                      b = "d" + std::to_string(8 * choose_.below(kGroups));
    switch (choose_.below(5)) {
      case 0:
        address(a, Space::kNone);
        line("{ .param .b64 format, arguments; .param .b32 result;");
        if (choose_.one_in(2)) line("cvta.global.u64 " + b + ", variable;");
        line("st.param.b64 [format], " + b + "; st.param.b64 [arguments], " + a + ";\n" + guard() +
             "call (result), vprintf, (format, arguments); }");
        break;
      case 1:
        line("mov.b64 " + a + ", " + std::string(choose_.of(kOffsets)) + ";");
        line("{ .param .b64 bytes, result; st.param.b64 [bytes], " + a + ";\n" + guard() +
             "call (result), malloc, (bytes); ld.param.b64 " + b + ", [result]; }");
        break;
      case 2:
        if (choose_.one_in(2)) address(b, Space::kNone);
        line("{ .param .b64 pointer; st.param.b64 [pointer], " + b + ";\n" + guard() +
             "call free, (pointer); }");
        break;
      case 3:
        line("mov.b64 " + a + ", 5; st.param.b64 [outgoing+8], " + a + ";\n" + guard() +
             "call callee, (outgoing);");
        break;
      default:
        line("mov.b64 " + a + ", " + (choose_.one_in(2) ? b : "function") + ";");
        line("prototype" + std::to_string(prototypes_) +
             ": .callprototype _ (.param .align 16 .b8 _[64]);");
        line("st.param.b64 [outgoing+8], " + b + ";\ncall " + a + ", (outgoing), prototype" +
             std::to_string(prototypes_++) + ";");
        break;
    }
  }

  Choices choose_;
  std::string text_;
  std::string_view target_;  // kHopper or kBlackwell as soon as some form is of one alone
  std::size_t labels_ = 1, steps_ = 0, prototypes_ = 0;
};

}  // namespace

RandomProgram random_program(std::span<const std::uint8_t> bytes) { return Writer(bytes).write(); }

}  // namespace lockstep::fuzz
