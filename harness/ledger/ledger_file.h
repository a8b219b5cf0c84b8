// The ledger as a JSON file: what one test process leaves behind for the process that started it
// (docs/reference/test_protocol.md lists its fields).
//
// It is written before the first property, and again whenever one starts or ends. So the ledger of
// a process that died shows which property ran and which were never reached.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/ledger/ledger.h"

namespace lockstep {

inline constexpr int kLedgerSchema = 1;

struct LedgerFile {
  std::string program;  // base name of the executable
  std::string target;   // Bazel's label when there is one
  int shard_index = 0, total_shards = 1;
  std::uint64_t seed = 0;  // --seed; 0: each record has its own
  std::map<std::string, std::string>
      device;  // what device answered: "name", "capability", "simulator" ...
  std::vector<std::string> planned;
  std::string running;    // the property that runs now; empty between properties
  bool complete = false;  // the process reached its end
  std::vector<Record> records;
  std::vector<std::string> problems;  // of the complete run: empty means green
};

std::string to_json(const LedgerFile& file);
// False, with a sentence in `error`, if the text is no ledger of this schema; unknown fields are
// let pass, as later versions add some.
bool from_json(std::string_view text, LedgerFile& out, std::string& error);

// Replaces the file at once, so that a reader sees the old text or the new. Empty, or a sentence.
std::string write_ledger(const std::string& path, const LedgerFile& file);
bool read_ledger(const std::string& path, LedgerFile& out, std::string& error);

}  // namespace lockstep
