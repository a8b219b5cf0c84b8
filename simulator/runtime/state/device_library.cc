#include "simulator/runtime/state/device_library.h"

#include <algorithm>
#include <string_view>

#include "simulator/runtime/state/device_launch_library.h"

namespace lockstep::runtime {
namespace {

// The handle of a grid is the address of its workspace (%envreg1, %envreg2), whose second word is
// the barrier that cooperative groups uses too. Its highest bit flips whenever all blocks have
// arrived: each adds 1, and the first what is missing to 2^31.
constexpr const char* kLibrary = R"(
.version 7.0
.target sm_75
.address_size 64

.visible .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value)
{
  .reg .b32 %r; .reg .b64 %rd;
  ld.param.u64 %rd, [handle];
  ld.param.u32 %r, [value];
  st.global.u32 [%rd], %r;
  ret;
}

.visible .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope)
{
  .reg .pred %p; .reg .b32 %r<3>; .reg .b64 %rd<4>;
  ld.param.u32 %r0, [scope];
  mov.u32 %r1, %envreg1;
  mov.u32 %r2, %envreg2;
  mov.b64 %rd0, {%r2, %r1};
  setp.eq.u32 %p, %r0, 1;
  selp.b64 %rd1, %rd0, 0, %p;
  st.param.b64 [handle], %rd1;
  ret;
}

.visible .func (.param .b32 result) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)
{
  .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<2>;
  ld.param.u64 %rd0, [handle];
  setp.eq.u64 %p0, %rd0, 0;
  @%p0 bra unknown;
  barrier.sync 0;
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, %tid.y;
  mov.u32 %r2, %tid.z;
  or.b32 %r0, %r0, %r1;
  or.b32 %r0, %r0, %r2;
  setp.ne.u32 %p1, %r0, 0;
  @%p1 bra arrived;
  mov.u32 %r1, %nctaid.x;
  mov.u32 %r2, %nctaid.y;
  mov.u32 %r3, %nctaid.z;
  mul.lo.u32 %r1, %r1, %r2;
  mul.lo.u32 %r1, %r1, %r3;
  mov.u32 %r4, %ctaid.x;
  mov.u32 %r5, %ctaid.y;
  mov.u32 %r6, %ctaid.z;
  or.b32 %r4, %r4, %r5;
  or.b32 %r4, %r4, %r6;
  setp.eq.u32 %p2, %r4, 0;
  sub.u32 %r7, 0x80000001, %r1;
  selp.b32 %r8, %r7, 1, %p2;
  atom.add.release.gpu.u32 %r9, [%rd0+4], %r8;
wait:
  ld.acquire.gpu.u32 %r10, [%rd0+4];
  xor.b32 %r11, %r9, %r10;
  setp.ge.s32 %p3, %r11, 0;
  @%p3 bra wait;
arrived:
  barrier.sync 0;
  st.param.b32 [result], 0;
  ret;
unknown:
  st.param.b32 [result], 999;
  ret;
}

.visible .func (.param .b32 result) cudaCGSynchronizeGrid(.param .b64 handle, .param .b32 flags)
{
  .reg .b32 %r<2>; .reg .b64 %rd;
  ld.param.u64 %rd, [handle];
  ld.param.u32 %r0, [flags];
  { .param .b64 a; .param .b32 b; .param .b32 c;
    st.param.b64 [a], %rd;
    st.param.b32 [b], %r0;
    call (c), cudaCGSynchronize, (a, b);
    ld.param.b32 %r1, [c]; }
  st.param.b32 [result], %r1;
  ret;
}

.visible .func (.param .b32 result) cudaCGGetSize(.param .b64 threads, .param .b64 grids,
    .param .b64 handle)
{
  .reg .pred %p<3>; .reg .b32 %r<7>; .reg .b64 %rd<3>;
  ld.param.u64 %rd0, [threads];
  ld.param.u64 %rd1, [grids];
  ld.param.u64 %rd2, [handle];
  setp.eq.u64 %p0, %rd2, 0;
  @%p0 bra unknown;
  mov.u32 %r0, %ntid.x;
  mov.u32 %r1, %ntid.y;
  mov.u32 %r2, %ntid.z;
  mov.u32 %r3, %nctaid.x;
  mov.u32 %r4, %nctaid.y;
  mov.u32 %r5, %nctaid.z;
  mul.lo.u32 %r0, %r0, %r1;
  mul.lo.u32 %r0, %r0, %r2;
  mul.lo.u32 %r0, %r0, %r3;
  mul.lo.u32 %r0, %r0, %r4;
  mul.lo.u32 %r0, %r0, %r5;
  setp.ne.u64 %p1, %rd0, 0;
  @%p1 st.u32 [%rd0], %r0;
  mov.u32 %r6, 1;
  setp.ne.u64 %p2, %rd1, 0;
  @%p2 st.u32 [%rd1], %r6;
  st.param.b32 [result], 0;
  ret;
unknown:
  st.param.b32 [result], 999;
  ret;
}

.visible .func (.param .b32 result) cudaCGGetRank(.param .b64 thread, .param .b64 grid,
    .param .b64 handle)
{
  .reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %rd<3>;
  ld.param.u64 %rd0, [thread];
  ld.param.u64 %rd1, [grid];
  ld.param.u64 %rd2, [handle];
  setp.eq.u64 %p0, %rd2, 0;
  @%p0 bra unknown;
  mov.u32 %r0, %ctaid.z;
  mov.u32 %r1, %nctaid.y;
  mov.u32 %r2, %ctaid.y;
  mad.lo.u32 %r0, %r0, %r1, %r2;
  mov.u32 %r1, %nctaid.x;
  mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r0, %r0, %r1, %r2;
  mov.u32 %r1, %ntid.z;
  mov.u32 %r2, %tid.z;
  mad.lo.u32 %r0, %r0, %r1, %r2;
  mov.u32 %r1, %ntid.y;
  mov.u32 %r2, %tid.y;
  mad.lo.u32 %r0, %r0, %r1, %r2;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.u32 %r0, %r0, %r1, %r2;
  setp.ne.u64 %p1, %rd0, 0;
  @%p1 st.u32 [%rd0], %r0;
  mov.u32 %r3, 1;
  setp.ne.u64 %p2, %rd1, 0;
  @%p2 st.u32 [%rd1], %r3;
  st.param.b32 [result], 0;
  ret;
unknown:
  st.param.b32 [result], 999;
  ret;
}
)";

constexpr std::string_view kFunctions[] = {"cudaCGGetIntrinsicHandle", "cudaCGSynchronize",
                                           "cudaCGGetSize", "cudaCGGetRank",
                                           "cudaGraphSetConditional"};

}  // namespace

std::vector<std::string> device_libraries_for(const std::vector<std::string>& texts) {
  const auto calls = [&](std::string_view name) {
    return std::any_of(texts.begin(), texts.end(),
                       [&](const std::string& text) { return text.find(name) != text.npos; });
  };
  std::vector<std::string> libraries;
  if (std::any_of(std::begin(kFunctions), std::end(kFunctions), calls))
    libraries.push_back(kLibrary);
  if (calls("__cudaCDP2")) libraries.push_back(device_launch_library());
  return libraries;
}

}  // namespace lockstep::runtime
