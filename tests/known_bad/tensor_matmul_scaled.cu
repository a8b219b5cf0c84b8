// Mutants of the product with block scaling: one step with a mistake about scales.
#include "kernels/tensor_matmul_scaled.cuh"
#include "tests/known_bad/tensor_matmul.h"

namespace lockstep::known_bad {
namespace {

using kernels::LaunchStatus;
using kernels::ScaledElement;
using kernels::TensorView;
using kernels::by_tcgen05::kCellScales;
using kernels::by_tcgen05::kCopyBytes;
using kernels::by_tcgen05::launch_scaled;
using kernels::by_tcgen05::ScaledTcgen05;
using Bytes = TensorView<const std::uint8_t>;

template <class Step>
LaunchStatus with(ScaledElement element, const Bytes& a, const Bytes& a_scales, const Bytes& b,
                  const Bytes& b_scales, const TensorView<const float>& c,
                  const TensorView<float>& d, cudaStream_t stream) {
  if (LaunchStatus status =
          kernels::check_tensor_matmul_scaled(element, a, a_scales, b, b_scales, c, d);
      !status.ok() || d.rows == 0 || d.columns == 0)
    return status;
  const auto given = kernels::by_tcgen05::scaled_arguments(a, a_scales, b, b_scales, c, d);
  return kernels::status_of(element == ScaledElement::kMxf8
                                ? launch_scaled<Step, ScaledElement::kMxf8>(given, stream)
                                : launch_scaled<Step, ScaledElement::kNvf4>(given, stream),
                            "known-bad tensor_matmul_scaled", "launching");
}

struct ScalesSwapped : ScaledTcgen05 {
  template <ScaledElement kElement>
  __device__ static void multiply_scaled(unsigned d, std::uint64_t a, std::uint64_t b,
                                         unsigned instruction, unsigned a_scales,
                                         unsigned b_scales) {
    ScaledTcgen05::multiply_scaled<kElement>(d, a, b, instruction, b_scales, a_scales);
  }
};

struct ScalesOfTheFirstStep : ScaledTcgen05 {
  template <ScaledElement>
  __device__ static unsigned byte_of_step(int) {
    return 0;
  }
};

struct ScalesRowByRow : ScaledTcgen05 {
  __device__ static int place_of_scale(int row, int scale) {
    return scale / kCellScales * kCopyBytes + row * kCellScales + scale % kCellScales;
  }
};

struct TakenForPowersOfTwo : ScaledTcgen05 {
  template <ScaledElement kElement>
  __device__ static unsigned scaled_instruction(int rows, int columns, unsigned byte) {
    return ScaledTcgen05::scaled_instruction<kElement>(rows, columns, byte) ^
           (kElement == ScaledElement::kNvf4 ? 1u << 23 : 0);
  }
};

struct TakenForE5m2 : ScaledTcgen05 {
  template <ScaledElement kElement>
  __device__ static unsigned scaled_instruction(int rows, int columns, unsigned byte) {
    return ScaledTcgen05::scaled_instruction<kElement>(rows, columns, byte) |
           (kElement == ScaledElement::kMxf8 ? 1u << 7 : 0);
  }
};

struct NeverCopiesScales : ScaledTcgen05 {
  __device__ static void copy_scales(unsigned, unsigned) {}
};

struct CopiesToTheNextColumn : ScaledTcgen05 {
  __device__ static void copy_scales(unsigned to, unsigned from) {
    ScaledTcgen05::copy_scales(to + 1, from);
  }
};

struct NoProxyFence : ScaledTcgen05 {
  __device__ static void publish_scales() {}
};

struct NoWaitForProducts : ScaledTcgen05 {
  __device__ static void wait_for_products(unsigned, unsigned) {}
};

// No mistake: one redundant fence for the scales.
struct FencesTwice : ScaledTcgen05 {
  __device__ static void publish_scales() {
    publish_stores();
    publish_stores();
  }
};

}  // namespace

Mutants<TensorMatmulScaledLauncher> tensor_matmul_scaled_mutants() {
  const Labels wrong = {"mismatch", "law"};
  const char* const in_time = "hardware is mostly done in time";
  return {
      {"scales_swapped",
       "the scales of A are taken for those of B",
       with<ScalesSwapped>,
       {"mismatch", "law", "finding:uninitialised"},
       wrong},
      {"scales_of_the_first_step", "every instruction of a stage has the first one's scales",
       with<ScalesOfTheFirstStep>, wrong, wrong},
      {"scales_row_by_row",
       "scales of a row after the other, not of every 32nd",
       with<ScalesRowByRow>,
       {"mismatch", "law", "finding:uninitialised"},
       wrong},
      {"taken_for_powers_of_two", "the instruction descriptor names ue8m0 for ue4m3",
       with<TakenForPowersOfTwo>, wrong, wrong},
      {"taken_for_e5m2", "the instruction descriptor names e5m2 for A", with<TakenForE5m2>, wrong,
       wrong},
      {"never_copies_scales",
       "no tcgen05.cp",
       with<NeverCopiesScales>,
       {"finding:uninitialised"},
       wrong},
      {"copies_to_the_next_column",
       "copies scales a column too far",
       with<CopiesToTheNextColumn>,
       {"mismatch", "law", "finding:uninitialised"},
       wrong},
      {"no_proxy_fence",
       "no fence.proxy.async between stores of scales and tcgen05.cp",
       with<NoProxyFence>,
       {"finding:missing-proxy-fence"},
       {},
       in_time},
      {"no_wait_for_products",
       "reads the accumulator before the commit of its products",
       with<NoWaitForProducts>,
       {"finding:async-order", "finding:race", "finding:missing-proxy-fence"},
       {},
       in_time},
      // Negative controls.
      {"in_steps", "the unchanged steps from which the mutants are made", with<ScaledTcgen05>},
      {"fences_twice", "a fence too many", with<FencesTwice>},
  };
}

}  // namespace lockstep::known_bad
