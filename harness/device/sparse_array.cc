#include "harness/device/sparse_array.h"

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <utility>

#include "harness/device/device.h"
#include "harness/ledger/verdict.h"
#include "harness/property/case.h"

namespace lockstep {
namespace {

void require(cudaError_t error, const std::string& what) {
  if (error == cudaSuccess) return;
  fail_case({Reason::kCudaError, "",
             what + ": " + cudaGetErrorName(error) + ", " + cudaGetErrorString(error)});
}

}  // namespace

SparseArray::SparseArray(std::string name, std::size_t bytes)
    : name_(std::move(name)), size_(bytes) {
  void* memory = nullptr;
  const cudaError_t error = cudaMalloc(&memory, bytes);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // already reported here
    not_run("out of device memory: '" + name_ + "' wants " + std::to_string(bytes) + " bytes");
  }
  require(error, "allocating '" + name_ + "'");
  data_ = static_cast<unsigned char*>(memory);
}

SparseArray::~SparseArray() { cudaFree(data_); }

void SparseArray::check(std::size_t at, std::size_t count) const {
  if (at > size_ || count > size_ - at) throw std::logic_error("past the end of '" + name_ + "'");
}

void SparseArray::write(std::size_t at, const std::vector<unsigned char>& contents) {
  check(at, contents.size());
  require(cudaMemcpy(data_ + at, contents.data(), contents.size(), cudaMemcpyHostToDevice),
          "filling '" + name_ + "'");
  require(static_cast<cudaError_t>(wait_for_copies()), "filling '" + name_ + "'");
}

void SparseArray::fill(std::size_t at, std::size_t count, unsigned char value) {
  check(at, count);
  require(cudaMemset(data_ + at, value, count), "filling '" + name_ + "'");
  require(static_cast<cudaError_t>(wait_for_copies()), "filling '" + name_ + "'");
}

std::vector<unsigned char> SparseArray::read(std::size_t at, std::size_t count) const {
  check(at, count);
  std::vector<unsigned char> bytes(count);
  require(cudaDeviceSynchronize(), "waiting for what writes '" + name_ + "'");
  require(cudaMemcpy(bytes.data(), data_ + at, count, cudaMemcpyDeviceToHost),
          "reading '" + name_ + "'");
  return bytes;
}

}  // namespace lockstep
