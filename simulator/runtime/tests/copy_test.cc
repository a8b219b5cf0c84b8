// cudaMemcpy, cudaMemset, their variants, and symbols.
#include <numeric>
#include <vector>

#include "simulator/runtime/tests/cuda_test.h"
#include "simulator/runtime/tests/kernels.h"

namespace lockstep::runtime {
namespace {

constexpr std::size_t kSize = 4 << 20;

struct Memory {
  char *p = nullptr, *q = nullptr, *pinned = nullptr, *managed = nullptr;
  std::vector<char> host = std::vector<char>(2 * kSize);
  char* h = host.data();
  Memory() {
    EXPECT_CUDA(cudaSuccess, cudaMalloc(reinterpret_cast<void**>(&p), kSize));
    EXPECT_CUDA(cudaSuccess, cudaMalloc(reinterpret_cast<void**>(&q), kSize));
    EXPECT_CUDA(cudaSuccess, cudaMallocHost(reinterpret_cast<void**>(&pinned), 4096));
    EXPECT_CUDA(cudaSuccess,
                cudaMallocManaged(reinterpret_cast<void**>(&managed), 4096, cudaMemAttachGlobal));
  }
};

CUDA_TEST(Copy, BytesGoThereAndBack) {
  Memory m;
  std::iota(m.host.begin(), m.host.begin() + 1000, char{1});
  EXPECT_CUDA(cudaSuccess, cudaMemcpy(m.p + 3, m.h, 1000, cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaSuccess, cudaMemcpy(m.q + 5, m.p + 3, 1000, cudaMemcpyDeviceToDevice));
  EXPECT_CUDA(cudaSuccess,
              cudaMemcpyAsync(m.pinned + 1, m.q + 5, 1000, cudaMemcpyDeviceToHost, nullptr));
  EXPECT_CUDA(cudaSuccess, cudaMemcpy(m.h + 5000, m.q + 5, 1000, cudaMemcpyDefault));
  ASSERT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(m.pinned[1 + i], m.h[i]) << i;
    ASSERT_EQ(m.h[5000 + i], m.h[i]) << i;
  }
}

CUDA_TEST(Copy, RangesMustLieWithinAnAllocation) {
  Memory m;
  EXPECT_CUDA(cudaSuccess, cudaMemcpy(m.p, m.h, kSize, cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMemcpy(m.p, m.h, kSize + 1, cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMemcpy(m.p + 1, m.h, kSize, cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMemcpy(m.h, m.p, kSize + 4096, cudaMemcpyDeviceToHost));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMemcpy(m.pinned, m.h, 4097, cudaMemcpyHostToHost));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMemcpy(m.p, m.pinned, 4097, cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMemset(m.p, 0, kSize + 1));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMemcpy(nullptr, m.h, 4, cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMemcpy(m.p, nullptr, 4, cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMemset(nullptr, 0, 4));
}

CUDA_TEST(Copy, AFreedAllocationIsNone) {
  Memory m;
  ASSERT_CUDA(cudaSuccess, cudaFree(m.q));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMemcpy(m.q, m.h, 100, cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMemcpy(m.h, m.q, 100, cudaMemcpyDeviceToHost));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMemset(m.q, 0, 4));
}

CUDA_TEST(Copy, HostMemoryIsNotTakenForDeviceMemory) {
  Memory m;
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMemcpy(m.p, m.h, 100, cudaMemcpyDeviceToDevice));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMemcpy(m.p, m.h, 100, cudaMemcpyDeviceToHost));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMemcpy(m.h, m.p, 100, cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMemcpy(m.h, m.h + 1000, 100, cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMemset(m.h, 0, 4));
}

// Hardware also copies if device memory is given as host memory; the documentation leaves it open.
CUDA_TEST(Copy, DeviceMemoryMayStandWhereHostMemoryIsMeant) {
  Memory m;
  ASSERT_CUDA(cudaSuccess, cudaMemset(m.q, 77, 100));
  EXPECT_CUDA(cudaSuccess, cudaMemcpy(m.p, m.q, 100, cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaSuccess, cudaMemcpy(m.h, m.p, 100, cudaMemcpyDeviceToHost));
  EXPECT_EQ(m.h[99], 77);
}

CUDA_TEST(Copy, PinnedAndManagedMemoryAreBoth) {
  Memory m;
  EXPECT_CUDA(cudaSuccess, cudaMemcpy(m.pinned, m.p, 100, cudaMemcpyDeviceToHost));
  EXPECT_CUDA(cudaSuccess, cudaMemcpy(m.pinned, m.p, 100, cudaMemcpyDeviceToDevice));
  EXPECT_CUDA(cudaSuccess, cudaMemcpy(m.managed, m.p, 100, cudaMemcpyDeviceToHost));
  EXPECT_CUDA(cudaSuccess, cudaMemcpy(m.managed, m.p, 100, cudaMemcpyDeviceToDevice));
  EXPECT_CUDA(cudaSuccess, cudaMemset(m.pinned, 0, 4));
}

CUDA_TEST(Copy, OfNothingAlwaysSucceeds) {
  Memory m;
  EXPECT_CUDA(cudaSuccess, cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaSuccess, cudaMemset(nullptr, 0, 0));
  EXPECT_CUDA(cudaSuccess, cudaMemcpy(m.p, m.h, 0, static_cast<cudaMemcpyKind>(9)));
  EXPECT_CUDA(cudaErrorInvalidMemcpyDirection,
              cudaMemcpy(m.p, m.h, 4, static_cast<cudaMemcpyKind>(9)));
}

CUDA_TEST(Copy2D, RowsKeepTheirPitch) {
  Memory m;
  for (int i = 0; i < 100; ++i) m.h[i] = static_cast<char>(i);
  EXPECT_CUDA(cudaSuccess, cudaMemset(m.p, 0, 1000));
  EXPECT_CUDA(cudaSuccess, cudaMemcpy2D(m.p, 32, m.h, 10, 7, 3, cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaSuccess, cudaMemcpy(m.h + 1000, m.p, 96, cudaMemcpyDeviceToHost));
  for (int y = 0; y < 3; ++y) {
    for (int x = 0; x < 32; ++x)
      EXPECT_EQ(m.h[1000 + 32 * y + x], x < 7 ? 10 * y + x : 0) << x << "," << y;
  }
  EXPECT_CUDA(cudaSuccess, cudaMemset2D(m.p, 32, 9, 5, 2));
  EXPECT_CUDA(cudaSuccess, cudaMemcpy(m.h + 1000, m.p, 96, cudaMemcpyDeviceToHost));
  EXPECT_EQ(m.h[1000 + 4], 9);
  EXPECT_EQ(m.h[1000 + 5], 5);
  EXPECT_EQ(m.h[1000 + 36], 9);
  EXPECT_EQ(m.h[1000 + 64], 20);
}

CUDA_TEST(Copy2D, RefusesWhatDoesNotFit) {
  Memory m;
  EXPECT_CUDA(cudaErrorInvalidPitchValue,
              cudaMemcpy2D(m.p, 64, m.h, 64, 100, 2, cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaErrorInvalidPitchValue,
              cudaMemcpy2D(m.p, 64, m.h, 50, 60, 2, cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaErrorInvalidValue,
              cudaMemcpy2D(m.p, 64, m.h, 64, 100, 1, cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaErrorInvalidValue,
              cudaMemcpy2D(m.p, 64, m.h, 64, 64, kSize / 64 + 1, cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaSuccess, cudaMemcpy2D(m.p, 64, m.h, 64, 64, kSize / 64, cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaSuccess, cudaMemcpy2D(m.p, 64, m.h, 64, 64, 0, cudaMemcpyHostToDevice));
  // A width beyond a pitch, in every direction. With zero rows nothing is checked.
  const auto copied = [&](bool host_to, bool host_from, size_t to_pitch, size_t from_pitch,
                          size_t height) {
    char *const to = host_to ? m.h : m.p, *const from = host_from ? m.h + 1000 : m.p + 1000;
    return cudaMemcpy2D(to, to_pitch, from, from_pitch, 60, height, cudaMemcpyDefault);
  };
  for (const auto& [host_to, host_from] : {std::pair(false, true), {true, false}, {false, false}}) {
    for (const auto& [to, from] : {std::pair(50, 64), {64, 50}, {50, 50}}) {
      EXPECT_CUDA(cudaErrorInvalidPitchValue, copied(host_to, host_from, to, from, 2));
      EXPECT_CUDA(cudaErrorInvalidValue, copied(host_to, host_from, to, from, 1));
      EXPECT_CUDA(cudaSuccess, copied(host_to, host_from, to, from, 0));
    }
  }
  EXPECT_CUDA(cudaSuccess, cudaMemcpy2D(m.p, 0, m.h, 64, 0, 2, cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMemset2D(m.p, 64, 0, 100, 2));
  EXPECT_CUDA(cudaSuccess, cudaMemset2D(m.p, 64, 0, 100, 1));
}

cudaMemcpy3DParms box(char* to, char* from, cudaExtent extent) {
  cudaMemcpy3DParms p = {};
  p.srcPtr = {from, 64, 64, 4};
  p.dstPtr = {to, 64, 64, 4};
  p.extent = extent;
  p.kind = cudaMemcpyHostToDevice;
  return p;
}

cudaError_t copy_box(cudaMemcpy3DParms p) { return cudaMemcpy3D(&p); }

CUDA_TEST(Copy3D, BoxesAndTheirLimits) {
  Memory m;
  EXPECT_CUDA(cudaSuccess, copy_box(box(m.p, m.h, {64, 4, 4})));
  EXPECT_CUDA(cudaErrorInvalidPitchValue, copy_box(box(m.p, m.h, {100, 4, 4})));
  EXPECT_CUDA(cudaErrorInvalidPitchValue, copy_box(box(m.p, m.h, {64, 5, 4})));
  EXPECT_CUDA(cudaErrorInvalidValue, copy_box(box(m.p, m.h, {64, 5, 1})));
  EXPECT_CUDA(cudaSuccess, copy_box(box(m.p, m.h, {0, 5, 1})));
  cudaMemcpy3DParms one_slice = box(m.p, m.h, {64, 5, 1});
  one_slice.srcPtr.ysize = one_slice.dstPtr.ysize = 0;
  EXPECT_CUDA(cudaSuccess, copy_box(one_slice));
  one_slice.extent.depth = 2;
  EXPECT_CUDA(cudaErrorInvalidPitchValue, copy_box(one_slice));
  EXPECT_CUDA(cudaErrorInvalidValue, copy_box(box(m.p, nullptr, {1, 1, 1})));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMemcpy3D(nullptr));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMemset3D({m.p, 64, 64, 4}, 0, {65, 4, 4}));
}

CUDA_TEST(Copy3D, PositionsAndSlices) {
  Memory m;
  for (int i = 0; i < 1024; ++i) m.h[i] = static_cast<char>(i % 127);
  cudaMemcpy3DParms p = box(m.p, m.h, {5, 2, 2});
  p.srcPos = {3, 1, 1};
  p.dstPos = {0, 2, 1};
  ASSERT_CUDA(cudaSuccess, cudaMemset(m.p, 0, 1024));
  ASSERT_CUDA(cudaSuccess, cudaMemcpy3D(&p));
  ASSERT_CUDA(cudaSuccess, cudaMemcpy(m.h + 2048, m.p, 1024, cudaMemcpyDeviceToHost));
  for (int z = 0; z < 2; ++z) {
    for (int y = 0; y < 2; ++y) {
      for (int x = 0; x < 5; ++x)
        EXPECT_EQ(m.h[2048 + (1 + z) * 256 + (2 + y) * 64 + x],
                  m.h[(1 + z) * 256 + (1 + y) * 64 + 3 + x]);
    }
  }
  EXPECT_EQ(m.h[2048 + 256 + 128 + 5], 0);
}

CUDA_TEST(Symbols, CopiesCheckSizeOffsetAndDirection) {
  using namespace kernels;
  int h[32] = {};
  EXPECT_CUDA(cudaSuccess, cudaMemcpyToSymbol(device_variable(), h, 64, 0, cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaErrorInvalidValue,
              cudaMemcpyToSymbol(device_variable(), h, 65, 0, cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaErrorInvalidValue,
              cudaMemcpyToSymbol(device_variable(), h, 4, 64, cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaSuccess, cudaMemcpyToSymbol(device_variable(), h, 4, 60, cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaSuccess, cudaMemcpyToSymbol(device_variable(), h, 0, 65, cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaSuccess,
              cudaMemcpyToSymbol(constant_variable(), h, 64, 0, cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaErrorInvalidSymbol, cudaMemcpyToSymbol(h, h, 4, 0, cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaErrorInvalidMemcpyDirection,
              cudaMemcpyToSymbol(device_variable(), h, 4, 0, cudaMemcpyDeviceToHost));
  EXPECT_CUDA(cudaErrorInvalidMemcpyDirection,
              cudaMemcpyFromSymbol(h, device_variable(), 4, 0, cudaMemcpyHostToDevice));
}

CUDA_TEST(Symbols, HaveAddressesAndSizes) {
  using namespace kernels;
  std::size_t size = 0;
  void* p = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaGetSymbolSize(&size, device_variable()));
  EXPECT_EQ(size, 64u);
  EXPECT_CUDA(cudaSuccess, cudaGetSymbolAddress(&p, constant_variable()));
  int h[16] = {};
  EXPECT_CUDA(cudaSuccess, cudaMemcpy(h, p, 64, cudaMemcpyDeviceToHost));
  EXPECT_EQ(h[0], 100);
  EXPECT_EQ(h[3], 103);
  EXPECT_EQ(h[4], 0);
  EXPECT_CUDA(cudaSuccess, cudaMemcpy(p, h, 64, cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaSuccess, cudaGetSymbolAddress(&p, managed_variable()));
  EXPECT_EQ(p, managed_variable());
  EXPECT_CUDA(cudaSuccess, cudaGetSymbolSize(&size, managed_variable()));
  EXPECT_EQ(size, 16u);
  EXPECT_CUDA(cudaErrorInvalidSymbol, cudaGetSymbolAddress(&p, h));
}

CUDA_TEST(Symbols, KernelsAndHostSeeTheSameVariables) {
  using namespace kernels;
  int* result = nullptr;
  int h = 0;
  ASSERT_CUDA(cudaSuccess, cudaMalloc(reinterpret_cast<void**>(&result), 4));
  EXPECT_EQ(managed_variable()[1], 8) << "initialised before the host looks";
  managed_variable()[0] = 1000;
  const int three[] = {10, 20, 30};
  ASSERT_CUDA(cudaSuccess,
              cudaMemcpyToSymbol(device_variable(), three, 12, 0, cudaMemcpyHostToDevice));
  ASSERT_CUDA(cudaSuccess,
              cudaMemcpyToSymbol(constant_variable(), three, 4, 4, cudaMemcpyHostToDevice));
  sum_variables(result);
  ASSERT_CUDA(cudaSuccess, cudaMemcpy(&h, result, 4, cudaMemcpyDeviceToHost));
  EXPECT_EQ(h, 60 + 100 + 10 + 102 + 103 + 1000 + 8 + 9 + 10);
  add_to_variables(5);
  ASSERT_CUDA(cudaSuccess,
              cudaMemcpyFromSymbol(&h, device_variable(), 4, 4, cudaMemcpyDeviceToHost));
  EXPECT_EQ(h, 25);
  EXPECT_EQ(managed_variable()[0], 1005);
}

CUDA_TEST(Symbols, ADeviceResetGivesThemTheirInitialValues) {
  using namespace kernels;
  int h[3] = {9, 9, 9};
  ASSERT_CUDA(cudaSuccess, cudaMemcpyToSymbol(device_variable(), h, 12, 0, cudaMemcpyHostToDevice));
  ASSERT_CUDA(cudaSuccess, cudaDeviceReset());
  ASSERT_CUDA(cudaSuccess,
              cudaMemcpyFromSymbol(h, device_variable(), 12, 0, cudaMemcpyDeviceToHost));
  EXPECT_EQ(h[0], 1);
  EXPECT_EQ(h[2], 3);
}

}  // namespace
}  // namespace lockstep::runtime
