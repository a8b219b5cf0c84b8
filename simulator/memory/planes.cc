#include "simulator/memory/planes.h"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <limits>

namespace lockstep::memory {
namespace {

// Of eight lanes along one dimension: the two indices, and the position between them in steps of
// 1/256. 0: the second is not read.
struct Axes {
  __m256i low, high, fraction;
};

// As axis_of() of image.cc where indices are clamped.
Axes clamped_axes(const float coordinates[], std::uint32_t extent, bool normalized) {
  __m256 x = _mm256_loadu_ps(coordinates);
  const __m256 size = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x),
               least = _mm256_set1_ps(std::numeric_limits<float>::min());
  x = _mm256_andnot_ps(_mm256_cmp_ps(size, least, _CMP_LT_OQ), x);
  __m128i steps[2];
  for (int half = 0; half < 2; ++half) {
    __m256d d =
        _mm256_cvtps_pd(half == 0 ? _mm256_castps256_ps128(x) : _mm256_extractf128_ps(x, 1));
    if (normalized) {
      constexpr double kSteps = 1 << 21;
      const __m256d cut = _mm256_floor_pd(_mm256_mul_pd(d, _mm256_set1_pd(kSteps))),
                    scaled = _mm256_mul_pd(_mm256_mul_pd(cut, _mm256_set1_pd(1 / kSteps)),
                                           _mm256_set1_pd(extent)),
                    near = _mm256_cmp_pd(_mm256_andnot_pd(_mm256_set1_pd(-0.0), d),
                                         _mm256_set1_pd(1e12), _CMP_LT_OQ);
      d = _mm256_blendv_pd(d, scaled, near);
    }
    // Beyond the elements beside the edges all places are alike. Of a NaN the second operand stays.
    d = _mm256_sub_pd(d, _mm256_set1_pd(0.5));
    d = _mm256_max_pd(d, _mm256_set1_pd(-2));
    d = _mm256_min_pd(d, _mm256_set1_pd(extent + 1.0));
    d = _mm256_add_pd(_mm256_mul_pd(d, _mm256_set1_pd(256)), _mm256_set1_pd(0.5));
    steps[half] = _mm256_cvtpd_epi32(_mm256_floor_pd(d));
  }
  const __m256i all = _mm256_set_m128i(steps[1], steps[0]), zero = _mm256_setzero_si256(),
                last = _mm256_set1_epi32(static_cast<int>(extent - 1)),
                first = _mm256_srai_epi32(all, 8);
  // An edge element needs no interpolation with itself.
  const __m256i inside =
      _mm256_andnot_si256(_mm256_cmpgt_epi32(zero, first), _mm256_cmpgt_epi32(last, first));
  const auto clamped = [&](__m256i i) { return _mm256_min_epi32(_mm256_max_epi32(i, zero), last); };
  return {clamped(first), clamped(_mm256_add_epi32(first, _mm256_set1_epi32(1))),
          _mm256_and_si256(inside, _mm256_and_si256(all, _mm256_set1_epi32(255)))};
}

// Whether eight lanes can be placed at once: indices are clamped, and products fit.
bool is_clamped(const Texture& t) {
  const Image& image = t.image;
  constexpr std::uint32_t kMostExtent = 1 << 20;
  const auto clamps = [&](AddressMode mode) {
    return mode == AddressMode::kClamp || !t.normalized_coordinates;
  };
  return clamps(t.address[0]) && clamps(t.address[1]) && image.width <= kMostExtent &&
         image.height <= kMostExtent && image.pitch >> 32 == 0 && image.slice >> 32 == 0;
}

void sample_lane(const Texture& t, float x, float y, std::uint32_t layer, int lane,
                 PlaneSamples& to) {
  const float at[3] = {x, y, 0};
  const Sample s = sample(t, at, layer);
  for (std::size_t n = 0; n < 4; ++n) {
    const bool reads = static_cast<int>(n) < s.count;
    to.address[n][lane] = s.taps[n].address;
    to.weight[n][lane] = reads ? s.taps[n].weight : 0;
    to.reading[n] |= std::uint32_t{reads} << lane;
  }
}

__m256i products(__m256i factors, int half, std::uint64_t by) {
  const __m128i four =
      half == 0 ? _mm256_castsi256_si128(factors) : _mm256_extracti128_si256(factors, 1);
  return _mm256_mul_epu32(_mm256_cvtepu32_epi64(four),
                          _mm256_set1_epi64x(static_cast<std::int64_t>(by)));
}

void store(void* to, __m256i v) { _mm256_store_si256(static_cast<__m256i*>(to), v); }

std::uint32_t bits_of(__m256i mask) {
  return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(mask)));
}

// Places eight lanes from `lane` on.
void place_lanes(const Image& image, const Axes& x, const Axes& y, __m256i layers, int lane,
                 PlaneSamples& to) {
  const __m256i zero = _mm256_setzero_si256(), ones = _mm256_set1_epi32(-1);
  const __m256i across = _mm256_xor_si256(_mm256_cmpeq_epi32(x.fraction, zero), ones),
                down = _mm256_xor_si256(_mm256_cmpeq_epi32(y.fraction, zero), ones);
  // The same weights as weigh() computes for two dimensions.
  const __m256i both = _mm256_srli_epi32(
      _mm256_add_epi32(_mm256_mullo_epi32(x.fraction, y.fraction), _mm256_set1_epi32(128)), 8);
  const __m256i right = _mm256_sub_epi32(x.fraction, both),
                below = _mm256_sub_epi32(y.fraction, both),
                here =
                    _mm256_sub_epi32(_mm256_sub_epi32(_mm256_set1_epi32(256), x.fraction), below);
  // Of a lane that reads two elements, the second is beside the first or below it.
  const __m256i four = _mm256_and_si256(across, down);
  store(&to.weight[0][lane], here);
  store(&to.weight[1][lane], _mm256_blendv_epi8(below, right, across));
  store(&to.weight[2][lane], _mm256_and_si256(four, below));
  store(&to.weight[3][lane], _mm256_and_si256(four, both));
  to.reading[0] |= 0xffu << lane;
  to.reading[1] |= bits_of(_mm256_or_si256(across, down)) << lane;
  to.reading[2] |= bits_of(four) << lane;
  to.reading[3] |= bits_of(four) << lane;
  for (int half = 0; half < 2; ++half) {
    const int l = lane + 4 * half;
    const __m256i base = _mm256_add_epi64(_mm256_set1_epi64x(static_cast<std::int64_t>(image.base)),
                                          products(layers, half, image.slice));
    const __m256i upper = _mm256_add_epi64(base, products(y.low, half, image.pitch)),
                  lower = _mm256_add_epi64(base, products(y.high, half, image.pitch)),
                  left = products(x.low, half, 4), beside = products(x.high, half, 4);
    const __m256i wide_across = _mm256_cvtepi32_epi64(
        half == 0 ? _mm256_castsi256_si128(across) : _mm256_extracti128_si256(across, 1));
    const __m256i lower_left = _mm256_add_epi64(lower, left);
    store(&to.address[0][l], _mm256_add_epi64(upper, left));
    store(&to.address[1][l],
          _mm256_blendv_epi8(lower_left, _mm256_add_epi64(upper, beside), wide_across));
    store(&to.address[2][l], lower_left);
    store(&to.address[3][l], _mm256_add_epi64(lower, beside));
  }
}

// A lane by the general way.
std::uint32_t filtered_lane(const Texture& t, const PlaneSamples& samples,
                            const float elements[][kPlaneLanes], int lane) {
  Sample s;
  Texel texels[4] = {};
  s.count = 4;
  for (std::size_t n = 0; n < 4; ++n) {
    s.taps[n].weight = samples.weight[n][lane];
    texels[n][0] = std::bit_cast<std::uint32_t>(elements[n][lane]);
  }
  return filter(t, s, texels)[0];
}

// mix() of image.cc for 24 digits and four lanes whose largest value is far from all limits. Every
// product is an integer below 2^36, so their sum is exact.
__m128 mixed(const __m128 values[4], const __m128i weights[4], __m128i largest) {
  const auto power_of_two = [](__m256i n) {
    return _mm256_castsi256_pd(
        _mm256_slli_epi64(_mm256_add_epi64(n, _mm256_set1_epi64x(1023)), 52));
  };
  const __m256i exponents =
      _mm256_cvtepi32_epi64(_mm_sub_epi32(_mm_srli_epi32(largest, 23), _mm_set1_epi32(126)));
  const __m256d units = power_of_two(_mm256_sub_epi64(_mm256_set1_epi64x(28), exponents));
  __m256d sum = _mm256_setzero_pd();
  for (int n = 0; n < 4; ++n) {
    const __m256d cut = _mm256_round_pd(_mm256_mul_pd(_mm256_cvtps_pd(values[n]), units),
                                        _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    sum = _mm256_add_pd(sum, _mm256_mul_pd(_mm256_cvtepi32_pd(weights[n]), cut));
  }
  // To 24 digits, ties away from zero: the other 29 of a double are dropped.
  constexpr std::int64_t kDropped = (std::int64_t{1} << 29) - 1;
  const __m256i rounded = _mm256_andnot_si256(
      _mm256_set1_epi64x(kDropped),
      _mm256_add_epi64(_mm256_castpd_si256(sum), _mm256_set1_epi64x((kDropped + 1) / 2)));
  return _mm256_cvtpd_ps(
      _mm256_mul_pd(_mm256_castsi256_pd(rounded),
                    power_of_two(_mm256_sub_epi64(exponents, _mm256_set1_epi64x(36)))));
}

}  // namespace

bool is_filtered_plane(const Texture& t) {
  const auto leaves_none_outside = [&](AddressMode mode) { return mode != AddressMode::kBorder; };
  return t.linear && !t.linear_memory && !t.image.cube && t.image.dimensions == 2 &&
         t.image.format.kind == ChannelKind::kFloat && t.image.format.bits == 32 &&
         t.image.format.channels == 1 && leaves_none_outside(t.address[0]) &&
         leaves_none_outside(t.address[1]);
}

PlaneSamples sample_plane(const Texture& t, const float x[], const float y[],
                          const std::uint32_t layers[], std::uint32_t lanes) {
  const Image& image = t.image;
  const bool layered = image.layered && layers != nullptr;
  PlaneSamples result;
  std::fill(result.reading, result.reading + 4, 0u);
  if (!is_clamped(t)) {
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      const int i = std::countr_zero(rest);
      sample_lane(t, x[i], y[i], layered ? layers[i] : 0, i, result);
    }
    return result;
  }
  const __m256i last = _mm256_set1_epi32(static_cast<int>(image.depth - 1));
  for (int lane = 0; lane < kPlaneLanes; lane += 8) {
    const __m256i chosen =
        layered ? _mm256_min_epu32(
                      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(layers + lane)), last)
                : _mm256_setzero_si256();
    place_lanes(image, clamped_axes(x + lane, image.width, t.normalized_coordinates),
                clamped_axes(y + lane, image.height, t.normalized_coordinates), chosen, lane,
                result);
  }
  for (std::uint32_t& reading : result.reading) reading &= lanes;
  return result;
}

void filter_plane(const Texture& t, const PlaneSamples& samples,
                  const float elements[][kPlaneLanes], std::uint32_t results[]) {
  const __m256i zero = _mm256_setzero_si256(), size = _mm256_set1_epi32(0x7fffffff);
  // Exponents from -60 to 100: no value near infinity, no result near the subnormals.
  const __m256i above = _mm256_set1_epi32((127 - 60) << 23),
                below = _mm256_set1_epi32((127 + 100) << 23);
  for (int lane = 0; lane < kPlaneLanes; lane += 8) {
    __m256i values[4], weights[4], largest = zero;
    for (int n = 0; n < 4; ++n) {
      weights[n] = _mm256_load_si256(reinterpret_cast<const __m256i*>(&samples.weight[n][lane]));
      const __m256i v = _mm256_castps_si256(_mm256_loadu_ps(&elements[n][lane]));
      // A value without weight counts as 0. So does a subnormal: mixed() drops its digits.
      values[n] = _mm256_andnot_si256(_mm256_cmpeq_epi32(weights[n], zero), v);
      largest = _mm256_max_epi32(largest, _mm256_and_si256(values[n], size));
    }
    for (int half = 0; half < 2; ++half) {
      const auto of = [&](__m256i v) {
        return half == 0 ? _mm256_castsi256_si128(v) : _mm256_extracti128_si256(v, 1);
      };
      const __m128 v[4] = {_mm_castsi128_ps(of(values[0])), _mm_castsi128_ps(of(values[1])),
                           _mm_castsi128_ps(of(values[2])), _mm_castsi128_ps(of(values[3]))};
      const __m128i w[4] = {of(weights[0]), of(weights[1]), of(weights[2]), of(weights[3])};
      _mm_storeu_ps(reinterpret_cast<float*>(results + lane + 4 * half), mixed(v, w, of(largest)));
    }
    const __m256i ordinary =
        _mm256_and_si256(_mm256_cmpgt_epi32(largest, above), _mm256_cmpgt_epi32(below, largest));
    const std::uint32_t read = samples.reading[0] >> lane & 0xff;
    for (std::uint32_t rest = ~bits_of(ordinary) & read; rest != 0; rest &= rest - 1) {
      const int i = lane + std::countr_zero(rest);
      results[i] = filtered_lane(t, samples, elements, i);
    }
  }
}

}  // namespace lockstep::memory
