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
  std::uint64_t seed = 0;  // --seed=N, 1 ... 2^64-1; 0: each property derives its own from its name
  int cases = 0;  // --cases=N, 1 ... 10^9; 0: each property's own number; one case stays one
  std::optional<CaseName> replay;  // --case='Suite.Name: field=value ...'
  std::string out;                 // --out=DIR: ledger.json goes there
  std::string ledger;              // --ledger=FILE: and there
  std::string waivers;             // --waivers=FILE in place of the file beside the program
  bool fail_fast =
      false;  // --fail-fast: end with the first property that fails, at its first failing case
  bool list = false;  // --list
  bool help = false;  // --help
};

struct ParsedOptions {
  Options options;
  std::vector<std::string> rest;    // GoogleTest's own flags, for InitGoogleTest
  std::vector<std::string> errors;  // one sentence each; a program with errors runs nothing
};

// `arguments` without the program's name. Only `--flag=value` is understood; a flag that is
// unknown, empty, out of range or given twice is an error, since a misspelt flag that is ignored
// runs something other than what was asked for.
ParsedOptions parse_options(const std::vector<std::string>& arguments);

// The number in `text`, in decimal or with 0x, if all of it is one and it lies in [lo, hi].
std::optional<std::uint64_t> parse_number(std::string_view text, std::uint64_t lo,
                                          std::uint64_t hi);

// LOCKSTEP_SCALE: a number from 10^-6 to 10^6, such as 0.1 or 10.
std::optional<double> parse_scale(std::string_view text);

std::string help_text(std::string_view program);

}  // namespace lockstep
