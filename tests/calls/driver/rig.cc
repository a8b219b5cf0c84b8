#include "tests/calls/driver/rig.h"

#include <dlfcn.h>

#include <cstdlib>

namespace lockstep::calls::driver {
namespace {

// The name of a result, or its number: cuGetErrorName is itself under test.
std::string name_of(CUresult result) {
  const char* name = nullptr;
  if (DRIVER(cuGetErrorName)(result, &name) == CUDA_SUCCESS && name != nullptr)
    return std::string(name).substr(0, 5) == "CUDA_" ? std::string(name).substr(5) : name;
  return text("result %d", static_cast<int>(result));
}

void require(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "driver_calls: %s: %s\n", what, name_of(result).c_str());
  std::exit(2);
}

}  // namespace

const char* const kPtx = R"(
.version 8.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 factor = 3;
.visible .const .align 4 .b8 table[64];
.visible .global .attribute(.managed) .align 4 .u32 managed_word = 5;
.visible .entry add(.param .u64 slot, .param .u32 value) {
  .reg .u64 %a<3>; .reg .u32 %r<8>; .reg .pred %p;
  ld.param.u64 %a0, [slot];
  ld.param.u32 %r0, [value];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ctaid.y;
  or.b32 %r1, %r1, %r2;
  mov.u32 %r2, %ctaid.z;
  or.b32 %r1, %r1, %r2;
  mov.u32 %r2, %tid.y;
  or.b32 %r1, %r1, %r2;
  mov.u32 %r2, %tid.z;
  or.b32 %r1, %r1, %r2;
  setp.ne.u32 %p, %r1, 0;
  @%p ret;
  mov.u32 %r1, %tid.x;
  and.b32 %r1, %r1, 15;
  mul.wide.u32 %a1, %r1, 4;
  cvta.to.global.u64 %a0, %a0;
  add.u64 %a0, %a0, %a1;
  red.global.add.u32 [%a0], %r0;
  ret;
}
.visible .entry few_threads(.param .u64 slot, .param .u32 value)
.maxntid 64, 1, 1 {
  .reg .u64 %a; .reg .u32 %r<2>; .reg .pred %p;
  ld.param.u64 %a, [slot];
  ld.param.u32 %r0, [value];
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p, %r1, 0;
  @%p ret;
  cvta.to.global.u64 %a, %a;
  red.global.add.u32 [%a], %r0;
  ret;
}
.visible .entry shared(.param .u64 slot, .param .u32 value) {
  .reg .u64 %a; .reg .u32 %r<4>; .reg .pred %p;
  .shared .align 4 .b8 room[4096];
  ld.param.u64 %a, [slot];
  ld.param.u32 %r0, [value];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %tid.y;
  or.b32 %r1, %r1, %r2;
  mov.u32 %r2, %tid.z;
  or.b32 %r1, %r1, %r2;
  setp.ne.u32 %p, %r1, 0;
  @%p ret;
  st.shared.u32 [room], %r0;
  ld.shared.u32 %r3, [room];
  cvta.to.global.u64 %a, %a;
  red.global.add.u32 [%a], %r3;
  ret;
}
)";

void* exported(const char* name) {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  void* const at = library == nullptr ? nullptr : dlsym(library, name);
  if (at == nullptr) {
    std::fprintf(stderr, "driver_calls: %s: %s\n", name, dlerror());
    std::_Exit(2);
  }
  return at;
}

Rig::Rig(std::uint64_t seed, std::FILE* out) : Objects(seed), out_(out) {
  require(DRIVER(cuInit)(0), "cuInit");
  require(DRIVER(cuDevicePrimaryCtxRetain)(&context_, 0), "cuDevicePrimaryCtxRetain");
  require(DRIVER(cuCtxSetCurrent)(context_), "cuCtxSetCurrent");
  require(DRIVER(cuMemAlloc)(&slots_, kSlots * kSlotBytes), "cuMemAlloc");
  require(DRIVER(cuMemAlloc)(&constants_, kSlotBytes), "cuMemAlloc");
  require(DRIVER(cuMemsetD8)(slots_, 0, kSlots * kSlotBytes), "cuMemsetD8");
  require(DRIVER(cuMemsetD8)(constants_, 0x5a, kSlotBytes), "cuMemsetD8");
  Code code = {.name = "own"};
  require(DRIVER(cuModuleLoadData)(&code.module, kPtx), "cuModuleLoadData");
  for (const char* name : {"add", "few_threads", "shared"}) {
    CUfunction function = nullptr;
    require(DRIVER(cuModuleGetFunction)(&function, code.module, name), "cuModuleGetFunction");
    code.functions.push_back({function, name});
  }
  codes.push_back(code);
  wait();
  std::fprintf(out_, "seed %llu\n", static_cast<unsigned long long>(seed));
}

void Rig::answer(const std::string& call, CUresult result, const std::string& values) {
  std::fprintf(out_, "%d %s = %s", ++line_, call.c_str(), name_of(result).c_str());
  if (result == CUDA_SUCCESS && !values.empty()) std::fprintf(out_, " %s", values.c_str());
  std::fputc('\n', out_);
  std::fflush(out_);
}

CUdeviceptr Rig::slot() { return slots_ + next_slot() * kSlotBytes; }

Named<CUstream> Rig::stream() {
  if (random.chance(10)) return {nullptr, "0"};
  if (random.chance(10)) {
    return random.chance(50) ? Named<CUstream>{CU_STREAM_LEGACY, "legacy"}
                             : Named<CUstream>{CU_STREAM_PER_THREAD, "per_thread"};
  }
  if (streams.empty()) return {nullptr, "0"};
  return *pick(streams);
}

Rig::Kernel Rig::kernel() {
  Code& code = random.chance(60) ? codes.front() : *pick(codes);
  if (Named<CUkernel>* const k = pick(code.kernels))
    return {reinterpret_cast<CUfunction>(k->it), k->name};
  if (Named<CUfunction>* const f = pick(code.functions)) return {f->it, f->name};
  return {codes.front().functions.front().it, "add"};
}

void Rig::wait() { require(DRIVER(cuCtxSynchronize)(), "cuCtxSynchronize"); }

void Rig::end() {
  answer("cuCtxSynchronize()", DRIVER(cuCtxSynchronize)());
  std::vector<unsigned> words(kSlots * kSlotWords);
  answer("cuMemcpyDtoH(host, slots)",
         DRIVER(cuMemcpyDtoH)(words.data(), slots_, kSlots * kSlotBytes));
  std::fprintf(out_, "slots %016llx, host functions %u\n",
               static_cast<unsigned long long>(digest(words.data(), kSlots * kSlotBytes)),
               host_calls);
  for (const Memory& m : memory) {
    std::vector<unsigned char> bytes(m.size);
    const CUresult result =
        DRIVER(cuMemcpy)(reinterpret_cast<CUdeviceptr>(bytes.data()), m.at, m.size);
    std::fprintf(out_, "%s %s %016llx\n", m.name.c_str(), name_of(result).c_str(),
                 static_cast<unsigned long long>(digest(bytes.data(), m.size)));
  }
  std::fflush(out_);
}

}  // namespace lockstep::calls::driver
