// Memory counts as leaked by its allocation and device, not only by its address.
#include "simulator/runtime/state/leaks.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace lockstep::runtime {
namespace leaks_test {

using memory::Address;
using memory::Allocation;
using memory::DeviceMemory;
using memory::Kind;

constexpr std::uint64_t kPage = std::uint64_t{2} << 20;

// Memory mapped at a reserved address, as by cuMemMap: the address is the same each time.
class Mapped {
 public:
  Mapped() : address_(memory.reserve_range(kPage, kPage)) {}
  Address address() const { return address_; }
  const Allocation& map(int device = 0) {
    EXPECT_TRUE(memory.back(address_, kPage, device));
    return *memory.find(address_);
  }
  void unmap() { EXPECT_TRUE(memory.unback(address_, kPage)); }

  DeviceMemory memory;

 private:
  const Address address_;
};

engine::HeapAllocation by_a_kernel(Address address) {
  engine::HeapAllocation h;
  h.address = address;
  return h;
}

std::vector<engine::HeapAllocation> list(Address address) {
  std::vector<engine::HeapAllocation> all;
  all.push_back(by_a_kernel(address));
  return all;
}

TEST(Leaks, AreOfTheDeviceThatIsAskedAbout) {
  DeviceMemory memory;
  Leaks leaks;
  leaks.allocated(*memory.allocate(16, 256, Kind::kDevice, 1), "cudaMalloc", nullptr);
  leaks.allocated(list(memory.allocate(16, 256, Kind::kDevice, 1)->base), memory);
  EXPECT_TRUE(leaks.find(memory, 0).empty());
  EXPECT_EQ(leaks.find(memory, 1).size(), 2u);
  leaks.clear();
  EXPECT_TRUE(leaks.find(memory, 1).empty());
}

TEST(Leaks, OfFreedMemoryThereAreNone) {
  DeviceMemory memory;
  Leaks leaks;
  const Address host = memory.allocate(16, 256, Kind::kDevice, 0)->base,
                heap = memory.allocate(16, 256, Kind::kDevice, 0)->base;
  leaks.allocated(*memory.find(host), "cudaMalloc", nullptr);
  leaks.allocated(list(heap), memory);
  memory.release(host), memory.release(heap);
  EXPECT_TRUE(leaks.find(memory, 0).empty());
  leaks.allocated(list(heap), memory);  // freed by the kernel that allocated it
  EXPECT_TRUE(leaks.find(memory, 0).empty());
}

// A free by the host removes the record of its allocation. Memory released in another way is
// identified by its allocation number.
TEST(Leaks, AnotherAllocationAtTheAddressIsNotTheOneThatWasAllocatedThere) {
  Mapped mapped;
  Leaks of_host, of_heap;
  of_host.allocated(mapped.map(), "cudaMalloc", nullptr);
  of_heap.allocated(list(mapped.address()), mapped.memory);
  EXPECT_EQ(of_host.find(mapped.memory, 0).size(), 1u);
  EXPECT_EQ(of_heap.find(mapped.memory, 0).size(), 1u);
  mapped.unmap();
  EXPECT_TRUE(of_host.find(mapped.memory, 0).empty());
  mapped.map();
  ASSERT_NE(mapped.memory.find(mapped.address()), nullptr);
  EXPECT_TRUE(of_host.find(mapped.memory, 0).empty()) << "not the memory of that call";
  EXPECT_TRUE(of_heap.find(mapped.memory, 0).empty()) << "nor of that kernel";
}

TEST(Leaks, TheLaterAllocationAtAnAddressIsFoundByItsOwnCall) {
  Mapped mapped;
  Leaks leaks;
  leaks.allocated(mapped.map(), "cudaMalloc", nullptr);
  mapped.unmap();
  leaks.allocated(mapped.map(), "cudaMallocManaged", nullptr);
  const std::vector<check::Finding> findings = leaks.find(mapped.memory, 0);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NE(findings[0].detail.find("cudaMallocManaged"), std::string::npos) << findings[0].detail;
}

TEST(Leaks, WhatTheProgramFreedAndGotAgainFromElsewhereIsNone) {
  Mapped mapped;
  Leaks leaks;
  leaks.allocated(mapped.map(), "cudaMalloc", nullptr);
  leaks.freed(mapped.address());
  EXPECT_TRUE(leaks.find(mapped.memory, 0).empty());
}

// More allocations of kernels than are examined at once: live ones must be kept.
TEST(Leaks, OfManyAllocationsOfKernelsTheLiveOnesAreKept) {
  constexpr std::size_t kMany = 3000;
  DeviceMemory memory;
  Leaks leaks;
  const Address kept = memory.allocate(16, 256, Kind::kDevice, 0)->base;
  leaks.allocated(list(kept), memory);
  for (std::size_t i = 0; i < kMany; ++i) {
    const Address a = memory.allocate(16, 256, Kind::kDevice, 0)->base;
    leaks.allocated(list(a), memory);
    memory.release(a);
  }
  const std::vector<check::Finding> findings = leaks.find(memory, 0);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].occurrences, 1u);
}

}  // namespace leaks_test
}  // namespace lockstep::runtime
