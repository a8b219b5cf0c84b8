// Operations made machine code (simulator/translate), one by one, against their handlers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
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
namespace translate_operations_test {

using program::Meaning;

struct SplitMix64 {
  std::uint64_t state;
  std::uint64_t operator()() { return next_mixed(state); }
};

constexpr translate::WarpLayout kLayout = {
    offsetof(Warp, pc), offsetof(Warp, event), offsetof(Warp, time_slice), {}};

// Values at which operations change what they do, by width.
std::uint64_t special(int bytes, std::uint64_t r) {
  static const std::vector<std::uint64_t> words = {
      0,          1,          2,          31,         32,         33,         63,
      64,         0xff,       0x100,      0x7fff,     0x8000,     0xffff,     0x10000,
      0x7fffffff, 0x80000000, 0xffffffff, 0x3f800000, 0xbf800000, 0x3f7fffff, 0x7f7fffff,
      0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7f812345, 0xff812345,
      0x00800000, 0x80800000, 0x007fffff, 0x807fffff, 0x00000001, 0x80000001, 0x4effffff,
      0x4f000000, 0xcf000000, 0xcf000001, 0x4f800000, 0x3fc00000, 0x40200000, 0x1f800000,
      0x1fffffff, 0x5f000000, 0x20000000, 0x3f000000, 0x4b800001, 0x33800000, 0x3c003c01,
      0xbc003bff, 0x7bff7c00, 0xfc007e00, 0x7c01fe55, 0x04000001, 0x840003ff, 0x3f807f80,
      0xff807f81, 0x7fc0ffc5, 0x00800080, 0x477fe000, 0x477ff000, 0x387fe000, 0x33000000,
      0x33000001, 0x3f808000, 0x3f818000, 0x3f801000, 0x3f803000};
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
      ASSERT_EQ(left.pc(), 1u) << how;
      ASSERT_EQ(left.mask(), active) << how;
      ASSERT_EQ(left.executed(), 1u) << how;
      w.file[0] = interpreted_.get();
      LaneMask m = active;
      if (op.guard != kNoSlot) m &= predicate(w, op.guard) ^ (op.guard_negated ? kAllLanes : 0);
      if (m != 0) op.run(w, op, m);
      if (std::memcmp(translated_.get(), interpreted_.get(), bytes_) == 0) continue;
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
    relate_sources(random);
    const std::uint32_t guards[] = {static_cast<std::uint32_t>(random()), 0, ~0u, 0x00ff00ff};
    std::memcpy(original_.get() + guard_, &guards[random() % 4], 4);
  }

  // In a quarter of the lanes the second source is the first, or the first with the other sign;
  // often both are zeros. Sources that are drawn independently seldom are.
  void relate_sources(SplitMix64& random) {
    const Op& op = program_.ops[0];
    const auto bytes = static_cast<std::size_t>(meaning_.bytes[1]);
    for (const Slot slot : {op.src[0], op.src[1]})
      if (slot == kNoSlot || is_constant(slot)) return;
    if (bytes < 2 || meaning_.bytes[2] != meaning_.bytes[1]) return;
    for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
      const std::uint64_t r = random();
      if (r % 4 != 0) continue;
      std::byte* const first = original_.get() + op.src[0] + lane * bytes;
      std::byte* const second = original_.get() + op.src[1] + lane * bytes;
      if (r >> 8 & 1) std::memset(first, 0, bytes);
      std::memcpy(second, first, bytes);
      if (r >> 9 & 1) second[bytes - 1] ^= std::byte{0x80};
    }
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
  EXPECT_EQ(judge.seen().size(), 317u) << joined(judge.seen());
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

}  // namespace translate_operations_test
}  // namespace lockstep::engine
