// Running one of this folder's programs and looking at what a user or a test runner would see of
// it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/ledger/ledger_file.h"

namespace lockstep::end_to_end {

struct Ended {
  int status = -1;  // exit status; 128 + signal when one ended it; -1 when it could not be started
  std::string output;     // stdout and stderr
  LedgerFile ledger;      // as it was left
  std::string no_ledger;  // a sentence, when there is none
};

using Environment = std::map<std::string, std::string>;

// `program` is its name in this folder, a path from the workspace's root with a slash in it, or an
// absolute path. Only `environment` is set: of the variables of Bazel, GoogleTest and Lockstep the
// child sees none of ours.
Ended run(const std::string& program, std::vector<std::string> arguments = {},
          Environment environment = {}, double time_limit_seconds = 60);

// A pattern for -k: all properties but those with a case that takes a second or nearly so, at the
// limits of a grid or of many images. For runs that are not about their results. These properties
// ask the device for nothing.
inline constexpr char kAllButTheFar[] =
    "!RowsBeyondTheGrid,EndsOfLargeImages,DrawsTheGoldens,ByWmma.CoversMoreTiles,FillsSharedMemory,"
    "BlocksBeyond16Bits,ByWmma.CoversTilesPast";

// A file of the test's own, which does not exist yet.
std::string fresh_file(const std::string& name);

// All of a file; empty where it is not there.
std::string text_of(const std::string& path);

}  // namespace lockstep::end_to_end
