// Programs whose subject the optimiser changes, as one binary, without it.
#define bit_fields bit_fields_unoptimised
#include "bit_fields.cu"
