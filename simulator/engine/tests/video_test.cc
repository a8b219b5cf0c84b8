// Video instructions compared with the pseudocode of PTX ISA 9.0, 9.7.18 and 9.7.19. The test
// interprets the text of the instruction.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "simulator/coverage/judged.h"
#include "simulator/engine/tests/testing.h"
#include "simulator/isa/category.h"
#include "simulator/isa/form_examples.h"
#include "simulator/splitmix64.h"

namespace lockstep::engine {
namespace video_test {

using Wide = __int128;

constexpr std::uint32_t kThreads = 256;

// The parts of "vadd.u32.s32.u32.sat r0.b1, r8, -r16.h0, r24;".
struct Text {
  std::vector<std::string> words;     // "vadd" "u32" ...
  std::vector<std::string> operands;  // "r0.b1" ...

  explicit Text(std::string text) {
    text.pop_back();
    const std::size_t blank = text.find(' ');
    split(text.substr(0, blank), '.', words);
    split(text.substr(blank + 1), ',', operands);
    for (std::string& o : operands) o.erase(0, o.find_first_not_of(' '));
  }
  bool has(const std::string& word) const {
    return std::find(words.begin(), words.end(), word) != words.end();
  }
  bool is(const char* name) const {
    return words[0].starts_with(name) &&
           words[0].find_first_not_of("24", std::string(name).size()) == std::string::npos;
  }
  bool minus(std::size_t n) const { return n < operands.size() && operands[n][0] == '-'; }
  std::string selector(std::size_t n) const {
    const std::size_t dot = operands[n].find('.');
    return dot == std::string::npos ? "" : operands[n].substr(dot + 1);
  }

 private:
  static void split(const std::string& s, char at, std::vector<std::string>& out) {
    for (std::size_t begin = 0; begin <= s.size();) {
      const std::size_t end = std::min(s.find(at, begin), s.size());
      out.push_back(s.substr(begin, end - begin));
      begin = end + 1;
    }
  }
};

Wide extended(std::uint32_t v, int bits, bool is_signed) {
  const std::uint64_t mask = (1ull << bits) - 1;
  const Wide low = static_cast<Wide>(v & mask);
  return is_signed && (v >> (bits - 1) & 1) != 0 ? low - (Wide{1} << bits) : low;
}
Wide clamped(Wide v, int bits, bool is_signed) {
  const Wide low = is_signed ? -(Wide{1} << (bits - 1)) : 0,
             high = is_signed ? (Wide{1} << (bits - 1)) - 1 : (Wide{1} << bits) - 1;
  return std::clamp(v, low, high);
}
// The width of "b2" or "h1"; an empty part is the whole word.
int bits_of(const std::string& part) { return part.empty() ? 32 : part[0] == 'b' ? 8 : 16; }
int shift_of(const std::string& part) { return part.empty() ? 0 : (part[1] - '0') * bits_of(part); }

bool compared(const Text& t, Wide a, Wide b) {
  return t.has("eq")   ? a == b
         : t.has("ne") ? a != b
         : t.has("lt") ? a < b
         : t.has("le") ? a <= b
         : t.has("gt") ? a > b
                       : a >= b;
}

Wide worked(const Text& t, Wide a, Wide b) {
  if (t.is("vset")) return compared(t, a, b);
  if (t.is("vadd")) return a + b;
  if (t.is("vsub")) return a - b;
  if (t.is("vabsdiff")) return a > b ? a - b : b - a;
  if (t.is("vmin")) return std::min(a, b);
  if (t.is("vmax")) return std::max(a, b);
  if (t.is("vavrg")) return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
  const int n = static_cast<int>(t.has("wrap") ? b & 31 : std::min<Wide>(b, 32));
  return t.is("vshl") ? a << n : a >> n;
}

std::uint32_t multiplied(const Text& t, Wide a, Wide b, std::uint32_t c, bool a_signed,
                         bool b_signed) {
  const bool negates = t.minus(1) != t.minus(2),
             final_signed = a_signed || b_signed || negates || t.minus(3);
  Wide product = a * b, sum = extended(c, 32, final_signed);
  int last = 0;
  if (t.has("po")) {
    last = 1;
  } else if (negates) {
    product = -product;  // ~product + 1
  } else if (t.minus(3)) {
    sum = -sum;
  }
  Wide r = product + sum + last;
  r >>= t.has("shr7") ? 7 : t.has("shr15") ? 15 : 0;
  return static_cast<std::uint32_t>(t.has("sat") ? clamped(r, 32, final_signed) : r);
}

std::uint32_t scalar(const Text& t, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const bool compares = t.is("vset"), shifts = t.is("vshl") || t.is("vshr");
  const bool d_signed = !compares && t.words[1] == "s32",
             a_signed = t.words[compares ? 1 : 2] == "s32";
  const bool b_signed = !shifts && t.words[compares ? 2 : 3] == "s32";
  const std::string to = t.selector(0), from_a = t.selector(1), from_b = t.selector(2);
  const Wide x = extended(a >> shift_of(from_a), bits_of(from_a), a_signed),
             y = extended(b >> shift_of(from_b), bits_of(from_b), b_signed);
  if (t.is("vmad")) return multiplied(t, x, y, c, a_signed, b_signed);
  Wide r = worked(t, x, y);
  if (t.has("sat")) r = clamped(r, bits_of(to), d_signed);
  if (!to.empty()) {
    const auto mask = static_cast<std::uint32_t>(((1ull << bits_of(to)) - 1) << shift_of(to));
    return (c & ~mask) | (static_cast<std::uint32_t>(r) << shift_of(to) & mask);
  }
  const auto word = static_cast<std::uint32_t>(r);
  if (t.has("add")) return word + c;
  if (!t.has("min") && !t.has("max")) return word;
  const bool below = extended(word, 32, d_signed) < extended(c, 32, d_signed);
  return below == t.has("min") ? word : c;
}

std::uint32_t simd(const Text& t, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const int lanes = t.words[0].back() - '0', bits = 32 / lanes;
  const bool compares = t.is("vset");
  const bool d_signed = !compares && t.words[1] == "s32",
             a_signed = t.words[compares ? 1 : 2] == "s32",
             b_signed = t.words[compares ? 2 : 3] == "s32";
  const std::uint64_t both = std::uint64_t{b} << 32 | a;
  const auto lane = [&](const std::string& selector, int i, int first, bool is_signed) {
    const int n = selector.empty()
                      ? first + i
                      : selector[selector.size() - 1 - static_cast<std::size_t>(i)] - '0';
    return extended(static_cast<std::uint32_t>(both >> (n * bits)), bits, is_signed);
  };
  const std::string mask = t.selector(0);
  std::uint32_t d = c;
  for (int i = 0; i < lanes; ++i) {
    if (!mask.empty() && mask.find(static_cast<char>('0' + i)) == std::string::npos) continue;
    Wide r =
        worked(t, lane(t.selector(1), i, 0, a_signed), lane(t.selector(2), i, lanes, b_signed));
    if (t.has("sat")) r = clamped(r, bits, d_signed);
    const auto word = static_cast<std::uint32_t>(r);
    if (t.has("add")) {
      d += word;
    } else {
      const auto field = static_cast<std::uint32_t>(((1ull << bits) - 1) << (i * bits));
      d = (d & ~field) | (word << (i * bits) & field);
    }
  }
  return d;
}

const std::vector<isa::Example>& examples() {
  static const std::vector<isa::Example> of_video = [] {
    std::vector<isa::Example> all = isa::all_examples();
    std::erase_if(all, [](const isa::Example& e) {
      return isa::category_of(e.spelling.form->row->opcode) != isa::Category::kVideo;
    });
    return all;
  }();
  return of_video;
}

std::vector<const isa::FormRow*> rows() {
  std::vector<const isa::FormRow*> all;
  for (const isa::Example& e : examples()) {
    if (all.empty() || all.back() != e.spelling.form->row) all.push_back(e.spelling.form->row);
  }
  return all;
}

// Half of the words cause overflow or equality.
std::uint32_t word(std::uint64_t& state) {
  constexpr std::uint32_t kSpecial[] = {0,          1,          0xffffffff, 0x80000000,
                                        0x7fffffff, 0x80808080, 0x7f7f7f7f, 0x00ff00ff,
                                        0x80007fff, 31,         32,         33};
  const std::uint64_t r = next_mixed(state);
  return r % 2 != 0 ? static_cast<std::uint32_t>(r >> 32)
                    : kSpecial[(r >> 8) % std::size(kSpecial)];
}

JUDGES_ROWS(Video, EveryFormIsAsTheManualSays, rows);
TEST(Video, EveryFormIsAsTheManualSays) {
  const std::vector<isa::Example>& all = examples();
  ASSERT_GT(all.size(), 2000u);
  std::vector<std::uint32_t> in;
  std::uint64_t state = 7;
  for (std::uint32_t i = 0; i < 3 * kThreads; ++i) in.push_back(word(state));
  constexpr std::size_t kPerModule = 100;
  for (std::size_t begin = 0; begin < all.size(); begin += kPerModule) {
    const std::size_t end = std::min(begin + kPerModule, all.size());
    std::string text = ".version 9.0\n.target sm_75\n.address_size 64\n";
    for (std::size_t i = begin; i < end; ++i) {
      text += ".visible .entry k" + std::to_string(i) +
              "(.param .u64 in, .param .u64 out)\n{\n.reg .b32 r<32>; .reg .b64 d<4>;\n" +
              "mov.u32 r1, %tid.x; ld.param.u64 d0, [in]; ld.param.u64 d1, [out]; mad.wide.u32 d0, "
              "r1, 12, d0; mad.wide.u32 d1, r1, 4, d1;\n" +
              "ld.global.u32 r8, [d0]; ld.global.u32 r16, [d0+4]; ld.global.u32 r24, [d0+8];\n" +
              all[i].text + "\nst.global.u32 [d1], r0;\nret;\n}\n";
    }
    testing::Machine gpu;
    gpu.load_text(text);
    const auto input = gpu.buffer(in), output = gpu.unwritten(4 * kThreads);
    for (std::size_t i = begin; i < end; ++i) {
      const Outcome o = gpu.launch("k" + std::to_string(i), 1, kThreads, input, output);
      ASSERT_FALSE(o.failed()) << all[i].text << testing::text(o);
      const auto got = gpu.fetch<std::uint32_t>(output, kThreads);
      const Text t(all[i].text);
      const bool is_scalar = t.words[0].find_first_of("24") == std::string::npos;
      int differing = 0;
      for (std::uint32_t n = 0; n < kThreads; ++n) {
        const std::uint32_t a = in[3 * n], b = in[3 * n + 1], c = in[3 * n + 2];
        const std::uint32_t wanted = is_scalar ? scalar(t, a, b, c) : simd(t, a, b, c);
        if (got[n] != wanted && differing++ == 0) {
          ADD_FAILURE() << all[i].text << std::hex << " of " << a << " " << b << " " << c << ": "
                        << got[n] << ", by the manual " << wanted;
        }
      }
    }
  }
}

TEST(Video, SelectorsAreHeldToTheirForms) {
  testing::Machine gpu;
  const auto refused = [&](const std::string& instruction) {
    return !gpu.refusal(".visible .entry k() { .reg .b32 r<9>; .reg .b64 d<9>; " + instruction +
                        " ret; }")
                .empty();
  };
  for (const char* good :
       {"vadd.u32.u32.u32 r0, r1.b3, r2.h1;", "vadd.u32.u32.u32 r0, 5, 6;",
        "vadd.u32.u32.u32 r0.h0, r1, r2, 7;", "vmad.s32.s32.s32 r0, -r1.b0, r2, r3;",
        "vmad.s32.s32.s32 r0, r1, r2, -r3;", "vadd2.u32.u32.u32 r0.h1, r1.h33, r2.h01, r3;",
        "vset4.u32.u32.lt r0.b310, r1.b7654, r2, r3;"}) {
    EXPECT_FALSE(refused(good)) << good;
  }
  for (const char* bad :
       {"vadd.u32.u32.u32 r0, r1.b4, r2;", "vadd.u32.u32.u32 r0, r1.h2, r2;",
        "vadd.u32.u32.u32 r0, r1.h10, r2;", "vadd.u32.u32.u32.add r0.h0, r1, r2, r3;",
        "vadd.u32.u32.u32 r0, r1, r2, r3;", "vadd2.u32.u32.u32 r0.h01, r1, r2, r3;",
        "vadd2.u32.u32.u32 r0, r1.h4, r2, r3;", "vadd2.u32.u32.u32 r0, r1.b10, r2, r3;",
        "vadd4.u32.u32.u32 r0, r1.b76, r2, r3;", "vadd4.u32.u32.u32 r0, r1, 7, r3;",
        "vadd.u32.u32.u32 r0, -r1, r2;", "add.u32 r0, r1.b0, r2;", "add.u32 r0, -r1, r2;",
        "mov.b64 d0, {r1.b0, r2};", "vadd.u32.u32.u32 r0, r1.x0, r2;"}) {
    EXPECT_TRUE(refused(bad)) << bad;
  }
}

}  // namespace video_test
}  // namespace lockstep::engine
