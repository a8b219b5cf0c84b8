// Stream memory operations: values that a stream writes to memory or waits for there, and the graph
// nodes for them.
#include <algorithm>
#include <mutex>

#include "simulator/driver/call.h"
#include "simulator/runtime/graph/capture.h"
#include "simulator/runtime/graph/graph.h"
#include "simulator/runtime/state/interceptor.h"
#include "simulator/runtime/work/memory_operations.h"

using namespace lockstep::driver;
using lockstep::runtime::Call;
using lockstep::runtime::Contexts;
using lockstep::runtime::Graph;
using lockstep::runtime::GraphNode;
using lockstep::runtime::graphs;
using lockstep::runtime::MemoryOperationsWork;
using lockstep::runtime::Work;

namespace {

// Every failure counts as an error of the program (Loads::kCode): later work in the stream would
// not wait for the failed operations.
CUresult put_operations(const char* function, CUstream stream, unsigned count,
                        const CUstreamBatchMemOpParams* operations, unsigned flags) {
  return call(
      function, needs_of(stream),
      [&]() -> cudaError_t {
        if (flags != 0 || (count != 0 && operations == nullptr)) return cudaErrorInvalidValue;
        Runtime& r = Runtime::get();
        const std::lock_guard lock(r.lock);
        Device& d = r.current();
        Work work = MemoryOperationsWork{{operations, operations + count},
                                         handle_of(context_of(r, stream))};
        auto& asked = std::get<MemoryOperationsWork>(work);
        auto* const s = r.streams.find_stream(stream, d.ordinal);
        if (s == nullptr) return cudaErrorInvalidResourceHandle;
        if (const cudaError_t error = check_operations(r, function, asked);
            error != cudaSuccess || count == 0)
          return error;
        if (r.interceptor != nullptr && !r.interceptor->before_put(r, function, stream, work))
          return cudaSuccess;
        const bool captured = s->capture != nullptr;
        note_operation(r, d, LOCKSTEP_OTHER_WORK, function, stream, captured);
        if (captured) return capture_work(r, function, *s, std::move(work));
        if (const cudaError_t error = check_legacy(r, function, *s); error != cudaSuccess)
          return error;
        return put_in_queue(r, d, Call::async(function), stream, std::move(work));
      },
      Loads::kCode);
}

CUstreamBatchMemOpParams written(CUstreamBatchMemOpType type, CUdeviceptr address, cuuint64_t value,
                                 unsigned flags) {
  CUstreamBatchMemOpParams result{};
  result.writeValue = {type, address, {}, flags, 0};
  result.writeValue.value64 = value;
  return result;
}
CUstreamBatchMemOpParams waited_for(CUstreamBatchMemOpType type, CUdeviceptr address,
                                    cuuint64_t value, unsigned flags) {
  CUstreamBatchMemOpParams result{};
  result.waitValue = {type, address, {}, flags, 0};
  result.waitValue.value64 = value;
  return result;
}

// Runs `body(runtime, device, work)` with the work that a node's parameters describe.
template <class Body>
CUresult with_operations(const char* function, const CUDA_BATCH_MEM_OP_NODE_PARAMS* p,
                         Body&& body) {
  return locked(function, Needs::kContext, [&](Runtime& r, Device& d) -> cudaError_t {
    if (p == nullptr || p->flags != 0 || find_context(p->ctx) == nullptr ||
        (p->count != 0 && p->paramArray == nullptr))
      return cudaErrorInvalidValue;
    MemoryOperationsWork work{{p->paramArray, p->paramArray + p->count}, p->ctx};
    const cudaError_t error = check_operations(r, function, work);
    return error != cudaSuccess ? error : body(d, std::move(work));
  });
}

}  // namespace

extern "C" {

CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
                              unsigned flags) {
  const auto o = written(CU_STREAM_MEM_OP_WRITE_VALUE_32, address, value, flags);
  return put_operations("cuStreamWriteValue32", stream, 1, &o, 0);
}
CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr address, cuuint64_t value,
                              unsigned flags) {
  const auto o = written(CU_STREAM_MEM_OP_WRITE_VALUE_64, address, value, flags);
  return put_operations("cuStreamWriteValue64", stream, 1, &o, 0);
}
CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
                             unsigned flags) {
  const auto o = waited_for(CU_STREAM_MEM_OP_WAIT_VALUE_32, address, value, flags);
  return put_operations("cuStreamWaitValue32", stream, 1, &o, 0);
}
CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr address, cuuint64_t value,
                             unsigned flags) {
  const auto o = waited_for(CU_STREAM_MEM_OP_WAIT_VALUE_64, address, value, flags);
  return put_operations("cuStreamWaitValue64", stream, 1, &o, 0);
}
CUresult cuStreamBatchMemOp(CUstream stream, unsigned count, CUstreamBatchMemOpParams* operations,
                            unsigned flags) {
  return put_operations("cuStreamBatchMemOp", stream, count, operations, flags);
}

CUresult cuGraphAddBatchMemOpNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* from,
                                  std::size_t count, const CUDA_BATCH_MEM_OP_NODE_PARAMS* p) {
  return with_operations(
      "cuGraphAddBatchMemOpNode", p, [&](Device& d, MemoryOperationsWork work) -> cudaError_t {
        Graph* const g = graphs().find(graph);
        if (node == nullptr || g == nullptr || (count != 0 && from == nullptr))
          return cudaErrorInvalidValue;
        std::vector<GraphNode*> after;
        for (std::size_t i = 0; i < count; ++i) {
          GraphNode* const before = graphs().find(from[i]);
          if (before == nullptr || before->graph != g) return cudaErrorInvalidValue;
          after.push_back(before);
        }
        *node = reinterpret_cast<CUgraphNode>(graphs().add(*g, std::move(work), d.ordinal, after));
        return cudaSuccess;
      });
}

// The returned operations belong to the node.
CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode node, CUDA_BATCH_MEM_OP_NODE_PARAMS* p) {
  return locked("cuGraphBatchMemOpNodeGetParams", Needs::kContext, [&](Runtime&, Device&) {
    GraphNode* const n = graphs().find(node);
    auto* const work = n == nullptr ? nullptr : std::get_if<MemoryOperationsWork>(&n->work);
    if (work == nullptr || p == nullptr) return cudaErrorInvalidValue;
    *p = {work->context, static_cast<unsigned>(work->operations.size()), work->operations.data(),
          0};
    return cudaSuccess;
  });
}

CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS* p) {
  return with_operations(
      "cuGraphBatchMemOpNodeSetParams", p, [&](Device&, MemoryOperationsWork work) {
        GraphNode* const n = graphs().find(node);
        if (n == nullptr || !std::holds_alternative<MemoryOperationsWork>(n->work))
          return cudaErrorInvalidValue;
        n->work = std::move(work);
        return cudaSuccess;
      });
}

CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                            const CUDA_BATCH_MEM_OP_NODE_PARAMS* p) {
  return with_operations(
      "cuGraphExecBatchMemOpNodeSetParams", p, [&](Device&, MemoryOperationsWork work) {
        const auto e = graphs().find(exec);
        const GraphNode* const n = graphs().find(node);
        if (!e || n == nullptr) return cudaErrorInvalidValue;
        const auto step = std::find_if(e->steps.begin(), e->steps.end(),
                                       [&](const auto& s) { return s.origin == n->origin; });
        return step != e->steps.end() && replace_work(*step, std::move(work))
                   ? cudaSuccess
                   : cudaErrorInvalidValue;
      });
}

}  // extern "C"
