// Programs with cub, as one binary.
#include "cub_block.cu"
#include "cub_device.cu"
