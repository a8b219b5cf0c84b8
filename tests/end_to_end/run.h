// Runs a program of this folder and returns what a user or a test runner sees of it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/ledger/ledger_file.h"

namespace lockstep::end_to_end {

struct Ended {
  int status = -1;        // exit status; 128 + signal after a signal; -1 if it did not start
  std::string output;     // stdout and stderr
  LedgerFile ledger;      // the ledger after the run
  std::string no_ledger;  // why there is no ledger; empty if there is one
};

using Environment = std::map<std::string, std::string>;

// Runs `program`: a name in this folder, a path from the workspace's root with a slash, or an
// absolute path. The child gets `environment`, without the variables of Bazel, GoogleTest and
// Lockstep of this process.
Ended run(const std::string& program, std::vector<std::string> arguments = {},
          Environment environment = {}, double time_limit_seconds = 60);

// A pattern for -k, for runs whose results do not matter. It leaves out the properties with cases
// of about a second or more, at the limits of a grid or of many images. These properties need no
// device capability.
inline constexpr char kAllButTheFar[] =
    "!RowsBeyondTheGrid,EndsOfLargeImages,DrawsTheGoldens,ByWmma.CoversMoreTiles,FillsSharedMemory,"
    "BlocksBeyond16Bits,ByWmma.CoversTilesPast";

// The path of a new file for the current test; it does not exist yet.
std::string fresh_file(const std::string& name);

// The contents of a file; empty if it does not exist.
std::string text_of(const std::string& path);

}  // namespace lockstep::end_to_end
