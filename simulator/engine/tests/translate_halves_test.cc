// Arithmetic of f16 and bf16 made machine code (simulator/translate), on many values.
#include <gtest/gtest.h>

#include <string>

#include "simulator/engine/tests/translate_launches.h"

namespace lockstep::engine {
namespace translate_halves_test {

using translated::kernel;
using translated::launched;
using translated::Translate;

// `operation` of %r4, %r5 and %r6 into %r7, on random words. `mask` leaves some of their bits, and
// `set` sets some. Results are collected in %r9.
std::string on_random_words(const std::string& operation, const char* mask, const char* set) {
  std::string next;
  for (const char* word : {"%r4", "%r5", "%r6"}) {
    next += std::string("  mad.lo.u32 %r10, %r10, 1664525, 1013904223;\n  shr.u32 ") + word +
            ", %r10, 16;\n  mad.lo.u32 %r10, %r10, 1664525, 1013904223;\n  shr.u32 %r11, %r10, " +
            "16;\n  shl.b32 %r11, %r11, 16;\n  or.b32 " + word + ", " + word +
            ", %r11;\n  and.b32 " + word + ", " + word + ", " + mask + ";\n  or.b32 " + word +
            ", " + word + ", " + set + ";\n";
  }
  return kernel("  mov.u32 %r9, 0;\n  mov.u32 %r8, 0;\n  mad.lo.u32 %r10, %r1, 747796405, 1;\n" +
                std::string("TOP:\n") + next + "  " + operation +
                "\n  mad.lo.u32 %r9, %r9, 31, %r7;\n  add.u32 %r8, %r8, 1;\n"
                "  setp.lt.u32 %p1, %r8, 600;\n  @%p1 bra TOP;\n");
}

// All bits, and magnitudes of about one, whose sums have many digits to round.
struct Words {
  const char *mask, *set;
};
constexpr Words kHalves[] = {{"0xffffffff", "0"}, {"0x8fff8fff", "0x30003000"}},
                kBrains[] = {{"0xffffffff", "0"}, {"0x81ff81ff", "0x3e003e00"}};

void expect_handlers_results(const std::string& operation, const Words& words) {
  const std::string text = on_random_words(operation, words.mask, words.set);
  const auto off = launched(text, Translate::kOff, 128);
  EXPECT_EQ(off.findings, "") << operation;
  EXPECT_EQ(off, launched(text, Translate::kCompare, 128)) << operation;
}

TEST(TranslateHalves, PackedArithmeticIsTheHandlers) {
  for (const char* operation : {"add.", "sub.", "mul.", "min.", "max."}) {
    const auto packed = [&](const char* type) {
      return std::string(operation) + type + " %r7, %r4, %r5;";
    };
    for (const Words& words : kHalves) expect_handlers_results(packed("f16x2"), words);
    for (const Words& words : kBrains) expect_handlers_results(packed("bf16x2"), words);
  }
}

// A sum that f32 rounds to the middle between two halves is to be rounded as if it were exact.
TEST(TranslateHalves, AFusedMultiplicationIsRoundedOnce) {
  for (const Words& words : kHalves) {
    expect_handlers_results("fma.rn.f16x2 %r7, %r4, %r5, %r6;", words);
    expect_handlers_results(
        "{ .reg .b16 %h<4>;\n  mov.b32 {%h0, %h1}, %r4;\n  mov.b32 {%h2, %h3}, %r5;\n"
        "  fma.rn.f16 %h0, %h0, %h2, %h1;\n  fma.rn.f16 %h1, %h1, %h3, %h0;\n"
        "  mov.b32 %r7, {%h1, %h0}; }",
        words);
  }
}

TEST(TranslateHalves, ConversionsAreTheHandlers) {
  for (const char* type : {"f16", "bf16"}) {
    const std::string t = type;
    for (const Words& words : kHalves) {
      expect_handlers_results(
          "{ .reg .f32 %x, %y;\n  mov.b32 %x, %r4;\n  mov.b32 %y, %r5;\n  cvt.rn." + t +
              "x2.f32 %r7, %x, %y; }",
          words);
      expect_handlers_results(
          "{ .reg .b16 %h, %l;\n  .reg .f32 %x;\n  mov.b32 {%l, %h}, %r4;\n  cvt.f32." + t +
              " %x, %h;\n  cvt.rn." + t +
              ".f32 %l, %x;\n  mov.b32 %r7, %x;\n  cvt.u32.u16 %r5, %l;\n"
              "  xor.b32 %r7, %r7, %r5; }",
          words);
    }
  }
}

}  // namespace translate_halves_test
}  // namespace lockstep::engine
