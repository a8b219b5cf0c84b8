// Device code of two translation units, linked together (-rdc=true).
#pragma once

__device__ int twice(int x);
extern __device__ int offset;
extern __constant__ int factors[4];
