// The memory spaces family's suspects before its laws.
#include "properties/memory_spaces.h"

#include "tests/known_bad/court.h"
#include "tests/known_bad/memory_spaces.h"

namespace lockstep::known_bad {
namespace {

const bool summoned = summon("memory_spaces", memory_space_suspects(), properties::memory_space_laws());

}  // namespace
}  // namespace lockstep::known_bad
