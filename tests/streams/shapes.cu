// Larger shapes of ordering: several readers, long chains, many streams, loops.
#include <memory>

#include "kernels.cuh"

namespace lockstep::streams {
namespace {

// Three streams read. The writer omits the wait for one: that reader must be reported.
void several_readers(bool mistake, int left_out) {
  Ints x(7), y0(0), y1(0), y2(0);
  int* const results[] = {y0, y1, y2};
  Stream readers[3], writer;
  Event read[3];
  for (int i = 0; i < 3; ++i) {
    consume_late<<<1, kN, 0, readers[i]>>>(x, results[i], i == left_out ? spin : 0);
    cudaEventRecord(read[i], readers[i]);
  }
  for (int i = 0; i < 3; ++i)
    if (!mistake || i != left_out) cudaStreamWaitEvent(writer, read[i]);
  produce<<<1, kN, 0, writer>>>(x, 8, 0);
  want(y0.holds(7) && y1.holds(7) && y2.holds(7));
}
CASE("shapes", first_of_three_readers, "consume_late", "produce") { several_readers(mistake, 0); }
CASE("shapes", second_of_three_readers, "consume_late", "produce") { several_readers(mistake, 1); }
CASE("shapes", last_of_three_readers, "consume_late", "produce") { several_readers(mistake, 2); }

// An ordered reader between the two unordered operations.
CASE("shapes", ordered_reader_between, "produce", "consume") {
  Ints x(0), y(0), z(0);
  Stream a, b;
  Event produced;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  consume<<<1, kN, 0, a>>>(x, y);
  cudaEventRecord(produced, a);
  if (!mistake) cudaStreamWaitEvent(b, produced);
  consume<<<1, kN, 0, b>>>(x, z);
  want(y.holds(7) && z.holds(7));
}

// Many ordered readers in between.
CASE("shapes", many_ordered_readers_between, "produce", "consume") {
  constexpr int kReaders = 5;
  Ints x(0), y(0, kReaders * kN), z(0);
  Stream a, b, readers[kReaders];
  Event produced;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaEventRecord(produced, a);
  for (int i = 0; i < kReaders; ++i) {
    cudaStreamWaitEvent(readers[i], produced);
    consume_late<<<1, kN, 0, readers[i]>>>(x, y + i * kN, 0);
  }
  if (!mistake) cudaStreamWaitEvent(b, produced);
  consume<<<1, kN, 0, b>>>(x, z);
  want(z.holds(7));
}

// An ordered copy in between.
CASE("shapes", ordered_copy_between, "produce", "consume") {
  Ints x(0), y(0), z(0);
  Stream a, b;
  Event produced;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaMemcpyAsync(y, x, kBytes, cudaMemcpyDeviceToDevice, a);
  cudaEventRecord(produced, a);
  if (!mistake) cudaStreamWaitEvent(b, produced);
  consume<<<1, kN, 0, b>>>(x, z);
  want(y.holds(7) && z.holds(7));
}

// An ordered reader follows the copy; the other reader is unordered.
CASE("shapes", ordered_reader_behind_a_copy, "cudaMemcpyAsync", "consume") {
  Ints x(0), y(0), z(0), source(7);
  Stream a, b;
  Event copied;
  hold<<<1, 1, 0, a>>>(spin);
  cudaMemcpyAsync(x, source, kBytes, cudaMemcpyDeviceToDevice, a);
  consume_late<<<1, kN, 0, a>>>(x, y, 0);
  cudaEventRecord(copied, a);
  if (!mistake) cudaStreamWaitEvent(b, copied);
  consume<<<1, kN, 0, b>>>(x, z);
  want(y.holds(7) && z.holds(7));
}

// The operation in between uses atomics, which do not race with each other.
__global__ void add_one(int* x) { atomicAdd(x + threadIdx.x, 1); }
CASE("shapes", ordered_atomics_between, "produce", "add_one") {
  Ints x(0);
  Stream a, b;
  Event produced;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaEventRecord(produced, a);
  add_one<<<1, kN, 0, a>>>(x);
  if (!mistake) cudaStreamWaitEvent(b, produced);
  add_one<<<1, kN, 0, b>>>(x);
  want(x.holds(9));
}

// The unordered reader comes before an ordered reader.
CASE("shapes", unordered_reader_before_an_ordered_one, "consume_late", "produce") {
  Ints x(7), y(0), z(0);
  Stream a, b;
  Event read;
  consume_late<<<1, kN, 0, a>>>(x, y, spin);
  cudaEventRecord(read, a);
  consume<<<1, kN, 0, b>>>(x, z);
  if (!mistake) cudaStreamWaitEvent(b, read);
  produce<<<1, kN, 0, b>>>(x, 8, 0);
  want(y.holds(7) && z.holds(7));
}

// A kernel reads in one stream and a copy in another; the writer waits for the kernel.
CASE("shapes", copy_and_kernel_read, "cudaMemcpyAsync", "produce") {
  Ints x(7), y(0);
  Pinned z(0);
  Stream a, b, c;
  Event copied, read;
  hold<<<1, 1, 0, a>>>(spin);
  cudaMemcpyAsync(z, x, kBytes, cudaMemcpyDeviceToHost, a);
  cudaEventRecord(copied, a);
  consume<<<1, kN, 0, b>>>(x, y);
  cudaEventRecord(read, b);
  cudaStreamWaitEvent(c, read);
  if (!mistake) cudaStreamWaitEvent(c, copied);
  produce<<<1, kN, 0, c>>>(x, 8, 0);
  want(y.holds(7) && z.holds(7));
}

// A chain over streams by 40 events. The mistake omits one.
CASE("shapes", long_chain, "increment", "increment") {
  constexpr int kStreams = 5, kSteps = 40;
  Ints x(0);
  Stream streams[kStreams];
  Event done[kSteps];
  for (int i = 0; i < kSteps; ++i) {
    const Stream& here = streams[i % kStreams];
    if (i > 0 && !(mistake && i == 23)) cudaStreamWaitEvent(here, done[i - 1]);
    increment<<<1, kN, 0, here>>>(x, i == 22 ? spin : 0);
    cudaEventRecord(done[i], here);
  }
  want(x.holds(kSteps));
}

__global__ void consume_blocks(const int* x, int* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i];
}
// 40 streams produce parts; the mistake joins all but one.
CASE("shapes", many_streams, "produce", "consume_blocks") {
  constexpr int kStreams = 40;
  Ints x(0, kStreams * kN), y(0, kStreams * kN);
  std::unique_ptr<Stream> streams[kStreams];
  for (auto& s : streams) s = std::make_unique<Stream>(cudaStreamNonBlocking);
  Stream join(cudaStreamNonBlocking);
  Event done[kStreams];
  for (int i = 0; i < kStreams; ++i) {
    produce<<<1, kN, 0, *streams[i]>>>(x + i * kN, 7 + i * kN, i == 31 ? spin : 0);
    cudaEventRecord(done[i], *streams[i]);
    if (!(mistake && i == 31)) cudaStreamWaitEvent(join, done[i]);
  }
  consume_blocks<<<kStreams, kN, 0, join>>>(x, y);
  want(y.holds(7));
}

// A ring of three buffers; copies to the device, kernels, and copies to the host each have a
// stream. A buffer is reused after its last result has been copied to the host.
__global__ void increment_to(const int* x, int* y) { y[threadIdx.x] = x[threadIdx.x] + 1; }
CASE("shapes", ring_of_buffers, "cudaMemcpyAsync", "increment_to") {
  constexpr int kRing = 3, kSteps = 9;
  Stream up(cudaStreamNonBlocking), compute(cudaStreamNonBlocking), down(cudaStreamNonBlocking);
  Event arrived[kRing], computed[kRing], gone[kRing];
  std::unique_ptr<Ints> inputs[kRing], results[kRing];
  for (int i = 0; i < kRing; ++i) {
    inputs[i] = std::make_unique<Ints>(0);
    results[i] = std::make_unique<Ints>(0);
  }
  std::unique_ptr<Pinned> sources[kSteps], targets[kSteps];
  for (int i = 0; i < kSteps; ++i) {
    sources[i] = std::make_unique<Pinned>(100 * i);
    targets[i] = std::make_unique<Pinned>(0);
  }
  for (int i = 0; i < kSteps; ++i) {
    const int b = i % kRing;
    if (i >= kRing) cudaStreamWaitEvent(up, computed[b]);
    cudaMemcpyAsync(*inputs[b], *sources[i], kBytes, cudaMemcpyHostToDevice, up);
    cudaEventRecord(arrived[b], up);
    cudaStreamWaitEvent(compute, arrived[b]);
    if (i >= kRing && !mistake) cudaStreamWaitEvent(compute, gone[b]);
    increment_to<<<1, kN, 0, compute>>>(*inputs[b], *results[b]);
    cudaEventRecord(computed[b], compute);
    cudaStreamWaitEvent(down, computed[b]);
    if (i == 4) hold<<<1, 1, 0, down>>>(spin);
    cudaMemcpyAsync(*targets[i], *results[b], kBytes, cudaMemcpyDeviceToHost, down);
    cudaEventRecord(gone[b], down);
  }
  cudaDeviceSynchronize();
  for (int i = 0; i < kSteps; ++i) want(targets[i]->holds(100 * i + 1));
}

// 300 steps alternate between two streams; each step waits for the other stream's event.
CASE("shapes", many_steps, "increment_to", "increment_to") {
  constexpr int kSteps = 300;
  Ints x(0), y(0);
  int* const buffers[] = {x, y};
  Stream streams[2];
  Event done[2];
  for (int i = 0; i < kSteps; ++i) {
    const Stream& here = streams[i % 2];
    if (i > 0 && !(mistake && i == 200)) cudaStreamWaitEvent(here, done[(i + 1) % 2]);
    if (i == 199) hold<<<1, 1, 0, here>>>(spin);
    increment_to<<<1, kN, 0, here>>>(buffers[i % 2], buffers[(i + 1) % 2]);
    cudaEventRecord(done[i % 2], here);
  }
  want(x.holds(kSteps));
}

__global__ void sum_of(const int* x, const int* y, int* z) {
  z[threadIdx.x] = x[threadIdx.x] + y[threadIdx.x];
}
// The host waits for one of two streams, then for the other.
CASE("shapes", host_waits_in_turn, "produce", "sum_of") {
  Ints x(0), y(0), z(0);
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking), c(cudaStreamNonBlocking);
  produce<<<1, kN, 0, a>>>(x, 7, 0);
  produce<<<1, kN, 0, b>>>(y, 7, spin);
  cudaStreamSynchronize(a);
  if (!mistake) cudaStreamSynchronize(b);
  sum_of<<<1, kN, 0, c>>>(x, y, z);
  const std::vector<int> sums = z.fetch();
  for (int i = 0; i < int(sums.size()); ++i) want(sums[i] == 14 + 2 * i);
}

}  // namespace
}  // namespace lockstep::streams
