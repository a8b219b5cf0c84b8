// The suspects of family_name before its laws.
#include "properties/family_name.h"

#include "tests/known_bad/court.h"
#include "tests/known_bad/family_name.h"

namespace lockstep::known_bad {
namespace {

const bool summoned = summon("family_name", family_name_suspects(), properties::family_name_laws());

}  // namespace
}  // namespace lockstep::known_bad
