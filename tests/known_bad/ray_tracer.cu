// Mutants of the ray tracer. The correct kernel consists of steps; a mutant replaces one step by a
// typical mistake. The negative controls at the end are correct in another way and must be
// accepted.
#include <algorithm>

#include "tests/known_bad/ray_tracer.h"

namespace lockstep::known_bad {
namespace {

using kernels::LaunchStatus;
using kernels::RayTracerVariant;
using kernels::Sphere;

constexpr const char* kWho = "known-bad ray tracer";
constexpr int kSide = 8;  // threads along one side of a block
constexpr int kMaxGridY = 65535;

// The correct steps. They read spheres from global memory for every variant.
struct Honest {
  __device__ static float centre(int size) { return size * 0.5f; }
  __device__ static bool inside(int x, int y, int width, int height) {
    return x < width && y < height;
  }
  __device__ static int next_row(int top) { return top + gridDim.y * kSide; }
  __device__ static float nothing() { return -INFINITY; }
  __device__ static float distance(float dx, float dy) {
    return __fmaf_rn(dx, dx, __fmul_rn(dy, dy));
  }
  __device__ static bool hit(float distance, float square, float radius) {
    return radius > 0 && distance < square;
  }
  __device__ static bool higher(float here, float highest) { return here > highest; }
  __device__ static float remember(float here, float) { return here; }
  __device__ static float height(float z, float dz) { return __fadd_rn(z, dz); }
  __device__ static float shade(float dz, float radius) { return __fdiv_rn(dz, radius); }
  __device__ static unsigned char level(float v) {
    return static_cast<unsigned char>(__float2int_rn(fminf(fmaxf(v, 0.f), 255.f)));
  }
  __device__ static uchar4 pixel(unsigned char r, unsigned char g, unsigned char b) {
    return make_uchar4(r, g, b, 255);
  }
  __device__ static uchar4 background() { return make_uchar4(0, 0, 0, 255); }
  __device__ static std::size_t row(int y, std::size_t pitch, int) { return y * pitch; }
  __device__ static float y_of(float oy) { return oy; }
  static dim3 grid(int width, int height) {
    return dim3((width - 1) / kSide + 1, std::min((height - 1) / kSide + 1, kMaxGridY));
  }
};

template <class Step>
__global__ void trace(const Sphere* spheres, int count, std::uint8_t* image, int width, int height,
                      std::size_t pitch) {
  const int x = blockIdx.x * kSide + threadIdx.x;
  // The grid's height is limited: its blocks stride over the rows.
  for (int top = blockIdx.y * kSide; top < height; top = Step::next_row(top)) {
    const int y = top + threadIdx.y;
    if (!Step::inside(x, y, width, height)) return;
    const float ox = x + 0.5f - Step::centre(width),
                oy = Step::y_of(y + 0.5f - Step::centre(height));
    uchar4 colour = Step::background();
    float highest = Step::nothing();
    for (int i = 0; i < count; ++i) {
      const Sphere s = spheres[i];
      const float dx = __fsub_rn(ox, s.x), dy = __fsub_rn(oy, s.y);
      const float distance = Step::distance(dx, dy), square = __fmul_rn(s.radius, s.radius);
      if (!Step::hit(distance, square, s.radius)) continue;
      const float dz = __fsqrt_rn(__fsub_rn(square, distance)), here = Step::height(s.z, dz);
      if (!Step::higher(here, highest)) continue;
      highest = Step::remember(here, highest);
      const float shade = Step::shade(dz, s.radius);
      const auto level = [&](float c) {
        return Step::level(__fmul_rn(__fmul_rn(c, shade), 255.f));
      };
      colour = Step::pixel(level(s.r), level(s.g), level(s.b));
    }
    *reinterpret_cast<uchar4*>(image + Step::row(y, pitch, width) + 4 * x) = colour;
  }
}

template <class Step>
LaunchStatus launch(RayTracerVariant variant, const Sphere* spheres, int count, std::uint8_t* image,
                    int width, int height, std::size_t pitch, cudaStream_t stream) {
  LaunchStatus status = check_ray_trace(variant, spheres, count, image, width, height, pitch);
  if (!status.ok() || width == 0 || height == 0) return status;
  const dim3 grid = Step::grid(width, height);
  if (grid.x > 0 && grid.y > 0)
    trace<Step>
        <<<grid, dim3(kSide, kSide), 0, stream>>>(spheres, count, image, width, height, pitch);
  return kernels::status_of(cudaGetLastError(), kWho, "launching");
}

struct LastSphereWins : Honest {
  __device__ static float remember(float, float highest) { return highest; }
};

struct LowestWins : Honest {
  __device__ static float height(float z, float dz) { return -Honest::height(z, dz); }
};

struct DepthForgotten : Honest {
  __device__ static float height(float z, float) { return z; }
};

struct IntegerHalf : Honest {
  __device__ static float centre(int size) { return static_cast<float>(size / 2); }
};

struct UpsideDown : Honest {
  __device__ static float y_of(float oy) { return -oy; }
};

struct RowsOfTheGrid : Honest {
  __device__ static std::size_t row(int y, std::size_t, int) {
    return 4 * static_cast<std::size_t>(y) * gridDim.x * kSide;
  }
};

struct RowsIn32Bits : Honest {
  __device__ static std::size_t row(int y, std::size_t pitch, int) {
    return static_cast<unsigned>(y) * static_cast<unsigned>(pitch);
  }
};

struct PitchForgotten : Honest {
  __device__ static std::size_t row(int y, std::size_t, int width) {
    return 4 * static_cast<std::size_t>(y) * width;
  }
};

struct BlueFirst : Honest {
  __device__ static uchar4 pixel(unsigned char r, unsigned char g, unsigned char b) {
    return make_uchar4(b, g, r, 255);
  }
};

struct Transparent : Honest {
  __device__ static uchar4 background() { return make_uchar4(0, 0, 0, 0); }
};

struct NoRightEdge : Honest {
  __device__ static bool inside(int, int y, int, int height) { return y < height; }
};

struct NoBottomEdge : Honest {
  __device__ static bool inside(int x, int, int width, int) { return x < width; }
};

struct WholeBlocksOnly : Honest {
  static dim3 grid(int width, int height) { return dim3(width / kSide, height / kSide); }
};

struct HitsAtTheRim : Honest {
  __device__ static bool hit(float distance, float square, float) { return distance <= square; }
};

struct ShadeOfTheHeight : Honest {
  __device__ static float shade(float dz, float) { return dz; }
};

struct Truncates : Honest {
  __device__ static unsigned char level(float v) {
    return static_cast<unsigned char>(static_cast<int>(fminf(fmaxf(v, 0.f), 254.f)) & 0xfc);
  }
};

struct SquareRootOfTheShade : Honest {
  __device__ static float shade(float dz, float radius) { return sqrtf(__fdiv_rn(dz, radius)); }
};

struct HitsWhereItTouches : Honest {
  __device__ static bool hit(float distance, float square, float radius) {
    return radius > 0 && distance <= square;
  }
};

struct NegativeRadius : Honest {
  __device__ static bool hit(float distance, float square, float) { return distance < square; }
};

struct LastOfEqualHeights : Honest {
  __device__ static bool higher(float here, float highest) {
    return here >= highest && here > -INFINITY;
  }
};

struct UndefinedHeight : Honest {
  __device__ static bool higher(float here, float highest) { return !(here <= highest); }
};

struct FarBelowIsNothing : Honest {
  __device__ static float nothing() { return -1e30f; }
};

struct OtherSquareFused : Honest {
  __device__ static float distance(float dx, float dy) {
    return __fmaf_rn(dy, dy, __fmul_rn(dx, dx));
  }
};

struct HeightToZero : Honest {
  __device__ static float height(float z, float dz) { return __fadd_rz(z, dz); }
};

struct Reciprocal : Honest {
  __device__ static float shade(float dz, float radius) { return __fmul_rn(dz, __frcp_rn(radius)); }
};

struct HalfALevelUp : Honest {
  __device__ static unsigned char level(float v) {
    return static_cast<unsigned char>(__float2int_rd(fminf(fmaxf(v, 0.f), 255.f) + 0.5f));
  }
};

struct UndefinedIsWhite : Honest {
  __device__ static unsigned char level(float v) {
    return static_cast<unsigned char>(__float2int_rn(fminf(v < 0 ? 0 : v, 255.f)));
  }
};

struct OneGridOfRows : Honest {
  __device__ static int next_row(int) { return 0x7fffffff; }
};

LaunchStatus full_list_refused(RayTracerVariant variant, const Sphere* spheres, int count,
                               std::uint8_t* image, int width, int height, std::size_t pitch,
                               cudaStream_t stream) {
  if (count == kernels::kMaxConstantSpheres) return kernels::refused(kWho, "too many spheres");
  return launch<Honest>(variant, spheres, count, image, width, height, pitch, stream);
}

LaunchStatus constant_limit_unchecked(RayTracerVariant variant, const Sphere* spheres, int count,
                                      std::uint8_t* image, int width, int height, std::size_t pitch,
                                      cudaStream_t stream) {
  const LaunchStatus status = check_ray_trace(variant, spheres, count, image, width, height, pitch);
  if (!status.ok() && count > kernels::kMaxConstantSpheres) return {};
  return launch<Honest>(variant, spheres, count, image, width, height, pitch, stream);
}

// ---- Negative controls.

// Goes backwards through the list; the later of two equal heights wins: the same sphere.
__global__ void backwards(const Sphere* spheres, int count, std::uint8_t* image, int width,
                          int height, std::size_t pitch) {
  for (std::int64_t e = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
       e < std::int64_t{width} * height; e += std::int64_t{gridDim.x} * blockDim.x) {
    const int x = static_cast<int>(e % width), y = static_cast<int>(e / width);
    const float ox = x + 0.5f - width * 0.5f, oy = y + 0.5f - height * 0.5f;
    uchar4 colour = Honest::background();
    float highest = -INFINITY;
    for (int i = count - 1; i >= 0; --i) {
      const Sphere s = spheres[i];
      const float dx = ox - s.x, dy = oy - s.y, distance = __fmaf_rn(dx, dx, __fmul_rn(dy, dy)),
                  square = __fmul_rn(s.radius, s.radius);
      if (!Honest::hit(distance, square, s.radius)) continue;
      const float dz = __fsqrt_rn(__fsub_rn(square, distance)), here = Honest::height(s.z, dz);
      if (!(here >= highest && here > -INFINITY)) continue;
      highest = here;
      const float shade = Honest::shade(dz, s.radius);
      const auto level = [&](float c) {
        return Honest::level(__fmul_rn(__fmul_rn(c, shade), 255.f));
      };
      colour = Honest::pixel(level(s.r), level(s.g), level(s.b));
    }
    *reinterpret_cast<uchar4*>(image + y * pitch + 4 * x) = colour;
  }
}

LaunchStatus launch_backwards(RayTracerVariant variant, const Sphere* spheres, int count,
                              std::uint8_t* image, int width, int height, std::size_t pitch,
                              cudaStream_t stream) {
  LaunchStatus status = check_ray_trace(variant, spheres, count, image, width, height, pitch);
  if (!status.ok() || width == 0 || height == 0) return status;
  backwards<<<4, 64, 0, stream>>>(spheres, count, image, width, height, pitch);
  return kernels::status_of(cudaGetLastError(), kWho, "launching");
}

// Channels shifted into a word.
struct PackedByHand : Honest {
  __device__ static uchar4 pixel(unsigned char r, unsigned char g, unsigned char b) {
    const unsigned word =
        0xff000000u | static_cast<unsigned>(b) << 16 | static_cast<unsigned>(g) << 8 | r;
    return *reinterpret_cast<const uchar4*>(&word);
  }
};

}  // namespace

Mutants<RayTracerLauncher> ray_tracer_mutants() {
  return {
      {"rows_in_32_bits",
       "the offset of a row in 32 bits",
       launch<RowsIn32Bits>,
       {"finding:out-of-bounds", "finding:race", "unwritten", "mismatch"},
       {},
       "an access far outside ends the context: the rest of the process could not run"},
      {"last_sphere_wins",
       "the greatest height is never updated",
       launch<LastSphereWins>,
       {"mismatch"},
       {"mismatch"}},
      {"lowest_wins",
       "the lowest hit for the highest",
       launch<LowestWins>,
       {"mismatch"},
       {"mismatch"}},
      {"depth_forgotten",
       "compares centres, not surfaces",
       launch<DepthForgotten>,
       {"mismatch"},
       {"mismatch"}},
      {"integer_half",
       "size / 2 in integers: odd sizes are off by half a pixel",
       launch<IntegerHalf>,
       {"mismatch"},
       {"mismatch"}},
      {"upside_down", "y grows upward", launch<UpsideDown>, {"mismatch"}, {"mismatch"}},
      {"rows_of_the_grid",
       "row stride taken from the grid, not from the image",
       launch<RowsOfTheGrid>,
       {"finding:out-of-bounds", "finding:race", "guard", "unwritten", "mismatch"},
       {"guard", "unwritten", "mismatch"}},
      {"pitch_forgotten",
       "rows taken as dense",
       launch<PitchForgotten>,
       {"guard", "unwritten", "mismatch"},
       {"guard", "unwritten", "mismatch"}},
      {"blue_first", "BGRA for RGBA", launch<BlueFirst>, {"mismatch"}, {"mismatch"}},
      {"transparent",
       "a background without alpha",
       launch<Transparent>,
       {"mismatch"},
       {"mismatch"}},
      {"no_right_edge",
       "no check of the last columns",
       launch<NoRightEdge>,
       {"finding:out-of-bounds", "finding:race", "guard"},
       {"guard", "mismatch"}},
      {"no_bottom_edge",
       "no check of the last rows",
       launch<NoBottomEdge>,
       {"finding:out-of-bounds"},
       {"guard"}},
      {"whole_blocks_only",
       "size / block blocks: the last rows and columns are nobody's",
       launch<WholeBlocksOnly>,
       {"unwritten"},
       {"unwritten"}},
      {"hits_at_the_rim",
       "distance <= radius, and no check of the radius: 0 / 0 at a point",
       launch<HitsAtTheRim>,
       {"mismatch"},
       {"mismatch"}},
      {"shade_of_the_height",
       "shades by dz, not dz / radius",
       launch<ShadeOfTheHeight>,
       {"mismatch"},
       {"mismatch"}},
      {"truncates", "keeps six bits of a channel", launch<Truncates>, {"mismatch"}, {"mismatch"}},
      {"square_root_of_the_shade",
       "a gamma that nobody asked for",
       launch<SquareRootOfTheShade>,
       {"mismatch"},
       {"mismatch"}},
      {"hits_where_it_touches",
       "distance <= radius: a ray that touches",
       launch<HitsWhereItTouches>,
       {"mismatch"},
       {"mismatch"}},
      {"negative_radius",
       "no check of the radius: its square hides the sign",
       launch<NegativeRadius>,
       {"mismatch"},
       {"mismatch"}},
      {"last_of_equal_heights", ">= for >", launch<LastOfEqualHeights>, {"mismatch"}, {"mismatch"}},
      {"undefined_height",
       "a height of NaN is drawn",
       launch<UndefinedHeight>,
       {"mismatch"},
       {"mismatch"}},
      {"far_below_is_nothing",
       "-1e30 for minus infinity",
       launch<FarBelowIsNothing>,
       {"mismatch"},
       {"mismatch"}},
      {"other_square_fused",
       "fma(dy, dy, dx * dx)",
       launch<OtherSquareFused>,
       {"mismatch"},
       {"mismatch"}},
      {"height_to_zero",
       "__fadd_rz for __fadd_rn",
       launch<HeightToZero>,
       {"mismatch"},
       {"mismatch"}},
      {"reciprocal",
       "dz * (1 / radius) for dz / radius",
       launch<Reciprocal>,
       {"mismatch"},
       {"mismatch"}},
      {"half_a_level_up",
       "a level of k + 1/2 becomes k + 1, not even",
       launch<HalfALevelUp>,
       {"mismatch"},
       {"mismatch"}},
      {"undefined_is_white",
       "a colour of NaN passes the lower clamp",
       launch<UndefinedIsWhite>,
       {"mismatch"},
       {"mismatch"}},
      {"one_grid_of_rows",
       "no stride over the rows that a grid of 65,535 blocks does not cover",
       launch<OneGridOfRows>,
       {"unwritten", "mismatch"},
       {"unwritten", "mismatch"}},
      // Negative controls.
      {"in_steps", "the unchanged steps from which the mutants are made", launch<Honest>},
      {"backwards", "the list backwards, pixels along one line", launch_backwards},
      {"packed_by_hand", "channels shifted into a word", launch<PackedByHand>},
  };
}

Mutants<RayTracerLauncher> ray_tracer_launcher_mutants() {
  return {
      {"constant_limit_unchecked",
       "more spheres than constant memory holds, without a word",
       constant_limit_unchecked,
       {"law"},
       {"law"}},
      {"full_list_refused",
       "2,340 spheres are too many",
       full_list_refused,
       {"law", "cuda-error"},
       {"law", "cuda-error"}},
  };
}

}  // namespace lockstep::known_bad
