// Virtual memory management: reserved addresses, physical memory, multicast objects and the
// mappings between them. Guarded by the device lock.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "simulator/driver/call.h"

namespace lockstep::driver {

// As on every device since sm_70.
constexpr std::size_t kGranularity = std::size_t{2} << 20;

// Physical memory (cuMemCreate). Exists until the program has released and unmapped it.
struct Physical {
  std::size_t bytes = 0;
  CUmemAllocationProp properties{};
  unsigned held = 1;
  bool mapped = false;
  std::vector<std::byte> contents;  // kept here while it is not mapped, if it was mapped before
  int device() const { return properties.location.id; }
};

struct Mapping {
  std::size_t bytes = 0;
  CUmemGenericAllocationHandle handle = 0;
  bool accessible = false;
};

// A multicast object (cuMulticastCreate).
struct Multicast {
  // Memory of a device, named by its handle or by its address.
  struct Binding {
    int device = 0;
    std::size_t offset = 0, bytes = 0;  // in the multicast object
    CUmemGenericAllocationHandle handle = 0;
    memory::Address address = 0;
    std::size_t memory_offset = 0;  // in the bound memory
  };
  CUmulticastObjectProp properties{};
  unsigned held = 1;
  bool mapped = false;
  std::vector<int> devices;
  std::vector<Binding> bindings;
};

struct VirtualMemory {
  std::map<memory::Address, std::size_t> reserved;
  std::map<CUmemGenericAllocationHandle, std::unique_ptr<Physical>> physical;
  std::map<CUmemGenericAllocationHandle, std::unique_ptr<Multicast>> multicast;
  std::map<memory::Address, Mapping> mappings;

  Physical* find(CUmemGenericAllocationHandle handle) {
    const auto it = physical.find(handle);
    return it == physical.end() ? nullptr : it->second.get();
  }
  Multicast* find_multicast(CUmemGenericAllocationHandle handle) {
    const auto it = multicast.find(handle);
    return it == multicast.end() ? nullptr : it->second.get();
  }
  // Calls body(address, mapping) for each mapping of the range. Returns false, and calls nothing,
  // if the range does not consist of whole mappings.
  template <class Body>
  bool for_each(memory::Address address, std::size_t bytes, Body&& body) {
    memory::Address at = address;
    for (auto it = mappings.find(address);
         it != mappings.end() && it->first == at && at < address + bytes; ++it)
      at += it->second.bytes;
    if (at != address + bytes || bytes == 0) return false;
    for (at = address; at < address + bytes;) {
      Mapping& mapping = mappings.at(at);
      const std::size_t own = mapping.bytes;
      body(at, mapping);
      at += own;
    }
    return true;
  }
};
VirtualMemory& virtual_memory();

// Rebuilds the table that kernels use to find the memory bound to mapped multicast objects. Call
// after any change of a binding or a mapping.
void refresh_multicast(Runtime& r);
// Deletes a multicast object that the program has released and that is mapped nowhere.
void drop_multicast(CUmemGenericAllocationHandle handle);

}  // namespace lockstep::driver
