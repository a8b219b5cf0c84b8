// Programs on graphs, as one binary.
#include "bfs.cu"
#include "boruvka.cu"
#include "colouring.cu"
#include "components.cu"
#include "core_numbers.cu"
#include "pagerank.cu"
#include "shortest_paths.cu"
#include "triangles.cu"
