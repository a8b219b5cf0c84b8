// Programs with thrust, as one binary.
#include "thrust_statistics.cu"
#include "thrust_words.cu"
