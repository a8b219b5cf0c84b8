// What a kernel_test needs at least: a kernel with its launcher.
#pragma once

void double_each(float* x, int n);
