#include <cstdio>

__global__ void smooth(float* x) {
  const int i = threadIdx.x;
  const float mean = (x[i] + x[(i + 1) % 256]) / 2;
  x[i] = mean;
}

int main() {
  float x[256], *on_device;
  for (int i = 0; i < 256; ++i) x[i] = i;
  cudaMalloc(&on_device, sizeof x);
  cudaMemcpy(on_device, x, sizeof x, cudaMemcpyHostToDevice);
  smooth<<<1, 256>>>(on_device);
  cudaMemcpy(x, on_device, sizeof x, cudaMemcpyDeviceToHost);
  std::printf("x[0] = %g\n", x[0]);
}
