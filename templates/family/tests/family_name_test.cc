// The kernel family_name against every law of properties/family_name.h.
#include "properties/family_name.h"

#include "tests/law_coverage.h"

namespace lockstep::properties {
namespace {

const bool proved = prove("FamilyName", family_name_laws(), FamilyName(kernels::family_name));

}  // namespace
}  // namespace lockstep::properties
