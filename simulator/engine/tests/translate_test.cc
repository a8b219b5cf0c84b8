// Machine code made of kernels (simulator/translate) against the interpreter.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "simulator/compile/compile.h"
#include "simulator/engine/run/handlers.h"
#include "simulator/engine/state/warp.h"
#include "simulator/engine/tests/row_kernels.h"
#include "simulator/engine/tests/testing.h"
#include "simulator/isa/form_examples.h"
#include "simulator/isa/names.h"
#include "simulator/ptx/parser.h"
#include "simulator/splitmix64.h"
#include "simulator/translate/translation.h"

namespace lockstep::engine {
namespace translate_test {

using Translate = LaunchConfig::Translate;
using program::Meaning;

struct SplitMix64 {
  std::uint64_t state;
  std::uint64_t operator()() { return next_mixed(state); }
};

constexpr translate::WarpLayout kLayout = {offsetof(Warp, pc), offsetof(Warp, event),
                                           offsetof(Warp, time_slice)};

// Values at which operations change what they do, by width.
std::uint64_t special(int bytes, std::uint64_t r) {
  static const std::vector<std::uint64_t> words = {
      0,          1,          2,          31,         32,         33,         63,
      64,         0xff,       0x100,      0x7fff,     0x8000,     0xffff,     0x10000,
      0x7fffffff, 0x80000000, 0xffffffff, 0x3f800000, 0xbf800000, 0x3f7fffff, 0x7f7fffff,
      0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7f812345, 0xff812345,
      0x00800000, 0x80800000, 0x007fffff, 0x807fffff, 0x00000001, 0x80000001, 0x4effffff,
      0x4f000000, 0xcf000000, 0xcf000001, 0x4f800000, 0x3fc00000, 0x40200000, 0x1f800000,
      0x1fffffff, 0x5f000000, 0x20000000, 0x3f000000, 0x4b800001, 0x33800000};
  static const std::vector<std::uint64_t> wides = {0,
                                                   1,
                                                   31,
                                                   63,
                                                   64,
                                                   0xffffffff,
                                                   0x100000000,
                                                   0x7fffffffffffffff,
                                                   0x8000000000000000,
                                                   0xffffffffffffffff,
                                                   0x3ff0000000000000,
                                                   0xbff0000000000000,
                                                   0x7fefffffffffffff,
                                                   0x7ff0000000000000,
                                                   0xfff0000000000000,
                                                   0x7ff8000000000123,
                                                   0xfff8000000000456,
                                                   0x7ff0000000000789,
                                                   0xfff0000000000abc,
                                                   0x0010000000000000,
                                                   0x000fffffffffffff,
                                                   0x8000000000000001,
                                                   0x36a0000000000000,
                                                   0x3810000000000000,
                                                   0x47efffffe0000000,
                                                   0x47effffff0000000,
                                                   0x41dfffffffc00000,
                                                   0x3ff0000010000000,
                                                   0x7ff0000020000001};
  const auto& all = bytes == 8 ? wides : words;
  return all[r % all.size()];
}

// One operation of a compiled program, by itself in a program of its own, run as machine code and
// by its handler on the same registers.
class Alone {
 public:
  Alone(const Program& from, std::uint32_t pc) : op_(from.ops[pc]), meaning_(from.meanings[pc]) {
    const Function& function = from.function_at(pc);
    guard_ = (function.file_bytes + 63) & ~63u;
    bytes_ = guard_ + 64;
    constant_bytes_ = std::max<std::size_t>(from.constant_bytes, 64) + 2048;
    program_.constants = allocate_aligned(constant_bytes_);
    std::memset(program_.constants.get(), 0, constant_bytes_);
    std::memcpy(program_.constants.get(), from.constants.get(), from.constant_bytes);
    random_constants_ = static_cast<Slot>((from.constant_bytes + 63) & ~std::size_t{63});
    program_.functions.resize(1);
    program_.functions[0].end = 2;
    program_.functions[0].file_bytes = bytes_;
    translated_ = allocate_aligned(bytes_);
    interpreted_ = allocate_aligned(bytes_);
    original_ = allocate_aligned(bytes_);
  }

  // Every source that has this width also as the destination; from the constants; under a guard.
  void judge(SplitMix64& random, int rounds) {
    const Op plain = op_;
    run(plain, random, rounds, "");
    if (::testing::Test::HasFailure()) return;
    Op guarded = plain;
    guarded.guard = guard_;
    run(guarded, random, rounds, " under a guard");
    guarded.guard_negated = true;
    run(guarded, random, rounds, " under a negated guard");
    for (int s = 0; s < 4 && !meaning_.packs; ++s) {
      if (plain.src[s] == kNoSlot || is_constant(plain.src[s])) continue;
      const int bytes = s < 3 ? meaning_.bytes[s + 1] : 4;
      if (bytes == meaning_.bytes[0]) {
        Op alias = plain;
        alias.dst = plain.src[s];
        run(alias, random, rounds, " into its source");
        alias.guard = guard_;
        run(alias, random, rounds, " into its source under a guard");
      }
      for (int i = 0; bytes != 0 && i < 3; ++i) {
        Op constant = plain;
        constant.src[s] = random_constants_ | 1;
        set_constant(bytes, special(bytes, random()));
        run(constant, random, rounds / 3 + 1, " of a constant");
      }
    }
  }

 private:
  void run(const Op& op, SplitMix64& random, int rounds, const std::string& how) {
    program_.ops = {op, Op{}};
    program_.ops[1].kind = OpKind::kControl;
    program_.meanings = {meaning_, Meaning{}};
    if (!translate::is_translated(program_, 0)) return;  // an operand was a constant
    translate::Translation code(program_, kLayout, {}, {});
    code.add(program_.functions[0]);
    for (const auto lanes : {translate::Lanes::kAll, translate::Lanes::kSome})
      ASSERT_NE(code.at(0, lanes), nullptr) << how;
    for (int round = 0; round < rounds; ++round) {
      fill(random);
      std::memcpy(translated_.get(), original_.get(), bytes_);
      std::memcpy(interpreted_.get(), original_.get(), bytes_);
      Warp w{};
      w.file[0] = translated_.get();
      w.file[1] = program_.constants.get();
      const LaneMask active = round % 3 == 2 ? static_cast<LaneMask>(random()) | 1 : kAllLanes;
      const auto lanes = active == kAllLanes ? translate::Lanes::kAll : translate::Lanes::kSome;
      const translate::Left left =
          code.enter(lanes)(w, w.file[0], w.file[1], code.at(0, lanes), active, ~0u);
      ASSERT_EQ(left.pc, 1u) << how;
      ASSERT_EQ(left.executed(), 1u) << how;
      w.file[0] = interpreted_.get();
      LaneMask m = active;
      if (op.guard != kNoSlot) m &= predicate(w, op.guard) ^ (op.guard_negated ? kAllLanes : 0);
      if (m != 0) op.run(w, op, m);
      for (std::size_t i = 0; i < bytes_; i += 4) {
        std::uint32_t is, expected;
        std::memcpy(&is, translated_.get() + i, 4);
        std::memcpy(&expected, interpreted_.get() + i, 4);
        ASSERT_EQ(is, expected) << how << ", byte " << i << " of the register file, destination "
                                << op.dst << std::hex << "\n"
                                << sources(op, i);
      }
    }
  }

  std::string sources(const Op& op, std::size_t place) const {
    const int bytes = std::max<int>(meaning_.bytes[0], 1);
    const std::size_t lane = (place - op.dst) / static_cast<std::size_t>(bytes);
    std::string text = "lane " + std::to_string(lane);
    for (int s = 0; s < 4; ++s) {
      if (op.src[s] == kNoSlot || is_constant(op.src[s]) || lane >= 32) continue;
      const int n = s < 3 ? meaning_.bytes[s + 1] : 4;
      std::uint64_t value = 0;
      if (n != 0)
        std::memcpy(&value, original_.get() + op.src[s] + lane * static_cast<std::size_t>(n),
                    static_cast<std::size_t>(n));
      char digits[32];
      std::snprintf(digits, sizeof digits, " %llx", static_cast<unsigned long long>(value));
      text += digits;
    }
    return text;
  }

  // Registers of both widths lie anywhere, so each stretch of a register's size is filled as words
  // or as 64-bit words.
  void fill(SplitMix64& random) {
    const auto fill = [&](std::byte* at, std::size_t bytes, bool wide) {
      for (std::size_t i = 0; i < bytes; i += 8) {
        std::uint64_t r = random(), value = random();
        if (wide) {
          if (r % 4 != 0) value = special(8, r >> 8);
          if (r % 16 == 1) value ^= std::uint64_t{1} << (r >> 58);
        } else {
          if (r % 4 != 0) value = special(4, r >> 8) | value << 32;
          if ((r >> 4) % 4 != 0) value = (value & 0xffffffff) | special(4, r >> 32) << 32;
        }
        std::memcpy(at + i, &value, 8);
      }
    };
    for (std::size_t at = 0; at < bytes_; at += 64) fill(original_.get() + at, 64, false);
    const auto of_register = [&](Slot slot, int bytes) {
      if (slot != kNoSlot && !is_constant(slot) && bytes == 8)
        fill(original_.get() + slot, 256, true);
    };
    const Op& op = program_.ops[0];
    for (int s = 0; s < 4; ++s) of_register(op.src[s], s < 3 ? meaning_.bytes[s + 1] : 4);
    const std::uint32_t guards[] = {static_cast<std::uint32_t>(random()), 0, ~0u, 0x00ff00ff};
    std::memcpy(original_.get() + guard_, &guards[random() % 4], 4);
  }

  // The same in all lanes, as constants are.
  void set_constant(int bytes, std::uint64_t value) {
    for (int lane = 0; lane < kWarpSize; ++lane)
      std::memcpy(program_.constants.get() + random_constants_ + lane * bytes, &value,
                  static_cast<std::size_t>(bytes));
  }

  Op op_;
  Meaning meaning_;
  Program program_;
  Slot guard_ = 0, random_constants_ = 0;
  std::uint32_t bytes_ = 0;
  std::size_t constant_bytes_ = 0;
  AlignedBytes translated_, interpreted_, original_;
};

// Compiles the text and judges its operations that are translated, each kind once; returns what
// they are called.
class Judge {
 public:
  void text(const std::string& text, int rounds) {
    auto parsed = ptx::parse(text);
    ASSERT_TRUE(std::holds_alternative<ptx::Module>(parsed))
        << std::get<ptx::ParseError>(parsed).to_string();
    std::vector<ptx::Module> modules;
    modules.push_back(std::move(std::get<ptx::Module>(parsed)));
    auto compiled = compile::compile(modules, memory_, 0, ManagedVariables(),
                                     RegisterPlaces::kSeparate, handlers());
    ASSERT_TRUE(std::holds_alternative<std::unique_ptr<Program>>(compiled));
    const Program& program = *std::get<std::unique_ptr<Program>>(compiled);
    for (std::uint32_t pc = 0; pc < program.ops.size(); ++pc) {
      if (!translate::is_translated(program, pc)) continue;
      const std::string& name = program.origin(pc).text;
      if (!seen_.insert(name + (all_ ? std::to_string(pc) + text : "")).second) continue;
      SCOPED_TRACE(name + ", line " + std::to_string(program.origin(pc).ptx_line));
      Alone(program, pc).judge(random_, rounds);
      if (::testing::Test::HasFailure()) return;
    }
  }
  // Judges every operation from now on, be its name known or not.
  void all() { all_ = true; }
  const std::set<std::string>& seen() const { return seen_; }

 private:
  memory::DeviceMemory memory_;
  SplitMix64 random_{20261127};
  std::set<std::string> seen_;
  bool all_ = false;
};

std::string joined(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word + "\n";
  return text;
}

TEST(Translate, EveryOperationGivesWhatItsHandlerGives) {
  Judge judge;
  const std::vector<isa::Example> examples = isa::pairwise_examples();
  for (std::size_t i = 0, end = 0; i < examples.size() && !HasFailure(); i = end) {
    const isa::FormRow* const row = examples[i].spelling.form->row;
    for (end = i; end < examples.size() && examples[end].spelling.form->row == row;) ++end;
    static const std::set<std::string> kTranslated = {
        "abs", "add",  "and",  "bfe", "cvt", "div", "fma",  "lop3", "mad",
        "max", "min",  "mov",  "mul", "neg", "not", "or",   "prmt", "rcp",
        "rem", "selp", "setp", "shf", "shl", "shr", "sqrt", "sub",  "xor"};
    if (!kTranslated.contains(std::string(isa::opcode_name(row->opcode)))) continue;
    judge.text(row_module({&examples[i], end - i}), 25);
  }
  // Fewer, and something has left the table.
  EXPECT_EQ(judge.seen().size(), 153u) << joined(judge.seen());
}

// The pairs above hold a comparison with a type here and there; this is each with each.
TEST(Translate, EveryComparisonOfEveryType) {
  std::string body;
  const auto add = [&](const std::string& compare, const std::string& type) {
    const std::string bank = type == "f32"          ? "%f"
                             : type == "f64"        ? "%fd"
                             : type.ends_with("16") ? "%h"
                             : type.ends_with("64") ? "%rd"
                                                    : "%r";
    body += "  setp." + compare + "." + type + " %p1, " + bank + "1, " + bank + "2;\n";
  };
  for (const char* bits : {"16", "32", "64"}) {
    for (const char* compare : {"eq", "ne", "lt", "le", "gt", "ge"}) {
      add(compare, std::string("s") + bits);
      add(compare, std::string("u") + bits);
      add(compare, std::string("f") + (bits[0] == '1' ? "32" : bits));
    }
    for (const char* compare : {"lo", "ls", "hi", "hs"}) add(compare, std::string("u") + bits);
  }
  for (const char* compare : {"equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"}) {
    add(compare, "f32");
    add(compare, "f64");
  }
  Judge judge;
  judge.text(testing::module_text(".visible .entry k()\n{\n  .reg .pred %p<9>;\n"
                                  "  .reg .b16 %h<9>;\n  .reg .b32 %r<9>;\n  .reg .b64 %rd<9>;\n"
                                  "  .reg .f32 %f<9>;\n  .reg .f64 %fd<9>;\n" +
                                  body + "  ret;\n}\n"),
             25);
  EXPECT_EQ(judge.seen().size(), 3u * 6 * 2 + 2 * 6 + 3 * 4 + 2 * 8) << joined(judge.seen());
}

// What is chosen when the code is made: tables, amounts, selectors, places of fields.
TEST(Translate, EveryConstantThatChoosesTheCode) {
  const auto kernel = [](const std::string& body) {
    return testing::module_text(
        ".visible .entry k()\n{\n  .reg .b32 %r<9>;\n  .reg .b64 %rd<9>;\n" + body + "  ret;\n}\n");
  };
  std::string tables, others;
  for (int table = 0; table < 256; ++table)
    tables += "  lop3.b32 %r4, %r1, %r2, %r3, " + std::to_string(table) + ";\n";
  for (const char* n : {"0", "1", "31", "32", "33", "63", "64", "255", "-1"}) {
    for (const char* shift :
         {"shr.s64 %rd2, %rd1, ", "shr.u64 %rd2, %rd1, ", "shl.b64 %rd2, %rd1, ",
          "shr.s32 %r4, %r1, ", "shr.u32 %r4, %r1, ", "shl.b32 %r4, %r1, ",
          "shf.l.wrap.b32 %r4, %r1, %r2, ", "shf.r.wrap.b32 %r4, %r1, %r2, "})
      others += std::string("  ") + shift + n + ";\n";
  }
  for (int selector = 0; selector < 4096; selector += 37) {
    const int digits = (selector & 7) | (selector >> 3 & 7) << 4 | (selector >> 6 & 7) << 8 |
                       (selector >> 9 & 7) << 12;
    others += "  prmt.b32 %r4, %r1, %r2, " + std::to_string(digits) + ";\n";
  }
  for (int position = 0; position < 32; position += 5) {
    for (const int length : {1, 2, 8, 31 - position, 32 - position, 33}) {
      for (const char* type : {"u32", "s32"}) {
        others += std::string("  bfe.") + type + " %r4, %r1, " + std::to_string(position) + ", " +
                  std::to_string(length) + ";\n";
      }
    }
  }
  Judge judge;
  judge.all();
  judge.text(kernel(tables), 2);
  judge.text(kernel(others), 2);
  EXPECT_GE(judge.seen().size(), 256u + 9 * 8 + 110);
}

// A launch in each way. `seed`: LaunchConfig::schedule_seed.
struct Launched {
  std::vector<std::uint32_t> out;
  std::uint64_t warp_instructions = 0, thread_instructions = 0;
  std::string findings;
  bool operator==(const Launched&) const = default;
};
Launched launched(const std::string& text, Translate translate, std::uint32_t threads,
                  std::uint64_t seed = 0, std::uint32_t checks = check::kAllChecks,
                  std::uint64_t limit = 1'000'000) {
  testing::Machine gpu;
  gpu.config.translate = translate;
  gpu.config.schedule_seed = seed;
  gpu.config.checks = checks;
  gpu.config.instruction_limit = limit;
  gpu.load(text);
  const memory::Address out = gpu.buffer(std::vector<std::uint32_t>(4 * threads));
  const Outcome o = gpu.launch("k", 4, threads, out);
  return {gpu.fetch<std::uint32_t>(out, 4 * threads), o.counters.warp_instructions,
          o.counters.thread_instructions, testing::text(o)};
}

// Thread t of the grid has %r1 = t and %rd2 = the address of out[t]; %r9 is stored there.
std::string kernel(const std::string& body) {
  return R"(
.visible .entry k(.param .u64 out)
{
  .shared .align 4 .b8 s[512];
  .reg .pred %p<9>;
  .reg .b32 %r<20>;
  .reg .f32 %f<9>;
  .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mad.lo.s32 %r1, %r2, %r3, %r1;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd2, %rd1, %rd2;
)" + body +
         R"(
  st.global.u32 [%rd2], %r9;
  ret;
}
)";
}

// Every lane makes as many turns as the others; guards within.
const char* const kLoop = R"(
  mov.u32 %r4, 0;
  mov.u32 %r9, 1;
TOP:
  mad.lo.u32 %r9, %r9, 1664525, %r1;
  setp.lt.s32 %p1, %r9, 0;
  and.b32 %r5, %r9, 1;
  setp.eq.and.u32 %p2, %r5, 1, %p1;
  @%p1 xor.b32 %r9, %r9, 305419896;
  @!%p2 add.u32 %r9, %r9, 7;
  selp.b32 %r6, %r9, %r4, %p2;
  shf.l.wrap.b32 %r9, %r6, %r9, 5;
  add.u32 %r4, %r4, 1;
  setp.ge.u32 %p3, %r4, 1500;
  @!%p3 bra TOP;
)";
// Lanes part by their number, meet again, and make different numbers of turns.
const char* const kDivergence = R"(
  mov.u32 %r4, 0;
  mov.u32 %r9, %r1;
TOP:
  and.b32 %r5, %r9, 3;
  setp.eq.u32 %p1, %r5, 0;
  @%p1 bra EVEN;
  @%p1 popc.b32 %r9, %r9;
  mad.lo.u32 %r9, %r9, 5, 1;
  bra NEXT;
EVEN:
  shr.u32 %r9, %r9, 2;
  add.u32 %r9, %r9, 11;
NEXT:
  add.u32 %r4, %r4, 1;
  and.b32 %r6, %r1, 15;
  add.u32 %r6, %r6, 40;
  setp.lt.u32 %p2, %r4, %r6;
  @%p2 bra TOP;
)";
// Through shared memory, with a race where there is no barrier.
std::string exchange(const char* barrier) {
  return std::string(R"(
  mov.u32 %r4, s;
  mov.u32 %r5, %tid.x;
  shl.b32 %r6, %r5, 2;
  add.u32 %r7, %r4, %r6;
  mul.lo.u32 %r8, %r1, 3;
  st.shared.u32 [%r7], %r8;
  )") + barrier +
         R"(
  xor.b32 %r6, %r6, 124;
  add.u32 %r7, %r4, %r6;
  ld.shared.u32 %r9, [%r7];
)";
}

// The first warp waits for the second at a flag: its loads give others their turn.
const char* const kFlag = R"(
  mov.u32 %r4, s;
  mov.u32 %r5, %tid.x;
  mov.u32 %r6, 0;
  setp.eq.u32 %p1, %r5, 0;
  @%p1 st.volatile.shared.u32 [%r4], %r6;
  bar.sync 0;
  setp.lt.u32 %p2, %r5, 32;
  @%p2 bra TOP;
  mov.u32 %r6, 1;
  st.volatile.shared.u32 [%r4], %r6;
  mov.u32 %r9, 7;
  bra DONE;
TOP:
  ld.volatile.shared.u32 %r9, [%r4];
  setp.eq.u32 %p3, %r9, 0;
  @%p3 bra TOP;
DONE:
)";

void expect_the_same(const std::string& text, std::uint32_t threads, std::uint64_t limit) {
  for (const std::uint64_t seed : {0, 1, 2}) {
    // Without the search for races the code loads from shared memory by itself.
    for (const std::uint32_t checks :
         {std::uint32_t{check::kAllChecks}, std::uint32_t{check::kBounds | check::kInitialisation},
          0u}) {
      const Launched off = launched(text, Translate::kOff, threads, seed, checks, limit);
      for (const Translate way : {Translate::kOn, Translate::kCompare}) {
        const Launched other = launched(text, way, threads, seed, checks, limit);
        EXPECT_EQ(off.out, other.out);
        EXPECT_EQ(off.warp_instructions, other.warp_instructions) << seed << " " << checks;
        EXPECT_EQ(off.thread_instructions, other.thread_instructions);
        EXPECT_EQ(off.findings, other.findings);
      }
    }
  }
}

TEST(Translate, ResultsCountersAndFindingsAreTheInterpreters) {
  for (const std::uint32_t threads : {32u, 40u, 128u}) {
    for (const std::string& body : {std::string(kLoop), std::string(kDivergence),
                                    std::string(kFlag), exchange("bar.sync 0;"), exchange("")})
      expect_the_same(kernel(body), threads, 1'000'000);
  }
}

// Words of shared memory that all lanes store, in a loop of loads by address registers that the
// lanes have from `address` (in %r7); `more`: before the loads.
std::string shared_loads(const std::string& address, const std::string& loads) {
  return R"(
  .shared .align 16 .b8 other[64];
  mov.u32 %r4, s;
  mov.u32 %r5, %tid.x;
  shl.b32 %r6, %r5, 2;
  add.u32 %r7, %r4, %r6;
  mul.lo.u32 %r8, %r1, 3;
  setp.ge.u32 %p1, %r5, 128;
  @%p1 bra STORED;
  st.shared.u32 [%r7], %r8;
STORED:
  bar.sync 0;
)" + address +
         loads + "  xor.b32 %r9, %r9, %r10;\n  add.u32 %r9, %r9, %r11;\n";
}
const char* const kThreeLoads = R"(
  ld.shared.u32 %r9, [%r7];
  shl.b32 %r10, %r9, 3;
  ld.shared.u32 %r11, [%r7+4];
  ld.shared.u32 %r12, [%r7+-4];
  add.u32 %r10, %r10, %r12;
)";

TEST(Translate, LoadsOfSharedMemoryFindWhatTheInterpreterFinds) {
  const std::pair<const char*, std::string> addresses[] = {
      {"a row", "  and.b32 %r6, %r6, 255;\n  add.u32 %r7, %r4, %r6;\n  add.u32 %r7, %r7, 4;\n"},
      {"a row backwards",
       "  and.b32 %r6, %r5, 31;\n  shl.b32 %r6, %r6, 2;\n  sub.u32 %r7, %r4, %r6;\n"
       "  add.u32 %r7, %r7, 200;\n"},
      {"one word", "  add.u32 %r7, %r4, 8;\n"},
      {"half rows", "  and.b32 %r6, %r6, 60;\n  add.u32 %r7, %r4, %r6;\n  add.u32 %r7, %r7, 8;\n"},
      {"every second word",
       "  shl.b32 %r6, %r5, 3;\n  and.b32 %r6, %r6, 248;\n  add.u32 %r7, %r4, %r6;\n"
       "  add.u32 %r7, %r7, 4;\n"},
      {"scattered",
       "  mul.lo.u32 %r6, %r5, 28;\n  and.b32 %r6, %r6, 252;\n  add.u32 %r7, %r4, %r6;\n"
       "  add.u32 %r7, %r7, 4;\n"},
      {"up to the end",
       "  and.b32 %r6, %r6, 127;\n  add.u32 %r7, %r4, %r6;\n  add.u32 %r7, %r7, 380;\n"},
      {"over the end",
       "  and.b32 %r6, %r6, 127;\n  add.u32 %r7, %r4, %r6;\n  add.u32 %r7, %r7, 384;\n"},
      {"before the beginning", "  and.b32 %r6, %r6, 127;\n  add.u32 %r7, %r4, %r6;\n"},
      {"between two words", "  add.u32 %r7, %r4, 10;\n"},
      {"one lane between two words",
       "  setp.eq.u32 %p2, %r5, 21;\n  selp.u32 %r6, 2, 0, %p2;\n  add.u32 %r7, %r4, 8;\n"
       "  add.u32 %r7, %r7, %r6;\n"},
      {"another variable", "  mov.u32 %r7, other;\n  add.u32 %r7, %r7, 4;\n"},
  };
  std::size_t with_findings = 0;
  for (const auto& [name, address] : addresses) {
    SCOPED_TRACE(name);
    for (const std::uint32_t threads : {32u, 40u, 128u})
      expect_the_same(kernel(shared_loads(address, kThreeLoads)), threads, 1'000'000);
    with_findings += !launched(kernel(shared_loads(address, kThreeLoads)), Translate::kOn, 32, 0,
                               check::kBounds | check::kInitialisation)
                          .findings.empty();
  }
  EXPECT_EQ(with_findings, 10u);
}

TEST(Translate, LoadsOfSharedMemoryAreCounted) {
  const std::string text = kernel(shared_loads(
      "  and.b32 %r6, %r6, 60;\n  add.u32 %r7, %r4, %r6;\n  add.u32 %r7, %r7, 8;\n", kThreeLoads));
  std::vector<std::uint64_t> counts[2];
  for (const bool on : {false, true}) {
    testing::Machine gpu;
    gpu.config.translate = on ? Translate::kOn : Translate::kOff;
    gpu.config.checks = 0;
    gpu.config.count = true;
    gpu.load(text);
    const memory::Address out = gpu.buffer(std::vector<std::uint32_t>(256));
    const Counters c = gpu.launch("k", 1, 64, out).counters;
    counts[on ? 1 : 0] = {c.shared_load_requests, c.shared_load_bank_conflicts,
                          c.shared_store_requests};
  }
  EXPECT_GT(counts[0][0], 0u);
  EXPECT_EQ(counts[0], counts[1]);
}

// The register of an address is computed in the run, by a load of it: a list in shared memory.
TEST(Translate, AnAddressOfARunIsTheOneThatTheRunHasComputed) {
  const std::string chain = R"(
  mov.u32 %r9, s;
  and.b32 %r6, %r1, 31;
  shl.b32 %r6, %r6, 2;
  add.u32 %r7, %r9, %r6;
  add.u32 %r8, %r6, 36;
  and.b32 %r8, %r8, 124;
  add.u32 %r8, %r8, %r9;
  st.shared.u32 [%r7], %r8;
  bar.sync 0;
  ld.shared.u32 %r7, [%r7];
  ld.shared.u32 %r8, [%r7];
  add.u32 %r10, %r8, 0;
  ld.shared.u32 %r9, [%r10];
)";
  for (const std::uint32_t threads : {32u, 24u}) expect_the_same(kernel(chain), threads, 100'000);
}

// Numbers of threads and blocks, sizes, parameters, and variables at constant addresses.
TEST(Translate, ValuesThatAllLanesShareAndNumbersOfThreads) {
  std::string body = "  mov.u32 %r9, 0;\n";
  for (const char* name :
       {"%tid.x", "%tid.y", "%tid.z", "%laneid", "%ntid.x", "%ntid.y", "%ntid.z", "%ctaid.x",
        "%ctaid.y", "%ctaid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z", "%warpid"})
    body += std::string("  mov.u32 %r4, ") + name + ";\n  mad.lo.u32 %r9, %r9, 31, %r4;\n";
  body +=
      "  ld.const.u32 %r4, [c+4];\n  add.u32 %r9, %r9, %r4;\n"
      "  ld.const.u64 %rd3, [c+8];\n  cvt.u32.u64 %r4, %rd3;\n  add.u32 %r9, %r9, %r4;\n";
  const std::string text = ".const .align 8 .b32 c[4] = {3, 5, 7, 11};\n" + kernel(body);
  for (const std::uint32_t threads : {32u, 40u, 128u}) expect_the_same(text, threads, 100'000);
  for (const check::Dim3 block : {check::Dim3{8, 4, 2}, check::Dim3{5, 3, 4},
                                  check::Dim3{16, 16, 1}, check::Dim3{1, 2, 32}}) {
    std::vector<std::uint32_t> results[3];
    for (const Translate way : {Translate::kOff, Translate::kOn, Translate::kCompare}) {
      testing::Machine gpu;
      gpu.config.translate = way;
      gpu.config.block = block;
      gpu.load(text);
      const auto threads = static_cast<std::uint32_t>(block.count());
      const memory::Address out = gpu.buffer(std::vector<std::uint32_t>(4 * threads));
      results[static_cast<int>(way)] = {};
      gpu.launch("k", check::Dim3{2, 2, 1}, block, out);
      results[static_cast<int>(way)] = gpu.fetch<std::uint32_t>(out, 4 * threads);
    }
    EXPECT_EQ(results[0], results[1]);
    EXPECT_EQ(results[0], results[2]);
  }
}

TEST(Translate, ATimeLimitEndsAKernelAtTheSameInstruction) {
  const std::string endless =
      kernel("  mov.u32 %r9, 0;\nTOP:\n  add.u32 %r9, %r9, 1;\n  bra TOP;\n");
  const Launched off = launched(endless, Translate::kOff, 64, 0, check::kAllChecks, 100'000);
  EXPECT_NE(off.findings.find("the limit is 100000"), std::string::npos) << off.findings;
  for (const Translate way : {Translate::kOn, Translate::kCompare})
    EXPECT_EQ(off, launched(endless, way, 64, 0, check::kAllChecks, 100'000));
}

TEST(Translate, ThreadsThatRepeatThemselvesAreADeadlockAllTheSame) {
  const std::string spins = kernel(
      "TOP:\n  ld.volatile.global.u32 %r9, [%rd1];\n  setp.eq.u32 %p1, %r9, 0;\n  @%p1 bra TOP;\n");
  const Launched off = launched(spins, Translate::kOff, 64);
  EXPECT_FALSE(off.findings.empty());
  for (const Translate way : {Translate::kOn, Translate::kCompare})
    EXPECT_EQ(off, launched(spins, way, 64));
}

// Straight lines of random operations on few registers, so that registers give way to others,
// predicates are written again, places are shared, and guards stand anywhere.
std::string random_line(std::uint64_t seed) {
  SplitMix64 random{seed};
  const auto pick = [&](auto... words) {
    const std::string all[] = {words...};
    return all[random() % sizeof...(words)];
  };
  const auto w = [&] { return "%r" + std::to_string(4 + random() % 16); };
  const auto d = [&] { return "%rd" + std::to_string(3 + random() % 6); };
  const auto p = [&] { return "%p" + std::to_string(1 + random() % 8); };
  const auto f = [&] { return "%f" + std::to_string(random() % 9); };
  std::string body;
  for (int i = 4; i < 20; ++i)
    body += "mad.lo.u32 %r" + std::to_string(i) + ", %r1, " + std::to_string(random() >> 33) +
            ", " + std::to_string(random() >> 33) + ";\n";
  for (int i = 0; i < 9; ++i)
    body += "mov.b32 %f" + std::to_string(i) + ", %r" + std::to_string(4 + i) + ";\n";
  for (int i = 3; i < 9; ++i)
    body += "mul.wide.u32 %rd" + std::to_string(i) + ", %r" + std::to_string(4 + i) + ", %r9;\n";
  for (int i = 1; i < 9; ++i)
    body += "setp.lt.u32 %p" + std::to_string(i) + ", %r" + std::to_string(4 + i) + ", %r12;\n";
  for (int i = 0; i < 120; ++i) {
    std::string line;
    switch (random() % 14) {
      case 0:
        line = pick("add.u32 ", "xor.b32 ", "mul.lo.s32 ", "max.s32 ", "shl.b32 ", "and.b32 ") +
               w() + ", " + w() + ", " + w();
        break;
      case 1:
        line =
            pick("add.s64 ", "xor.b64 ", "sub.s64 ", "mul.lo.u64 ") + d() + ", " + d() + ", " + d();
        break;
      case 2:
        line = pick("setp.lt.s32 ", "setp.hi.u32 ", "setp.ne.s32 ") + p() + ", " + w() + ", " + w();
        break;
      case 3: line = pick("setp.lt.s64 ", "setp.hs.u64 ") + p() + ", " + d() + ", " + d(); break;
      case 4:
        line = pick("and.pred ", "or.pred ", "xor.pred ") + p() + ", " + p() + ", " + p();
        break;
      case 5: line = "selp.b32 " + w() + ", " + w() + ", " + w() + ", " + p(); break;
      case 6: line = "selp.b64 " + d() + ", " + d() + ", " + d() + ", " + p(); break;
      case 7: line = "mad.wide.s32 " + d() + ", " + w() + ", " + w() + ", " + d(); break;
      case 8: line = "cvt.u32.u64 " + w() + ", " + d(); break;
      case 9:
        line = pick("add.f32 ", "mul.rn.f32 ", "div.rn.f32 ", "max.f32 ") + f() + ", " + f() +
               ", " + f();
        break;
      case 10:
        line = pick("add.ftz.f32 ", "mul.rn.ftz.f32 ") + f() + ", " + f() + ", " + f();
        break;
      case 11:
        line = pick("setp.geu.f32 ", "setp.lt.ftz.f32 ", "setp.ne.and.f32 ") + p() + ", " + f() +
               ", " + f();
        if (line.find(".and.") != std::string::npos) line += ", !" + p();
        break;
      case 12: line = "mov.b64 {" + w() + ", %r3}, " + d(); break;
      default: line = "popc.b32 " + w() + ", " + w(); break;  // its handler's
    }
    if (random() % 3 == 0) line = (random() % 2 == 0 ? "@" : "@!") + p() + " " + line;
    body += line + ";\n";
  }
  for (int i = 4; i < 20; ++i) body += "mad.lo.u32 %r3, %r3, 31, %r" + std::to_string(i) + ";\n";
  for (int i = 0; i < 9; ++i) {
    body += "mov.b32 %r4, %f" + std::to_string(i) + ";\nmad.lo.u32 %r3, %r3, 31, %r4;\n";
  }
  for (int i = 3; i < 9; ++i)
    body += "cvt.u32.u64 %r4, %rd" + std::to_string(i) + ";\nmad.lo.u32 %r3, %r3, 31, %r4;\n";
  for (int i = 1; i < 9; ++i) {
    body += "selp.u32 %r4, 1, 0, %p" + std::to_string(i) + ";\nmad.lo.u32 %r3, %r3, 31, %r4;\n";
  }
  return body + "mov.u32 %r9, %r3;\n";
}

TEST(Translate, RandomRunsGiveWhatTheInterpreterGives) {
  for (std::uint64_t seed = 1; seed <= 100 && !HasFailure(); ++seed) {
    const std::string text = kernel(random_line(seed));
    const Launched off = launched(text, Translate::kOff, 32);
    EXPECT_EQ(off.findings, "");
    EXPECT_EQ(off, launched(text, Translate::kOn, 32)) << text;
    EXPECT_EQ(off, launched(text, Translate::kCompare, 32)) << text;
  }
}

// Values of both widths that live shortly: places of one width become places of the other.
TEST(Translate, PlacesThatOverlapAreNotMixedUp) {
  std::string body = "  .reg .b32 %t<300>;\n  .reg .b64 %u<300>;\n";
  const auto name = [](const char* kind, int n) { return kind + std::to_string(n); };
  for (int i = 0; i < 8; ++i)
    body += "  mad.lo.u32 " + name("%t", i) + ", %r1, " + std::to_string(77 + i) + ", 5;\n";
  for (int i = 8; i + 4 < 300; i += 4) {
    const std::string a = name("%t", i - 8), b = name("%t", i - 7), c = name("%t", i - 6),
                      d = name("%t", i - 5);
    body += "  mad.wide.u32 " + name("%u", i) + ", " + a + ", " + b + ", 9;\n";
    body += "  mul.wide.s32 " + name("%u", i + 1) + ", " + c + ", " + d + ";\n";
    body +=
        "  xor.b64 " + name("%u", i + 2) + ", " + name("%u", i) + ", " + name("%u", i + 1) + ";\n";
    body += "  mov.b64 {" + name("%t", i) + ", " + name("%t", i + 1) + "}, " + name("%u", i + 2) +
            ";\n";
    body += "  mov.b64 {" + name("%t", i + 2) + ", " + name("%t", i + 3) + "}, " +
            name("%u", i + 1) + ";\n";
  }
  body += "  add.u32 %r9, %t292, %t295;\n";
  for (const Translate way : {Translate::kOn, Translate::kCompare})
    EXPECT_EQ(launched(kernel(body), Translate::kOff, 32), launched(kernel(body), way, 32));
}

// The program says of an addition that it is a subtraction: what a mistake in the translator is.
TEST(TranslateDeathTest, CompareStopsAtTheFirstDifference) {
  const auto planted = [](const std::string& body, isa::Opcode from, isa::Opcode to) {
    testing::Machine gpu;
    gpu.config.translate = Translate::kCompare;
    gpu.load(kernel(body));
    auto& program = const_cast<Program&>(
        static_cast<const LoadedKernel&>(*gpu.module->find_kernel("k")).program());
    for (Meaning& m : program.meanings) {
      if (m.opcode == from && m.bytes[0] == 4) m.opcode = to;
    }
    const memory::Address out = gpu.buffer(std::vector<std::uint32_t>(256));
    gpu.launch("k", 1, 64, out);
  };
  const std::string body = "  mov.u32 %r9, 5;\n  sub.u32 %r9, %r9, %r1;\n";
  planted(body, isa::Opcode::k_sub, isa::Opcode::k_sub);
  EXPECT_DEATH(planted(body, isa::Opcode::k_sub, isa::Opcode::k_add),
               "the translation of kernel k was wrong\n"
               "  at line 20 of the PTX: .*sub.u32.*\n"
               "  by block \\(0,0,0\\) thread \\(1,0,0\\), lane 1 of its warp\n"
               ".* is 0x00000006; the interpreter's is 0x00000004");
}

// Bytes of this process that are executable and of no file.
std::uint64_t generated_bytes() {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  std::uint64_t sum = 0;
  while (std::getline(maps, line)) {
    EXPECT_EQ(line.find(" rwx"), std::string::npos) << line;
    unsigned long long begin = 0, end = 0, inode = 1;
    char rights[5] = "", device[16] = "";
    if (std::sscanf(line.c_str(), "%llx-%llx %4s %*x %15s %llu", &begin, &end, rights, device,
                    &inode) == 5 &&
        rights[2] == 'x' && inode == 0)
      sum += end - begin;
  }
  return sum;
}

TEST(Translate, CodeGoesWithItsModuleAndIsNeverWritableAndExecutable) {
  testing::Machine gpu;
  gpu.config.translate = Translate::kOn;
  const std::string text = kernel("  add.u32 %r9, %r1, 1;\n");
  const memory::Address out = gpu.buffer(std::vector<std::uint32_t>(256));
  const auto once = [&] {
    gpu.load(text);
    gpu.launch("k", 1, 32, out);
  };
  const std::uint64_t before = generated_bytes();
  once();
  const std::uint64_t of_one = generated_bytes() - before;
  EXPECT_GT(of_one, 0u);
  for (int i = 0; i < 10'000; ++i) once();
  EXPECT_EQ(generated_bytes() - before, of_one);
}

}  // namespace translate_test
}  // namespace lockstep::engine
