// The minimum for a kernel_test: a kernel with its launcher.
#pragma once

void double_each(float* x, int n);
