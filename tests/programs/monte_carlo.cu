// Programs that integrate, iterate and use random numbers, as one binary.
#include "integration.cu"
#include "mandelbrot.cu"
#include "option_paths.cu"
#include "pi.cu"
#include "random_walks.cu"
