// A picture in an array: rotated with linear filtering, changed through a surface, and read back
// through the texture. A picture of bytes in pitched memory, read as normalised floats from 0 to
// 1.
#include <cmath>
#include <vector>

#include "check.h"

__global__ void turn(cudaTextureObject_t picture, float* out, int width, int height, float angle) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float u = x - width / 2.0f, v = y - height / 2.0f;
  out[y * width + x] =
      tex2D<float>(picture, u * cosf(angle) - v * sinf(angle) + width / 2.0f + 0.5f,
                   v * cosf(angle) + u * sinf(angle) + height / 2.0f + 0.5f);
}

__global__ void invert(cudaSurfaceObject_t picture, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float v = surf2Dread<float>(picture, x * 4, y);
  surf2Dwrite(-v, picture, x * 4, y);
}

__global__ void sharpness(cudaTextureObject_t picture, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  // Neighbours outside the picture are clamped to its edge.
  out[y * width + x] = 4 * tex2D<float>(picture, x, y) - tex2D<float>(picture, x - 1, y) -
                       tex2D<float>(picture, x + 1, y) - tex2D<float>(picture, x, y - 1) -
                       tex2D<float>(picture, x, y + 1);
}

// Reads each face of a cube map by the direction to each element's centre; writes elements through
// a surface.
constexpr int kFace = 4;

__global__ void paint(cudaSurfaceObject_t cube, cudaSurfaceObject_t cubes) {
  const int x = threadIdx.x, y = threadIdx.y, face = blockIdx.x;
  const float value = 100 * face + 10 * y + x;
  surfCubemapwrite(value, cube, x * 4, y, face);
  for (int layer = 0; layer < 2; ++layer)
    surfCubemapLayeredwrite(value + 1000 * layer, cubes, x * 4, y, 6 * layer + face);
}

__global__ void look(cudaTextureObject_t cube, cudaTextureObject_t cubes, float* out) {
  const int x = threadIdx.x, y = threadIdx.y, face = blockIdx.x;
  const float s = (2 * x + 1.0f) / kFace - 1, t = (2 * y + 1.0f) / kFace - 1;
  const float3 d[] = {{1, -t, -s}, {-1, -t, s}, {s, 1, t}, {s, -1, -t}, {s, -t, 1}, {-s, -t, -1}};
  const float3 at = d[face];
  out += 3 * ((face * kFace + y) * kFace + x);
  out[0] = texCubemap<float>(cube, at.x, at.y, at.z);
  out[1] = texCubemapLayered<float>(cubes, at.x, at.y, at.z, 1);
  out[2] = texCubemapLod<float>(cube, 3 * at.x, 3 * at.y, 3 * at.z, 0.0f);
}

void check_cube_maps() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaSurfaceObject_t surfaces[2];
  cudaTextureObject_t textures[2];
  cudaArray_t arrays[2];
  for (int layered = 0; layered < 2; ++layered) {
    CUDA(cudaMalloc3DArray(&arrays[layered], &format,
                           make_cudaExtent(kFace, kFace, layered ? 12 : 6),
                           cudaArrayCubemap | cudaArraySurfaceLoadStore |
                               (layered ? cudaArrayLayered : 0)));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = arrays[layered];
    cudaTextureDesc description = {};
    description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
    description.normalizedCoords = 1;
    CUDA(cudaCreateSurfaceObject(&surfaces[layered], &resource));
    CUDA(cudaCreateTextureObject(&textures[layered], &resource, &description, nullptr));
  }
  constexpr int count = 3 * 6 * kFace * kFace;
  std::vector<float> out(count);
  float* device;
  CUDA(cudaMalloc(&device, count * 4));
  paint<<<6, dim3(kFace, kFace)>>>(surfaces[0], surfaces[1]);
  look<<<6, dim3(kFace, kFace)>>>(textures[0], textures[1], device);
  CUDA(cudaMemcpy(out.data(), device, count * 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < count / 3; ++i) {
    const int x = i % kFace, y = i / kFace % kFace, face = i / kFace / kFace;
    const float value = 100 * face + 10 * y + x;
    EXPECT(out[3 * i] == value);
    EXPECT(out[3 * i + 1] == value + 1000);
    EXPECT(out[3 * i + 2] == value);
  }
  for (int i = 0; i < 2; ++i) {
    CUDA(cudaDestroyTextureObject(textures[i]));
    CUDA(cudaDestroySurfaceObject(surfaces[i]));
    CUDA(cudaFreeArray(arrays[i]));
  }
  CUDA(cudaFree(device));
}

constexpr int width = 40, height = 20;

float at(const std::vector<float>& picture, int x, int y) {
  x = x < 0 ? 0 : x >= width ? width - 1 : x;
  y = y < 0 ? 0 : y >= height ? height - 1 : y;
  return picture[y * width + x];
}

float interpolated(const std::vector<float>& picture, double x, double y) {
  const int i = static_cast<int>(std::floor(x)), j = static_cast<int>(std::floor(y));
  const double a = x - i, b = y - j;
  return static_cast<float>((1 - b) * ((1 - a) * at(picture, i, j) + a * at(picture, i + 1, j)) +
                            b * ((1 - a) * at(picture, i, j + 1) + a * at(picture, i + 1, j + 1)));
}

int main() {
  check_cube_maps();
  std::vector<float> host(width * height), out(width * height);
  for (int i = 0; i < width * height; ++i) host[i] = static_cast<float>(i * i % 101) / 101;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  CUDA(cudaMallocArray(&array, &format, width, height, cudaArraySurfaceLoadStore));
  CUDA(cudaMemcpy2DToArray(array, 0, 0, host.data(), width * 4, width * 4, height,
                           cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description = {};
  description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
  description.filterMode = cudaFilterModeLinear;
  description.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture;
  CUDA(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  cudaSurfaceObject_t surface;
  CUDA(cudaCreateSurfaceObject(&surface, &resource));
  float* device;
  CUDA(cudaMalloc(&device, host.size() * 4));
  const dim3 block(16, 8), grid((width + 15) / 16, (height + 7) / 8);
  const float angle = 0.3f;
  for (int pass = 0; pass < 2; ++pass) {
    const float sign = pass == 0 ? 1.0f : -1.0f;
    turn<<<grid, block>>>(texture, device, width, height, angle);
    CUDA(cudaMemcpy(out.data(), device, out.size() * 4, cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const double u = x - width / 2.0, v = y - height / 2.0;
        const float expected =
            interpolated(host, u * std::cos(angle) - v * std::sin(angle) + width / 2.0,
                         v * std::cos(angle) + u * std::sin(angle) + height / 2.0);
        EXPECT(std::fabs(out[y * width + x] - sign * expected) < 1.0f / 64);  // weights have 8 bits
      }
    }
    invert<<<grid, block>>>(surface, width, height);
    CUDA(cudaDeviceSynchronize());
  }
  CUDA(cudaMemcpy2DFromArray(out.data(), width * 4, array, 0, 0, width * 4, height,
                             cudaMemcpyDeviceToHost));
  EXPECT(out == host);  // inverted twice
  CUDA(cudaDestroyTextureObject(texture));
  CUDA(cudaDestroySurfaceObject(surface));
  CUDA(cudaFreeArray(array));

  std::vector<unsigned char> bytes(width * height);
  for (int i = 0; i < width * height; ++i) bytes[i] = static_cast<unsigned char>(7 * i);
  unsigned char* rows;
  size_t pitch;
  CUDA(cudaMallocPitch(&rows, &pitch, width, height));
  CUDA(cudaMemcpy2D(rows, pitch, bytes.data(), width, width, height, cudaMemcpyHostToDevice));
  resource = {};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = rows;
  resource.res.pitch2D.desc = cudaCreateChannelDesc<unsigned char>();
  resource.res.pitch2D.width = width;
  resource.res.pitch2D.height = height;
  resource.res.pitch2D.pitchInBytes = pitch;
  description.filterMode = cudaFilterModePoint;
  description.readMode = cudaReadModeNormalizedFloat;
  CUDA(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  sharpness<<<grid, block>>>(texture, device, width, height);
  CUDA(cudaMemcpy(out.data(), device, out.size() * 4, cudaMemcpyDeviceToHost));
  std::vector<float> numbers(bytes.size());
  for (size_t i = 0; i < bytes.size(); ++i) numbers[i] = static_cast<float>(bytes[i]) / 255;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const float expected = 4 * at(numbers, x, y) - at(numbers, x - 1, y) - at(numbers, x + 1, y) -
                             at(numbers, x, y - 1) - at(numbers, x, y + 1);
      EXPECT(std::fabs(out[y * width + x] - expected) < 1e-5f);
    }
  }
  CUDA(cudaDestroyTextureObject(texture));
  CUDA(cudaFree(rows));
  CUDA(cudaFree(device));
  std::printf("PASSED\n");
  return 0;
}
