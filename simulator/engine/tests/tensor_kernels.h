// Kernels that use Tensor Memory, for tests: the code around a test's body.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include "simulator/engine/tests/testing.h"

namespace lockstep::engine::testing {

// A kernel k(in, out) of four warps for sm_100a that holds all 512 columns until its end. Registers
// for the body:
// - tid: the thread. p0: true for thread 0. p1: true for warp 0.
// - tm: the Tensor Memory address of the warp's own lanes. all: the address of lane 0.
// - mine: the thread's row of `out`, 2048 bytes apart. in0: the address of `in`.
// - smem: the address of 32 KiB of shared memory. s1: of an mbarrier object for one arrival.
// - free: r0 to r127, x0 to x15, d0 to d15, p2 to p9.
inline std::string tensor_kernel(const std::string& body, const std::string& target = "sm_100a") {
  return ".version 9.0\n.target " + target + R"(
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
.reg .pred p<10>; .reg .b32 r<128>; .reg .b32 x<16>; .reg .b32 tid, tm, all, smem, s<4>;
.reg .b64 d<16>, mine, in0;
.shared .align 1024 .b8 tile[32768];
.shared .align 8 .b64 object;
.shared .align 4 .b32 address;
mov.u32 tid, %tid.x;
setp.eq.u32 p0, tid, 0;
setp.lt.u32 p1, tid, 32;
ld.param.u64 in0, [in];
ld.param.u64 d0, [out];
mad.wide.u32 mine, tid, 2048, d0;
mov.u32 smem, tile;
mov.u32 s1, object;
mov.u32 s2, address;
@!p1 bra $allocated;
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s2], 512;
$allocated:
@p0 mbarrier.init.shared.b64 [s1], 1;
bar.sync 0;
ld.shared.b32 all, [s2];
and.b32 tm, tid, 0x60;
shl.b32 tm, tm, 16;
add.u32 tm, tm, all;
)" + body +
         R"(
tcgen05.fence::before_thread_sync;
bar.sync 0;
tcgen05.fence::after_thread_sync;
@!p1 bra $freed;
tcgen05.dealloc.cta_group::1.sync.aligned.b32 all, 512;
$freed:
ret;
}
)";
}

// Counts the elements of random products that a test compares, by kind. A test compares its
// products of a kind once. With the environment variable LOCKSTEP_TENSOR_ELEMENTS it repeats them
// with new numbers until it has compared that many elements of the kind, and prints the counts at
// the end.
class Elements {
 public:
  explicit Elements(std::string test) : test_(std::move(test)) {
    if (const char* given = std::getenv("LOCKSTEP_TENSOR_ELEMENTS"))
      wanted_ = std::strtoull(given, nullptr, 10);
  }
  ~Elements() {
    for (const auto& [kind, count] : counts_) {
      if (wanted_ != 0) std::printf("%s, %s: %zu elements\n", test_.c_str(), kind.c_str(), count);
    }
  }
  Elements(const Elements&) = delete;
  Elements& operator=(const Elements&) = delete;

  // Whether the test must repeat its products of a kind.
  bool want(const std::string& kind) const {
    const auto it = counts_.find(kind);
    return it == counts_.end() || (it->second < wanted_ && !::testing::Test::HasFailure());
  }
  void add(const std::string& kind, std::size_t count) { counts_[kind] += count; }
  std::size_t sum() const {
    std::size_t all = 0;
    for (const auto& [kind, count] : counts_) all += count;
    return all;
  }

 private:
  std::string test_;
  std::size_t wanted_ = 0;
  std::map<std::string, std::size_t> counts_;
};

// A descriptor of a matrix in shared memory from byte `start` of the tile on.
inline std::string descriptor(const std::string& name, int start, int leading, int stride,
                              int layout = 0) {
  const auto high = static_cast<unsigned>(stride / 16 | 1 << 14 | layout << 29);
  return "add.u32 x4, smem, " + std::to_string(start) +
         ";\nshr.u32 x4, x4, 4;\nand.b32 x4, x4, 0x3fff;\nor.b32 x4, x4, " +
         std::to_string(leading / 16 << 16) + ";\nmov.b64 " + name + ", {x4, " +
         std::to_string(high) + "};\n";
}

// As descriptor(), for rows of 128 bytes that start in one place and continue in another (absolute
// leading dimension, swizzle of 128 bytes). `start`: the offset of the first row's elements.
inline std::string absolute_descriptor(const std::string& name, int start, int next, int stride) {
  constexpr int kAbsolute = 1 << 20;
  const auto high = static_cast<unsigned>(stride / 16 | 1 << 14 | kAbsolute | 2 << 29);
  const auto encoded = [](const std::string& to, int offset) {
    return "add.u32 " + to + ", smem, " + std::to_string(offset) + ";\nshr.u32 " + to + ", " + to +
           ", 4;\nand.b32 " + to + ", " + to + ", 0x3fff;\n";
  };
  return encoded("x4", start) + encoded("x3", next) + "shl.b32 x3, x3, 16;\nor.b32 x4, x4, x3;\n" +
         "mov.b64 " + name + ", {x4, " + std::to_string(high) + "};\n";
}

// Thread 0 commits to the object, and all threads wait for its phase of this parity.
inline std::string commit_and_wait(int parity = 0) {
  static int label = 0;
  const std::string wait = "$wait" + std::to_string(label++);
  return "@p0 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [s1];\n" +
         wait + ":\nmbarrier.try_wait.parity.shared.b64 p9, [s1], " + std::to_string(parity) +
         ";\n@!p9 bra " + wait + ";\ntcgen05.fence::after_thread_sync;\n";
}

}  // namespace lockstep::engine::testing
