#include "partly_simulated.h"

__global__ void odd(int* p) {
  int x;
  asm("{ .reg .pred q; istypep.texref q, %1; selp.s32 %0, 1, 0, q; }" : "=r"(x) : "l"(p));
  *p = x;
}

void launch_odd(int* p) { odd<<<1, 1>>>(p); }
