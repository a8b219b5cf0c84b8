// The ledger as a JSON file, which a test process writes for the process that started it
// (docs/reference/test_protocol.md lists its fields).
//
// It is written before the first property, and whenever one starts or ends. If the process dies,
// its ledger shows which property ran and which did not begin.
#pragma once

#include <cstddef>
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
  std::string target;   // Bazel's label, if any
  int shard_index = 0, total_shards = 1;
  std::uint64_t seed = 0;  // --seed; 0: each record has its own
  std::map<std::string, std::string>
      device;  // the device's properties: "name", "capability", "simulator" ...
  std::vector<std::string> planned;
  std::string running;    // the running property; empty between properties
  bool complete = false;  // the process reached its end
  std::vector<Record> records;
  std::vector<std::string> problems;  // of a complete run; empty: green
};

std::string to_json(const LedgerFile& file);

// to_json() of a file that grows: what a suite has planned, and each record, is formatted once. A
// suite of n properties writes its ledger 2n times.
class GrowingLedger {
 public:
  // The records and the planned properties of the last call must be the first ones of this.
  std::string text(const LedgerFile& file);

 private:
  std::string planned_, records_;  // as in the file
  std::size_t planned_count_ = 0, record_count_ = 0;
};

// False, with a sentence in `error`, if the text is not a ledger of this schema. Ignores unknown
// fields, which later versions may add.
bool from_json(std::string_view text, LedgerFile& out, std::string& error);

// Replaces the file by this text, atomically: a reader sees the old text or the new. Returns an
// empty text, or a sentence with the error.
std::string write_ledger(const std::string& path, const std::string& text);
bool read_ledger(const std::string& path, LedgerFile& out, std::string& error);

}  // namespace lockstep
