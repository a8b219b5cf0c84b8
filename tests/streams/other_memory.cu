// Memory of other processes, persisting windows of the L2 cache, and cube maps.
#include "kernels.cuh"
#include "lent.h"

namespace lockstep::streams {
namespace {

// Other processes. --------------------------------------------------------------------------------

CASE("other processes", lent_memory_in_two_streams, "produce", "consume") {
  const Lent other;
  int* const x = other.open();
  want(x != nullptr);
  Ints y(0);
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  consume<<<1, kN, 0, mistake ? b : a>>>(x, y);
  cudaDeviceSynchronize();
  cudaIpcCloseMemHandle(x);
  want(y.holds(7));
}

// Opening shared memory does not wait; closing it waits for all work.
CASE("other processes", open_is_no_wait, "produce", "consume") {
  Ints x(0), y(0);
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  const Lent other;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  int* const opened = other.open();
  if (!mistake) cudaStreamSynchronize(a);
  consume<<<1, kN, 0, b>>>(x, y);
  cudaDeviceSynchronize();
  want(cudaIpcCloseMemHandle(opened) == cudaSuccess && y.holds(7));
}

CASE("other processes", close_is_a_wait, "produce", "consume") {
  Ints x(0), y(0);
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  const Lent other;
  int* const opened = other.open();
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  if (!mistake) want(cudaIpcCloseMemHandle(opened) == cudaSuccess);
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

// The L2 cache. -----------------------------------------------------------------------------------

// Sets the stream's access policy window: accesses to `x` persist in the L2 cache.
void persist(cudaStream_t stream, int* x) {
  cudaStreamAttrValue value = {};
  value.accessPolicyWindow.base_ptr = x;
  value.accessPolicyWindow.num_bytes = kBytes;
  value.accessPolicyWindow.hitRatio = 1;
  value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  value.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value);
}

CASE("cache", one_window_of_two_streams, "produce", "consume") {
  Ints x(0), y(0);
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  persist(a, x);
  persist(b, x);
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  consume<<<1, kN, 0, mistake ? b : a>>>(x, y);
  want(y.holds(7));
}

// The documentation does not promise a wait, although an H100 waits.
CASE("cache", reset_is_no_wait, "produce", "consume") {
  Ints x(0), y(0);
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  persist(a, x);
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaCtxResetPersistingL2Cache();
  if (!mistake) cudaStreamSynchronize(a);
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

// Cube maps. --------------------------------------------------------------------------------------

// Six faces of 4 x 4 integers, with a surface object.
struct Cube {
  Cube() {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
    cudaMalloc3DArray(&array, &format, {4, 4, 6}, cudaArrayCubemap | cudaArraySurfaceLoadStore);
    cudaResourceDesc of = {};
    of.resType = cudaResourceTypeArray;
    of.res.array.array = array;
    cudaCreateSurfaceObject(&surface, &of);
  }
  ~Cube() {
    cudaDestroySurfaceObject(surface);
    cudaFreeArray(array);
  }
  Cube(const Cube&) = delete;
  Cube& operator=(const Cube&) = delete;
  // The parameters of a copy of the first four faces: kN elements.
  cudaMemcpy3DParms faces(int* memory, bool to_the_array) const {
    cudaMemcpy3DParms p = {};
    const cudaPitchedPtr rows = make_cudaPitchedPtr(memory, 4 * sizeof(int), 4, 4);
    if (to_the_array) {
      p.srcPtr = rows;
      p.dstArray = array;
    } else {
      p.srcArray = array;
      p.dstPtr = rows;
    }
    p.extent = {4, 4, 4};
    p.kind = cudaMemcpyDeviceToDevice;
    return p;
  }
  cudaArray_t array = nullptr;
  cudaSurfaceObject_t surface = 0;
};

__global__ void consume_faces(cudaSurfaceObject_t x, int* y) {
  const int i = int(threadIdx.x);
  y[i] = surfCubemapread<int>(x, i % 4 * int(sizeof(int)), i / 4 % 4, i / 16);
}
__global__ void produce_faces(cudaSurfaceObject_t x, int value, long long clocks) {
  const int i = int(threadIdx.x);
  wait_for(clocks);
  surfCubemapwrite(value + i, x, i % 4 * int(sizeof(int)), i / 4 % 4, i / 16);
}

CASE("cube maps", copied_to_a_cube_map, "cudaMemcpy3DAsync", "consume_faces") {
  const Cube x;
  Ints source(7), y(0);
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  hold<<<1, 1, 0, a>>>(spin);
  const cudaMemcpy3DParms copy = x.faces(source, true);
  cudaMemcpy3DAsync(&copy, a);
  consume_faces<<<1, kN, 0, mistake ? b : a>>>(x.surface, y);
  want(y.holds(7));
}

CASE("cube maps", copied_from_a_cube_map, "produce_faces", "cudaMemcpy3DAsync") {
  const Cube x;
  Ints y(0);
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  produce_faces<<<1, kN, 0, a>>>(x.surface, 7, spin);
  const cudaMemcpy3DParms copy = x.faces(y, false);
  cudaMemcpy3DAsync(&copy, mistake ? b : a);
  want(y.holds(7));
}

CASE("cube maps", two_copies_of_a_cube_map, "cudaMemcpy3DAsync", "cudaMemcpy3DAsync") {
  const Cube x;
  Ints source(7), y(0);
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  hold<<<1, 1, 0, a>>>(spin);
  const cudaMemcpy3DParms in = x.faces(source, true), out = x.faces(y, false);
  cudaMemcpy3DAsync(&in, a);
  cudaMemcpy3DAsync(&out, mistake ? b : a);
  want(y.holds(7));
}

// Copies of other faces of the map need no ordering. The mistake copies the faces that are read.
CASE("cube maps", faces_that_are_read, "consume_faces", "cudaMemcpy3DAsync") {
  const Cube x;
  Ints source(7), other(1, 16), y(0);
  cudaMemcpy3DParms copy = x.faces(source, true);
  cudaMemcpy3DAsync(&copy, nullptr);
  cudaDeviceSynchronize();
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  hold<<<1, 1, 0, a>>>(spin);
  consume_faces<<<1, kN, 0, a>>>(x.surface, y);
  copy = x.faces(other, true);
  copy.dstPos.z = mistake ? 3 : 4;
  copy.extent.depth = 1;
  cudaMemcpy3DAsync(&copy, b);
  want(y.holds(7));
}

}  // namespace
}  // namespace lockstep::streams
