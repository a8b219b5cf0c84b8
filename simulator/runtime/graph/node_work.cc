#include "simulator/runtime/graph/node_work.h"

#include <cstring>
#include <memory>
#include <utility>

#include "simulator/runtime/graph/conditional.h"
#include "simulator/runtime/state/call_errors.h"
#include "simulator/runtime/work/symbols.h"

namespace lockstep::runtime {
namespace {

bool is_wider_than(const cudaPitchedPtr& memory, const cudaExtent& extent) {
  return memory.ptr != nullptr && extent.width > memory.pitch;
}

// A copy is checked as it is for a stream, and memory that it names must be there now. As an H100
// shows, a side is either an array or memory, and a pitch is wrong if the width alone exceeds it.
cudaError_t check_copy_node(Runtime& r, const char* api_name, const CopyWork& work) {
  const cudaMemcpy3DParms& p = work.box;
  if ((p.srcArray != nullptr && p.srcPtr.ptr != nullptr) ||
      (p.dstArray != nullptr && p.dstPtr.ptr != nullptr)) {
    r.explain(api_name, "a side of the copy is both an array and memory");
    return cudaErrorInvalidValue;
  }
  const cudaError_t error = check_copy(r, api_name, p);
  if (error == cudaErrorInvalidPitchValue && !is_wider_than(p.srcPtr, p.extent) &&
      !is_wider_than(p.dstPtr, p.extent))
    return cudaErrorInvalidValue;
  return error != cudaSuccess ? error : check_work(r, api_name, work);
}

}  // namespace

cudaError_t kernel_work(Runtime& r, Device& d, const char* api_name,
                        const cudaKernelNodeParams* params, Work* work) {
  if (params == nullptr) return cudaErrorInvalidValue;
  if (params->extra != nullptr) {
    r.explain(
        api_name,
        "arguments in the 'extra' format are not supported by the simulated GPU; use kernelParams");
    return cudaErrorNotSupported;
  }
  LaunchRequest request;
  request.grid = params->gridDim;
  request.block = params->blockDim;
  request.dynamic_shared = params->sharedMemBytes;
  KernelWork made;
  if (const cudaError_t error =
          make_kernel_work(r, d, api_name, params->func, request, params->kernelParams, &made);
      error != cudaSuccess)
    return error;
  *work = std::move(made);
  return cudaSuccess;
}

cudaError_t copy_work(Runtime& r, const char* api_name, const cudaMemcpy3DParms* params,
                      Work* work) {
  if (params == nullptr) return cudaErrorInvalidValue;
  const CopyWork made{*params};
  *work = made;
  return check_copy_node(r, api_name, made);
}

cudaError_t line_work(Runtime& r, const char* api_name, void* to, const void* from,
                      std::size_t count, cudaMemcpyKind kind, Work* work) {
  if (count == 0) return cudaErrorInvalidValue;
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
    return cudaErrorInvalidMemcpyDirection;
  const CopyWork made = make_copy_work(to, count, from, count, count, 1, kind);
  *work = made;
  return check_copy_node(r, api_name, made);
}

cudaError_t to_symbol_work(Runtime& r, Device& d, const char* api_name, const void* symbol,
                           const void* from, std::size_t count, std::size_t offset,
                           cudaMemcpyKind kind, Work* work) {
  if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice &&
      kind != cudaMemcpyDefault)
    return cudaErrorInvalidMemcpyDirection;
  void* to = nullptr;
  if (const cudaError_t error = locate_symbol(r, d, api_name, symbol, count, offset, &to);
      error != cudaSuccess)
    return error;
  return line_work(r, api_name, to, from, count, kind, work);
}

cudaError_t from_symbol_work(Runtime& r, Device& d, const char* api_name, void* to,
                             const void* symbol, std::size_t count, std::size_t offset,
                             cudaMemcpyKind kind, Work* work) {
  if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice &&
      kind != cudaMemcpyDefault)
    return cudaErrorInvalidMemcpyDirection;
  void* from = nullptr;
  if (const cudaError_t error = locate_symbol(r, d, api_name, symbol, count, offset, &from);
      error != cudaSuccess)
    return error;
  return line_work(r, api_name, to, from, count, kind, work);
}

cudaError_t fill_work(Runtime& r, const char* api_name, const cudaMemsetParams* params,
                      Work* work) {
  if (params == nullptr) return cudaErrorInvalidValue;
  FillWork made;
  made.rows = *params;
  *work = made;
  const cudaError_t error = check_fill(r, api_name, made);
  return error != cudaSuccess ? error : check_work(r, api_name, made);
}

cudaError_t host_work(const cudaHostNodeParams* params, Work* work) {
  if (params == nullptr || params->fn == nullptr) return cudaErrorInvalidValue;
  *work = HostWork{params->fn, params->userData};
  return cudaSuccess;
}

cudaError_t child_work(Runtime& r, const char* api_name, cudaGraph_t graph, Work* work) {
  const Graph* child = graphs().find(graph);
  if (child == nullptr) return cudaErrorInvalidValue;
  if (has_conditional_nodes(*child)) {
    r.explain(api_name, "a graph with conditional nodes cannot be a child");
    return cudaErrorNotSupported;
  }
  if (has_memory_nodes(*child)) {
    r.explain(api_name,
              "a graph that allocates or frees memory becomes a child if its ownership moves "
              "(cudaGraphChildGraphOwnershipMove), and not by a copy");
    return cudaErrorNotSupported;
  }
  *work = ChildWork{graphs().copy(*child)};
  return cudaSuccess;
}

cudaError_t moved_child_work(const Graph& parent, cudaGraph_t graph, Work* work) {
  Graph* const child = graphs().find(graph);
  if (child == nullptr || child == &parent || has_conditional_nodes(*child))
    return cudaErrorInvalidValue;
  std::shared_ptr<Graph> adopted = graphs().adopt(child);
  if (adopted == nullptr) return cudaErrorInvalidValue;  // it belongs to a node already
  *work = ChildWork{std::move(adopted)};
  return cudaSuccess;
}

cudaError_t record_work(Runtime& r, cudaEvent_t event, Work* work) {
  if (r.streams.find_event(event) == nullptr) return cudaErrorInvalidValue;
  *work = RecordWork{event};
  return cudaSuccess;
}

cudaError_t wait_work(Runtime& r, cudaEvent_t event, Work* work) {
  if (r.streams.find_event(event) == nullptr) return cudaErrorInvalidValue;
  *work = WaitWork{event};
  return cudaSuccess;
}

cudaError_t allocate_work(Runtime& r, const char* api_name, const Graph& graph,
                          cudaMemAllocNodeParams* params, Work* work) {
  if (params == nullptr || params->bytesize == 0 ||
      params->poolProps.allocType != cudaMemAllocationTypePinned ||
      params->poolProps.location.type != cudaMemLocationTypeDevice ||
      (params->accessDescCount != 0 && params->accessDescs == nullptr) ||
      params->accessDescCount > r.devices.size()) {
    return cudaErrorInvalidValue;
  }
  if (params->poolProps.handleTypes != cudaMemHandleTypeNone) {
    r.explain(api_name, "memory of a graph is not shared with other processes");
    return cudaErrorNotSupported;
  }
  const int device = params->poolProps.location.id;
  if (!r.device_exists(device)) return cudaErrorInvalidValue;
  for (std::size_t i = 0; i < params->accessDescCount; ++i) {
    const cudaMemAccessDesc& d = params->accessDescs[i];
    if (d.location.type != cudaMemLocationTypeDevice || !r.device_exists(d.location.id))
      return cudaErrorInvalidValue;
  }
  AllocateWork made;
  made.memory = r.graph_memory.make(r, params->bytesize, device);
  if (!made.memory) {
    r.explain(api_name, "the device has no memory left");
    return cudaErrorMemoryAllocation;
  }
  GraphAllocation& memory = *made.memory;
  memory.owner = graph.id;
  memory.function = api_name;
  memory.caller = caller();
  memory.access.assign(params->accessDescs, params->accessDescs + params->accessDescCount);
  params->dptr = reinterpret_cast<void*>(memory.base);
  made.parameters = *params;
  made.parameters.accessDescs = memory.access.empty() ? nullptr : memory.access.data();
  *work = std::move(made);
  return cudaSuccess;
}

cudaError_t free_work(Runtime& r, const char* api_name, const Graph& graph, void* pointer,
                      Work* work) {
  const auto refuse = [&](const char* why) {
    r.explain(api_name, why);
    return cudaErrorInvalidValue;
  };
  const auto memory = r.graph_memory.find(reinterpret_cast<memory::Address>(pointer));
  if (!memory) return refuse("the address was not returned by an allocation node");
  if (memory->freed_by_owner) return refuse("the allocation's own graph has a free node for it");
  const bool own = memory->owner == graph.id;
  if (own && memory->freed_by_another)
    return refuse("another graph has a free node for the allocation");
  for (const auto& node : graph.nodes) {
    const auto* const free = std::get_if<FreeWork>(&node->work);
    if (free != nullptr && free->memory == memory)
      return refuse("the graph has a free node for the allocation");
  }
  (own ? memory->freed_by_owner : memory->freed_by_another) = true;
  *work = FreeWork{pointer, memory};
  return cudaSuccess;
}

cudaError_t any_work(Runtime& r, Device& d, const char* api_name, Graph& graph,
                     cudaGraphNodeParams* params, Work* work) {
  if (params == nullptr) return cudaErrorInvalidValue;
  switch (params->type) {
    case cudaGraphNodeTypeKernel: {
      const auto& k = params->kernel;
      const cudaKernelNodeParams kernel{k.func,
                                        dim3(k.gridDim.x, k.gridDim.y, k.gridDim.z),
                                        dim3(k.blockDim.x, k.blockDim.y, k.blockDim.z),
                                        k.sharedMemBytes,
                                        k.kernelParams,
                                        k.extra};
      return kernel_work(r, d, api_name, &kernel, work);
    }
    case cudaGraphNodeTypeMemcpy: return copy_work(r, api_name, &params->memcpy.copyParams, work);
    case cudaGraphNodeTypeMemset: {
      const auto& m = params->memset;
      const cudaMemsetParams rows{m.dst, m.pitch, m.value, m.elementSize, m.width, m.height};
      return fill_work(r, api_name, &rows, work);
    }
    case cudaGraphNodeTypeHost: {
      const cudaHostNodeParams host{params->host.fn, params->host.userData};
      return host_work(&host, work);
    }
    case cudaGraphNodeTypeGraph:
      return params->graph.ownership == cudaGraphChildGraphOwnershipMove
                 ? moved_child_work(graph, params->graph.graph, work)
                 : child_work(r, api_name, params->graph.graph, work);
    case cudaGraphNodeTypeEmpty: *work = EmptyWork{}; return cudaSuccess;
    case cudaGraphNodeTypeWaitEvent: return wait_work(r, params->eventWait.event, work);
    case cudaGraphNodeTypeEventRecord: return record_work(r, params->eventRecord.event, work);
    case cudaGraphNodeTypeMemAlloc: {
      auto& a = params->alloc;
      cudaMemAllocNodeParams memory{a.poolProps, a.accessDescs, a.accessDescCount, a.bytesize,
                                    nullptr};
      const cudaError_t error = allocate_work(r, api_name, graph, &memory, work);
      a.dptr = memory.dptr;
      return error;
    }
    case cudaGraphNodeTypeConditional:
      return conditional_work(r, api_name, graph, &params->conditional, work);
    case cudaGraphNodeTypeMemFree: return free_work(r, api_name, graph, params->free.dptr, work);
    default:
      r.explain(api_name, "nodes of this type are not supported by the simulated GPU");
      return cudaErrorNotSupported;
  }
}

cudaError_t set_work(GraphNode& node, Work work) {
  if (type_of(node.work) != type_of(work)) return cudaErrorInvalidValue;
  if (const auto* now = std::get_if<KernelWork>(&node.work)) {
    // What was set as an attribute stays.
    auto& made = std::get<KernelWork>(work);
    made.attributes = now->attributes;
    made.request.cooperative = now->request.cooperative;
    if (now->request.has_cluster) {
      made.request.cluster = now->request.cluster;
      made.request.has_cluster = true;
    }
  }
  node.work = std::move(work);
  return cudaSuccess;
}

}  // namespace lockstep::runtime
