// Reading passports (docs/reference/passport.md): what comparing them and showing them needs.
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

// Two durations measured interleaved, and what was made of them (docs/reference/timing.md).
struct TimingVerdict {
  std::string name;           // "global against constant, n=16777216"
  std::string verdict;        // FASTER, SAME, SLOWER, INCONCLUSIVE: the second against the first
  double ratio = 1;           // second / first
  double low = 1, high = 1;   // its confidence interval
  double minimum_effect = 0;  // the band around 1 that counts as the same: 0.02 is 2 %
};

// What was measured of a part of the device, such as how its matrix unit computes by one
// instruction form.
struct Measurement {
  std::string kind;        // "matrix_unit"
  std::string name;        // of what is measured: "mma m16n8k16 f16 x f16 to f32"
  std::int64_t terms = 0;  // of a sum: the products and C
  std::vector<std::pair<std::string, std::string>>
      values;  // names and texts, in the order of reading

  std::string value(std::string_view key) const;  // empty where there is none
};

struct PassportProperty {
  Verdict verdict = Verdict::kNotRun;
  std::string reason, minimal_case, replay, message;
  std::uint64_t cases = 0;
  double budget = 0, seconds = 0;  // a budget may be infinite or NaN
  std::string seed;
  std::string source;  // "properties/stencil.cc:88"; empty in older passports
  std::string digest;  // of all outputs; empty where none was kept
  std::map<std::string, std::string> golden;  // scene, and "same" or how it differs
  std::map<std::string, std::string>
      tables;  // title, and lines of cells between tabs, the first their heads
  std::vector<Timing> timings;
  std::vector<TimingVerdict> timing_verdicts;
  std::vector<Measurement> measurements;
};

struct PassportSuite {
  std::string family, end;
  double seconds = 0;
  std::vector<std::string> problems;
  std::vector<std::string> order;  // of the properties
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
  std::string partial;                 // why the run ended before its end; empty: it did not
  std::vector<std::string> not_begun;  // the suites that it did not come to

  // For people: "NVIDIA H100 80GB HBM3, 9.0".
  std::string device_text() const;
  const PassportProperty* find(std::string_view property) const;
};

// False, with a sentence in `error`, if the text is no passport of a schema that is understood (1
// or 2).
bool parse_passport(std::string_view text, Passport& out, std::string& error);
// `path` is the file, or a folder with a passport.json in it.
bool read_passport(const std::string& path, Passport& out, std::string& error);
// The same of several runs: `path` may also be a folder of such folders, one a run. Numbers in
// their names count as numbers.
bool read_runs(const std::string& path, std::vector<Passport>& out, std::string& error);

}  // namespace lockstep
