// Programs that use cub and thrust, as one binary. With 32-bit indices only: thrust would
// instantiate each kernel again for 64-bit indices, which no array here needs. Two programs that
// use the same algorithm use it for the same types: one instance.
#define THRUST_FORCE_32_BIT_OFFSET_TYPE

#include "cub_block.cu"
#include "cub_device.cu"
#include "thrust_in_place.cu"
#include "thrust_segments.cu"
#include "thrust_statistics.cu"
#include "thrust_words.cu"
