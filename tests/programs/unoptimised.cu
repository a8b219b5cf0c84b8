// Programs that the optimiser changes, as one binary, compiled without optimisation.
#define bit_fields bit_fields_unoptimised
#include "bit_fields.cu"
