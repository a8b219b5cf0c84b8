// Copies and fills of every kind of memory.
#include <algorithm>

#include "calls.h"

namespace lockstep::streams {
namespace {

__device__ char variable[kSmall];
__constant__ char constant[kSmall];

cudaMemcpy3DParms box(Situation& s) {
  cudaMemcpy3DParms parameters = {};
  parameters.srcPtr = make_cudaPitchedPtr(s.device, 64, 64, 4);
  parameters.dstPtr = make_cudaPitchedPtr(s.second, 64, 64, 4);
  parameters.extent = make_cudaExtent(64, 4, 2);
  parameters.kind = cudaMemcpyDeviceToDevice;
  return parameters;
}

// A copy of `bytes` bytes: the blocking form, and the form with a stream.
#define COPY(name, to, from, bytes, kind)                                                       \
  {                                                                                             \
    name, [](Situation& s) -> Prepared { return [&s] { cudaMemcpy(to, from, bytes, kind); }; }, \
        false, std::max<size_t>(bytes, Situation::kRange)                                       \
  }
#define COPY_IN(name, to, from, bytes, kind, stream)                       \
  {                                                                        \
    name,                                                                  \
        [](Situation& s) -> Prepared {                                     \
          return [&s] { cudaMemcpyAsync(to, from, bytes, kind, stream); }; \
        },                                                                 \
        false, std::max<size_t>(bytes, Situation::kRange)                  \
  }

}  // namespace

std::vector<Call> copies_and_fills() {
  return {
    COPY("cudaMemcpy, 256 B, pageable to device", s.device, s.pageable.data(), kSmall,
         cudaMemcpyHostToDevice),
        COPY("cudaMemcpy, 1 MiB, pageable to device", s.device, s.pageable.data(), kLarge,
             cudaMemcpyHostToDevice),
        COPY("cudaMemcpy, 256 B, pinned to device", s.device, s.pinned, kSmall,
             cudaMemcpyHostToDevice),
        COPY("cudaMemcpy, 1 MiB, pinned to device", s.device, s.pinned, kLarge,
             cudaMemcpyHostToDevice),
        COPY("cudaMemcpy, 256 B, device to pageable", s.pageable.data(), s.device, kSmall,
             cudaMemcpyDeviceToHost),
        COPY("cudaMemcpy, 1 MiB, device to pageable", s.pageable.data(), s.device, kLarge,
             cudaMemcpyDeviceToHost),
        COPY("cudaMemcpy, 256 B, device to pinned", s.pinned, s.device, kSmall,
             cudaMemcpyDeviceToHost),
        COPY("cudaMemcpy, 1 MiB, device to pinned", s.pinned, s.device, kLarge,
             cudaMemcpyDeviceToHost),
        COPY("cudaMemcpy, 256 B, within the device", s.second, s.device, kSmall,
             cudaMemcpyDeviceToDevice),
        COPY("cudaMemcpy, 1 MiB, within the device", s.second, s.device, kLarge,
             cudaMemcpyDeviceToDevice),
        COPY("cudaMemcpy, 256 B, pageable to pageable", s.pageable.data(), s.pageable_too.data(),
             kSmall, cudaMemcpyHostToHost),
        COPY("cudaMemcpy, 256 B, pageable to pinned", s.pinned, s.pageable.data(), kSmall,
             cudaMemcpyHostToHost),
        COPY("cudaMemcpy, 256 B, managed to device", s.device, s.managed, kSmall,
             cudaMemcpyDefault),
        COPY("cudaMemcpy, 256 B, device to managed", s.managed, s.device, kSmall,
             cudaMemcpyDefault),
        COPY("cudaMemcpy, 256 B, managed to pageable", s.pageable.data(), s.managed, kSmall,
             cudaMemcpyDefault),
        COPY("cudaMemcpy of nothing", s.device, s.pageable.data(), 0, cudaMemcpyHostToDevice),
        CALL("cudaMemcpy2D, pageable to device",
             cudaMemcpy2D(s.device, 64, s.pageable.data(), 64, 32, 4, cudaMemcpyHostToDevice)),
        CALL("cudaMemcpy2D, device to pageable",
             cudaMemcpy2D(s.pageable.data(), 64, s.device, 64, 32, 4, cudaMemcpyDeviceToHost)),
        CALL("cudaMemcpy2D, within the device",
             cudaMemcpy2D(s.second, 64, s.device, 64, 32, 4, cudaMemcpyDeviceToDevice)),
        CALL("cudaMemcpy3D, within the device", const auto b = box(s); cudaMemcpy3D(&b)),
        CALL("cudaMemcpy2DToArray, pageable",
             cudaMemcpy2DToArray(s.array, 0, 0, s.pageable.data(), 64, 64, 4,
                                 cudaMemcpyHostToDevice)),
        CALL("cudaMemcpy2DFromArray, pageable",
             cudaMemcpy2DFromArray(s.pageable.data(), 64, s.array, 0, 0, 64, 4,
                                   cudaMemcpyDeviceToHost)),
        CALL("cudaMemcpyToSymbol, pageable",
             cudaMemcpyToSymbol(variable, s.pageable.data(), kSmall)),
        CALL("cudaMemcpyToSymbol, pageable to constant memory",
             cudaMemcpyToSymbol(constant, s.pageable.data(), kSmall)),
        CALL("cudaMemcpyToSymbol, within the device",
             cudaMemcpyToSymbol(variable, s.device, kSmall, 0, cudaMemcpyDeviceToDevice)),
        CALL("cudaMemcpyFromSymbol, pageable",
             cudaMemcpyFromSymbol(s.pageable.data(), variable, kSmall)),
        CALL("cudaMemcpyPeer, of one device", cudaMemcpyPeer(s.second, 0, s.device, 0, kSmall)),
        COPY_IN("cudaMemcpyAsync, 256 B, pageable to device, idle stream", s.device,
                s.pageable.data(), kSmall, cudaMemcpyHostToDevice, s.idle),
        COPY_IN("cudaMemcpyAsync, 1 MiB, pageable to device, idle stream", s.device,
                s.pageable.data(), kLarge, cudaMemcpyHostToDevice, s.idle),
        COPY_IN("cudaMemcpyAsync, 256 B, device to pageable, idle stream", s.pageable.data(),
                s.device, kSmall, cudaMemcpyDeviceToHost, s.idle),
        COPY_IN("cudaMemcpyAsync, 256 B, pinned to device, idle stream", s.device, s.pinned, kSmall,
                cudaMemcpyHostToDevice, s.idle),
        COPY_IN("cudaMemcpyAsync, 256 B, within the device, idle stream", s.second, s.device,
                kSmall, cudaMemcpyDeviceToDevice, s.idle),
        COPY_IN("cudaMemcpyAsync, 256 B, pageable to device, busy stream", s.device,
                s.pageable.data(), kSmall, cudaMemcpyHostToDevice, s.busy),
        COPY_IN("cudaMemcpyAsync, 1 MiB, pageable to device, busy stream", s.device,
                s.pageable.data(), kLarge, cudaMemcpyHostToDevice, s.busy),
        COPY_IN("cudaMemcpyAsync, 256 B, device to pageable, busy stream", s.pageable.data(),
                s.device, kSmall, cudaMemcpyDeviceToHost, s.busy),
        COPY_IN("cudaMemcpyAsync, 1 MiB, device to pageable, busy stream", s.pageable.data(),
                s.device, kLarge, cudaMemcpyDeviceToHost, s.busy),
        COPY_IN("cudaMemcpyAsync, 256 B, pinned to device, busy stream", s.device, s.pinned, kSmall,
                cudaMemcpyHostToDevice, s.busy),
        COPY_IN("cudaMemcpyAsync, 256 B, device to pinned, busy stream", s.pinned, s.device, kSmall,
                cudaMemcpyDeviceToHost, s.busy),
        COPY_IN("cudaMemcpyAsync, 256 B, within the device, busy stream", s.second, s.device,
                kSmall, cudaMemcpyDeviceToDevice, s.busy),
        COPY_IN("cudaMemcpyAsync, 256 B, pageable to pageable, busy stream", s.pageable.data(),
                s.pageable_too.data(), kSmall, cudaMemcpyHostToHost, s.busy),
        COPY_IN("cudaMemcpyAsync, 256 B, managed to pageable, busy stream", s.pageable.data(),
                s.managed, kSmall, cudaMemcpyDefault, s.busy),
        CALL("cudaMemcpyToSymbolAsync, pageable, busy stream",
             cudaMemcpyToSymbolAsync(variable, s.pageable.data(), kSmall, 0, cudaMemcpyHostToDevice,
                                     s.busy)),
        CALL("cudaMemcpyFromSymbolAsync, pageable, busy stream",
             cudaMemcpyFromSymbolAsync(s.pageable.data(), variable, kSmall, 0,
                                       cudaMemcpyDeviceToHost, s.busy)),
        CALL("cudaMemset", cudaMemset(s.device, 1, kSmall)),
        CALL("cudaMemset of pinned memory", cudaMemset(s.pinned, 1, kSmall)),
        CALL("cudaMemset of managed memory", cudaMemset(s.managed, 1, kSmall)),
        CALL("cudaMemset2D", cudaMemset2D(s.device, 64, 1, 32, 4)),
        CALL("cudaMemset3D",
             cudaMemset3D(make_cudaPitchedPtr(s.device, 64, 64, 4), 1, make_cudaExtent(32, 4, 2))),
        CALL("cudaMemsetAsync, idle stream", cudaMemsetAsync(s.device, 1, kSmall, s.idle)),
        CALL("cudaMemsetAsync, busy stream", cudaMemsetAsync(s.device, 1, kSmall, s.busy)),
        CALL("cudaMemsetAsync of pinned memory, busy stream",
             cudaMemsetAsync(s.pinned, 1, kSmall, s.busy)),
  };
}

}  // namespace lockstep::streams
