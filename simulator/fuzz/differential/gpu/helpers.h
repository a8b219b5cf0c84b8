// Kernels that run on the GPU before, between and after the programs.
#pragma once

namespace lockstep::fuzz::differential {

// prepare: zeros the programs' memory and initialises their sums. digest: adds up mixed words, as
// digest() does. Both use one block for each program; `sizes` holds two words for each: the bytes
// of its layout, and the offset of its sums. mark: stores a number in host memory, so that the host
// knows the progress of the stream when a kernel fails.
inline constexpr const char* kHelpers = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry prepare(.param .u64 memory, .param .u64 sizes, .param .u32 stride,
                        .param .u64 start, .param .u32 sums)
{
.reg .pred p<4>; .reg .b32 r<16>; .reg .b64 d<16>;
ld.param.u64 d0, [memory]; ld.param.u64 d1, [sizes]; ld.param.u32 r0, [stride];
ld.param.u64 d2, [start]; ld.param.u32 r6, [sums];
mov.u32 r1, %ctaid.x; mov.u32 r2, %tid.x; mov.u32 r3, %ntid.x;
mad.wide.u32 d0, r1, r0, d0;
mad.wide.u32 d1, r1, 8, d1;
ld.global.v2.u32 {r4, r5}, [d1];
mov.u64 d4, 0;
shl.b32 r7, r2, 3;
shl.b32 r8, r3, 3;
L: setp.ge.u32 p0, r7, r4;
@p0 bra E;
cvt.u64.u32 d5, r7; add.u64 d5, d0, d5;
st.global.u64 [d5], d4;
add.u32 r7, r7, r8;
bra L;
E: bar.sync 0;
setp.ge.u32 p1, r2, r6;
@p1 ret;
mad.wide.u32 d6, r2, 8, d0; cvt.u64.u32 d7, r5; add.u64 d6, d6, d7;
st.global.u64 [d6], d2;
ret;
}
.visible .entry mark(.param .u64 memory, .param .u32 number)
{
.reg .b32 r<1>; .reg .b64 d<1>;
ld.param.u64 d0, [memory]; ld.param.u32 r0, [number];
st.relaxed.sys.global.u32 [d0], r0;
ret;
}
.visible .entry digest(.param .u64 memory, .param .u64 sizes, .param .u32 stride,
                       .param .u64 results)
{
.reg .pred p<4>; .reg .b32 r<16>; .reg .b64 d<24>;
ld.param.u64 d0, [memory]; ld.param.u64 d1, [sizes]; ld.param.u32 r0, [stride];
ld.param.u64 d2, [results];
mov.u32 r1, %ctaid.x; mov.u32 r2, %tid.x; mov.u32 r3, %ntid.x;
mad.wide.u32 d0, r1, r0, d0;
mad.wide.u32 d1, r1, 8, d1;
mad.wide.u32 d2, r1, 8, d2;
ld.global.u32 r4, [d1];
mov.u64 d10, 0;
mov.u32 r7, r2;
shr.u32 r8, r4, 3;
L: setp.ge.u32 p0, r7, r8;
@p0 bra E;
mad.wide.u32 d5, r7, 8, d0;
ld.global.u64 d6, [d5];
add.u32 r9, r7, 1; cvt.u64.u32 d7, r9;
mad.lo.u64 d6, d7, 0x9e3779b97f4a7c15, d6;
shr.u64 d8, d6, 30; xor.b64 d6, d6, d8; mul.lo.u64 d6, d6, 0xbf58476d1ce4e5b9;
shr.u64 d8, d6, 27; xor.b64 d6, d6, d8; mul.lo.u64 d6, d6, 0x94d049bb133111eb;
shr.u64 d8, d6, 31; xor.b64 d6, d6, d8;
add.u64 d10, d10, d6;
add.u32 r7, r7, r3;
bra L;
E: red.global.add.u64 [d2], d10;
ret;
}
)";

}  // namespace lockstep::fuzz::differential
