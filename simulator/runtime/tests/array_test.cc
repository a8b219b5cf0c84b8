// CUDA arrays and their texture and surface objects, through host code. Every test holds on silicon
// too.
#include <numeric>
#include <vector>

#include "simulator/runtime/tests/cuda_test.h"

namespace lockstep::runtime {
namespace {

cudaArray_t make_array(size_t width, size_t height, unsigned flags = cudaArrayDefault) {
  const cudaChannelFormatDesc format =
      cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindSigned);
  cudaArray_t array = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaMallocArray(&array, &format, width, height, flags));
  return array;
}

std::vector<int> counting(size_t n) {
  std::vector<int> v(n);
  std::iota(v.begin(), v.end(), 0);
  return v;
}

CUDA_TEST(Array, DescribesItself) {
  const cudaArray_t array = make_array(20, 5);
  cudaChannelFormatDesc format{};
  cudaExtent extent{};
  unsigned flags = 77;
  EXPECT_CUDA(cudaSuccess, cudaArrayGetInfo(&format, &extent, &flags, array));
  EXPECT_EQ(format.x, 32);
  EXPECT_EQ(format.y, 0);
  EXPECT_EQ(format.f, cudaChannelFormatKindSigned);
  EXPECT_EQ(extent.width, 20u);
  EXPECT_EQ(extent.height, 5u);
  EXPECT_EQ(extent.depth, 0u);
  EXPECT_EQ(flags, 0u);
  EXPECT_CUDA(cudaSuccess, cudaFreeArray(array));
  EXPECT_CUDA(cudaSuccess, cudaFreeArray(nullptr));
}

CUDA_TEST(Array, RefusesFormatsAndShapesThatNoneHas) {
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc three =
      cudaCreateChannelDesc(8, 8, 8, 0, cudaChannelFormatKindUnsigned);
  const cudaChannelFormatDesc mixed =
      cudaCreateChannelDesc(8, 16, 0, 0, cudaChannelFormatKindUnsigned);
  const cudaChannelFormatDesc good =
      cudaCreateChannelDesc(8, 8, 8, 8, cudaChannelFormatKindUnsigned);
  EXPECT_CUDA(cudaErrorInvalidChannelDescriptor, cudaMallocArray(&array, &three, 4, 4, 0));
  EXPECT_CUDA(cudaErrorInvalidChannelDescriptor, cudaMallocArray(&array, &mixed, 4, 4, 0));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMallocArray(&array, &good, 0, 4, 0));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMallocArray(nullptr, &good, 4, 4, 0));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMallocArray(&array, &good, 131073, 0, 0));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMallocArray(&array, &good, 4, 0, cudaArrayTextureGather))
      << "gathering wants two dimensions";
  EXPECT_CUDA(cudaErrorInvalidValue,
              cudaMalloc3DArray(&array, &good, cudaExtent{1, 1, 2049}, cudaArrayLayered));
}

CUDA_TEST(Array, IsAsLargeAsThePropertiesSayAndNoLarger) {
  cudaDeviceProp p;
  ASSERT_CUDA(cudaSuccess, cudaGetDeviceProperties(&p, 0));
  const auto make = [](const int(&e)[3], unsigned flags) {
    const cudaChannelFormatDesc byte =
        cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindUnsigned);
    cudaArray_t array = nullptr;
    const cudaExtent extent{static_cast<size_t>(e[0]), static_cast<size_t>(e[1]),
                            static_cast<size_t>(e[2])};
    const cudaError_t error = cudaMalloc3DArray(&array, &byte, extent, flags);
    cudaFreeArray(array);
    return error;
  };
  // Each extent at its limit with the other extents minimal, then one beyond the limit.
  const auto expect_limits = [&](const int(&shape)[3], const int(&most)[3], unsigned flags) {
    for (int i = 0; i < 3; ++i) {
      if (shape[i] == 0) continue;
      int e[3] = {shape[0], shape[1], shape[2]};
      e[i] = most[i];
      EXPECT_CUDA(cudaSuccess, make(e, flags))
          << ": " << e[0] << " x " << e[1] << " x " << e[2] << ", flags " << flags;
      ++e[i];
      EXPECT_CUDA(cudaErrorInvalidValue, make(e, flags))
          << ": " << e[0] << " x " << e[1] << " x " << e[2] << ", flags " << flags;
    }
  };
  constexpr unsigned kSurface = cudaArraySurfaceLoadStore, kLayered = cudaArrayLayered;
  expect_limits({1, 0, 0}, {p.maxTexture1D, 0, 0}, 0);
  expect_limits({1, 0, 0}, {p.maxSurface1D, 0, 0}, kSurface);
  expect_limits({1, 1, 0}, {p.maxTexture2D[0], p.maxTexture2D[1], 0}, 0);
  expect_limits({1, 1, 0}, {p.maxSurface2D[0], p.maxSurface2D[1], 0}, kSurface);
  expect_limits({1, 1, 0}, {p.maxTexture2DGather[0], p.maxTexture2DGather[1], 0},
                cudaArrayTextureGather);
  expect_limits({1, 1, 1}, {p.maxTexture3D[0], p.maxTexture3D[1], p.maxTexture3DAlt[2]}, 0);
  expect_limits({1, 1, 1}, {p.maxSurface3D[0], p.maxSurface3D[1], p.maxSurface3D[2]}, kSurface);
  expect_limits({1, 0, 1}, {p.maxTexture1DLayered[0], 0, p.maxTexture1DLayered[1]}, kLayered);
  expect_limits({1, 0, 1}, {p.maxSurface1DLayered[0], 0, p.maxSurface1DLayered[1]},
                kLayered | kSurface);
  expect_limits({1, 1, 1},
                {p.maxTexture2DLayered[0], p.maxTexture2DLayered[1], p.maxTexture2DLayered[2]},
                kLayered);
  expect_limits({1, 1, 1},
                {p.maxSurface2DLayered[0], p.maxSurface2DLayered[1], p.maxSurface2DLayered[2]},
                kLayered | kSurface);
  // A cube map is as wide as it is high; its depth is the number of faces.
  constexpr unsigned kCube = cudaArrayCubemap;
  for (const unsigned surface : {0u, kSurface}) {
    const int most = surface ? p.maxSurfaceCubemap : p.maxTextureCubemap;
    const int(&layered)[2] = surface ? p.maxSurfaceCubemapLayered : p.maxTextureCubemapLayered;
    EXPECT_CUDA(cudaErrorInvalidValue, make({most + 1, most + 1, 6}, kCube | surface));
    EXPECT_CUDA(cudaSuccess, make({8, 8, 6}, kCube | surface));
    EXPECT_CUDA(cudaSuccess, make({8, 8, layered[1]}, kCube | kLayered | surface));
    EXPECT_CUDA(cudaErrorInvalidValue, make({8, 8, layered[1] + 6}, kCube | kLayered | surface));
  }
  EXPECT_CUDA(cudaErrorInvalidValue, make({8, 4, 6}, kCube));
  EXPECT_CUDA(cudaErrorInvalidValue, make({8, 8, 5}, kCube));
  EXPECT_CUDA(cudaErrorInvalidValue, make({8, 8, 12}, kCube));
  EXPECT_CUDA(cudaErrorInvalidValue, make({8, 8, 10}, kCube | kLayered));
  EXPECT_CUDA(cudaErrorInvalidValue, make({8, 0, 6}, kCube));
  EXPECT_CUDA(cudaErrorInvalidValue, make({p.maxTexture3DAlt[0] + 1, 1, p.maxTexture3D[2] + 1}, 0))
      << ": wide or deep, not both";
}

CUDA_TEST(Array, LimitsAreAttributesToo) {
  cudaDeviceProp p;
  ASSERT_CUDA(cudaSuccess, cudaGetDeviceProperties(&p, 0));
  const auto attribute = [](cudaDeviceAttr which) {
    int value = -1;
    EXPECT_CUDA(cudaSuccess, cudaDeviceGetAttribute(&value, which, 0));
    return value;
  };
  EXPECT_EQ(attribute(cudaDevAttrMaxTexture1DWidth), p.maxTexture1D);
  EXPECT_EQ(attribute(cudaDevAttrMaxTexture1DLinearWidth), 1 << 28);
  EXPECT_EQ(attribute(cudaDevAttrMaxTexture2DLinearPitch), p.maxTexture2DLinear[2]);
  // The attributes are numbered consecutively.
  const auto expect_run = [&](cudaDeviceAttr first, std::initializer_list<int> values) {
    int which = first;
    for (const int v : values) {
      EXPECT_EQ(attribute(static_cast<cudaDeviceAttr>(which)), v) << "attribute " << which;
      ++which;
    }
  };
  expect_run(cudaDevAttrMaxTexture2DWidth,
             {p.maxTexture2D[0], p.maxTexture2D[1], p.maxTexture3D[0], p.maxTexture3D[1],
              p.maxTexture3D[2], p.maxTexture2DLayered[0], p.maxTexture2DLayered[1],
              p.maxTexture2DLayered[2]});
  expect_run(cudaDevAttrMaxTexture1DLayeredWidth,
             {p.maxTexture1DLayered[0], p.maxTexture1DLayered[1]});
  expect_run(cudaDevAttrMaxTexture2DGatherWidth,
             {p.maxTexture2DGather[0], p.maxTexture2DGather[1], p.maxTexture3DAlt[0],
              p.maxTexture3DAlt[1], p.maxTexture3DAlt[2]});
  expect_run(cudaDevAttrMaxTextureCubemapWidth,
             {p.maxTextureCubemap, p.maxTextureCubemapLayered[0], p.maxTextureCubemapLayered[1]});
  expect_run(cudaDevAttrMaxSurfaceCubemapWidth,
             {p.maxSurfaceCubemap, p.maxSurfaceCubemapLayered[0], p.maxSurfaceCubemapLayered[1]});
  expect_run(
      cudaDevAttrMaxSurface1DWidth,
      {p.maxSurface1D, p.maxSurface2D[0], p.maxSurface2D[1], p.maxSurface3D[0], p.maxSurface3D[1],
       p.maxSurface3D[2], p.maxSurface1DLayered[0], p.maxSurface1DLayered[1],
       p.maxSurface2DLayered[0], p.maxSurface2DLayered[1], p.maxSurface2DLayered[2]});
  expect_run(cudaDevAttrMaxTexture2DLinearWidth,
             {p.maxTexture2DLinear[0], p.maxTexture2DLinear[1], p.maxTexture2DLinear[2]});
}

CUDA_TEST(Array, KeepsWhatIsCopiedIntoARectangle) {
  const cudaArray_t array = make_array(8, 4);
  const std::vector<int> from = counting(32), patch = {-1, -2, -3, -4, -5, -6};
  std::vector<int> to(32);
  ASSERT_CUDA(cudaSuccess,
              cudaMemcpy2DToArray(array, 0, 0, from.data(), 32, 32, 4, cudaMemcpyHostToDevice));
  // Copies 3 x 2 elements to element 2 of row 1: offsets and widths are in bytes.
  EXPECT_CUDA(cudaSuccess,
              cudaMemcpy2DToArray(array, 8, 1, patch.data(), 12, 12, 2, cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaSuccess,
              cudaMemcpy2DFromArray(to.data(), 32, array, 0, 0, 32, 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; ++i) {
    const int x = i % 8, y = i / 8;
    const bool patched = x >= 2 && x < 5 && (y == 1 || y == 2);
    EXPECT_EQ(to[static_cast<size_t>(i)],
              patched ? patch[static_cast<size_t>(3 * (y - 1) + x - 2)] : i);
  }
  EXPECT_CUDA(cudaErrorInvalidValue,
              cudaMemcpy2DToArray(array, 8, 0, from.data(), 32, 32, 1, cudaMemcpyHostToDevice))
      << "past the row";
  EXPECT_CUDA(cudaErrorInvalidValue,
              cudaMemcpy2DToArray(array, 0, 3, from.data(), 32, 32, 2, cudaMemcpyHostToDevice))
      << "past the last row";
}

CUDA_TEST(Array, BoxesOfThreeDimensionsCountElements) {
  const cudaChannelFormatDesc format =
      cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindSigned);
  cudaArray_t array = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaMalloc3DArray(&array, &format, cudaExtent{4, 3, 2}, 0));
  std::vector<int> from = counting(24), to(24, -1);
  cudaMemcpy3DParms p{};
  p.srcPtr = {from.data(), 16, 16, 3};
  p.dstArray = array;
  p.extent = {4, 3, 2};
  p.kind = cudaMemcpyHostToDevice;
  ASSERT_CUDA(cudaSuccess, cudaMemcpy3D(&p));
  // Copies one element of the last slice to the start of the host's array.
  cudaMemcpy3DParms back{};
  back.srcArray = array;
  back.srcPos = {1, 2, 1};
  back.dstPtr = {to.data(), 16, 16, 3};
  back.extent = {2, 1, 1};
  back.kind = cudaMemcpyDeviceToHost;
  EXPECT_CUDA(cudaSuccess, cudaMemcpy3D(&back));
  EXPECT_EQ(to[0], 12 + 8 + 1);
  EXPECT_EQ(to[1], 12 + 8 + 2);
  EXPECT_EQ(to[2], -1);
  back.srcPos.z = 2;
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMemcpy3D(&back)) << "past the last slice";
}

CUDA_TEST(Array, CopiesIntoAnother) {
  const cudaArray_t a = make_array(8, 2), b = make_array(8, 2);
  const std::vector<int> from = counting(16);
  std::vector<int> to(4, -1);
  ASSERT_CUDA(cudaSuccess,
              cudaMemcpy2DToArray(a, 0, 0, from.data(), 32, 32, 2, cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaSuccess,
              cudaMemcpy2DArrayToArray(b, 0, 1, a, 16, 0, 16, 1, cudaMemcpyDeviceToDevice));
  EXPECT_CUDA(cudaSuccess,
              cudaMemcpy2DFromArray(to.data(), 16, b, 0, 1, 16, 1, cudaMemcpyDeviceToHost));
  EXPECT_EQ(to, (std::vector<int>{4, 5, 6, 7}));
}

CUDA_TEST(TextureObject, KeepsItsDescription) {
  const cudaArray_t array = make_array(8, 2);
  cudaResourceDesc resource{}, got{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description{}, kept{};
  description.addressMode[0] = cudaAddressModeBorder;
  cudaTextureObject_t object = 0;
  ASSERT_CUDA(cudaSuccess, cudaCreateTextureObject(&object, &resource, &description, nullptr));
  EXPECT_CUDA(cudaSuccess, cudaGetTextureObjectResourceDesc(&got, object));
  EXPECT_EQ(got.res.array.array, array);
  EXPECT_CUDA(cudaSuccess, cudaGetTextureObjectTextureDesc(&kept, object));
  EXPECT_EQ(kept.addressMode[0], cudaAddressModeBorder);
  EXPECT_CUDA(cudaSuccess, cudaDestroyTextureObject(object));
  description.filterMode = cudaFilterModeLinear;
  EXPECT_CUDA(cudaErrorInvalidFilterSetting,
              cudaCreateTextureObject(&object, &resource, &description, nullptr))
      << "integers cannot be mixed";
}

CUDA_TEST(SurfaceObject, LooksAtAnArray) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  cudaSurfaceObject_t object = 0;
  resource.res.array.array = make_array(8, 2, cudaArraySurfaceLoadStore);
  EXPECT_CUDA(cudaSuccess, cudaCreateSurfaceObject(&object, &resource));
  cudaResourceDesc got{};
  EXPECT_CUDA(cudaSuccess, cudaGetSurfaceObjectResourceDesc(&got, object));
  EXPECT_EQ(got.res.array.array, resource.res.array.array);
  EXPECT_CUDA(cudaSuccess, cudaDestroySurfaceObject(object));
  resource.resType = cudaResourceTypeLinear;
  EXPECT_CUDA(cudaErrorInvalidChannelDescriptor, cudaCreateSurfaceObject(&object, &resource));
}

CUDA_TEST(TextureObject, RefusesWhatHardwareRefuses) {
  void* memory = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaMalloc(&memory, 4096));
  cudaResourceDesc linear{}, rows{};
  linear.resType = cudaResourceTypeLinear;
  linear.res.linear = {memory, cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindSigned),
                       1024};
  rows.resType = cudaResourceTypePitch2D;
  rows.res.pitch2D = {memory, cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindSigned), 8, 8,
                      64};
  const cudaTextureDesc plain{};
  const auto create = [](const cudaResourceDesc& resource, const cudaTextureDesc& description) {
    cudaTextureObject_t object = 0;
    const cudaError_t error = cudaCreateTextureObject(&object, &resource, &description, nullptr);
    if (error == cudaSuccess) {
      EXPECT_CUDA(cudaSuccess, cudaDestroyTextureObject(object));
    }
    return error;
  };
  EXPECT_CUDA(cudaSuccess, create(linear, plain));
  EXPECT_CUDA(cudaSuccess, create(rows, plain));
  linear.res.linear.devPtr = static_cast<int*>(memory) + 1;
  EXPECT_CUDA(cudaErrorInvalidValue, create(linear, plain)) << "a texture's memory is aligned";
  linear.res.linear = {memory, cudaCreateChannelDesc(8, 8, 8, 0, cudaChannelFormatKindUnsigned),
                       1024};
  EXPECT_CUDA(cudaErrorInvalidChannelDescriptor, create(linear, plain));
  rows.res.pitch2D.pitchInBytes = 68;
  EXPECT_CUDA(cudaErrorInvalidValue, create(rows, plain)) << "a pitch is a multiple of 32 bytes";
  rows.res.pitch2D.pitchInBytes = 64;
  cudaTextureDesc d{};
  d.readMode = cudaReadModeNormalizedFloat;
  EXPECT_CUDA(cudaErrorInvalidNormSetting, create(rows, d)) << "32 bits are not normalised";
  d = {};
  d.filterMode = cudaFilterModeLinear;
  EXPECT_CUDA(cudaErrorInvalidFilterSetting, create(rows, d)) << "integers are not mixed";
  d = {};
  d.addressMode[0] = static_cast<cudaTextureAddressMode>(9);
  EXPECT_CUDA(cudaErrorInvalidValue, create(rows, d));
  cudaTextureObject_t object = 0;
  cudaResourceViewDesc view{};
  view.width = 77;
  ASSERT_CUDA(cudaSuccess, cudaCreateTextureObject(&object, &rows, &plain, nullptr));
  EXPECT_CUDA(cudaSuccess, cudaGetTextureObjectResourceViewDesc(&view, object));
  EXPECT_EQ(view.width, 0u);
  EXPECT_CUDA(cudaSuccess, cudaDestroyTextureObject(object));
  EXPECT_CUDA(cudaSuccess, cudaFree(memory));
}

}  // namespace
}  // namespace lockstep::runtime
