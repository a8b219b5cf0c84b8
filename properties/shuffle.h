// The warp exchanges' cases and laws. A law is a sentence about every case; it takes the implementations that it
// judges, so that a broken or a rewritten kernel can stand in the place of a real one.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/compare.h"
#include "harness/device_array.h"
#include "harness/field.h"
#include "harness/values.h"
#include "kernels/shuffle.h"
#include "properties/law.h"

namespace lockstep::properties {

// Anything with the launchers' signatures and their contracts (kernels/shuffle.h).
using Shuffle = kernels::ShuffleLaunchers;

enum class ElementType : std::uint8_t { kInt, kUnsigned, kLongLong, kFloat, kDouble, kHalf };

// A grid of warps, what its threads exchange, and in which segments.
struct WarpCase {
  int x = 32, y = 1, z = 1;  // threads of a block along each axis
  int blocks = 1;
  int width = 32;
  ElementType type = ElementType::kInt;
  int x_offset = 0, y_offset = 0;  // elements past a 256-byte boundary
  Poison poison = Poison::kNaN;
  Values values;

  // At most 1024 threads a block.
  void normalise();
  int threads() const { return x * y * z; }
  std::size_t elements() const { return static_cast<std::size_t>(threads()) * static_cast<std::size_t>(blocks); }
  kernels::WarpShape shape() const;
  WhereIs where() const { return one_thread_per_element(static_cast<std::uint32_t>(threads())); }

 protected:
  static void fields_of(WarpCase& c, FieldVisitor& field, const std::vector<ValueKind>& values);
  static inline const std::vector<ValueKind> kAnyValues = {ValueKind::kIndex, ValueKind::kUniform, ValueKind::kWide,
                                                           ValueKind::kSpecial};
};

// One exchange with an operand for every thread, some lanes left out, along one branch or two.
struct ExchangeCase : WarpCase {
  kernels::ShuffleOp op = kernels::ShuffleOp::kIndex;
  std::uint32_t members = 0xffffffffu;
  bool divergent = false;
  bool uniform = false;  // one operand for all threads
  std::uint64_t operand_seed = 0;

  static void fields(ExchangeCase& c, FieldVisitor& field);
  // The lanes that exchange with `lane` in a warp of which `existing` lanes are threads.
  std::uint32_t peers(int lane, std::uint32_t existing) const;
  // Operands in and out of range; where one would ask for a lane that takes no part, it becomes one that asks for the
  // own.
  std::vector<int> operands() const;
};

// The same shape for a collective.
struct CollectiveCase : WarpCase {
  kernels::WarpCollective collective = kernels::WarpCollective::kBroadcast;
  int root = 0;

  static void fields(CollectiveCase& c, FieldVisitor& field);
  void normalise();
};

// Whole warps, and a number of lanes.
struct LanesCase : WarpCase {
  int lanes = 1;
  static void fields(LanesCase& c, FieldVisitor& field);
  void normalise();
};

// A legal case with one argument made illegal.
struct RefusedExchangeCase : WarpCase {
  enum class Mistake {
    kNoThreads,
    kTooManyThreads,
    kNoBlocks,
    kOddWidth,
    kNoWidth,
    kNullInput,
    kNullOutput,
    kNullOperand,
    kMisalignedInput,
    kMisalignedOutput,
    kOverlap,
    kUnknownOperation,
    kUnknownCollective,
    kRootOutside,
    kPartialSegment
  };
  Mistake mistake = Mistake::kNoThreads;
  static void fields(RefusedExchangeCase& c, FieldVisitor& field);
};

void exchange_matches_its_definition(const Shuffle& shuffle, const ExchangeCase& c);
// Every operation, type and width, with every operand from -40 to 72 and some far beyond in every lane; of the case
// only layout, poison and values count.
void exchange_matches_its_definition_for_every_operand(const Shuffle& shuffle, const LanesCase& c);
void exchanging_twice_by_xor_changes_nothing(const Shuffle& shuffle, const LanesCase& c);
void down_after_up_restores_the_interior(const Shuffle& shuffle, const LanesCase& c);
void rotation_has_the_order_of_its_width(const Shuffle& shuffle, const LanesCase& c);
void lanes_and_warps_are_numbered_along_x_first(const Shuffle& shuffle, const ExchangeCase& c);
void collective_matches_its_reference(const Shuffle& shuffle, const CollectiveCase& c);
void exchange_is_deterministic(const Shuffle& shuffle, const ExchangeCase& c);
void collective_is_deterministic(const Shuffle& shuffle, const CollectiveCase& c);
void exchange_refuses_bad_arguments(const Shuffle& shuffle, const RefusedExchangeCase& c);

// All of them, in the order in which a suspect kernel meets them.
const std::vector<Law<Shuffle>>& shuffle_laws();

}  // namespace lockstep::properties
