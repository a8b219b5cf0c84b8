// Speed of whole kernels on the engine: nanoseconds a warp instruction on one host thread, with all checks and with none.
//
// The kernels are what nvcc 13 makes of a five-point stencil over a shared tile (2^20 elements, blocks of 256) and of a tiled matrix
// product (256 x 256, tiles of 16 x 16). Time is processor time of this process, so that a busy machine disturbs it little; the
// least of several runs is shown.
#include <time.h>

#include <algorithm>
#include <cstdio>

#include "simulator/engine/testing.h"

namespace lockstep::engine {
namespace {

constexpr char kKernels[] = R"(.version 9.0
.target sm_90
.address_size 64
.const .align 4 .b8 coef[20] = {0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 64, 64, 0, 0, 128, 64, 0, 0, 160, 64};
.extern .shared .align 16 .b8 s[];
.visible .entry stencil(
 .param .u64 stencil_param_0,
 .param .u64 stencil_param_1,
 .param .u32 stencil_param_2
)
{
 .reg .pred  %p<6>;
 .reg .f32  %f<29>;
 .reg .b32  %r<15>;
 .reg .b64  %rd<11>;
 ld.param.u64  %rd4, [stencil_param_0];
 ld.param.u64  %rd3, [stencil_param_1];
 ld.param.u32  %r6, [stencil_param_2];
 mov.u32  %r1, %ntid.x;
 mov.u32  %r7, %ctaid.x;
 mov.u32  %r2, %tid.x;
 mad.lo.s32  %r3, %r7, %r1, %r2;
 setp.ge.s32  %p1, %r3, %r6;
 cvta.to.global.u64  %rd1, %rd4;
 mul.wide.s32  %rd5, %r3, 4;
 add.s64  %rd2, %rd1, %rd5;
 mov.f32  %f26, 0f00000000;
 @%p1 bra  $L__BB0_2;
 ld.global.nc.f32  %f26, [%rd2];
$L__BB0_2:
 shl.b32  %r8, %r2, 2;
 mov.u32  %r9, s;
 add.s32  %r4, %r9, %r8;
 st.shared.f32  [%r4+8], %f26;
 setp.lt.s32  %p2, %r2, 2;
 @%p2 bra  $L__BB0_3;
 bra.uni  $L__BB0_8;
$L__BB0_3:
 setp.lt.s32  %p3, %r3, 2;
 mov.f32  %f28, 0f00000000;
 mov.f32  %f27, %f28;
 @%p3 bra  $L__BB0_5;
 ld.global.nc.f32  %f27, [%rd2+-8];
$L__BB0_5:
 st.shared.f32  [%r4], %f27;
 add.s32  %r5, %r3, %r1;
 setp.ge.s32  %p4, %r5, %r6;
 @%p4 bra  $L__BB0_7;
 mul.wide.s32  %rd6, %r5, 4;
 add.s64  %rd7, %rd1, %rd6;
 ld.global.nc.f32  %f28, [%rd7];
$L__BB0_7:
 shl.b32  %r13, %r1, 2;
 add.s32  %r14, %r4, %r13;
 st.shared.f32  [%r14+8], %f28;
$L__BB0_8:
 bar.sync  0;
 @%p1 bra  $L__BB0_10;
 ld.shared.f32  %f10, [%r4];
 ld.const.f32  %f11, [coef];
 ld.shared.f32  %f12, [%r4+4];
 ld.const.f32  %f13, [coef+4];
 ld.shared.f32  %f14, [%r4+8];
 ld.const.f32  %f15, [coef+8];
 ld.shared.f32  %f16, [%r4+12];
 ld.const.f32  %f17, [coef+12];
 ld.shared.f32  %f18, [%r4+16];
 ld.const.f32  %f19, [coef+16];
 cvta.to.global.u64  %rd8, %rd3;
 add.s64  %rd10, %rd8, %rd5;
 mov.f32  %f20, 0f00000000;
 fma.rn.f32  %f21, %f11, %f10, %f20;
 fma.rn.f32  %f22, %f13, %f12, %f21;
 fma.rn.f32  %f23, %f15, %f14, %f22;
 fma.rn.f32  %f24, %f17, %f16, %f23;
 fma.rn.f32  %f25, %f19, %f18, %f24;
 st.global.f32  [%rd10], %f25;
$L__BB0_10:
 ret;
}
.visible .entry matmul(
 .param .u64 matmul_param_0,
 .param .u64 matmul_param_1,
 .param .u64 matmul_param_2,
 .param .u32 matmul_param_3
)
{
 .reg .pred  %p<3>;
 .reg .f32  %f<57>;
 .reg .b32  %r<29>;
 .reg .b64  %rd<20>;
 .shared .align 4 .b8 _ZZ6matmulE1a[1024];
 .shared .align 4 .b8 _ZZ6matmulE1b[1024];
 ld.param.u64  %rd8, [matmul_param_0];
 ld.param.u64  %rd9, [matmul_param_1];
 ld.param.u64  %rd10, [matmul_param_2];
 ld.param.u32  %r11, [matmul_param_3];
 mov.u32  %r12, %ctaid.y;
 shl.b32  %r13, %r12, 4;
 mov.u32  %r1, %tid.y;
 add.s32  %r14, %r13, %r1;
 mov.u32  %r15, %ctaid.x;
 shl.b32  %r2, %r15, 4;
 mov.u32  %r3, %tid.x;
 mul.lo.s32  %r4, %r14, %r11;
 setp.lt.s32  %p1, %r11, 1;
 mov.f32  %f56, 0f00000000;
 @%p1 bra  $L__BB1_3;
 shl.b32  %r17, %r1, 6;
 mov.u32  %r18, _ZZ6matmulE1a;
 add.s32  %r7, %r18, %r17;
 shl.b32  %r19, %r3, 2;
 add.s32  %r5, %r7, %r19;
 mov.u32  %r20, _ZZ6matmulE1b;
 add.s32  %r21, %r20, %r17;
 add.s32  %r6, %r21, %r19;
 add.s32  %r8, %r20, %r19;
 mad.lo.s32  %r22, %r1, %r11, %r3;
 add.s32  %r23, %r22, %r2;
 cvta.to.global.u64  %rd11, %rd9;
 mul.wide.s32  %rd12, %r23, 4;
 add.s64  %rd19, %rd11, %rd12;
 shl.b32  %r24, %r11, 4;
 mul.wide.s32  %rd2, %r24, 4;
 add.s32  %r25, %r3, %r4;
 cvta.to.global.u64  %rd13, %rd8;
 mul.wide.s32  %rd14, %r25, 4;
 add.s64  %rd18, %rd13, %rd14;
 mov.f32  %f56, 0f00000000;
 mov.u32  %r28, 0;
$L__BB1_2:
 ld.global.f32  %f6, [%rd18];
 st.shared.f32  [%r5], %f6;
 ld.global.f32  %f7, [%rd19];
 st.shared.f32  [%r6], %f7;
 bar.sync  0;
 ld.shared.f32  %f8, [%r8];
 ld.shared.f32  %f9, [%r7];
 fma.rn.f32  %f10, %f9, %f8, %f56;
 ld.shared.f32  %f11, [%r8+64];
 ld.shared.f32  %f12, [%r7+4];
 fma.rn.f32  %f13, %f12, %f11, %f10;
 ld.shared.f32  %f14, [%r8+128];
 ld.shared.f32  %f15, [%r7+8];
 fma.rn.f32  %f16, %f15, %f14, %f13;
 ld.shared.f32  %f17, [%r8+192];
 ld.shared.f32  %f18, [%r7+12];
 fma.rn.f32  %f19, %f18, %f17, %f16;
 ld.shared.f32  %f20, [%r8+256];
 ld.shared.f32  %f21, [%r7+16];
 fma.rn.f32  %f22, %f21, %f20, %f19;
 ld.shared.f32  %f23, [%r8+320];
 ld.shared.f32  %f24, [%r7+20];
 fma.rn.f32  %f25, %f24, %f23, %f22;
 ld.shared.f32  %f26, [%r8+384];
 ld.shared.f32  %f27, [%r7+24];
 fma.rn.f32  %f28, %f27, %f26, %f25;
 ld.shared.f32  %f29, [%r8+448];
 ld.shared.f32  %f30, [%r7+28];
 fma.rn.f32  %f31, %f30, %f29, %f28;
 ld.shared.f32  %f32, [%r8+512];
 ld.shared.f32  %f33, [%r7+32];
 fma.rn.f32  %f34, %f33, %f32, %f31;
 ld.shared.f32  %f35, [%r8+576];
 ld.shared.f32  %f36, [%r7+36];
 fma.rn.f32  %f37, %f36, %f35, %f34;
 ld.shared.f32  %f38, [%r8+640];
 ld.shared.f32  %f39, [%r7+40];
 fma.rn.f32  %f40, %f39, %f38, %f37;
 ld.shared.f32  %f41, [%r8+704];
 ld.shared.f32  %f42, [%r7+44];
 fma.rn.f32  %f43, %f42, %f41, %f40;
 ld.shared.f32  %f44, [%r8+768];
 ld.shared.f32  %f45, [%r7+48];
 fma.rn.f32  %f46, %f45, %f44, %f43;
 ld.shared.f32  %f47, [%r8+832];
 ld.shared.f32  %f48, [%r7+52];
 fma.rn.f32  %f49, %f48, %f47, %f46;
 ld.shared.f32  %f50, [%r8+896];
 ld.shared.f32  %f51, [%r7+56];
 fma.rn.f32  %f52, %f51, %f50, %f49;
 ld.shared.f32  %f53, [%r8+960];
 ld.shared.f32  %f54, [%r7+60];
 fma.rn.f32  %f56, %f54, %f53, %f52;
 bar.sync  0;
 add.s64  %rd19, %rd19, %rd2;
 add.s64  %rd18, %rd18, 64;
 add.s32  %r28, %r28, 16;
 setp.lt.s32  %p2, %r28, %r11;
 @%p2 bra  $L__BB1_2;
$L__BB1_3:
 add.s32  %r26, %r2, %r3;
 add.s32  %r27, %r4, %r26;
 cvta.to.global.u64  %rd15, %rd10;
 mul.wide.s32  %rd16, %r27, 4;
 add.s64  %rd17, %rd15, %rd16;
 st.global.f32  [%rd17], %f56;
 ret;
}
)";

double processor_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

template <class Launch>
int measure(const char* name, Launch launch) {
  double best = 1e9;
  std::uint64_t instructions = 0;
  for (int i = 0; i < 5; ++i) {
    const double begin = processor_seconds();
    const Outcome o = launch();
    best = std::min(best, processor_seconds() - begin);
    instructions = o.counters.warp_instructions;
    if (o.failed()) {
      std::fprintf(stderr, "%s\n", testing::text(o).c_str());
      return 1;
    }
  }
  std::printf("%-34s %8.2f ms %10llu warp instructions %6.1f ns each\n", name, 1e3 * best, static_cast<unsigned long long>(instructions),
              1e9 * best / static_cast<double>(instructions));
  return 0;
}

int run() {
  testing::Machine gpu;
  gpu.config.instruction_limit = 0;
  gpu.load_text(kKernels);
  constexpr std::uint32_t kElements = 1 << 20, kSide = 256;
  const auto x = gpu.buffer(std::vector<float>(kElements, 1.0f), "x");
  const auto y = gpu.unwritten(4 * kElements, "y");
  const auto a = gpu.buffer(std::vector<float>(kSide * kSide, 1.0f), "a");
  const auto b = gpu.buffer(std::vector<float>(kSide * kSide, 2.0f), "b");
  const auto c = gpu.unwritten(4 * kSide * kSide, "c");
  int failures = 0;
  for (const bool checks : {true, false}) {
    gpu.config.checks = checks ? check::kAllChecks : check::kNoChecks;
    gpu.config.dynamic_shared = (256 + 4) * 4;
    failures += measure(checks ? "stencil 2^20, all checks" : "stencil 2^20, no checks",
                        [&] { return gpu.launch("stencil", kElements / 256, 256, x, y, static_cast<int>(kElements)); });
    gpu.config.dynamic_shared = 0;
    failures += measure(checks ? "matrix product 256, all checks" : "matrix product 256, no checks",
                        [&] { return gpu.launch("matmul", Dim3{16, 16, 1}, Dim3{16, 16, 1}, a, b, c, static_cast<int>(kSide)); });
  }
  return failures;
}

}  // namespace
}  // namespace lockstep::engine

int main() { return lockstep::engine::run(); }
