// A picture in an array, read through a texture with linear filtering, written through a surface.
#include <vector>

#include "check.h"

__global__ void sample(cudaTextureObject_t picture, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = tex2D<float>(picture, x + 1.0f, y + 0.5f);  // halfway to the next column
}

__global__ void invert(cudaSurfaceObject_t picture, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float v = surf2Dread<float>(picture, x * 4, y);
  surf2Dwrite(-v, picture, x * 4, y);
}

int main() {
  constexpr int width = 40, height = 20;
  std::vector<float> host(width * height), out(width * height);
  for (int i = 0; i < width * height; ++i) host[i] = static_cast<float>(i);
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  CUDA(cudaMallocArray(&array, &format, width, height, cudaArraySurfaceLoadStore));
  CUDA(cudaMemcpy2DToArray(array, 0, 0, host.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
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
  for (int pass = 0; pass < 2; ++pass) {
    const float sign = pass == 0 ? 1.0f : -1.0f;
    sample<<<grid, block>>>(texture, device, width, height);
    CUDA(cudaMemcpy(out.data(), device, out.size() * 4, cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const float expected = static_cast<float>(y * width + x) + (x + 1 < width ? 0.5f : 0.0f);
        EXPECT(out[y * width + x] == sign * expected);
      }
    }
    invert<<<grid, block>>>(surface, width, height);
    CUDA(cudaDeviceSynchronize());
  }
  CUDA(cudaMemcpy2DFromArray(out.data(), width * 4, array, 0, 0, width * 4, height, cudaMemcpyDeviceToHost));
  EXPECT(out == host);  // inverted twice
  CUDA(cudaDestroyTextureObject(texture));
  CUDA(cudaDestroySurfaceObject(surface));
  CUDA(cudaFreeArray(array));
  std::printf("PASSED\n");
}
