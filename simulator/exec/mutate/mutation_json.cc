#include "simulator/exec/mutate/mutation_json.h"

#include <algorithm>
#include <string>

namespace lockstep::exec {
namespace {

const char* status_of(const Mutant& m) {
  switch (m.verdict) {
    case Verdict::kNotJudged: return "Pending";
    case Verdict::kNotCovered: return "NoCoverage";
    case Verdict::kInvalid: return "CompileError";
    case Verdict::kKilledByTime: return "Timeout";
    case Verdict::kKilledByCrash: return "RuntimeError";
    case Verdict::kKilledByLaw:
    case Verdict::kKilledByChecks: return "Killed";
    case Verdict::kSurvived: return m.equivalent.empty() ? "Survived" : "Ignored";
  }
  return "Pending";
}

}  // namespace

nlohmann::json mutation_json(const std::vector<Mutant>& mutants, Sources& sources) {
  using nlohmann::json;
  json files = json::object();
  for (const Mutant& m : mutants) {
    const std::string name =
        m.file.empty() ? (m.function.empty() ? "(calls)" : m.function) : m.file;
    if (!files.contains(name)) {
      std::string source;
      for (const std::string& line : sources.lines(m.file)) source += line + "\n";
      files[name] = {{"language", "cpp"}, {"source", source}, {"mutants", json::array()}};
    }
    const int line = std::max(1, m.line), column = std::max(1, m.column);
    const int end =
        std::max<int>(
            column,
            static_cast<int>(
                m.line > 0 && static_cast<std::size_t>(m.line) <= sources.lines(m.file).size()
                    ? sources.lines(m.file)[static_cast<std::size_t>(m.line) - 1].size()
                    : 0)) +
        1;
    json mutant = {{"id", std::to_string(m.id)},
                   {"mutatorName", m.op},
                   {"description", m.text + ": " + m.change},
                   {"location",
                    {{"start", {{"line", line}, {"column", column}}},
                     {"end", {{"line", line}, {"column", end}}}}},
                   {"status", status_of(m)}};
    const std::string reason = !m.equivalent.empty() ? m.equivalent : m.reason;
    if (!reason.empty()) mutant["statusReason"] = reason;
    if (m.verdict == Verdict::kKilledByLaw && !m.reason.empty())
      mutant["killedBy"] = json::array({m.reason});
    if (m.verdict == Verdict::kKilledByChecks)
      mutant["killedBy"] = json::array({"the simulated GPU: " + m.reason});
    files[name]["mutants"].push_back(std::move(mutant));
  }
  return {{"schemaVersion", "2"},
          {"thresholds", {{"high", 95}, {"low", 80}}},
          {"framework", {{"name", "Lockstep"}}},
          {"files", std::move(files)}};
}

}  // namespace lockstep::exec
