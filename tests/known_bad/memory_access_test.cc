// The memory access family's suspects before its laws.
#include "properties/memory_access.h"

#include "tests/known_bad/court.h"
#include "tests/known_bad/memory_access.h"

namespace lockstep::known_bad {
namespace {

const bool summoned = summon("memory_access", memory_access_suspects(), properties::memory_access_laws());

}  // namespace
}  // namespace lockstep::known_bad
