#include "simulator/runtime/graph/node_work.h"

#include <cstring>
#include <utility>

#include "simulator/runtime/work/symbols.h"

namespace lockstep::runtime {

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
  *work = CopyWork{*params};
  return check_copy(r, api_name, *params);
}

cudaError_t line_work(Runtime& r, const char* api_name, void* to, const void* from,
                      std::size_t count, cudaMemcpyKind kind, Work* work) {
  const CopyWork made = make_copy_work(to, count, from, count, count, 1, kind);
  *work = made;
  return count == 0 ? cudaErrorInvalidValue : check_copy(r, api_name, made.box);
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
  return check_fill(r, api_name, made);
}

cudaError_t host_work(const cudaHostNodeParams* params, Work* work) {
  if (params == nullptr || params->fn == nullptr) return cudaErrorInvalidValue;
  *work = HostWork{params->fn, params->userData};
  return cudaSuccess;
}

cudaError_t child_work(cudaGraph_t graph, Work* work) {
  const Graph* child = graphs().find(graph);
  if (child == nullptr) return cudaErrorInvalidValue;
  *work = ChildWork{graphs().copy(*child)};
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

cudaError_t allocate_work(Runtime& r, const char* api_name, cudaMemAllocNodeParams* params,
                          Work* work) {
  if (params == nullptr || params->bytesize == 0 ||
      params->poolProps.allocType != cudaMemAllocationTypePinned ||
      params->poolProps.location.type != cudaMemLocationTypeDevice) {
    return cudaErrorInvalidValue;
  }
  const int device = params->poolProps.location.id;
  if (device < 0 || device >= static_cast<int>(r.devices.size())) return cudaErrorInvalidValue;
  const memory::Allocation* a =
      r.memory->allocate(params->bytesize, 256, memory::Kind::kDevice, device);
  if (a == nullptr) {
    r.explain(api_name, "the device has no memory left");
    return cudaErrorMemoryAllocation;
  }
  params->dptr = reinterpret_cast<void*>(a->base);
  *work = AllocateWork{*params};
  return cudaSuccess;
}

cudaError_t free_work(Runtime& r, void* pointer, Work* work) {
  const memory::Allocation* a = r.memory->find(reinterpret_cast<memory::Address>(pointer));
  if (a == nullptr || a->freed || a->base != reinterpret_cast<memory::Address>(pointer))
    return cudaErrorInvalidValue;
  *work = FreeWork{pointer};
  return cudaSuccess;
}

cudaError_t any_work(Runtime& r, Device& d, const char* api_name, cudaGraphNodeParams* params,
                     Work* work) {
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
    case cudaGraphNodeTypeGraph: return child_work(params->graph.graph, work);
    case cudaGraphNodeTypeEmpty: *work = EmptyWork{}; return cudaSuccess;
    case cudaGraphNodeTypeWaitEvent: return wait_work(r, params->eventWait.event, work);
    case cudaGraphNodeTypeEventRecord: return record_work(r, params->eventRecord.event, work);
    case cudaGraphNodeTypeMemAlloc: {
      auto& a = params->alloc;
      cudaMemAllocNodeParams memory{a.poolProps, a.accessDescs, a.accessDescCount, a.bytesize,
                                    nullptr};
      const cudaError_t error = allocate_work(r, api_name, &memory, work);
      a.dptr = memory.dptr;
      return error;
    }
    case cudaGraphNodeTypeMemFree: return free_work(r, params->free.dptr, work);
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
