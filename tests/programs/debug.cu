// Programs that a debug build compiles differently, as one binary, by nvcc -G.
#define bit_fields bit_fields_debug
#include "bit_fields.cu"
