// What the random calls of the CUDA runtime have in common: random numbers, the objects that exist,
// and the transcript. The transcript has one line for each call: its arguments and its result.
//
// Two machines that answer alike draw the same calls, because nothing but results decides what
// exists. So the first line that differs is a difference of the two implementations.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/calls/random.h"

namespace lockstep::calls {

// Memory that calls may name.
struct Memory {
  enum Kind { kDevice, kPageable, kPinned, kRegistered, kManaged, kPool };
  void* at = nullptr;
  std::size_t size = 0;
  Kind kind = kDevice;
  std::string name;
};

struct Graph {
  cudaGraph_t it = nullptr;
  std::string name;
  std::vector<Named<cudaGraphNode_t>> nodes;  // without those that a capture has made
};

struct Exec {
  cudaGraphExec_t it = nullptr;
  std::string name;
  std::vector<Named<cudaGraphNode_t>> nodes;  // kernel nodes of its graph
};

struct Array {
  cudaArray_t it = nullptr;
  std::string name;
  std::size_t width = 0, height = 0;
};

class Rig : public Objects {
 public:
  Rig(std::uint64_t seed, std::FILE* out);
  // Ends captures, waits, and writes digests of what the calls have computed.
  void end();

  // Writes a call and its result, and the last error if that is another.
  void answer(const std::string& call, cudaError_t error, const std::string& values = {});

  unsigned* slot();  // of device memory
  const unsigned* constants() const { return constants_; }

  // A stream: one of `streams`, the default stream, or one of its special handles.
  Named<cudaStream_t> stream();

  std::vector<Memory> memory;
  std::vector<Named<cudaStream_t>> streams;
  std::vector<Named<cudaEvent_t>> events;
  std::vector<Graph> graphs;
  std::vector<Exec> execs;
  std::vector<Array> arrays;
  std::vector<Named<cudaMemPool_t>> pools;
  std::vector<Named<cudaTextureObject_t>> textures;
  std::vector<Named<cudaSurfaceObject_t>> surfaces;
  // The streams that begin_capture() named, and have not ended.
  std::vector<Named<cudaStream_t>> captures;
  unsigned host_calls = 0;  // by host functions

 private:
  std::FILE* out_;
  int line_ = 0;
  unsigned* slots_ = nullptr;
  unsigned* constants_ = nullptr;
};

// The calls of each file.
std::vector<Call<Rig>> memory_calls();
std::vector<Call<Rig>> copy_calls();
std::vector<Call<Rig>> stream_calls();
std::vector<Call<Rig>> launch_calls();
std::vector<Call<Rig>> graph_calls();
std::vector<Call<Rig>> graph_exec_calls();
std::vector<Call<Rig>> array_calls();
std::vector<Call<Rig>> device_calls();

// Adds `value` to each word of a slot.
__global__ void add(unsigned* slot, unsigned value);
// Nothing; but with at most 64 threads a block.
__global__ void few_threads(unsigned* slot, unsigned value);

}  // namespace lockstep::calls
