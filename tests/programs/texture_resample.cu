// A picture enlarged through a texture with linear filtering, and a table read through a linear
// texture.
#include "program.h"

namespace texture_resample {

__global__ void resample(cudaTextureObject_t picture, cudaTextureObject_t curve, float* out,
                         int width, int height, float scale, int mistake) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float offset = mistake == 1 ? 0 : 0.5f * scale;
  const float value = tex2D<float>(picture, x * scale + offset, y * scale + offset);
  out[y * width + x] = value * tex1Dfetch<int>(curve, y % 8);
}

PROGRAM(texture_resample, 2) {
  const int small = 12, large = 48;
  std::vector<float> picture(small * small);
  std::vector<int> curve(8);
  Random random(69);
  for (float& p : picture) p = static_cast<float>(random.below(64));
  for (int i = 0; i < 8; ++i) curve[i] = i * i + 1;
  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  CUDA(cudaMallocArray(&array, &format, small, small));
  CUDA(cudaMemcpy2DToArray(array, 0, 0, picture.data(), small * 4, small * 4, small,
                           cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc how = {};
  how.addressMode[0] = how.addressMode[1] =
      mistake == 2 ? cudaAddressModeBorder : cudaAddressModeClamp;
  how.filterMode = cudaFilterModeLinear;
  how.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture, table;
  CUDA(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  Buffer<int> d_curve(curve);
  cudaResourceDesc linear = {};
  linear.resType = cudaResourceTypeLinear;
  linear.res.linear.devPtr = d_curve;
  linear.res.linear.desc = cudaCreateChannelDesc<int>();
  linear.res.linear.sizeInBytes = 8 * sizeof(int);
  cudaTextureDesc plain = {};
  plain.readMode = cudaReadModeElementType;
  CUDA(cudaCreateTextureObject(&table, &linear, &plain, nullptr));
  Buffer<float> out(large * large);
  resample<<<dim3(divide_up(large, 32), divide_up(large, 4)), dim3(32, 4)>>>(
      texture, table, out, large, large, 0.25f, mistake);
  const std::vector<float> got = out.host();
  CUDA(cudaDestroyTextureObject(texture));
  CUDA(cudaDestroyTextureObject(table));
  CUDA(cudaFreeArray(array));
  // Fractions are eighths, exact in the filter's 8 bits: results are multiples of 1/64.
  int wrong = 0;
  for (int y = 0; y < large; ++y)
    for (int x = 0; x < large; ++x) {
      const int px = 2 * x + 1 - 4,
                py = 2 * y + 1 - 4;  // in eighths, from the middle of the first pixel
      const auto at = [&](int i, int j) {
        return int(picture[std::clamp(j, 0, small - 1) * small + std::clamp(i, 0, small - 1)]);
      };
      const int i = px >> 3, j = py >> 3, fx = px & 7, fy = py & 7;
      const int sum = (8 - fy) * ((8 - fx) * at(i, j) + fx * at(i + 1, j)) +
                      fy * ((8 - fx) * at(i, j + 1) + fx * at(i + 1, j + 1));
      wrong += got[y * large + x] != static_cast<float>(sum * curve[y % 8]) / 64;
    }
  return verdict(wrong == 0, "%d of %d wrong", wrong, large * large);
}

}  // namespace texture_resample
