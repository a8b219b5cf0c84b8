// The calls that order_test examines, as one translation unit, as in cases.cu.
#include "copy_calls.cu"
#include "graph_calls.cu"
#include "order.cu"
#include "other_calls.cu"
#include "process_calls.cu"
#include "query_calls.cu"
