#include "simulator/matrix/eight_sums.h"

#include <immintrin.h>

#include <algorithm>

namespace lockstep::matrix {
namespace {

__m256i load(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }

// Eight f32 as terms of a sum.
struct Terms {
  __m256i significand, sign, exponent, is_zero;
  bool finite;
};
Terms terms_of(__m256i bits) {
  const __m256i field = _mm256_and_si256(_mm256_srli_epi32(bits, 23), _mm256_set1_epi32(0xff)),
                subnormal = _mm256_cmpeq_epi32(field, _mm256_setzero_si256()),
                hidden = _mm256_andnot_si256(subnormal, _mm256_set1_epi32(0x800000)),
                fraction = _mm256_and_si256(bits, _mm256_set1_epi32(0x7fffff));
  Terms t;
  t.significand = _mm256_or_si256(fraction, hidden);
  t.sign = _mm256_srai_epi32(bits, 31);
  t.exponent = _mm256_sub_epi32(_mm256_sub_epi32(field, _mm256_set1_epi32(127)), subnormal);
  t.is_zero = _mm256_cmpeq_epi32(t.significand, _mm256_setzero_si256());
  t.finite = _mm256_testz_si256(_mm256_cmpeq_epi32(field, _mm256_set1_epi32(0xff)),
                                _mm256_set1_epi32(-1)) != 0;
  return t;
}

// Sums of eight lanes in 64 bits.
struct Wide {
  __m256i low = _mm256_setzero_si256(), high = _mm256_setzero_si256();
  void add(__m256i v) {
    low = _mm256_add_epi64(low, _mm256_cvtepi32_epi64(_mm256_castsi256_si128(v)));
    high = _mm256_add_epi64(high, _mm256_cvtepi32_epi64(_mm256_extracti128_si256(v, 1)));
  }
};

// sum * 2^scale of four lanes as f32, truncated. `tiny`: some are subnormal and not zero.
__m128 truncated(__m256i sum, __m128i scale, bool& tiny) {
  // A sum has at most 36 bits: added to 1.5 * 2^52 it is the end of an f64's significand.
  const __m256i magic = _mm256_set1_epi64x(0x4338000000000000);
  const __m256d whole =
      _mm256_sub_pd(_mm256_castsi256_pd(_mm256_add_epi64(sum, magic)), _mm256_castsi256_pd(magic));
  const __m256i power = _mm256_slli_epi64(
      _mm256_add_epi64(_mm256_cvtepi32_epi64(scale), _mm256_set1_epi64x(1023)), 52);
  const __m256d value = _mm256_mul_pd(whole, _mm256_castsi256_pd(power));
  const __m256d magnitude = _mm256_andnot_pd(_mm256_set1_pd(-0.0), value),
                below = _mm256_cmp_pd(magnitude, _mm256_set1_pd(0x1p-126), _CMP_LT_OQ),
                not_zero = _mm256_cmp_pd(value, _mm256_setzero_pd(), _CMP_NEQ_OQ);
  tiny = tiny || _mm256_movemask_pd(_mm256_and_pd(below, not_zero)) != 0;
  const __m256d kept =
      _mm256_and_pd(value, _mm256_castsi256_pd(_mm256_set1_epi64x(~std::int64_t{0x1fffffff})));
  return _mm256_cvtpd_ps(kept);
}

}  // namespace

bool EightSums::add(std::uint32_t* accumulators, const FactorPointers& row,
                    const FactorPointers& columns, int stride, int count,
                    const std::int32_t* zeros) const {
  // A product, shifted up to the last retained bit, has at most 27 bits: sixteen fit a word.
  constexpr int kStep = 16, kMost = 32;
  const Terms c = terms_of(load(accumulators));
  if (!c.finite) return false;
  const __m256i of_zero = _mm256_set1_epi32(unit_.zero_exponent);
  __m256i product[kMost], exponent[kMost];
  __m256i largest = _mm256_blendv_epi8(c.exponent, of_zero, c.is_zero);
  largest = _mm256_max_epi32(
      largest, _mm256_blendv_epi8(_mm256_set1_epi32(2 * kOfZero), of_zero, load(zeros)));
  for (int k = 0; k < count; ++k) {
    product[k] = _mm256_mullo_epi32(_mm256_set1_epi32(row.significands[k]),
                                    load(columns.significands + k * stride));
    exponent[k] =
        _mm256_add_epi32(_mm256_set1_epi32(row.exponents[k]), load(columns.exponents + k * stride));
    largest = _mm256_max_epi32(largest, exponent[k]);
  }
  const __m128i up = _mm_cvtsi32_si128(unit_.fraction_bits - product_bits_),
                up_of_c = _mm_cvtsi32_si128(unit_.fraction_bits - 23);
  Wide sum;
  for (int begin = 0; begin < count; begin += kStep) {
    __m256i total = _mm256_setzero_si256();
    for (int k = begin; k < std::min(begin + kStep, count); ++k) {
      const __m256i magnitude = _mm256_sll_epi32(_mm256_abs_epi32(product[k]), up);
      // A shift by more than 31 leaves nothing.
      const __m256i kept = _mm256_srlv_epi32(magnitude, _mm256_sub_epi32(largest, exponent[k]));
      total = _mm256_add_epi32(total, _mm256_sign_epi32(kept, product[k]));
    }
    sum.add(total);
  }
  const __m256i kept = _mm256_srlv_epi32(_mm256_sll_epi32(c.significand, up_of_c),
                                         _mm256_sub_epi32(largest, c.exponent));
  sum.add(_mm256_sub_epi32(_mm256_xor_si256(kept, c.sign), c.sign));
  const __m256i scale = _mm256_sub_epi32(largest, _mm256_set1_epi32(unit_.fraction_bits));
  bool tiny = false;
  const __m128 low = truncated(sum.low, _mm256_castsi256_si128(scale), tiny),
               high = truncated(sum.high, _mm256_extracti128_si256(scale, 1), tiny);
  if (tiny) return false;
  _mm256_storeu_ps(reinterpret_cast<float*>(accumulators), _mm256_set_m128(high, low));
  return true;
}

}  // namespace lockstep::matrix
