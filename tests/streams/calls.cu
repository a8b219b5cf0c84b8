// All of the program order_test runs: one translation unit, as cases.cu is.
#include "copy_calls.cu"
#include "graph_calls.cu"
#include "order.cu"
#include "other_calls.cu"
#include "process_calls.cu"
#include "query_calls.cu"
