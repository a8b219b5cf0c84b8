#include "harness/testing/fake_extension.h"

#include <cstring>
#include <utility>

#include "harness/testing/fake_runtime.h"
#include "simulator/extension.h"

namespace lockstep::testing {
FakeExtension& fake_extension() {
  static FakeExtension the_fake;
  return the_fake;
}
}  // namespace lockstep::testing

using lockstep::testing::fake;
using lockstep::testing::fake_extension;

extern "C" {

int lockstepExtensionVersion() { return LOCKSTEP_EXTENSION_VERSION; }

int lockstepNameBuffer(void* begin, size_t bytes, const char* name) {
  fake_extension().named.push_back({begin, bytes, name, {}});
  return fake_extension().knows_buffers ? 0 : -1;
}

int lockstepMarkUnwritten(void* begin, size_t bytes) {
  const auto* const held = static_cast<const unsigned char*>(begin);
  fake_extension().unwritten.push_back({begin, bytes, "", {held, held + bytes}});
  return fake_extension().knows_buffers ? 0 : -1;
}

char* lockstepTakeFindings() {
  return strdup(std::exchange(fake_extension().findings, "[]").c_str());
}

int lockstepClearError() {
  ++fake_extension().cleared;
  fake().sticky = 0;
  return 0;
}

int lockstepSetSchedule(uint64_t seed) {
  fake_extension().schedules.push_back(seed);
  return 0;
}

uint32_t lockstepSetChecks(uint32_t checks) {
  return std::exchange(fake_extension().checks, checks);
}

int lockstepSetQuiet(int quiet) { return std::exchange(fake_extension().quiet, quiet); }

}  // extern "C"
