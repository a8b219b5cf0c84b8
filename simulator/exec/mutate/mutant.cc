#include "simulator/exec/mutate/mutant.h"

#include <cxxabi.h>

#include <cstdlib>
#include <exception>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

namespace lockstep::exec {
namespace {

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? text.get() : name;
}

// Removes the prefix under which Bazel's compilers see the sources.
std::string short_path(const std::string& path) {
  constexpr std::string_view kHere = "/proc/self/cwd/";
  return path.starts_with(kHere) ? path.substr(kHere.size()) : path;
}

// The operator of a change: "grid-x+1" -> "grid-changed". Changes of calls have operators too.
std::string operator_of(const std::string& change) {
  if (change.starts_with("grid-")) return "grid-changed";
  if (change.starts_with("bytes")) return "size-changed";
  if (change == "shared-4") return "shared-memory-less";
  if (change == "default-stream") return "stream-replaced";
  if (change == "removed" || change == "second-time-removed") return "call-removed";
  if (change == "wait-removed") return "synchronisation-removed";
  if (change == "recorded-earlier") return "event-earlier";
  if (change == "other-stream") return "stream-exchanged";
  return change;  // edge-removed, block-exchanged, error-swallowed
}

}  // namespace

bool is_killed(Verdict v) {
  return v == Verdict::kKilledByLaw || v == Verdict::kKilledByTime ||
         v == Verdict::kKilledByCrash || v == Verdict::kKilledByChecks;
}

const char* name_of(Verdict v) {
  switch (v) {
    case Verdict::kNotJudged: return "not judged";
    case Verdict::kNotCovered: return "not covered";
    case Verdict::kInvalid: return "no valid code";
    case Verdict::kKilledByLaw: return "killed by the program";
    case Verdict::kKilledByTime: return "killed by the time limit";
    case Verdict::kKilledByCrash: return "killed by a crash";
    case Verdict::kKilledByChecks: return "killed by checks alone";
    case Verdict::kSurvived: return "survived";
  }
  return "";
}

std::string Mutant::key() const {
  if (of_call) return site + " " + call_change;
  std::string k = code;
  for (const std::uint32_t n : place) k += ":" + std::to_string(n);
  return k;
}

bool read_survey(const std::string& path, Survey* survey) {
  std::ifstream file(path);
  if (!file) return false;
  try {
    const auto json = nlohmann::json::parse(file);
    survey->status = json.at("status");
    survey->threads = json.at("threads");
    survey->instructions = json.at("instructions");
    survey->sets = json.at("sets");
    survey->part_count = json.at("parts");
    survey->counters = json.at("counters");
    for (const auto& code : json.at("codes")) {
      for (const auto& m : code.at("mutants")) {
        Mutant mutant;
        mutant.code = code.at("code");
        for (std::size_t i = 0; i < 4; ++i) mutant.place[i] = m.at("place").at(i);
        mutant.op = m.at("operator");
        mutant.change = m.at("change");
        mutant.function = demangled(m.at("function"));
        mutant.text = m.at("text");
        mutant.file = short_path(m.at("file"));
        mutant.line = m.at("line");
        mutant.column = m.at("column");
        survey->mutants.push_back(std::move(mutant));
        survey->at.push_back(m.at("at"));
        survey->parts.push_back(m.at("parts"));
      }
    }
    for (const auto& site : json.at("sites")) {
      for (const auto& c : site.at("changes")) {
        Mutant mutant;
        mutant.of_call = true;
        mutant.site = site.at("site");
        mutant.api = site.at("api");
        mutant.object = site.at("object");
        mutant.offset = site.at("offset");
        mutant.function = site.at("kernel");
        mutant.call_change = c.at("change");
        mutant.op = operator_of(mutant.call_change);
        mutant.change = c.at("words");
        mutant.text = mutant.api + (mutant.function.empty() ? "" : " of " + mutant.function);
        survey->mutants.push_back(std::move(mutant));
        survey->at.push_back(c.at("at"));
        survey->parts.push_back(c.at("parts"));
      }
    }
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace lockstep::exec
