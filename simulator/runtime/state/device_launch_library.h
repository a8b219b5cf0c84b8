// PTX of the functions of libcudadevrt by which kernels launch kernels: nvcc compiles a launch to a
// call for a parameter buffer, stores, and a call that launches (CUDA C++ Programming Guide, "CUDA
// Dynamic Parallelism", "Device-side Launch from PTX").
//
// A buffer is memory of the device heap: 64 bytes that say what is launched, as the engine reads
// them (ops/control/builtins.cc), and the parameters. lockstep_launch_grid is the engine's. Grids
// are executed in the order of their launches (work/device_launches.h), so the engine keeps of
// events what they order (lockstep_device_event). Copies and fills are grids, too.
#pragma once

namespace lockstep::runtime {

inline constexpr const char* kDeviceLaunchLibrary = R"(
.version 7.0
.target sm_75
.address_size 64

.extern .func (.param .b64 r) malloc (.param .b64 n);
.extern .func free (.param .b64 p);
.extern .func (.param .b32 r) lockstep_launch_grid (.param .b64 h, .param .b64 s);
.extern .func (.param .b32 r) lockstep_device_error (.param .b64 how, .param .b64 error);
.extern .func (.param .b32 r) lockstep_device_event (.param .b64 e, .param .b64 s, .param .b64 w);

.global .align 8 .u64 lockstep_device_streams = 16;

// The last error of a thread: is returned (0), returned and reset (1), or set (2).
.func (.param .b32 result) lockstep_last_error(.param .b64 how, .param .b32 error)
{
  .reg .b32 %r; .reg .b64 %rd<2>;
  ld.param.u64 %rd0, [how];
  ld.param.u32 %r, [error];
  cvt.u64.u32 %rd1, %r;
  {
    .param .b64 h; .param .b64 e; .param .b32 r;
    st.param.b64 [h], %rd0;
    st.param.b64 [e], %rd1;
    call.uni (r), lockstep_device_error, (h, e);
    ld.param.b32 %r, [r];
  }
  st.param.b32 [result], %r;
  ret;
}

.visible .func (.param .b64 buffer) __cudaCDP2GetParameterBufferV2(.param .b64 code,
    .param .align 4 .b8 grid[12], .param .align 4 .b8 block[12], .param .b32 bytes)
{
  .reg .pred %p; .reg .b32 %r; .reg .b64 %rd<3>;
  {
    .param .b64 n; .param .b64 r;
    st.param.b64 [n], 4160;
    call.uni (r), malloc, (n);
    ld.param.b64 %rd0, [r];
  }
  mov.u64 %rd1, 0;
  setp.eq.u64 %p, %rd0, 0;
  @%p bra none;
  ld.param.u64 %rd2, [code];
  st.u64 [%rd0], %rd2;
  ld.param.u32 %r, [grid];
  st.u32 [%rd0+8], %r;
  ld.param.u32 %r, [grid+4];
  st.u32 [%rd0+12], %r;
  ld.param.u32 %r, [grid+8];
  st.u32 [%rd0+16], %r;
  ld.param.u32 %r, [block];
  st.u32 [%rd0+20], %r;
  ld.param.u32 %r, [block+4];
  st.u32 [%rd0+24], %r;
  ld.param.u32 %r, [block+8];
  st.u32 [%rd0+28], %r;
  ld.param.u32 %r, [bytes];
  st.u32 [%rd0+32], %r;
  add.u64 %rd1, %rd0, 64;
none:
  st.param.b64 [buffer], %rd1;
  ret;
}

.visible .func (.param .b32 result) __cudaCDP2LaunchDeviceV2(.param .b64 buffer,
    .param .b64 stream)
{
  .reg .pred %p; .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.param.u64 %rd0, [buffer];
  mov.u32 %r0, 1;
  setp.eq.u64 %p, %rd0, 0;
  @%p bra refused;
  add.u64 %rd0, %rd0, -64;
  ld.param.u64 %rd1, [stream];
  {
    .param .b64 h; .param .b64 s; .param .b32 r;
    st.param.b64 [h], %rd0;
    st.param.b64 [s], %rd1;
    call.uni (r), lockstep_launch_grid, (h, s);
    ld.param.b32 %r0, [r];
  }
  {
    .param .b64 p;
    st.param.b64 [p], %rd0;
    call.uni free, (p);
  }
  setp.eq.u32 %p, %r0, 0;
  @%p bra done;
refused:
  {
    .param .b64 h; .param .b32 e; .param .b32 r;
    st.param.b64 [h], 2;
    st.param.b32 [e], %r0;
    call.uni (r), lockstep_last_error, (h, e);
    ld.param.b32 %r1, [r];
  }
done:
  st.param.b32 [result], %r0;
  ret;
}

.visible .func (.param .b32 result) __cudaCDP2GetLastError()
{
  .reg .b32 %r;
  {
    .param .b64 h; .param .b32 e; .param .b32 r;
    st.param.b64 [h], 1;
    st.param.b32 [e], 0;
    call.uni (r), lockstep_last_error, (h, e);
    ld.param.b32 %r, [r];
  }
  st.param.b32 [result], %r;
  ret;
}

.visible .func (.param .b32 result) __cudaCDP2PeekAtLastError()
{
  .reg .b32 %r;
  {
    .param .b64 h; .param .b32 e; .param .b32 r;
    st.param.b64 [h], 0;
    st.param.b32 [e], 0;
    call.uni (r), lockstep_last_error, (h, e);
    ld.param.b32 %r, [r];
  }
  st.param.b32 [result], %r;
  ret;
}

// Its flags are 0 or cudaStreamNonBlocking, as an H100 takes them.
.visible .func (.param .b32 result) __cudaCDP2StreamCreateWithFlags(.param .b64 stream,
    .param .b32 flags)
{
  .reg .pred %p; .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.param.u32 %r0, [flags];
  setp.gt.u32 %p, %r0, 1;
  @%p bra refused;
  ld.param.u64 %rd0, [stream];
  atom.add.u64 %rd1, [lockstep_device_streams], 1;
  st.u64 [%rd0], %rd1;
  st.param.b32 [result], 0;
  ret;
refused:
  {
    .param .b64 h; .param .b32 e; .param .b32 r;
    st.param.b64 [h], 2;
    st.param.b32 [e], 1;
    call.uni (r), lockstep_last_error, (h, e);
    ld.param.b32 %r1, [r];
  }
  st.param.b32 [result], 1;
  ret;
}

.visible .func (.param .b32 result) __cudaCDP2StreamDestroy(.param .b64 stream)
{
  st.param.b32 [result], 0;
  ret;
}

// Its flags are cudaEventDisableTiming.
.visible .func (.param .b32 result) __cudaCDP2EventCreateWithFlags(.param .b64 event,
    .param .b32 flags)
{
  .reg .pred %p; .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.param.u32 %r0, [flags];
  setp.ne.u32 %p, %r0, 2;
  @%p bra refused;
  ld.param.u64 %rd0, [event];
  atom.add.u64 %rd1, [lockstep_device_streams], 1;
  st.u64 [%rd0], %rd1;
  st.param.b32 [result], 0;
  ret;
refused:
  {
    .param .b64 h; .param .b32 e; .param .b32 r;
    st.param.b64 [h], 2;
    st.param.b32 [e], 1;
    call.uni (r), lockstep_last_error, (h, e);
    ld.param.b32 %r1, [r];
  }
  st.param.b32 [result], 1;
  ret;
}

.visible .func (.param .b32 result) __cudaCDP2EventDestroy(.param .b64 event)
{
  st.param.b32 [result], 0;
  ret;
}

.visible .func (.param .b32 result) __cudaCDP2EventRecord(.param .b64 event, .param .b64 stream)
{
  .reg .b32 %r; .reg .b64 %rd<2>;
  ld.param.u64 %rd0, [event];
  ld.param.u64 %rd1, [stream];
  {
    .param .b64 e; .param .b64 s; .param .b64 w; .param .b32 r;
    st.param.b64 [e], %rd0;
    st.param.b64 [s], %rd1;
    st.param.b64 [w], 0;
    call.uni (r), lockstep_device_event, (e, s, w);
    ld.param.b32 %r, [r];
  }
  st.param.b32 [result], %r;
  ret;
}

.visible .func (.param .b32 result) __cudaCDP2StreamWaitEvent(.param .b64 stream,
    .param .b64 event, .param .b32 flags)
{
  .reg .b32 %r; .reg .b64 %rd<2>;
  ld.param.u64 %rd0, [event];
  ld.param.u64 %rd1, [stream];
  {
    .param .b64 e; .param .b64 s; .param .b64 w; .param .b32 r;
    st.param.b64 [e], %rd0;
    st.param.b64 [s], %rd1;
    st.param.b64 [w], 1;
    call.uni (r), lockstep_device_event, (e, s, w);
    ld.param.b32 %r, [r];
  }
  st.param.b32 [result], %r;
  ret;
}

.visible .func (.param .b32 result) __cudaCDP2Malloc(.param .b64 pointer, .param .b64 bytes)
{
  .reg .pred %p; .reg .b32 %r; .reg .b64 %rd<3>;
  ld.param.u64 %rd0, [pointer];
  ld.param.u64 %rd1, [bytes];
  {
    .param .b64 n; .param .b64 r;
    st.param.b64 [n], %rd1;
    call.uni (r), malloc, (n);
    ld.param.b64 %rd2, [r];
  }
  st.u64 [%rd0], %rd2;
  setp.eq.u64 %p, %rd2, 0;
  selp.b32 %r, 2, 0, %p;
  st.param.b32 [result], %r;
  ret;
}

.visible .func (.param .b32 result) __cudaCDP2Free(.param .b64 pointer)
{
  .reg .b64 %rd;
  ld.param.u64 %rd, [pointer];
  {
    .param .b64 p;
    st.param.b64 [p], %rd;
    call.uni free, (p);
  }
  st.param.b32 [result], 0;
  ret;
}

// Names and texts of the errors that these functions return.
.global .b8 lockstep_name_0[12] = {99, 117, 100, 97, 83, 117, 99, 99, 101, 115, 115, 0};
.global .b8 lockstep_text_0[9] = {110, 111, 32, 101, 114, 114, 111, 114, 0};
.global .b8 lockstep_name_1[22] = {99, 117, 100, 97, 69, 114, 114, 111, 114, 73, 110, 118, 97,
    108, 105, 100, 86, 97, 108, 117, 101, 0};
.global .b8 lockstep_text_1[17] = {105, 110, 118, 97, 108, 105, 100, 32, 97, 114, 103, 117, 109,
    101, 110, 116, 0};
.global .b8 lockstep_name_2[26] = {99, 117, 100, 97, 69, 114, 114, 111, 114, 77, 101, 109, 111,
    114, 121, 65, 108, 108, 111, 99, 97, 116, 105, 111, 110, 0};
.global .b8 lockstep_text_2[14] = {111, 117, 116, 32, 111, 102, 32, 109, 101, 109, 111, 114, 121,
    0};
.global .b8 lockstep_name_9[30] = {99, 117, 100, 97, 69, 114, 114, 111, 114, 73, 110, 118, 97,
    108, 105, 100, 67, 111, 110, 102, 105, 103, 117, 114, 97, 116, 105, 111, 110, 0};
.global .b8 lockstep_text_9[31] = {105, 110, 118, 97, 108, 105, 100, 32, 99, 111, 110, 102, 105,
    103, 117, 114, 97, 116, 105, 111, 110, 32, 97, 114, 103, 117, 109, 101, 110, 116, 0};
.global .b8 lockstep_name_999[17] = {99, 117, 100, 97, 69, 114, 114, 111, 114, 85, 110, 107, 110,
    111, 119, 110, 0};
.global .b8 lockstep_text_999[14] = {117, 110, 107, 110, 111, 119, 110, 32, 101, 114, 114, 111,
    114, 0};

.visible .func (.param .b64 name) __cudaCDP2GetErrorName(.param .b32 error)
{
  .reg .pred %p; .reg .b32 %r; .reg .b64 %rd<2>;
  ld.param.u32 %r, [error];
  mov.u64 %rd0, lockstep_name_999;
  setp.eq.u32 %p, %r, 0;
  mov.u64 %rd1, lockstep_name_0;
  selp.b64 %rd0, %rd1, %rd0, %p;
  setp.eq.u32 %p, %r, 1;
  mov.u64 %rd1, lockstep_name_1;
  selp.b64 %rd0, %rd1, %rd0, %p;
  setp.eq.u32 %p, %r, 2;
  mov.u64 %rd1, lockstep_name_2;
  selp.b64 %rd0, %rd1, %rd0, %p;
  setp.eq.u32 %p, %r, 9;
  mov.u64 %rd1, lockstep_name_9;
  selp.b64 %rd0, %rd1, %rd0, %p;
  cvta.global.u64 %rd0, %rd0;
  st.param.b64 [name], %rd0;
  ret;
}

.visible .func (.param .b64 text) __cudaCDP2GetErrorString(.param .b32 error)
{
  .reg .pred %p; .reg .b32 %r; .reg .b64 %rd<2>;
  ld.param.u32 %r, [error];
  mov.u64 %rd0, lockstep_text_999;
  setp.eq.u32 %p, %r, 0;
  mov.u64 %rd1, lockstep_text_0;
  selp.b64 %rd0, %rd1, %rd0, %p;
  setp.eq.u32 %p, %r, 1;
  mov.u64 %rd1, lockstep_text_1;
  selp.b64 %rd0, %rd1, %rd0, %p;
  setp.eq.u32 %p, %r, 2;
  mov.u64 %rd1, lockstep_text_2;
  selp.b64 %rd0, %rd1, %rd0, %p;
  setp.eq.u32 %p, %r, 9;
  mov.u64 %rd1, lockstep_text_9;
  selp.b64 %rd0, %rd1, %rd0, %p;
  cvta.global.u64 %rd0, %rd0;
  st.param.b64 [text], %rd0;
  ret;
}

// Bytes by 256 threads.
.visible .entry cudaMemcpyAsync_in_a_kernel(.param .u64 to, .param .u64 from, .param .u64 bytes)
{
  .reg .pred %p; .reg .b32 %r; .reg .b64 %rd<6>;
  ld.param.u64 %rd0, [to];
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [bytes];
  mov.u32 %r, %tid.x;
  cvt.u64.u32 %rd3, %r;
next:
  setp.ge.u64 %p, %rd3, %rd2;
  @%p bra done;
  add.u64 %rd4, %rd1, %rd3;
  add.u64 %rd5, %rd0, %rd3;
  ld.u8 %r, [%rd4];
  st.u8 [%rd5], %r;
  add.u64 %rd3, %rd3, 256;
  bra next;
done:
  ret;
}

.visible .entry cudaMemsetAsync_in_a_kernel(.param .u64 to, .param .u32 value, .param .u64 bytes)
{
  .reg .pred %p; .reg .b32 %r<2>; .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [to];
  ld.param.u32 %r0, [value];
  ld.param.u64 %rd1, [bytes];
  mov.u32 %r1, %tid.x;
  cvt.u64.u32 %rd2, %r1;
next:
  setp.ge.u64 %p, %rd2, %rd1;
  @%p bra done;
  add.u64 %rd3, %rd0, %rd2;
  st.u8 [%rd3], %r0;
  add.u64 %rd2, %rd2, 256;
  bra next;
done:
  ret;
}

.func (.param .b64 buffer) lockstep_buffer_for_a_block(.param .b64 kernel)
{
  .reg .b64 %rd0;
  ld.param.u64 %rd0, [kernel];
  {
    .param .b64 code; .param .align 4 .b8 grid[12]; .param .align 4 .b8 block[12];
    .param .b32 shared; .param .b64 r;
    st.param.b64 [code], %rd0;
    st.param.b32 [grid], 1;
    st.param.b32 [grid+4], 1;
    st.param.b32 [grid+8], 1;
    st.param.b32 [block], 256;
    st.param.b32 [block+4], 1;
    st.param.b32 [block+8], 1;
    st.param.b32 [shared], 0;
    call.uni (r), __cudaCDP2GetParameterBufferV2, (code, grid, block, shared);
    ld.param.b64 %rd0, [r];
  }
  st.param.b64 [buffer], %rd0;
  ret;
}

.visible .func (.param .b32 result) __cudaCDP2MemcpyAsync(.param .b64 to, .param .b64 from,
    .param .b64 bytes, .param .b32 kind, .param .b64 stream)
{
  .reg .pred %p; .reg .b32 %r<2>; .reg .b64 %rd<5>;
  mov.u64 %rd0, cudaMemcpyAsync_in_a_kernel;
  {
    .param .b64 code; .param .b64 r;
    st.param.b64 [code], %rd0;
    call.uni (r), lockstep_buffer_for_a_block, (code);
    ld.param.b64 %rd0, [r];
  }
  setp.eq.u64 %p, %rd0, 0;
  mov.u32 %r0, 2;
  @%p bra done;
  ld.param.u64 %rd1, [to];
  st.u64 [%rd0], %rd1;
  ld.param.u64 %rd2, [from];
  st.u64 [%rd0+8], %rd2;
  ld.param.u64 %rd3, [bytes];
  st.u64 [%rd0+16], %rd3;
  ld.param.u64 %rd4, [stream];
  {
    .param .b64 buffer; .param .b64 s; .param .b32 r;
    st.param.b64 [buffer], %rd0;
    st.param.b64 [s], %rd4;
    call.uni (r), __cudaCDP2LaunchDeviceV2, (buffer, s);
    ld.param.b32 %r0, [r];
  }
done:
  st.param.b32 [result], %r0;
  ret;
}

.visible .func (.param .b32 result) __cudaCDP2MemsetAsync(.param .b64 to, .param .b32 value,
    .param .b64 bytes, .param .b64 stream)
{
  .reg .pred %p; .reg .b32 %r<2>; .reg .b64 %rd<5>;
  mov.u64 %rd0, cudaMemsetAsync_in_a_kernel;
  {
    .param .b64 code; .param .b64 r;
    st.param.b64 [code], %rd0;
    call.uni (r), lockstep_buffer_for_a_block, (code);
    ld.param.b64 %rd0, [r];
  }
  setp.eq.u64 %p, %rd0, 0;
  mov.u32 %r0, 2;
  @%p bra done;
  ld.param.u64 %rd1, [to];
  st.u64 [%rd0], %rd1;
  ld.param.u32 %r1, [value];
  st.u32 [%rd0+8], %r1;
  ld.param.u64 %rd3, [bytes];
  st.u64 [%rd0+16], %rd3;
  ld.param.u64 %rd4, [stream];
  {
    .param .b64 buffer; .param .b64 s; .param .b32 r;
    st.param.b64 [buffer], %rd0;
    st.param.b64 [s], %rd4;
    call.uni (r), __cudaCDP2LaunchDeviceV2, (buffer, s);
    ld.param.b32 %r0, [r];
  }
done:
  st.param.b32 [result], %r0;
  ret;
}
)";

}  // namespace lockstep::runtime
