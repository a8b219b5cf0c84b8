// Reads passports (docs/reference/passport.md), as far as comparison and display need them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/ledger/verdict.h"

namespace lockstep {

// One measured duration.
struct Timing {
  std::string name;          // "stencil.constant n=16777216"
  double median = 0;         // microseconds
  double low = 0, high = 0;  // 95 % confidence interval of the median
  std::uint64_t samples = 0;
};

// Two durations, measured alternately, and the verdict (docs/reference/timing.md).
struct TimingVerdict {
  std::string name;     // "global against constant, n=16777216"
  std::string verdict;  // FASTER, SAME, SLOWER, INCONCLUSIVE: the second compared with the first
  double ratio = 1;     // second / first
  double low = 1, high = 1;   // its confidence interval
  double minimum_effect = 0;  // the band around 1 that counts as equal: 0.02 is 2 %
};

// A measurement of a part of the device, such as the arithmetic of its matrix unit for one
// instruction form.
struct Measurement {
  std::string kind;        // "matrix_unit"
  std::string name;        // the object: "mma m16n8k16 f16 x f16 to f32"
  std::int64_t terms = 0;  // the terms of a sum: the products and C
  std::vector<std::pair<std::string, std::string>>
      values;  // names and texts, in the order of reading

  std::string value(std::string_view key) const;  // empty if there is none
};

struct PassportProperty {
  Verdict verdict = Verdict::kNotRun;
  std::string reason, minimal_case, replay, message;
  std::uint64_t cases = 0;
  double budget = 0, seconds = 0;  // a budget may be infinite or NaN
  std::string seed;
  std::string source;  // "properties/stencil.cc:88"; empty in older passports
  std::string digest;  // of all outputs; empty if none was recorded
  std::map<std::string, std::string> golden;  // scene, and "same" or how it differs
  std::map<std::string, std::string>
      tables;  // title, and lines of tab-separated cells; the first line has the column heads
  std::vector<Timing> timings;
  std::vector<TimingVerdict> timing_verdicts;
  std::vector<Measurement> measurements;
};

struct PassportSuite {
  std::string family, end;
  double seconds = 0;
  std::vector<std::string> problems;
  std::vector<std::string> order;  // names of the properties
  std::map<std::string, PassportProperty> properties;
};

struct Passport {
  std::string created, commit;
  bool modified = false, green = false;
  std::map<std::string, std::string> options, device;
  std::map<std::string, std::uint64_t> counts;
  double budget = 0, seconds = 0;
  std::vector<std::string> problems;
  std::vector<PassportSuite> suites;
  std::string partial;                 // why the run ended early; empty: it did not
  std::vector<std::string> not_begun;  // the suites that did not begin

  // For display: "NVIDIA H100 80GB HBM3, 9.0".
  std::string device_text() const;
  const PassportProperty* find(std::string_view property) const;
};

// False, with a sentence in `error`, if the text is not a passport of a supported schema (1 or 2).
bool parse_passport(std::string_view text, Passport& out, std::string& error);
// `path` is the file, or a folder that contains passport.json.
bool read_passport(const std::string& path, Passport& out, std::string& error);
// Reads several runs. `path` may also be a folder with one such folder per run. Numbers in their
// names sort numerically.
bool read_runs(const std::string& path, std::vector<Passport>& out, std::string& error);

}  // namespace lockstep
