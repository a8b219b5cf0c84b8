// A fake of the simulator's extension: values that a test sets, and calls that it can inspect.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::testing {

struct FakeExtension {
  struct Named {
    void* begin;
    std::size_t bytes;
    std::string name;
    std::vector<unsigned char> held;  // the contents when it was marked
  };
  std::vector<Named> named;
  std::vector<Named> unwritten;  // in the order of marking; no names
  std::string findings = "[]";   // the result of the next lockstepTakeFindings
  bool knows_buffers = true;     // false: lockstepNameBuffer and lockstepMarkUnwritten return -1
  int cleared = 0;  // calls of lockstepClearError; each clears the fake runtime's sticky error
  int quiet = 0;
  std::uint32_t checks = 15;             // of lockstepSetChecks
  std::vector<std::uint64_t> schedules;  // in the order of calls
};
FakeExtension& fake_extension();

}  // namespace lockstep::testing
