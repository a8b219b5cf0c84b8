// Programs with asynchronous copies, grid barriers, named barriers and packed data, as one
// binary.
#include "async_tiles.cu"
#include "bit_fields.cu"
#include "grid_iterations.cu"
#include "motion_search.cu"
#include "packed_records.cu"
#include "special_functions.cu"
#include "warp_roles.cu"
