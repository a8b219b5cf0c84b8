// The matmul family's suspects before its laws.
#include "properties/matmul.h"

#include "tests/known_bad/court.h"
#include "tests/known_bad/matmul.h"

namespace lockstep::known_bad {
namespace {

const bool summoned = summon("matmul", matmul_suspects(), properties::matmul_laws());

}  // namespace
}  // namespace lockstep::known_bad
