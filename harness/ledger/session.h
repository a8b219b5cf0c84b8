// The state that the parts of a test process share: options from the command line for the
// properties, and records from the properties for the ledger.
//
// main() parses the options and opens a record for every gtest test. The body of a property
// completes the open record. A plain TEST() leaves it unchanged, and main judges that test by
// gtest's own result.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "harness/ledger/ledger.h"

namespace lockstep {

// Options of the command line. Zero and empty: not given.
struct SessionOptions {
  std::uint64_t seed =
      0;  // --seed: every property uses it unchanged, so that a printed seed can be passed again
  int cases = 0;           // --cases: replaces every property's own number
  bool fail_fast = false;  // --fail-fast: no shrinking
  double scale = 1;        // factor for each property's own number of cases; at least one case runs
  // The most work of a property's drawn cases (work(), harness/property/field.h), times `scale`.
  // One case has at most 1 / kCasesOfMostWork of it, without that factor. 0: no limit.
  std::int64_t work = 0;
  std::string replay_property;  // --case=Suite.Name: text
  std::string replay_case;
};
SessionOptions& session_options();
inline constexpr std::int64_t kCasesOfMostWork = 100;

// Opens the record of a test, "Suite.Name", with verdict kNotRun and no reason; the body may change
// both.
void begin_property(std::string_view full_name);

// The open record. If none is open, a dummy record.
Record& current_record();

// Closes the open record and returns it.
Record end_property();

// Records that the device has a sticky error, which only a new process clears. `why` names the
// property and the error; only the first call counts. Later properties end as NOT_RUN.
void mark_device_lost(std::string_view why);
// The prefix of these properties' reasons. A new process can run the properties.
inline constexpr std::string_view kDeviceLostAfter = "device lost after ";
// Empty while the device works.
const std::string& device_lost();

}  // namespace lockstep
