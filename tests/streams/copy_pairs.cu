// Two copies or fills; copies of arrays; two devices.
#include "kernels.cuh"

namespace lockstep::streams {
namespace {

CASE("two copies", copy_of_a_copy, "cudaMemcpyAsync", "cudaMemcpyAsync") {
  Ints source(7), x(0), y(0);
  Stream a, b;
  hold<<<1, 1, 0, a>>>(spin);
  cudaMemcpyAsync(x, source, kBytes, cudaMemcpyDeviceToDevice, a);
  cudaMemcpyAsync(y, x, kBytes, cudaMemcpyDeviceToDevice, mistake ? b : a);
  want(y.holds(7));
}

CASE("two copies", two_copies_to_one_place, "cudaMemcpyAsync", "cudaMemcpyAsync") {
  Ints x(0);
  Pinned first(7), second(8);
  Stream a, b;
  Event copied;
  hold<<<1, 1, 0, a>>>(spin);
  cudaMemcpyAsync(x, first, kBytes, cudaMemcpyHostToDevice, a);
  cudaEventRecord(copied, a);
  if (!mistake) cudaStreamWaitEvent(b, copied);
  cudaMemcpyAsync(x, second, kBytes, cudaMemcpyHostToDevice, b);
  want(x.holds(8));
}

// Through a host buffer: device to host in one stream, host to device in another.
CASE("two copies", through_the_host, "cudaMemcpyAsync", "cudaMemcpyAsync") {
  Ints x(7), y(0);
  Pinned buffer(0);
  Stream down, up;
  Event arrived;
  hold<<<1, 1, 0, down>>>(spin);
  cudaMemcpyAsync(buffer, x, kBytes, cudaMemcpyDeviceToHost, down);
  cudaEventRecord(arrived, down);
  if (!mistake) cudaStreamWaitEvent(up, arrived);
  cudaMemcpyAsync(y, buffer, kBytes, cudaMemcpyHostToDevice, up);
  want(y.holds(7));
}

// The next result overwrites the host buffer while a copy still reads it.
CASE("two copies", host_buffer_used_again, "cudaMemcpyAsync", "cudaMemcpyAsync") {
  Ints x(8), y(0);
  Pinned buffer(7);
  Stream up, down;
  hold<<<1, 1, 0, up>>>(spin);
  cudaMemcpyAsync(y, buffer, kBytes, cudaMemcpyHostToDevice, up);
  cudaMemcpyAsync(buffer, x, kBytes, cudaMemcpyDeviceToHost, mistake ? down : up);
  want(y.holds(7));
}

CASE("two copies", two_fills, "cudaMemsetAsync", "cudaMemsetAsync") {
  Ints x(7);
  Stream a, b;
  hold<<<1, 1, 0, a>>>(spin);
  cudaMemsetAsync(x, 1, kBytes, a);
  cudaMemsetAsync(x, 2, kBytes, mistake ? b : a);
  want(x.fetch() == std::vector<int>(kN, 0x02020202));
}

CASE("two copies", fill_and_copy, "cudaMemsetAsync", "cudaMemcpyAsync") {
  Ints x(7);
  Pinned y(0);
  Stream a, b;
  hold<<<1, 1, 0, a>>>(spin);
  cudaMemsetAsync(x, 1, kBytes, a);
  cudaMemcpyAsync(y, x, kBytes, cudaMemcpyDeviceToHost, mistake ? b : a);
  cudaDeviceSynchronize();
  want(y[0] == 0x01010101 && y[kN - 1] == 0x01010101);
}

CASE("two copies", blocking_copy_after_a_non_blocking_one, "cudaMemcpyAsync", "cudaMemcpy") {
  Ints source(7), x(0);
  Stream a(mistake ? cudaStreamNonBlocking : cudaStreamDefault);
  hold<<<1, 1, 0, a>>>(spin);
  cudaMemcpyAsync(x, source, kBytes, cudaMemcpyDeviceToDevice, a);
  std::vector<int> y(kN);
  cudaMemcpy(y.data(), x, kBytes, cudaMemcpyDeviceToHost);
  want(y == from(7));
  cudaDeviceSynchronize();
}

// Copies of adjacent parts of a buffer do not race.
CASE("two copies", parts_that_overlap, "cudaMemcpyAsync", "cudaMemcpyAsync") {
  Ints x(0);
  Pinned first(0), second(kN / 2);
  Stream a, b;
  first[kN / 2] = -1;
  hold<<<1, 1, 0, a>>>(spin);
  cudaMemcpyAsync(x, first, kBytes / 2 + 4 * mistake, cudaMemcpyHostToDevice, a);
  cudaMemcpyAsync(x + kN / 2, second, kBytes / 2, cudaMemcpyHostToDevice, b);
  want(x.holds(0));
}

// Interleaved rows of two copies: each copies its own columns.
CASE("two copies", columns_that_overlap, "cudaMemcpy2DAsync", "cudaMemcpy2DAsync") {
  Ints x(0), left(7), other(8);
  Stream a, b;
  hold<<<1, 1, 0, a>>>(spin);
  cudaMemcpy2DAsync(x, 64, left, 64, 32 + 4 * mistake, 4, cudaMemcpyDeviceToDevice, a);
  cudaMemcpy2DAsync(x + 8, 64, other + 8, 64, 32, 4, cudaMemcpyDeviceToDevice, b);
  const std::vector<int> result = x.fetch();
  for (int i = 0; i < int(result.size()); ++i) want(result[i] == (i % 16 < 8 ? 7 : 8) + i);
}

// Two copies that only read do not race.
CASE("two copies", one_copy_writes, "cudaMemcpyAsync", "cudaMemcpyAsync") {
  Ints x(7), y(0), z(8);
  Stream a, b;
  hold<<<1, 1, 0, a>>>(spin);
  cudaMemcpyAsync(y, x, kBytes, cudaMemcpyDeviceToDevice, a);
  if (mistake) {
    cudaMemcpyAsync(x, z, kBytes, cudaMemcpyDeviceToDevice, b);
  } else {
    cudaMemcpyAsync(z, x, kBytes, cudaMemcpyDeviceToDevice, b);
  }
  want(y.holds(7));
}

// Arrays. -----------------------------------------------------------------------------------------

class Array {
 public:
  Array() {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
    cudaMallocArray(&array, &format, 16, 4, cudaArraySurfaceLoadStore);
    const std::vector<int> zeros(kN, 0);
    cudaMemcpy2DToArray(array, 0, 0, zeros.data(), 64, 64, 4, cudaMemcpyHostToDevice);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc description = {};
    description.readMode = cudaReadModeElementType;
    cudaCreateTextureObject(&texture, &resource, &description, nullptr);
    cudaCreateSurfaceObject(&surface, &resource);
    cudaDeviceSynchronize();
  }
  ~Array() {
    cudaDestroyTextureObject(texture);
    cudaDestroySurfaceObject(surface);
    cudaFreeArray(array);
  }
  cudaArray_t array = nullptr;
  cudaTextureObject_t texture = 0;
  cudaSurfaceObject_t surface = 0;
};

__global__ void consume_texture(cudaTextureObject_t x, int* y) {
  y[threadIdx.x] = tex2D<int>(x, threadIdx.x % 16, threadIdx.x / 16);
}
__global__ void produce_surface(cudaSurfaceObject_t x, int value, long long clocks) {
  wait_for(clocks);
  surf2Dwrite(value + int(threadIdx.x), x, threadIdx.x % 16 * 4, threadIdx.x / 16);
}

CASE("arrays", copied_to_an_array, "cudaMemcpy2DToArrayAsync", "consume_texture") {
  Array x;
  Ints source(7), y(0);
  Stream a, b;
  hold<<<1, 1, 0, a>>>(spin);
  cudaMemcpy2DToArrayAsync(x.array, 0, 0, source, 64, 64, 4, cudaMemcpyDeviceToDevice, a);
  consume_texture<<<1, kN, 0, mistake ? b : a>>>(x.texture, y);
  want(y.holds(7));
}

CASE("arrays", copied_from_an_array, "produce_surface", "cudaMemcpy2DFromArrayAsync") {
  Array x;
  Ints y(0);
  Stream a, b;
  produce_surface<<<1, kN, 0, a>>>(x.surface, 7, spin);
  cudaMemcpy2DFromArrayAsync(y, 64, x.array, 0, 0, 64, 4, cudaMemcpyDeviceToDevice,
                             mistake ? b : a);
  want(y.holds(7));
}

CASE("arrays", surface_and_texture, "produce_surface", "consume_texture") {
  Array x;
  Ints y(0);
  Stream a, b;
  produce_surface<<<1, kN, 0, a>>>(x.surface, 7, spin);
  consume_texture<<<1, kN, 0, mistake ? b : a>>>(x.texture, y);
  want(y.holds(7));
}

// Two devices. ------------------------------------------------------------------------------------

// Memory of device 0 that device 1 can access.
void reach() {
  cudaSetDevice(1);
  cudaDeviceEnablePeerAccess(0, 0);
  cudaSetDevice(0);
  cudaDeviceEnablePeerAccess(1, 0);
  cudaGetLastError();
}

CASE("devices", kernel_on_another_device, "produce", "consume") {
  reach();
  Ints x(0), y(0);
  Stream a;
  Event produced;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaEventRecord(produced, a);
  cudaSetDevice(1);
  Stream b;
  if (!mistake) cudaStreamWaitEvent(b, produced);
  consume<<<1, kN, 0, b>>>(x, y);
  cudaDeviceSynchronize();
  cudaSetDevice(0);
  want(y.holds(7));
}

// Each device has its own legacy stream.
CASE("devices", legacy_streams_of_two_devices, "produce", "consume") {
  reach();
  Ints x(0), y(0);
  produce<<<1, kN>>>(x, 7, spin);
  if (!mistake) cudaDeviceSynchronize();
  cudaSetDevice(1);
  consume<<<1, kN>>>(x, y);
  cudaDeviceSynchronize();
  cudaSetDevice(0);
  want(y.holds(7));
}

CASE("devices", copied_to_another_device, "produce", "cudaMemcpyPeerAsync") {
  reach();
  Ints x(0);
  Stream a;
  cudaSetDevice(1);
  Ints y(0);
  Stream b(cudaStreamNonBlocking);
  cudaSetDevice(0);
  Stream c(cudaStreamNonBlocking);
  Event produced;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaEventRecord(produced, a);
  cudaSetDevice(1);
  if (!mistake) cudaStreamWaitEvent(b, produced);
  cudaMemcpyPeerAsync(y, 1, x, 0, kBytes, b);
  want(y.holds(7));
  cudaSetDevice(0);
  cudaDeviceSynchronize();
}

// cudaDeviceSynchronize waits for the current device only.
CASE("devices", host_waits_for_another_device, "produce", "consume") {
  reach();
  Ints x(0), y(0);
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  if (mistake) cudaSetDevice(1);
  cudaDeviceSynchronize();
  cudaSetDevice(0);
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

}  // namespace
}  // namespace lockstep::streams
