#include "simulator/runtime/host/access_width.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

namespace lockstep::runtime {
namespace {

// The bytes are the machine code of the instruction in the comment.
unsigned width(std::initializer_list<std::uint8_t> bytes) {
  std::vector<std::uint8_t> instruction = bytes;
  instruction.resize(16);
  return access_width(instruction.data());
}

TEST(AccessWidth, OfMovesOfRegisters) {
  EXPECT_EQ(width({0x8b, 0x07}), 4u);              // mov eax, [rdi]
  EXPECT_EQ(width({0x48, 0x8b, 0x07}), 8u);        // mov rax, [rdi]
  EXPECT_EQ(width({0x44, 0x8b, 0x07}), 4u);        // mov r8d, [rdi]
  EXPECT_EQ(width({0x66, 0x89, 0x07}), 2u);        // mov [rdi], ax
  EXPECT_EQ(width({0x88, 0x07}), 1u);              // mov [rdi], al
  EXPECT_EQ(width({0xc7, 0x07, 5, 0, 0, 0}), 4u);  // mov dword ptr [rdi], 5
  EXPECT_EQ(width({0x0f, 0xb7, 0x07}), 2u);        // movzx eax, word ptr [rdi]
  EXPECT_EQ(width({0x48, 0x63, 0x07}), 4u);        // movsxd rax, dword ptr [rdi]
}

TEST(AccessWidth, OfArithmetic) {
  EXPECT_EQ(width({0x01, 0x07}), 4u);                    // add [rdi], eax
  EXPECT_EQ(width({0x48, 0x03, 0x07}), 8u);              // add rax, [rdi]
  EXPECT_EQ(width({0xf0, 0x0f, 0xc1, 0x07}), 4u);        // lock xadd [rdi], eax
  EXPECT_EQ(width({0xf0, 0x48, 0x0f, 0xb1, 0x0f}), 8u);  // lock cmpxchg [rdi], rcx
  EXPECT_EQ(width({0x48, 0x87, 0x07}), 8u);              // xchg [rdi], rax
  EXPECT_EQ(width({0x83, 0x3f, 0x00}), 4u);              // cmp dword ptr [rdi], 0
}

TEST(AccessWidth, OfVectors) {
  EXPECT_EQ(width({0xf3, 0x0f, 0x10, 0x07}), 4u);               // movss xmm0, [rdi]
  EXPECT_EQ(width({0xf2, 0x0f, 0x11, 0x07}), 8u);               // movsd [rdi], xmm0
  EXPECT_EQ(width({0x0f, 0x11, 0x07}), 16u);                    // movups [rdi], xmm0
  EXPECT_EQ(width({0x66, 0x0f, 0xd6, 0x07}), 8u);               // movq [rdi], xmm0
  EXPECT_EQ(width({0xc5, 0xfe, 0x6f, 0x07}), 32u);              // vmovdqu ymm0, [rdi]
  EXPECT_EQ(width({0xc5, 0xfa, 0x10, 0x07}), 4u);               // vmovss xmm0, [rdi]
  EXPECT_EQ(width({0x62, 0xf1, 0xfe, 0x48, 0x6f, 0x07}), 64u);  // vmovdqu64 zmm0, [rdi]
  EXPECT_EQ(width({0xf3, 0xa4}), 1u);                           // rep movsb
  EXPECT_EQ(width({0xf3, 0x48, 0xa5}), 8u);                     // rep movsq
}

}  // namespace
}  // namespace lockstep::runtime
