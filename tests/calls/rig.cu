#include <cstdlib>
#include <cstring>

#include "tests/calls/rig.h"

namespace lockstep::calls {

__global__ void add(unsigned* slot, unsigned value) {
  if (blockIdx.x + blockIdx.y + blockIdx.z == 0 && threadIdx.y + threadIdx.z == 0)
    atomicAdd(slot + threadIdx.x % kSlotWords, value);
}

__global__ void __launch_bounds__(64) few_threads(unsigned* slot, unsigned value) {
  if (blockIdx.x + blockIdx.y + blockIdx.z == 0 && threadIdx.y + threadIdx.z == 0)
    atomicAdd(slot + threadIdx.x % kSlotWords, value);
}

namespace {

void require(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "calls: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(2);
}

}  // namespace

Rig::Rig(std::uint64_t seed, std::FILE* out) : Objects(seed), out_(out) {
  require(cudaMalloc(&slots_, kSlots * kSlotBytes), "cudaMalloc");
  require(cudaMalloc(&constants_, kSlotBytes), "cudaMalloc");
  require(cudaMemset(slots_, 0, kSlots * kSlotBytes), "cudaMemset");
  require(cudaMemset(constants_, 0x5a, kSlotBytes), "cudaMemset");
  require(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  std::fprintf(out_, "seed %llu\n", static_cast<unsigned long long>(seed));
}

void Rig::answer(const std::string& call, cudaError_t error, const std::string& values) {
  const cudaError_t last = cudaPeekAtLastError();
  std::fprintf(out_, "%d %s = %s", ++line_, call.c_str(), cudaGetErrorName(error));
  if (error == cudaSuccess && !values.empty()) std::fprintf(out_, " %s", values.c_str());
  if (last != error) std::fprintf(out_, " (last: %s)", cudaGetErrorName(last));
  std::fputc('\n', out_);
  std::fflush(out_);
}

unsigned* Rig::slot() { return slots_ + next_slot() * kSlotWords; }

Named<cudaStream_t> Rig::stream() {
  switch (random.below(10)) {
    case 0: return {nullptr, "0"};
    case 1:
      return random.chance(50) ? Named<cudaStream_t>{cudaStreamLegacy, "legacy"}
                               : Named<cudaStream_t>{cudaStreamPerThread, "per_thread"};
    case 2:
    case 3:
      if (!captures.empty()) return *pick(captures);
      break;
    default: break;
  }
  if (streams.empty()) return {nullptr, "0"};
  return *pick(streams);
}

void Rig::end() {
  for (const Named<cudaStream_t>& stream : captures) {
    cudaGraph_t graph = nullptr;
    const cudaError_t error = cudaStreamEndCapture(stream.it, &graph);
    answer(text("cudaStreamEndCapture(%s)", stream.name.c_str()), error);
  }
  cudaGetLastError();
  answer("cudaDeviceSynchronize()", cudaDeviceSynchronize());
  std::vector<unsigned> words(kSlots * kSlotWords);
  answer("cudaMemcpy(host, slots)",
         cudaMemcpy(words.data(), slots_, kSlots * kSlotBytes, cudaMemcpyDefault));
  std::fprintf(out_, "slots %016llx, host functions %u\n",
               static_cast<unsigned long long>(digest(words.data(), kSlots * kSlotBytes)),
               host_calls);
  for (const Memory& m : memory) {
    std::vector<unsigned char> bytes(m.size);
    if (m.kind == Memory::kPool) continue;
    const cudaError_t error = cudaMemcpy(bytes.data(), m.at, m.size, cudaMemcpyDefault);
    std::fprintf(out_, "%s %s %016llx\n", m.name.c_str(), cudaGetErrorName(error),
                 static_cast<unsigned long long>(digest(bytes.data(), m.size)));
  }
  std::fflush(out_);
}

}  // namespace lockstep::calls
