// Programs that compress and code, as one binary.
#include "base64.cu"
#include "huffman.cu"
#include "lz_matches.cu"
#include "run_lengths.cu"
#include "varint.cu"
