// One translation unit with the pairs that need a target of sm_100a, as in pairs.cu.
#include "multimem.cu"
#include "tensor_kinds.cu"
#include "tensor_memory.cu"
#include "tensor_modes.cu"
#include "tensor_order.cu"
#include "tensor_pairs.cu"
#include "tensor_shapes.cu"
