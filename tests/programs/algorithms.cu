// Programs with the toolkit's libraries of algorithms, cub and thrust, as one binary. Indices are
// of 32 bits: thrust would have each kernel once more with 64, which no array here is long enough
// for.
#define THRUST_FORCE_32_BIT_OFFSET_TYPE

#include "cub_block.cu"
#include "cub_device.cu"
#include "thrust_in_place.cu"
#include "thrust_segments.cu"
#include "thrust_statistics.cu"
#include "thrust_words.cu"
