#include <type_traits>

#include "kernels/argument_check.h"

#pragma nv_diag_suppress 177  // forms without this architecture are declared but not referenced
#include "kernels/matrix_unit.h"

namespace lockstep::kernels {
namespace {

#ifdef __CUDA_ARCH__
constexpr int kDevice = __CUDA_ARCH__ / 10;
#else
constexpr int kDevice = 0;
#endif

// The instruction with its operands: registers of D, which hold C before, and of A and B.
#define LOCKSTEP_MMA_2_1_1(text, type)                 \
  asm volatile(text " {%0, %1}, {%2}, {%3}, {%0, %1};" \
               : "+" type(d[0]), "+" type(d[1])        \
               : type(a[0]), type(b[0]))
#define LOCKSTEP_MMA_2_2_1(text, type)                     \
  asm volatile(text " {%0, %1}, {%2, %3}, {%4}, {%0, %1};" \
               : "+" type(d[0]), "+" type(d[1])            \
               : type(a[0]), type(a[1]), type(b[0]))
#define LOCKSTEP_MMA_2_4_2(text, type)                                 \
  asm volatile(text " {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};" \
               : "+" type(d[0]), "+" type(d[1])                        \
               : type(a[0]), type(a[1]), type(a[2]), type(a[3]), type(b[0]), type(b[1]))
#define LOCKSTEP_MMA_4_2_1(text, type)                                          \
  asm volatile(text " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"      \
               : "+" type(d[0]), "+" type(d[1]), "+" type(d[2]), "+" type(d[3]) \
               : type(a[0]), type(a[1]), type(b[0]))
#define LOCKSTEP_MMA_4_4_2(text, type)                                                 \
  asm volatile(text " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
               : "+" type(d[0]), "+" type(d[1]), "+" type(d[2]), "+" type(d[3])        \
               : type(a[0]), type(a[1]), type(a[2]), type(a[3]), type(b[0]), type(b[1]))
#define LOCKSTEP_MMA_4_8_4(text, type)                                                         \
  asm volatile(text                                                                            \
               " {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, " \
               "{%0, %1, %2, %3};"                                                             \
               : "+" type(d[0]), "+" type(d[1]), "+" type(d[2]), "+" type(d[3])                \
               : type(a[0]), type(a[1]), type(a[2]), type(a[3]), type(a[4]), type(a[5]),       \
                 type(a[6]), type(a[7]), type(b[0]), type(b[1]), type(b[2]), type(b[3]))

// One form: m rows (n is 8), k elements of `bits` bits. A lane's parts of all matrices are words.
// Words of A and B have 64 bits for f64 and 32 bits otherwise; so have words of C and D, which hold
// `kEach` elements.
template <int kRows, int kColumnsOfA, UnitElement kFactor, UnitElement kResult, int kCapability>
struct Shape {
  using Word = std::conditional_t<kFactor == UnitElement::kF64, std::uint64_t, std::uint32_t>;
  static constexpr int kWordBits = 8 * sizeof(Word), kNeeds = kCapability;
  static constexpr int kHalves = kRows / 8;
  static constexpr int kRowWords =
      kColumnsOfA * bits_of(kFactor) / kWordBits;  // of A's row and B's column
  static constexpr int kA = kHalves * kRowWords / 4, kB = kRowWords / 4;
  static constexpr int kPair =
      kResult == UnitElement::kF16 ? 1 : 2;  // words of two adjacent elements of D
  static constexpr int kD = kHalves * kPair;
};

// One warp per tile. Row and column of a lane's words: PTX ISA 9.0, 9.7.14.5.
template <class Form>
__global__ void __launch_bounds__(32)
    multiply(const typename Form::Word* a, const typename Form::Word* b,
             const typename Form::Word* c, typename Form::Word* d) {
  if constexpr (kDevice >= Form::kNeeds) {
    using Word = typename Form::Word;
    const int group = static_cast<int>(threadIdx.x) / 4, member = static_cast<int>(threadIdx.x) % 4;
    constexpr int kRow = Form::kRowWords, kRowOfD = 4 * Form::kPair;
    a += blockIdx.x * 8 * Form::kHalves * kRow;
    b += blockIdx.x * 8 * kRow;
    const int at = static_cast<int>(blockIdx.x) * 8 * Form::kHalves * kRowOfD + group * kRowOfD +
                   member * Form::kPair;
    Word as[Form::kA], bs[Form::kB], ds[Form::kD];
#pragma unroll
    for (int r = 0; r < Form::kA; ++r)
      as[r] = a[(group + 8 * (r % Form::kHalves)) * kRow + member + 4 * (r / Form::kHalves)];
#pragma unroll
    for (int r = 0; r < Form::kB; ++r) bs[r] = b[group * kRow + member + 4 * r];
#pragma unroll
    for (int r = 0; r < Form::kD; ++r)
      ds[r] = c[at + r / Form::kPair * 8 * kRowOfD + r % Form::kPair];
    Form::execute(ds, as, bs);
#pragma unroll
    for (int r = 0; r < Form::kD; ++r)
      d[at + r / Form::kPair * 8 * kRowOfD + r % Form::kPair] = ds[r];
  }
}

template <class Form>
LaunchStatus launch(const MatrixForm& form, const void* a, const void* b, const void* c, void* d,
                    int tiles, cudaStream_t stream) {
  using Word = typename Form::Word;
  multiply<Form><<<static_cast<unsigned>(tiles), 32, 0, stream>>>(
      static_cast<const Word*>(a), static_cast<const Word*>(b), static_cast<const Word*>(c),
      static_cast<Word*>(d));
  return launched(form.name, static_cast<unsigned>(tiles), 32);
}

// A form of the table below: LOCKSTEP_FORM(m, k, types of D, A and B as in PTX, registers,
// capability, integers, suffix).
#define LOCKSTEP_FLOATS                                         \
  LOCKSTEP_FORM(16, 8, f16, f16, f16, 2_2_1, 75, Multiply, )    \
  LOCKSTEP_FORM(16, 8, f32, f16, f16, 4_2_1, 75, Multiply, )    \
  LOCKSTEP_FORM(16, 16, f16, f16, f16, 2_4_2, 80, Multiply, )   \
  LOCKSTEP_FORM(16, 16, f32, f16, f16, 4_4_2, 80, Multiply, )   \
  LOCKSTEP_FORM(16, 8, f32, bf16, bf16, 4_2_1, 80, Multiply, )  \
  LOCKSTEP_FORM(16, 16, f32, bf16, bf16, 4_4_2, 80, Multiply, ) \
  LOCKSTEP_FORM(16, 4, f32, tf32, tf32, 4_2_1, 80, Multiply, )  \
  LOCKSTEP_FORM(16, 8, f32, tf32, tf32, 4_4_2, 80, Multiply, )  \
  LOCKSTEP_FORM(8, 4, f64, f64, f64, 2_1_1, 80, Multiply, )     \
  LOCKSTEP_FORM(16, 4, f64, f64, f64, 4_2_1, 90, Multiply, )    \
  LOCKSTEP_FORM(16, 8, f64, f64, f64, 4_4_2, 90, Multiply, )    \
  LOCKSTEP_FORM(16, 16, f64, f64, f64, 4_8_4, 90, Multiply, )

#define LOCKSTEP_FP8(ta, tb)                                \
  LOCKSTEP_FORM(16, 16, f16, ta, tb, 2_2_1, 89, Multiply, ) \
  LOCKSTEP_FORM(16, 16, f32, ta, tb, 4_2_1, 89, Multiply, ) \
  LOCKSTEP_FORM(16, 32, f16, ta, tb, 2_4_2, 89, Multiply, ) \
  LOCKSTEP_FORM(16, 32, f32, ta, tb, 4_4_2, 89, Multiply, )

#define LOCKSTEP_INTEGERS(type, k, twice_k)                                      \
  LOCKSTEP_FORM(8, k, s32, type, type, 2_1_1, 75, Multiply, )                    \
  LOCKSTEP_FORM(16, k, s32, type, type, 4_2_1, 80, Multiply, )                   \
  LOCKSTEP_FORM(16, twice_k, s32, type, type, 4_4_2, 80, Multiply, )             \
  LOCKSTEP_FORM(8, k, s32, type, type, 2_1_1, 75, MultiplySaturate, .satfinite)  \
  LOCKSTEP_FORM(16, k, s32, type, type, 4_2_1, 80, MultiplySaturate, .satfinite) \
  LOCKSTEP_FORM(16, twice_k, s32, type, type, 4_4_2, 80, MultiplySaturate, .satfinite)

#define LOCKSTEP_FORMS                                           \
  LOCKSTEP_FLOATS                                                \
  LOCKSTEP_FP8(e4m3, e4m3)                                       \
  LOCKSTEP_FP8(e4m3, e5m2)                                       \
  LOCKSTEP_FP8(e5m2, e4m3)                                       \
  LOCKSTEP_FP8(e5m2, e5m2)                                       \
  LOCKSTEP_INTEGERS(s8, 16, 32)                                  \
  LOCKSTEP_INTEGERS(u8, 16, 32)                                  \
  LOCKSTEP_INTEGERS(s4, 32, 64)                                  \
  LOCKSTEP_INTEGERS(u4, 32, 64)                                  \
  LOCKSTEP_FORM(8, 128, s32, b1, b1, 2_1_1, 75, Xor, .xor.popc)  \
  LOCKSTEP_FORM(8, 128, s32, b1, b1, 2_1_1, 80, And, .and.popc)  \
  LOCKSTEP_FORM(16, 128, s32, b1, b1, 4_2_1, 80, Xor, .xor.popc) \
  LOCKSTEP_FORM(16, 128, s32, b1, b1, 4_2_1, 80, And, .and.popc) \
  LOCKSTEP_FORM(16, 256, s32, b1, b1, 4_4_2, 80, Xor, .xor.popc) \
  LOCKSTEP_FORM(16, 256, s32, b1, b1, 4_4_2, 80, And, .and.popc)

// The types under their PTX names, and the type of their parts of D in an asm statement.
constexpr auto f16 = UnitElement::kF16;
constexpr auto bf16 = UnitElement::kBF16;
constexpr auto tf32 = UnitElement::kTF32;
constexpr auto f32 = UnitElement::kF32;
constexpr auto f64 = UnitElement::kF64;
constexpr auto e4m3 = UnitElement::kE4M3;
constexpr auto e5m2 = UnitElement::kE5M2;
constexpr auto s8 = UnitElement::kS8;
constexpr auto u8 = UnitElement::kU8;
constexpr auto s4 = UnitElement::kS4;
constexpr auto u4 = UnitElement::kU4;
constexpr auto b1 = UnitElement::kB1;
constexpr auto s32 = UnitElement::kS32;
#define LOCKSTEP_REGISTER_f16 "r"
#define LOCKSTEP_REGISTER_f32 "r"
#define LOCKSTEP_REGISTER_f64 "l"
#define LOCKSTEP_REGISTER_s32 "r"

// The suffix follows the shape, but the counting of bits is at the end.
#define LOCKSTEP_TEXT_Multiply(shape, types, suffix) "mma.sync.aligned." shape ".row.col" types
#define LOCKSTEP_TEXT_MultiplySaturate(shape, types, suffix) \
  "mma.sync.aligned." shape ".row.col" suffix types
#define LOCKSTEP_TEXT_Xor(shape, types, suffix) "mma.sync.aligned." shape ".row.col" types suffix
#define LOCKSTEP_TEXT_And(shape, types, suffix) "mma.sync.aligned." shape ".row.col" types suffix

#define LOCKSTEP_STRUCT(m, depth, td, ta, tb, integers) \
  Mma_##m##_##depth##_##td##_##ta##_##tb##_##integers

#define LOCKSTEP_FORM(m, depth, td, ta, tb, registers, capability, integers, suffix)               \
  struct LOCKSTEP_STRUCT(m, depth, td, ta, tb, integers) : Shape<m, depth, ta, td, capability> {   \
    static __device__ void execute(Word (&d)[kD], const Word (&a)[kA], const Word (&b)[kB]) {      \
      LOCKSTEP_MMA_##registers(                                                                    \
          LOCKSTEP_TEXT_##integers("m" #m "n8k" #depth, "." #td "." #ta "." #tb "." #td, #suffix), \
          LOCKSTEP_REGISTER_##td);                                                                 \
    }                                                                                              \
  };
LOCKSTEP_FORMS
#undef LOCKSTEP_FORM

#define LOCKSTEP_SAYS_Multiply ""
#define LOCKSTEP_SAYS_MultiplySaturate " saturating"
#define LOCKSTEP_SAYS_Xor " xor"
#define LOCKSTEP_SAYS_And " and"

}  // namespace

const std::vector<MatrixForm>& mma_forms() {
  static const std::vector<MatrixForm> kForms = {
#define LOCKSTEP_FORM(m, depth, td, ta, tb, registers, capability, integers, suffix) \
  {"mma m" #m "n8k" #depth " " #ta " x " #tb " to " #td LOCKSTEP_SAYS_##integers,    \
   ta,                                                                               \
   tb,                                                                               \
   td,                                                                               \
   m,                                                                                \
   8,                                                                                \
   depth,                                                                            \
   capability,                                                                       \
   IntegerProducts::k##integers,                                                     \
   launch<LOCKSTEP_STRUCT(m, depth, td, ta, tb, integers)>},
      LOCKSTEP_FORMS
#undef LOCKSTEP_FORM
  };
  return kForms;
}

LaunchStatus multiply_tiles(const MatrixForm& form, const void* a, const void* b, const void* c,
                            void* d, int tiles, cudaStream_t stream) {
  constexpr int kMost = 1 << 20;
  ArgumentCheck check("multiply_tiles");
  check.require(form.launch != nullptr,
                "the form has no launcher: take one of mma_forms() or wgmma_forms()");
  check.number("tiles", tiles, 0, kMost);
  if (!check.ok() || tiles == 0) return check.status();
  const auto bytes = [&](int tile) {
    return static_cast<std::uint64_t>(tile) * static_cast<std::uint64_t>(tiles);
  };
  check.array("a", a, 16);
  check.array("b", b, 16);
  check.array("c", c, 16);
  check.array("d", d, 16);
  check.apart("a", a, bytes(form.a_bytes()), "d", d, bytes(form.d_bytes()));
  check.apart("b", b, bytes(form.b_bytes()), "d", d, bytes(form.d_bytes()));
  check.apart("c", c, bytes(form.d_bytes()), "d", d, bytes(form.d_bytes()));
  return check.ok() ? form.launch(form, a, b, c, d, tiles, stream) : check.status();
}

}  // namespace lockstep::kernels
