// lockstep: grid=(cdiv(n, 1024)) block=256
extern "C" __global__ void axpy(float a, const float* x, float* y, int n) {
  const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 3 < n) {
    const float4 u = *reinterpret_cast<const float4*>(x + i);
    float4 v = *reinterpret_cast<float4*>(y + i);
    v.x += a * u.x, v.y += a * u.y, v.z += a * u.z, v.w += a * u.w;
    *reinterpret_cast<float4*>(y + i) = v;
  } else {
    for (int k = i; k < n; ++k) y[k] = a * x[k] + y[k];
  }
}
