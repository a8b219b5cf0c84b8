#include <limits>
#include <string>

#include "kernels/tensor_matmul_scaled.cuh"
#include "kernels/tensor_view_check.h"

namespace lockstep::kernels {
namespace {

constexpr const char* kWho = "tensor_matmul_scaled";

using Bytes = TensorView<const std::uint8_t>;

}  // namespace

LaunchStatus check_tensor_matmul_scaled(ScaledElement element, const Bytes& a,
                                        const Bytes& a_scales, const Bytes& b,
                                        const Bytes& b_scales, const TensorView<const float>& c,
                                        const TensorView<float>& d) {
  ArgumentCheck check(kWho);
  check.enumerator("element", element, ScaledElement::kNvf4);
  if (!check.ok()) return check.status();
  check_matrix(check, "a", a, 1);
  check_matrix(check, "a_scales", a_scales, 1);
  check_matrix(check, "b", b, 1);
  check_matrix(check, "b_scales", b_scales, 1);
  check_matrix(check, "c", c, 4);
  check_matrix(check, "d", d, 4);
  check.require(a.columns == b.columns && a.rows == c.rows && b.rows == c.columns &&
                    c.rows == d.rows && c.columns == d.columns,
                "the shapes do not fit: a is " + shape(a) + ", b is " + shape(b) +
                    " by columns, c is " + shape(c) + ", d is " + shape(d));
  const std::int64_t scales = by_tcgen05::scales_of(element, a.columns);
  check.require(a_scales.rows == a.rows && b_scales.rows == b.rows && a_scales.columns == scales &&
                    b_scales.columns == scales,
                "the scales do not fit: rows of " + std::to_string(a.columns) + " bytes have " +
                    std::to_string(scales) + ", but a_scales is " + shape(a_scales) +
                    ", b_scales is " + shape(b_scales));
  if (!check.ok() || is_empty(d)) return check.status();
  const std::uint64_t bytes = extent_of(d, 4);
  check.apart("c", c.data, extent_of(c, 4), "d", d.data, bytes);
  if (is_empty(a)) return check.status();
  check.apart("a", a.data, extent_of(a, 1), "d", d.data, bytes);
  check.apart("a_scales", a_scales.data, extent_of(a_scales, 1), "d", d.data, bytes);
  check.apart("b", b.data, extent_of(b, 1), "d", d.data, bytes);
  check.apart("b_scales", b_scales.data, extent_of(b_scales, 1), "d", d.data, bytes);
  return check.status();
}

LaunchStatus tensor_matmul_scaled(ScaledElement element, const Bytes& a, const Bytes& a_scales,
                                  const Bytes& b, const Bytes& b_scales,
                                  const TensorView<const float>& c, const TensorView<float>& d,
                                  cudaStream_t stream) {
  using by_tcgen05::launch_scaled;
  using by_tcgen05::ScaledTcgen05;
  if (LaunchStatus status = check_tensor_matmul_scaled(element, a, a_scales, b, b_scales, c, d);
      !status.ok() || is_empty(d))
    return status;
  int device = 0, major = 0, minor = 0;
  for (const cudaError_t e :
       {cudaGetDevice(&device),
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device)}) {
    if (e != cudaSuccess) return status_of(e, kWho, "asking for the device's compute capability");
  }
  if (major != 10) {
    return {cudaErrorNotSupported, std::string(kWho) + ": a device of compute capability " +
                                       std::to_string(major) + "." + std::to_string(minor) +
                                       " has no products with scales in tensor memory"};
  }
  const by_tcgen05::ScaledArguments given =
      by_tcgen05::scaled_arguments(a, a_scales, b, b_scales, c, d);
  return status_of(element == ScaledElement::kMxf8
                       ? launch_scaled<ScaledTcgen05, ScaledElement::kMxf8>(given, stream)
                       : launch_scaled<ScaledTcgen05, ScaledElement::kNvf4>(given, stream),
                   kWho, "launching the product for D of " + shape(d));
}

}  // namespace lockstep::kernels
