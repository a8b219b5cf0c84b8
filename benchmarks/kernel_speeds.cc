// How fast the kernels are on this GPU, each beside what it could be at most: the device's own
// copy, CUB's histogram, the arithmetic units. Prints the table of docs/journal/timing.md.
//
//   bazel run -c opt --//bazel:archs=sm_90 //benchmarks:kernel_speeds     (the architecture of the
//   GPU)
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "benchmarks/cub_histogram.h"
#include "harness/device/device.h"
#include "harness/timing/stopwatch.h"
#include "harness/timing/timing_verdict.h"
#include "kernels/histogram.h"
#include "kernels/matmul.h"
#include "kernels/memory_access.h"
#include "kernels/ray_tracer.h"
#include "kernels/staging.h"
#include "kernels/stencil.h"
#include "kernels/tensor_matmul.h"
#include "tests/timing/timing.h"

namespace lockstep::benchmarks {
namespace {

using timing::DeviceMemory;
using timing::text;

constexpr std::int64_t kGiB = 1 << 30;
constexpr double kAlpha = 0.05;  // of the intervals that are printed

struct Row {
  std::string kernel, speed, ceiling;
  Estimate us;
};

std::vector<Row> rows;
std::vector<std::string> errors;

// The median of a run in microseconds and its interval; 0 after an error, which is kept.
Estimate timed(const std::string& kernel, const Work& work) {
  const MeasuredAlone m = measure(work, {.pairs = 40, .warm_up = 3, .sample_us = 2000});
  if (!m.error.empty() || m.us.empty()) {
    errors.push_back(
        fmt::format("{}: {}", kernel, m.error.empty() ? "the clock never held" : m.error));
    return {};
  }
  return median_of(m.us, kAlpha);
}

// `bytes` are read and written together; the ceiling is the copy's bandwidth.
double memory_row(const std::string& kernel, double bytes, double copy_rate, const Work& work) {
  const Estimate us = timed(kernel, work);
  if (us.median == 0) return 0;
  const double rate = bytes / us.median * 1e-3;  // GB/s
  rows.push_back({kernel, fmt::format("{:.0f} GB/s", rate),
                  copy_rate > 0 ? fmt::format("{:.3f} of the copy", rate / copy_rate) : "", us});
  return rate;
}

void memory_kernels() {
  DeviceMemory x(kGiB), y(kGiB);
  const std::vector<float> values = timing::ordinary_floats(kGiB / 4);
  x.write(values.data(), kGiB);
  const double copy =
      memory_row("copy: cudaMemcpyAsync, 1 GiB", 2.0 * kGiB, 0, [&](cudaStream_t stream) {
        const cudaError_t e =
            cudaMemcpyAsync(y.as<void>(), x.as<void>(), kGiB, cudaMemcpyDeviceToDevice, stream);
        return e == cudaSuccess ? std::string() : cudaGetErrorString(e);
      });
  const std::int64_t words = kGiB / 4;
  const kernels::StencilCoefficients c = {0, 4.0f / 5, -1.0f / 5, 4.0f / 105, -1.0f / 280};
  for (const auto& [name, variant] : {std::pair{"constant", kernels::StencilVariant::kConstant},
                                      {"read-only", kernels::StencilVariant::kReadOnly},
                                      {"global", kernels::StencilVariant::kGlobal}}) {
    memory_row(fmt::format("stencil, {} coefficients, 1 GiB", name), 2.0 * kGiB, copy,
               [&, v = variant](cudaStream_t s) {
                 return text(kernels::stencil_1d(v, x.as<float>(), words, y.as<float>(), c,
                                                 kernels::StencilBoundary::kZero, {}, s));
               });
  }
  memory_row("staging: thread_map, 1 GiB", 2.0 * kGiB, copy, [&](cudaStream_t s) {
    return text(
        kernels::thread_map(x.as<std::uint32_t>(), words, y.as<std::uint32_t>(), 3, 5, {}, s));
  });
  memory_row("staging: tile_map, reverse, 1 GiB", 2.0 * kGiB, copy, [&](cudaStream_t s) {
    return text(kernels::tile_map(kernels::TileMap::kReverse, x.as<std::uint32_t>(), words,
                                  y.as<std::uint32_t>(), {}, s));
  });
  constexpr std::int64_t kSide = 1 << 14;
  for (const auto& [name, variant] : {std::pair{"padded", kernels::TransposeVariant::kPadded},
                                      {"unpadded", kernels::TransposeVariant::kUnpadded}}) {
    memory_row(fmt::format("staging: transpose, {}, 16384 x 16384", name), 2.0 * kGiB, copy,
               [&, v = variant](cudaStream_t s) {
                 return text(kernels::transpose(v, x.as<std::uint32_t>(), kSide, kSide,
                                                y.as<std::uint32_t>(), s));
               });
  }
  for (const int bytes : {1, 2, 4, 8, 16}) {
    memory_row(fmt::format("memory_access: copy, elements of {} byte{}, 1 GiB", bytes,
                           bytes == 1 ? "" : "s"),
               2.0 * kGiB, copy, [&, bytes](cudaStream_t s) {
                 return text(kernels::gather(kernels::LoadPath::kDefault, {}, bytes, x.as<void>(),
                                             kGiB / bytes, y.as<void>(), kGiB / bytes, {}, s));
               });
  }
}

void histograms() {
  constexpr std::int64_t kElements = 1 << 28;
  for (const int bins : {256, 4096, 65536}) {
    DeviceMemory values(kElements * sizeof(int)), counts(bins * sizeof(unsigned long long)),
        theirs(counts.bytes());
    values.write(timing::scattered_integers(kElements, bins).data(), values.bytes());
    std::size_t scratch_bytes = 0;
    cub_histogram(nullptr, scratch_bytes, values.as<int>(), kElements,
                  theirs.as<unsigned long long>(), bins, nullptr);
    DeviceMemory scratch(std::max<std::size_t>(scratch_bytes, 1));
    const std::string what = fmt::format("histogram, 2^28 elements, {} bins", bins);
    const Estimate cub = timed(what + ", CUB", [&](cudaStream_t s) {
      const cudaError_t e = cub_histogram(scratch.as<void>(), scratch_bytes, values.as<int>(),
                                          kElements, theirs.as<unsigned long long>(), bins, s);
      return e == cudaSuccess ? std::string() : cudaGetErrorString(e);
    });
    rows.push_back({what + ", CUB",
                    fmt::format("{:.1f} G elements/s", kElements / cub.median * 1e-3), "", cub});
    for (const auto& [name, max_blocks] :
         {std::pair{"default shape", 1 << 16}, {"8 blocks an SM", 8 * device_properties().sms}}) {
      const Estimate us = timed(what, [&, blocks = max_blocks](cudaStream_t s) {
        return text(kernels::histogram(kernels::HistogramPath::kAutomatic, values.as<int>(),
                                       kElements, counts.as<unsigned long long>(), bins,
                                       {.max_blocks = blocks}, nullptr, s));
      });
      rows.push_back({fmt::format("{}, {}", what, name),
                      fmt::format("{:.1f} G elements/s", kElements / us.median * 1e-3),
                      fmt::format("{:.3f} of CUB", cub.median / us.median), us});
    }
    if (counts.read<std::uint64_t>() != theirs.read<std::uint64_t>())
      errors.push_back(what + ": CUB counts otherwise");
  }
}

void ray_tracer() {
  constexpr int kSide = 4096;
  for (const int count : {20, 200, kernels::kMaxConstantSpheres}) {
    const std::vector<float> u = timing::ordinary_floats(7 * count);
    std::vector<kernels::Sphere> field;
    for (int i = 0; i < count; ++i) {
      const float* v = u.data() + 7 * i;
      field.push_back({v[0] - 1, v[1] - 1, v[2] - 1, 160 * (v[3] - 1) + 40, kSide * (v[4] - 1.5f),
                       kSide * (v[5] - 1.5f), kSide * (v[6] - 1.5f)});
    }
    DeviceMemory spheres(field.size() * sizeof field[0]), image(std::size_t{4} * kSide * kSide);
    spheres.write(field.data(), spheres.bytes());
    for (const auto& [name, variant] : {std::pair{"constant", kernels::RayTracerVariant::kConstant},
                                        {"global", kernels::RayTracerVariant::kGlobal}}) {
      const std::string what = fmt::format("ray tracer, 4096 x 4096, {} spheres, {}", count, name);
      const Estimate us = timed(what, [&, v = variant](cudaStream_t s) {
        return text(kernels::ray_trace(v, spheres.as<kernels::Sphere>(), count,
                                       image.as<std::uint8_t>(), kSide, kSide,
                                       std::size_t{4} * kSide, s));
      });
      const double rays = double{kSide} * kSide / us.median;  // millions a second
      rows.push_back({what, fmt::format("{:.2f} G rays/s", rays * 1e-3),
                      fmt::format("{:.0f} G ray-sphere tests/s", rays * 1e-3 * count), us});
    }
  }
}

// FP32 operations a multiprocessor starts each cycle, two for an fma (CUDA C++ programming guide,
// table of arithmetic throughput).
int flops_a_cycle(const DeviceProperties& d) {
  const bool half = d.major < 8 || (d.major == 8 && d.minor == 0);
  return 2 * (half ? 64 : 128);
}

void matmul() {
  constexpr std::int64_t kSide = 4096;
  const DeviceProperties& d = device_properties();
  const double ceiling = 1e-9 * d.sms * flops_a_cycle(d) * d.clock_khz;  // TFLOP/s
  const std::size_t bytes = kSide * kSide * sizeof(float);
  DeviceMemory a(bytes), b(bytes), c(bytes);
  a.write(timing::ordinary_floats(kSide * kSide).data(), bytes);
  b.write(timing::ordinary_floats(kSide * kSide).data(), bytes);
  for (const auto& [name, variant] : {std::pair{"global", kernels::MatmulVariant::kGlobal},
                                      {"tiles of 8", kernels::MatmulVariant::kTiled8},
                                      {"tiles of 16", kernels::MatmulVariant::kTiled16},
                                      {"tiles of 32", kernels::MatmulVariant::kTiled32}}) {
    const std::string what = fmt::format("matmul, 4096 x 4096 x 4096, {}", name);
    const Estimate us = timed(what, [&, v = variant](cudaStream_t s) {
      return text(kernels::matmul(v, {a.as<const float>(), kSide, kSide, kSide},
                                  {b.as<const float>(), kSide, kSide, kSide},
                                  {c.as<float>(), kSide, kSide, kSide}, s));
    });
    const double rate = 2.0 * kSide * kSide * kSide / us.median * 1e-6;  // TFLOP/s
    rows.push_back({what, fmt::format("{:.2f} TFLOP/s", rate),
                    fmt::format("{:.3f} of {:.1f} TFLOP/s at {} MHz", rate / ceiling, ceiling,
                                d.clock_khz / 1000),
                    us});
  }
}

// f16 to f32, 8192 x 8192 x 8192. The ceiling is the matrix units' own at the highest clock: 4096
// operations a cycle and multiprocessor on compute capability 9.0.
void tensor_matmul() {
  constexpr std::int64_t kSide = 8192, kFactor = kSide * kSide * 2, kResult = kSide * kSide * 4;
  const DeviceProperties& d = device_properties();
  const double ceiling = 1e-9 * d.sms * 4096 * d.clock_khz;  // TFLOP/s
  // Of magnitude 1/4 to 1/2, either sign.
  std::vector<std::uint16_t> halves(kSide * kSide);
  std::uint32_t state = 1;
  for (auto& h : halves) {
    state = state * 1664525u + 1013904223u;
    h = static_cast<std::uint16_t>((state >> 16 & 0x83ff) | 0x3400);
  }
  DeviceMemory a(kFactor), b(kFactor), c(kResult), product(kResult);
  a.write(halves.data(), kFactor);
  b.write(halves.data(), kFactor);
  c.write(timing::ordinary_floats(kSide * kSide).data(), kResult);
  for (const auto& [name, path] :
       {std::pair{"mma", kernels::TensorMatmulPath::kMma},
        {"wgmma, tiles of 64 x 64", kernels::TensorMatmulPath::kWgmma},
        {"wgmma, clusters of two", kernels::TensorMatmulPath::kWgmmaCluster},
        {"wgmma, tiles of 128 x 256", kernels::TensorMatmulPath::kWgmmaWide}}) {
    const std::string what = fmt::format("tensor_matmul, f16, 8192 x 8192 x 8192, {}", name);
    const Estimate us = timed(what, [&, v = path](cudaStream_t s) {
      return text(kernels::tensor_matmul(
          v, kernels::MatrixElement::kF16, {a.as<void>(), kSide, kSide, kSide},
          {b.as<void>(), kSide, kSide, kSide}, {c.as<void>(), kSide, kSide, kSide},
          {product.as<void>(), kSide, kSide, kSide}, s));
    });
    const double rate = 2.0 * kSide * kSide * kSide / us.median * 1e-6;  // TFLOP/s
    rows.push_back({what, fmt::format("{:.1f} TFLOP/s", rate),
                    fmt::format("{:.3f} of {:.0f} TFLOP/s at {} MHz", rate / ceiling, ceiling,
                                d.clock_khz / 1000),
                    us});
  }
}

int run() {
  if (const std::string error = device_error(); !error.empty()) {
    fmt::print(stderr, "no GPU answers: {}\n", error);
    return 1;
  }
  if (is_simulator()) {
    fmt::print(stderr, "the simulated GPU's speed says nothing about a GPU's\n");
    return 1;
  }
  const DeviceProperties& d = device_properties();
  fmt::print("{}, compute capability {}.{}, {} SMs, {} MHz, driver API {}, runtime {}\n\n", d.name,
             d.major, d.minor, d.sms, d.clock_khz / 1000, d.driver_version, d.runtime_version);
  for (const auto& [name, part] : std::vector<std::pair<std::string, std::function<void()>>>{
           {"memory", memory_kernels},
           {"histogram", histograms},
           {"ray tracer", ray_tracer},
           {"matmul", matmul},
           {"tensor_matmul", tensor_matmul}}) {
    try {
      part();
    } catch (const std::exception& e) {
      errors.push_back(fmt::format("{}: {}", name, e.what()));
    }
  }
  fmt::print(
      "| kernel | median | 95 % interval | speed | of the ceiling |\n| --- | ---: | --- | ---: | "
      "---: |\n");
  for (const Row& r : rows) {
    fmt::print("| {} | {:.1f} us | {:.1f} ... {:.1f} us | {} | {} |\n", r.kernel, r.us.median,
               r.us.low, r.us.high, r.speed, r.ceiling);
  }
  for (const std::string& e : errors) fmt::print(stderr, "error: {}\n", e);
  return errors.empty() ? 0 : 1;
}

}  // namespace
}  // namespace lockstep::benchmarks

int main() { return lockstep::benchmarks::run(); }
