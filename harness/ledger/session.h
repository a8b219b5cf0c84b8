// The state of a test process between its parts: options go from the command line to the
// properties, records from the properties to the ledger.
//
// main() parses the options and opens a record for every gtest test; the body of a property
// completes the record that is open. A plain TEST() leaves it untouched, and main judges that by
// gtest's own result.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "harness/ledger/ledger.h"

namespace lockstep {

// From the command line. Zero and empty mean "not given".
struct SessionOptions {
  std::uint64_t seed =
      0;  // --seed: used as it is by every property, so that a printed seed can be given back
  int cases = 0;           // --cases: for every property, in place of its own number
  bool fail_fast = false;  // --fail-fast: nothing is made smaller
  double scale =
      1;  // multiplies each property's own number of cases; at least one case always runs
  std::string replay_property;  // --case=Suite.Name: text
  std::string replay_case;
};
SessionOptions& session_options();

// Opens the record of a test, "Suite.Name". Its verdict is kNotRun and its reason empty until the
// body says otherwise.
void begin_property(std::string_view full_name);

// The open record; when none is open, one that nobody reads.
Record& current_record();

// Closes the open record and returns it.
Record end_property();

// The device can no longer be trusted (a sticky error that only a new process clears): `why` names
// the property and the error. Later properties end NOT_RUN. The first reason stays.
void mark_device_lost(std::string_view why);
// What the reason of each of these begins with; a new process can run them.
inline constexpr std::string_view kDeviceLostAfter = "device lost after ";
// Empty while the device is fine.
const std::string& device_lost();

}  // namespace lockstep
