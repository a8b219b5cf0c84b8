// What a test can plant in the fake simulator's extension beside it, and what it can see there.
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
    std::vector<unsigned char> held;  // when it was marked
  };
  std::vector<Named> named;
  std::vector<Named> unwritten;  // as they were marked; no names
  std::string findings = "[]";   // what the next lockstepTakeFindings gives, once
  bool knows_buffers = true;     // false: lockstepNameBuffer and lockstepMarkUnwritten answer -1
  int cleared = 0;  // calls of lockstepClearError; each clears the fake runtime's sticky error
  int quiet = 0;
  std::uint32_t checks = 15;             // the mask of lockstepSetChecks
  std::vector<std::uint64_t> schedules;  // as they were set
};
FakeExtension& fake_extension();

}  // namespace lockstep::testing
