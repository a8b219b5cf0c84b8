// Helpers for tests of proofs: a small kernel, its launch and the proved claims.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "simulator/compile/testing.h"
#include "simulator/proof/prove.h"

namespace lockstep::proof {
namespace prove_test {

inline constexpr std::uint64_t kBuffer = 0x100000;

// A launch of `k(x, n)` with 4096 bytes at x, 4096 more in another allocation at x + kOther, and
// 512 bytes of shared memory at 1024.
inline constexpr std::uint64_t kOther = 0x10000;
struct Launch {
  std::uint32_t grid = 4, block = 64, block_y = 1;
  std::int32_t n = 256;
  std::uint64_t bytes = 4096;
  std::uint64_t x = kBuffer;
};

inline Certificate proved(const std::string& body, const Launch& launch = {}) {
  const compile::testing::Compiled compiled(
      ".shared .align 16 .b8 s[512];\n.entry k(.param .u64 x, .param .u32 n)\n{\n"
      ".reg .pred p<9>;\n.reg .b32 r<20>;\n.reg .b64 d<20>;\n.reg .b16 h<4>;\n"
      "ld.param.u64 d1, [x];\nld.param.u32 r1, [n];\nmov.u32 r2, %tid.x;\nmov.u32 r3, %ctaid.x;\n"
      "mov.u32 r4, %ntid.x;\nmad.lo.s32 r5, r3, r4, r2;\n" +
      body + "\nret;\n}\n");
  EXPECT_NE(compiled.program, nullptr) << compiled.error;
  EXPECT_EQ(compiled.error, "");
  if (compiled.program == nullptr) return {};
  std::byte parameters[12];
  std::memcpy(parameters, &launch.x, 8);
  std::memcpy(parameters + 8, &launch.n, 4);
  Shape shape;
  shape.grid = {launch.grid, 1, 1};
  shape.block = {launch.block, launch.block_y, 1};
  shape.parameters = parameters;
  Memory memory;
  memory.allocation = [&](std::uint64_t address) -> std::optional<Extent> {
    for (const Extent& e : {Extent{kBuffer, kBuffer + launch.bytes},
                            Extent{kBuffer + kOther, kBuffer + kOther + launch.bytes}}) {
      if (address >= e.begin && address < e.end) return e;
    }
    return std::nullopt;
  };
  for (const program::Range& r : compiled.program->functions[0].shared)
    memory.shared.push_back({r.begin, r.end});
  return prove(*compiled.program, compiled.program->functions[0], shape, memory);
}

// Whether the kernel's only access to global memory is in bounds.
inline bool in_bounds(const std::string& body, const Launch& launch = {}) {
  const Certificate c = proved(body, launch);
  EXPECT_EQ(c.accesses.size(), 1u);
  return !c.accesses.empty() && c.accesses[0].in_bounds;
}

inline const std::string kAddress = "mul.wide.s32 d2, r5, 4;\nadd.s64 d3, d1, d2;\n";
inline const std::string kGuard = "setp.ge.s32 p1, r5, r1;\n@p1 bra END;\n";

inline const std::string kOwn = "shl.b32 r10, r2, 2;\nmov.u32 r11, s;\nadd.s32 r12, r11, r10;\n";

// Whether every access to global memory is apart.
inline bool global_apart(const std::string& body, const Launch& launch = {}) {
  return proved(body, launch).global_apart;
}
// Which loads are initialised, in order. At launch, the bytes of global memory before kBuffer +
// `written` are written.
inline std::vector<bool> initialised(const std::string& body, std::uint64_t written = 4096,
                                     const Launch& launch = {}) {
  Certificate c = proved(body, launch);
  claim_initialised(c, [&](const Extent& e) { return e.end <= kBuffer + written; });
  std::vector<bool> loads;
  for (const Access& a : c.accesses) {
    if (a.reads) loads.push_back(a.initialised);
  }
  return loads;
}
using Loads = std::vector<bool>;

}  // namespace prove_test
}  // namespace lockstep::proof
