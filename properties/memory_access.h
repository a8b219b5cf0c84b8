// The memory accesses' cases and laws. A law is a sentence about every case; it takes the
// implementations that it judges, so that a broken or a rewritten kernel can stand in the place of
// a real one.
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

// Anything with the launchers' signatures and their contracts (kernels/memory_access.h).
using MemoryAccess = kernels::MemoryAccessLaunchers;

struct AccessCase {
  std::int64_t n = 0;
  int bytes = 4;  // an element
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
  // Permutations get an odd factor and strides a small one, and what lies in constant memory fits
  // it.
  void normalise();

  kernels::AccessPattern pattern() const {
    return {.kind = kind, .offset = offset, .factor = factor, .lanes = lanes};
  }
  bool takes_part(std::int64_t t) const { return t % 32 < lanes; }
  // Where thread t goes, and how many elements the array must have for all of them.
  std::int64_t index(std::int64_t t) const;
  std::int64_t reach() const;
  // Bytes of `count` elements.
  std::vector<std::uint8_t> bytes_of(std::int64_t count) const;
  // Thread t is thread t % block of block t / block; element t of an array that is accessed
  // consecutively belongs to it.
  WhereIs where() const;

 protected:
  static void fields_of(AccessCase& c, FieldVisitor& field, std::int64_t most);
};

// What the model expects of the global loads and stores of a launch, and what the simulated GPU
// counted.
struct TransactionCount {
  reference::Transactions model, counted;  // counted has no wanted_bytes
};

// The loads of a gather, by the case's path and by each of several, and the stores of a scatter;
// inside a running case, on the simulated GPU.
TransactionCount count_gather_loads(const MemoryAccess& access, const AccessCase& c);
std::vector<TransactionCount> count_gather_loads(const MemoryAccess& access, const AccessCase& c,
                                                 const std::vector<kernels::LoadPath>& paths);
TransactionCount count_scatter_stores(const MemoryAccess& access, const AccessCase& c);

// In the order in which a mutant meets them.
Laws<MemoryAccess> memory_access_laws();

}  // namespace lockstep::properties
