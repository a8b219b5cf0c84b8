// The instructions of a warpgroup, which sm_90a has and no other architecture.
#include <type_traits>

#include "kernels/matrix_unit.h"

namespace lockstep::kernels {
namespace {

constexpr int kM = 64, kN = 8,
              kRow = 32;  // bytes of A's rows and B's columns, for every type

// The place in shared memory of the 16 bytes `part` of row `row`. The part of all rows comes first,
// then the next part (PTX ISA 9.0, 9.7.15.5.1, without swizzle).
template <int kRows>
__device__ constexpr int place_of(int row, int part) {
  return (part * kRows + row) * 16;
}

// The descriptor of a matrix of `kRows` rows at `address`. Its distances, in units of 16 bytes:
// from one part to the next, and from eight rows to the next eight.
template <int kRows>
__device__ std::uint64_t descriptor(const void* address) {
  const auto where = static_cast<std::uint64_t>(__cvta_generic_to_shared(address));
  return (where & 0x3ffff) >> 4 | std::uint64_t{kRows} << 16 | std::uint64_t{8} << 32;
}

// One warpgroup per tile. D's 8 columns are in a warp's lanes as for mma.m16n8.
template <class Form>
__global__ void __launch_bounds__(128)
    multiply(const uint4* a, const uint4* b, const std::uint32_t* c, std::uint32_t* d) {
  __shared__ __align__(128) unsigned char rows_of_a[kM * kRow];
  __shared__ __align__(128) unsigned char columns_of_b[kN * kRow];
  const int thread = static_cast<int>(threadIdx.x), tile = static_cast<int>(blockIdx.x);
  constexpr int kParts = kRow / 16;
  static_assert(kM * kParts == 128, "a part of A for each thread");
  *reinterpret_cast<uint4*>(rows_of_a + place_of<kM>(thread / kParts, thread % kParts)) =
      a[tile * 128 + thread];
  if (thread < kN * kParts) {
    *reinterpret_cast<uint4*>(columns_of_b + place_of<kN>(thread / kParts, thread % kParts)) =
        b[tile * kN * kParts + thread];
  }
  constexpr int kPair = Form::kRegisters / 2;  // words of two adjacent elements
  const int row = thread / 32 * 16 + thread % 32 / 4;
  const int at = (tile * kM + row) * 4 * kPair + thread % 4 * kPair;
  std::uint32_t ds[Form::kRegisters];
#pragma unroll
  for (int r = 0; r < Form::kRegisters; ++r) ds[r] = c[at + r / kPair * 8 * 4 * kPair + r % kPair];
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  Form::execute(ds, descriptor<kM>(rows_of_a), descriptor<kN>(columns_of_b));
  asm volatile("wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
  for (int r = 0; r < Form::kRegisters; ++r) d[at + r / kPair * 8 * 4 * kPair + r % kPair] = ds[r];
}

template <class Form>
LaunchStatus launch(const MatrixForm& form, const void* a, const void* b, const void* c, void* d,
                    int tiles, cudaStream_t stream) {
  multiply<Form><<<static_cast<unsigned>(tiles), 128, 0, stream>>>(
      static_cast<const uint4*>(a), static_cast<const uint4*>(b),
      static_cast<const std::uint32_t*>(c), static_cast<std::uint32_t*>(d));
  return launched(form.name, static_cast<unsigned>(tiles), 128);
}

// LOCKSTEP_FORM(k, types of D, A and B as in PTX, registers of D, integers, suffix, operands after
// the predicate of scale-d)
#define LOCKSTEP_FP8(ta, tb)                              \
  LOCKSTEP_FORM(32, f16, ta, tb, 2, Multiply, , ", 1, 1") \
  LOCKSTEP_FORM(32, f32, ta, tb, 4, Multiply, , ", 1, 1")

#define LOCKSTEP_FORMS                                                \
  LOCKSTEP_FORM(16, f16, f16, f16, 2, Multiply, , ", 1, 1, 0, 0")     \
  LOCKSTEP_FORM(16, f32, f16, f16, 4, Multiply, , ", 1, 1, 0, 0")     \
  LOCKSTEP_FORM(16, f32, bf16, bf16, 4, Multiply, , ", 1, 1, 0, 0")   \
  LOCKSTEP_FORM(8, f32, tf32, tf32, 4, Multiply, , ", 1, 1")          \
  LOCKSTEP_FP8(e4m3, e4m3)                                            \
  LOCKSTEP_FP8(e4m3, e5m2)                                            \
  LOCKSTEP_FP8(e5m2, e4m3)                                            \
  LOCKSTEP_FP8(e5m2, e5m2)                                            \
  LOCKSTEP_FORM(32, s32, s8, s8, 4, Multiply, , "")                   \
  LOCKSTEP_FORM(32, s32, u8, u8, 4, Multiply, , "")                   \
  LOCKSTEP_FORM(32, s32, s8, s8, 4, MultiplySaturate, .satfinite, "") \
  LOCKSTEP_FORM(32, s32, u8, u8, 4, MultiplySaturate, .satfinite, "") \
  LOCKSTEP_FORM(256, s32, b1, b1, 4, And, .and.popc, "")

// The types under their PTX names.
constexpr auto f16 = UnitElement::kF16;
constexpr auto bf16 = UnitElement::kBF16;
constexpr auto tf32 = UnitElement::kTF32;
constexpr auto f32 = UnitElement::kF32;
constexpr auto e4m3 = UnitElement::kE4M3;
constexpr auto e5m2 = UnitElement::kE5M2;
constexpr auto s8 = UnitElement::kS8;
constexpr auto u8 = UnitElement::kU8;
constexpr auto b1 = UnitElement::kB1;
constexpr auto s32 = UnitElement::kS32;

#define LOCKSTEP_WGMMA_2(text, after)                                                             \
  asm volatile("{\n\t.reg .pred p;\n\tsetp.eq.u32 p, 0, 0;\n\t" text " {%0, %1}, %2, %3, p" after \
               ";\n\t}"                                                                           \
               : "+r"(d[0]), "+r"(d[1])                                                           \
               : "l"(a), "l"(b))
#define LOCKSTEP_WGMMA_4(text, after)                                \
  asm volatile("{\n\t.reg .pred p;\n\tsetp.eq.u32 p, 0, 0;\n\t" text \
               " {%0, %1, %2, %3}, %4, %5, p" after ";\n\t}"         \
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])      \
               : "l"(a), "l"(b))

#define LOCKSTEP_STRUCT(depth, td, ta, tb, integers) Wgmma_##depth##_##td##_##ta##_##tb##_##integers

#define LOCKSTEP_FORM(depth, td, ta, tb, registers, integers, suffix, after)                    \
  struct LOCKSTEP_STRUCT(depth, td, ta, tb, integers) {                                         \
    static constexpr int kRegisters = registers;                                                \
    static __device__ void execute(std::uint32_t (&d)[registers], std::uint64_t a,              \
                                   std::uint64_t b) {                                           \
      LOCKSTEP_WGMMA_##registers(                                                               \
          "wgmma.mma_async.sync.aligned.m64n8k" #depth "." #td "." #ta "." #tb #suffix, after); \
    }                                                                                           \
  };
LOCKSTEP_FORMS
#undef LOCKSTEP_FORM

#define LOCKSTEP_SAYS_Multiply ""
#define LOCKSTEP_SAYS_MultiplySaturate " saturating"
#define LOCKSTEP_SAYS_And " and"

}  // namespace

const std::vector<MatrixForm>& wgmma_forms() {
  static const std::vector<MatrixForm> kForms = {
#define LOCKSTEP_FORM(depth, td, ta, tb, registers, integers, suffix, after)    \
  {"wgmma m64n8k" #depth " " #ta " x " #tb " to " #td LOCKSTEP_SAYS_##integers, \
   ta,                                                                          \
   tb,                                                                          \
   td,                                                                          \
   kM,                                                                          \
   kN,                                                                          \
   depth,                                                                       \
   90,                                                                          \
   IntegerProducts::k##integers,                                                \
   launch<LOCKSTEP_STRUCT(depth, td, ta, tb, integers)>},
      LOCKSTEP_FORMS
#undef LOCKSTEP_FORM
  };
  return kForms;
}

}  // namespace lockstep::kernels
