// Programs that integrate, iterate and throw dice, as one binary.
#include "integration.cu"
#include "mandelbrot.cu"
#include "option_paths.cu"
#include "pi.cu"
#include "random_walks.cu"
