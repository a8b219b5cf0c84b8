#include "harness/device/far_array.h"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "harness/device/device.h"
#include "harness/ledger/verdict.h"
#include "harness/property/case.h"

namespace lockstep {
namespace {

constexpr std::uint64_t kAlignment = 256;

std::uint64_t pages_up(std::uint64_t bytes) {
  return (bytes + FarArray::kPage - 1) / FarArray::kPage * FarArray::kPage;
}

void require(cudaError_t error, const std::string& what) {
  if (error == cudaSuccess) return;
  fail_case({Reason::kCudaError, "",
             what + ": " + cudaGetErrorName(error) + ", " + cudaGetErrorString(error)});
}

// The driver's functions, loaded at run time so that no program links libcuda.
struct Driver {
  decltype(&cuMemAddressReserve) reserve = nullptr;
  decltype(&cuMemAddressFree) free = nullptr;
  decltype(&cuMemCreate) create = nullptr;
  decltype(&cuMemRelease) release = nullptr;
  decltype(&cuMemMap) map = nullptr;
  decltype(&cuMemUnmap) unmap = nullptr;
  decltype(&cuMemSetAccess) allow = nullptr;
};

template <class Function>
void find(const char* name, Function& function) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
  constexpr unsigned kSince = 10020;  // the CUDA version that introduced them
  require(cudaGetDriverEntryPointByVersion(name, &found, kSince, cudaEnableDefault, &result), name);
  if (result != cudaDriverEntryPointSuccess) not_run(std::string("the driver has no ") + name);
  function = reinterpret_cast<Function>(found);
}

const Driver& driver() {
  static const Driver kDriver = [] {
    Driver d;
    find("cuMemAddressReserve", d.reserve);
    find("cuMemAddressFree", d.free);
    find("cuMemCreate", d.create);
    find("cuMemRelease", d.release);
    find("cuMemMap", d.map);
    find("cuMemUnmap", d.unmap);
    find("cuMemSetAccess", d.allow);
    return d;
  }();
  return kDriver;
}

void require(CUresult result, const std::string& what) {
  if (result == CUDA_SUCCESS) return;
  if (result == CUDA_ERROR_OUT_OF_MEMORY) not_run("out of device memory: " + what);
  fail_case({Reason::kCudaError, "", what + ": the driver returns " + std::to_string(result)});
}

}  // namespace

FarArray::FarArray(std::string name, const std::vector<Part>& parts, std::size_t shift)
    : name_(std::move(name)), shift_(shift) {
  if (shift >= kAlignment)
    throw std::invalid_argument("'" + name_ + "': a shift of 256 bytes and more");
  int device = 0;
  require(cudaGetDevice(&device), "asking for the device");
  require(cudaFree(nullptr),
          "making the device's context current");  // the driver's functions want one
  // In ascending order. Parts in the same page or in neighbouring pages share a mapping.
  std::vector<Part> sorted;
  for (const Part& part : parts) {
    if (part.bytes > 0) sorted.push_back({part.begin + shift_, part.bytes});
  }
  std::ranges::sort(sorted, {}, &Part::begin);
  std::vector<Pages> pages;
  std::vector<std::vector<Part>> within;
  for (const Part& part : sorted) {
    const std::uint64_t begin = part.begin / kPage * kPage, end = pages_up(part.begin + part.bytes);
    if (!pages.empty() && begin <= pages.back().begin + pages.back().bytes) {
      pages.back().bytes =
          std::max(end, pages.back().begin + pages.back().bytes) - pages.back().begin;
      within.back().push_back(part);
    } else {
      pages.push_back({begin, end - begin});
      within.push_back({part});
    }
  }
  reserved_ = pages.empty() ? kPage : pages.back().begin + pages.back().bytes;
  CUdeviceptr address = 0;
  require(driver().reserve(&address, reserved_, 0, 0, 0),
          "reserving addresses for '" + name_ + "'");
  begin_ = address;
  try {
    for (std::size_t i = 0; i < pages.size(); ++i) {
      map(pages[i], device);
      const Part &first = within[i].front(), &last = within[i].back();
      const std::uint64_t bytes = last.begin + last.bytes - first.begin;
      auto* const at = reinterpret_cast<void*>(begin_ + first.begin);
      if (extension().name_buffer && extension().name_buffer(at, bytes, name_.c_str()) != 0)
        throw std::logic_error("the simulator does not know '" + name_ +
                               "' that it has just mapped");
    }
  } catch (...) {
    release();  // the destructor does not run after an exception here
    throw;
  }
}

FarArray::~FarArray() { release(); }

std::uint64_t FarArray::widest() {
  static const std::uint64_t kWidest = [] {
    require(cudaFree(nullptr), "making the device's context current");
    std::uint64_t bytes = std::uint64_t{1} << 38;
    for (; bytes > kPage; bytes /= 2) {
      CUdeviceptr address = 0;
      // A range that does not begin at a page boundary needs one more page.
      if (driver().reserve(&address, bytes + kPage, 0, 0, 0) != CUDA_SUCCESS) continue;
      driver().free(address, bytes + kPage);
      break;
    }
    return bytes;
  }();
  return kWidest;
}

void FarArray::map(const Pages& pages, int device) {
  const std::string what = "mapping a part of '" + name_ + "'";
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device;
  CUmemGenericAllocationHandle handle = 0;
  require(driver().create(&handle, pages.bytes, &properties, 0), what);
  const CUresult mapped = driver().map(begin_ + pages.begin, pages.bytes, 0, handle, 0);
  driver().release(handle);  // the memory lives as long as its mapping
  require(mapped, what);
  mapped_.push_back(pages);
  CUmemAccessDesc access = {};
  access.location = properties.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  require(driver().allow(begin_ + pages.begin, pages.bytes, &access, 1), what);
}

void FarArray::release() {
  if (begin_ == 0) return;
  cudaDeviceSynchronize();
  for (const Pages& pages : mapped_) driver().unmap(begin_ + pages.begin, pages.bytes);
  driver().free(begin_, reserved_);
}

void FarArray::write(std::uint64_t at, const unsigned char* bytes, std::size_t count) {
  if (count == 0) return;
  require(cudaMemcpy(data() + at, bytes, count, cudaMemcpyHostToDevice), "filling '" + name_ + "'");
  require(static_cast<cudaError_t>(wait_for_copies()), "filling '" + name_ + "'");
}

void FarArray::mark_unwritten(std::uint64_t at, std::size_t count) {
  if (count == 0 || !extension().mark_unwritten) return;
  if (extension().mark_unwritten(data() + at, count) != 0)
    throw std::logic_error("the simulator does not know the bytes of '" + name_ + "'");
}

void FarArray::read(std::uint64_t at, unsigned char* bytes, std::size_t count) const {
  require(cudaDeviceSynchronize(), "waiting for what writes '" + name_ + "'");
  if (count == 0) return;
  require(cudaMemcpy(bytes, data() + at, count, cudaMemcpyDeviceToHost), "reading '" + name_ + "'");
}

}  // namespace lockstep
