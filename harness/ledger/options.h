// The command line of a test binary. docs/reference/test_protocol.md documents every flag for
// users.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/property/replay.h"

namespace lockstep {

struct Options {
  std::uint64_t seed =
      0;  // --seed=N, 1 ... 2^64-1; 0: each property derives its seed from its name
  int cases =
      0;  // --cases=N, 1 ... 10^9; 0: each property's own number. A property of one case keeps one
  std::optional<CaseName> replay;  // --case='Suite.Name: field=value ...'
  std::string out;                 // --out=DIR: the folder for ledger.json
  std::string ledger;              // --ledger=FILE: a second ledger file
  std::string waivers;             // --waivers=FILE in place of the file beside the program
  bool fail_fast =
      false;          // --fail-fast: end at the first failing case of the first property that fails
  bool list = false;  // --list
  bool help = false;  // --help
};

struct ParsedOptions {
  Options options;
  std::vector<std::string> rest;    // GoogleTest's own flags, for InitGoogleTest
  std::vector<std::string> errors;  // one sentence each; if there are any, the program runs nothing
};

// `arguments` without the program's name. Accepts only `--flag=value`. An unknown, empty,
// out-of-range or repeated flag is an error: a run that ignored a misspelt flag would not be the
// requested one.
ParsedOptions parse_options(const std::vector<std::string>& arguments);

// The number in `text`, decimal or with 0x, if it is the whole text and lies in [lo, hi].
std::optional<std::uint64_t> parse_number(std::string_view text, std::uint64_t lo,
                                          std::uint64_t hi);

// LOCKSTEP_WORK: from 0, which is no limit, to this.
inline constexpr std::uint64_t kMostWork = 1'000'000'000'000;

// LOCKSTEP_SCALE: a number from 10^-6 to 10^6, such as 0.1 or 10.
std::optional<double> parse_scale(std::string_view text);

std::string help_text(std::string_view program);

}  // namespace lockstep
