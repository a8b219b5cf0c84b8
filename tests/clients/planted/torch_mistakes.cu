// Kernels of a PyTorch extension with one mistake each (torch_mistakes.py).
#include <torch/extension.h>

#include <string>

__global__ void race(const float* x, float* out) {
  out[threadIdx.x] += x[blockIdx.x * blockDim.x + threadIdx.x];  // planted: race
}

__global__ void off_by_one(const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) out[i] = x[i];  // planted: off_by_one
}

__global__ void unwritten(const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] * 2 + 1;  // planted: unwritten
}

void run(const std::string& mistake, torch::Tensor x, torch::Tensor out) {
  const float* from = x.data_ptr<float>();
  float* to = out.data_ptr<float>();
  int n = static_cast<int>(x.numel());
  if (mistake == "race") race<<<4, 128>>>(from, to);
  if (mistake == "off_by_one") off_by_one<<<8, 128>>>(from, to, n);
  if (mistake == "unwritten") unwritten<<<8, 128>>>(from, to, n);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
