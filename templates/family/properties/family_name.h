// The cases and laws of family_name. A law is a sentence about every case; it takes the implementation that it judges,
// so that a broken or a rewritten kernel can stand in the place of the real one.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "harness/compare.h"
#include "harness/device_array.h"
#include "harness/field.h"
#include "harness/values.h"
#include "kernels/family_name.h"
#include "properties/law.h"

namespace lockstep::properties {

// Anything with the launcher's signature and its contract (kernels/family_name.h).
using FamilyName = std::function<kernels::LaunchStatus(const float* x, std::int64_t n, float* y,
                                                       const kernels::FamilyNameShape&, cudaStream_t)>;

struct FamilyNameCase {
  std::int64_t n = 0;
  int block = 32;
  int max_blocks = kUnlimited;
  int x_offset = 0, y_offset = 0;  // elements past a 256-byte boundary
  Poison poison = Poison::kNaN;
  Values values;

  static constexpr int kUnlimited = 0x7fffffff;

  static void fields(FamilyNameCase& c, FieldVisitor& field);
  void normalise();

  std::vector<float> x() const;

  // Launches the implementation on device memory under the case's contract.
  DeviceArray<float> launch(const FamilyName& family_name) const;
  // The thread that computes element i.
  WhereIs where() const;

 protected:
  // In the order in which a counterexample shrinks: shape, layout, values.
  static void fields_of(FamilyNameCase& c, FieldVisitor& field, std::int64_t most);
};

// A case of moderate size, since it runs once a schedule.
struct ScheduledFamilyNameCase : FamilyNameCase {
  static void fields(ScheduledFamilyNameCase& c, FieldVisitor& field);
};

// A legal case with one argument made illegal.
struct RefusedFamilyNameCase : FamilyNameCase {
  enum class Mistake {
    kNegativeSize,
    kHugeSize,
    kNoThreads,
    kTooManyThreads,
    kNoBlocks,
    kNullInput,
    kNullOutput,
    kMisalignedInput,
    kMisalignedOutput,
    kOverlap
  };
  Mistake mistake = Mistake::kNegativeSize;
  static void fields(RefusedFamilyNameCase& c, FieldVisitor& field);
  void normalise();
};

// FILL IN: what else is true of every case? Linearity, symmetry, a special input whose result is known.
void family_name_matches_its_reference(const FamilyName& family_name, const FamilyNameCase& c);
void family_name_is_deterministic(const FamilyName& family_name, const ScheduledFamilyNameCase& c);
void family_name_refuses_bad_arguments(const FamilyName& family_name, const RefusedFamilyNameCase& c);
void family_name_launches_nothing_for_no_work(const FamilyName& family_name, const FamilyNameCase& c);

// All of them, in the order in which a mutant meets them.
const std::vector<Law<FamilyName>>& family_name_laws();

}  // namespace lockstep::properties
