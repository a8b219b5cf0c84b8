#include "simulator/compile/validity.h"

#include <gtest/gtest.h>

#include "simulator/compile/testing.h"

namespace lockstep::compile {
namespace validity_test {

using program::ValidityTransfer;

// The transfer of the only instruction of a kernel.
ValidityTransfer transfer_of(const std::string& instruction, std::uint8_t* mode = nullptr) {
  const testing::Compiled c(
      ".entry k()\n{\n.reg .pred p<8>; .reg .b16 h<8>; .reg .b32 r<8>; .reg .b64 d<8>;\n" +
      instruction + "\nret;\n}\n");
  EXPECT_NE(c.program, nullptr) << c.error;
  if (mode != nullptr)
    *mode = c.program->ops[0].as<program::ComputeFields>().detail<std::uint8_t>();
  return c.program->transfers[0];
}

TEST(Validity, AMoveIsACopyAndArithmeticIsNot) {
  EXPECT_EQ(transfer_of("mov.u32 r1, r2;"), ValidityTransfer::kCopy);
  EXPECT_EQ(transfer_of("add.u32 r1, r2, r3;"), ValidityTransfer::kCompute);
}

TEST(Validity, ASelectionSaysWhatChooses) {
  std::uint8_t mode = 0;
  EXPECT_EQ(transfer_of("selp.u32 r1, r2, r3, p1;", &mode), ValidityTransfer::kSelect);
  EXPECT_EQ(static_cast<program::Selects>(mode), program::Selects::kPredicate);
  EXPECT_EQ(transfer_of("slct.u32.s32 r1, r2, r3, r4;", &mode), ValidityTransfer::kSelect);
  EXPECT_EQ(static_cast<program::Selects>(mode), program::Selects::kSign);
  transfer_of("slct.ftz.u32.f32 r1, r2, r3, r4;", &mode);
  EXPECT_EQ(static_cast<program::Selects>(mode), program::Selects::kFlushedSign);
}

TEST(Validity, OnlyAConstantCountOrMaskLetsBytesBeFollowed) {
  EXPECT_EQ(transfer_of("shr.u32 r1, r2, 8;"), ValidityTransfer::kShiftRight);
  EXPECT_EQ(transfer_of("shr.s32 r1, r2, 8;"), ValidityTransfer::kShiftRightSigned);
  EXPECT_EQ(transfer_of("shr.u32 r1, r2, r3;"), ValidityTransfer::kCompute);
  EXPECT_EQ(transfer_of("shl.b32 r1, r2, 8;"), ValidityTransfer::kShiftLeft);
  EXPECT_EQ(transfer_of("bfi.b32 r1, r2, r3, 3, 5;"), ValidityTransfer::kInsert);
  EXPECT_EQ(transfer_of("bfi.b32 r1, r2, r3, r4, 5;"), ValidityTransfer::kCompute);
  EXPECT_EQ(transfer_of("prmt.b32 r1, r2, r3, 0x5410;"), ValidityTransfer::kPermute);
  EXPECT_EQ(transfer_of("prmt.b32 r1, r2, r3, r4;"), ValidityTransfer::kCompute);
  EXPECT_EQ(transfer_of("bfe.s32 r1, r2, 8, 8;"), ValidityTransfer::kExtractSigned);
}

TEST(Validity, ABitwiseOperationSaysWhich) {
  std::uint8_t mode = 0;
  EXPECT_EQ(transfer_of("and.b32 r1, r2, 255;", &mode), ValidityTransfer::kBitwise);
  EXPECT_EQ(static_cast<program::Bitwise>(mode), program::Bitwise::kAnd);
  EXPECT_EQ(transfer_of("or.b64 d1, d2, d3;", &mode), ValidityTransfer::kBitwise);
  EXPECT_EQ(static_cast<program::Bitwise>(mode), program::Bitwise::kOr);
  transfer_of("xor.b16 h1, h2, h3;", &mode);
  EXPECT_EQ(static_cast<program::Bitwise>(mode), program::Bitwise::kXor);
  transfer_of("not.b32 r1, r2;", &mode);
  EXPECT_EQ(static_cast<program::Bitwise>(mode), program::Bitwise::kNot);
}

TEST(Validity, OnePredicateMayDecide) {
  std::uint8_t mode = 0;
  EXPECT_EQ(transfer_of("and.pred p1, p2, p3;", &mode), ValidityTransfer::kLogic);
  EXPECT_EQ(static_cast<program::Decides>(mode), program::Decides::kFalse);
  EXPECT_EQ(transfer_of("or.pred p1, p2, p3;", &mode), ValidityTransfer::kLogic);
  EXPECT_EQ(static_cast<program::Decides>(mode), program::Decides::kTrue);
  EXPECT_EQ(transfer_of("xor.pred p1, p2, p3;"), ValidityTransfer::kCompute);
  EXPECT_EQ(transfer_of("setp.lt.and.s32 p1, r1, r2, p3;"), ValidityTransfer::kCompareLogic);
}

TEST(Validity, AConversionSaysWhichBytesCount) {
  EXPECT_EQ(transfer_of("cvt.u64.u32 d1, r1;"), ValidityTransfer::kConvert);
  EXPECT_EQ(transfer_of("cvt.s64.s32 d1, r1;"), ValidityTransfer::kConvertSigned);
  EXPECT_EQ(transfer_of("cvt.rn.f32.s32 r1, r2;"), ValidityTransfer::kConvertFrom);
}

}  // namespace validity_test
}  // namespace lockstep::compile
