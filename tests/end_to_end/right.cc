// Properties that hold.
#include <gtest/gtest.h>

#include "harness/property/property.h"
#include "tests/end_to_end/doubling.h"

namespace lockstep::end_to_end {
namespace {

PROPERTY(Right, DoublesItsInput, const DoubleCase& c) { check(doubles, c); }
PROPERTY(Right, ExchangesUnderABarrier, const DoubleCase& c) { check(races_not, c); }

}  // namespace
}  // namespace lockstep::end_to_end
