// Programs of dynamic programming, as one binary.
#include "common_subsequence.cu"
#include "edit_distance.cu"
#include "floyd_warshall.cu"
#include "knapsack.cu"
#include "needleman_wunsch.cu"
#include "pathfinder.cu"
#include "smith_waterman.cu"
#include "viterbi.cu"
