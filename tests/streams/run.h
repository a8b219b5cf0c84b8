// Helpers of the tests in this folder: run a program under `lockstep exec`, and read tables.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace lockstep::streams {

using nlohmann::json;

struct Outcome {
  int status = -1;
  std::string out, err;
  json findings = json::array();

  std::string text() const { return "exit status " + std::to_string(status) + "\n" + out + err; }
};

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

inline std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Runs a program of this folder under `lockstep exec` with these options. `scratch` is the prefix
// of the files that it writes. STREAMS_PROVED: whatever is proved before a launch is left out from
// the first launch on.
inline Outcome run(const std::string& options, const std::string& command,
                   const std::string& scratch) {
  // Every program runs for less than a second; the limit ends one that hangs.
  const bool proved = std::getenv("STREAMS_PROVED") != nullptr;
  const std::string whole = std::string("timeout 100 ") + std::getenv("LOCKSTEP_EXEC") + " exec " +
                            (proved ? "--certificate=" + scratch + ".certificate " : "") + options +
                            " --report=" + scratch + ".json -- tests/streams/" + command + " >" +
                            scratch + ".out 2>" + scratch + ".err";
  std::ofstream(scratch + ".json") << "{}";  // overwrites the findings of an earlier run
  const int status = std::system(whole.c_str());
  Outcome o{WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(scratch + ".out"),
            contents(scratch + ".err")};
  const json report = json::parse(contents(scratch + ".json"), nullptr, false);
  if (report.is_object() && report.contains("findings")) o.findings = report["findings"];
  return o;
}

// The tab-separated fields of each line. Skips lines that begin with #.
inline std::vector<std::vector<std::string>> table(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    rows.emplace_back();
    for (std::string field; std::getline(fields, field, '\t');) rows.back().push_back(field);
  }
  return rows;
}

}  // namespace lockstep::streams
