// The memory accesses' cases and laws. A law is a statement about every case. It takes the
// implementations under test as an argument, so that a broken or rewritten kernel can replace a
// real one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/device/device_array.h"
#include "harness/property/compare.h"
#include "harness/property/field.h"
#include "kernels/memory_access.h"
#include "properties/law.h"
#include "reference/transactions.h"

namespace lockstep::properties {

// Functions with the launchers' signatures and contracts (kernels/memory_access.h).
using MemoryAccess = kernels::MemoryAccessLaunchers;

struct AccessCase {
  std::int64_t n = 0;
  int bytes = 4;  // of an element
  kernels::LoadPath path = kernels::LoadPath::kDefault;
  kernels::PatternKind kind = kernels::PatternKind::kConsecutive;
  int offset = 0;
  std::int64_t factor = 1;
  int lanes = 32;
  int block = 32;
  int x_offset = 0, y_offset = 0;  // elements past a 256-byte boundary
  Poison poison = Poison::kNaN;
  std::uint64_t seed = 0;

  static void fields(AccessCase& c, FieldVisitor& field);
  // Permutations get an odd factor and strides a small one; data in constant memory is cut to its
  // size.
  void normalise();
  std::int64_t work() const;

  kernels::AccessPattern pattern() const {
    return {.kind = kind, .offset = offset, .factor = factor, .lanes = lanes};
  }
  bool takes_part(std::int64_t t) const { return t % 32 < lanes; }
  // The index of thread t, and the number of elements that the array needs for all threads.
  std::int64_t index(std::int64_t t) const;
  std::int64_t reach() const;
  // The bytes of `count` elements.
  std::vector<std::uint8_t> bytes_of(std::int64_t count) const;
  // Thread t is thread t % block of block t / block. With a consecutive pattern, element t belongs
  // to it.
  WhereIs where() const;

 protected:
  static void fields_of(AccessCase& c, FieldVisitor& field, std::int64_t most);
};

// The transactions of a launch's global loads and stores: expected by the model, and counted by the
// simulated GPU.
struct TransactionCount {
  reference::Transactions model, counted;  // counted has no wanted_bytes
};

// The loads of a gather, by the case's path or by each of several paths, and the stores of a
// scatter. Call inside a running case, on the simulated GPU.
TransactionCount count_gather_loads(const MemoryAccess& access, const AccessCase& c);
std::vector<TransactionCount> count_gather_loads(const MemoryAccess& access, const AccessCase& c,
                                                 const std::vector<kernels::LoadPath>& paths);
TransactionCount count_scatter_stores(const MemoryAccess& access, const AccessCase& c);

// In the order in which mutants are judged.
Laws<MemoryAccess> memory_access_laws();

}  // namespace lockstep::properties
