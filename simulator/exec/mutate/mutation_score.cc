#include "simulator/exec/mutate/mutation_score.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <tuple>
#include <utility>

#include "simulator/exec/mutate/statement.h"

namespace lockstep::exec {
namespace {

void count(const Mutant& m, Score& s) {
  ++s.mutants;
  switch (m.verdict) {
    case Verdict::kNotJudged: ++s.not_judged; break;
    case Verdict::kNotCovered: ++s.not_covered; break;
    case Verdict::kInvalid: ++s.invalid; break;
    case Verdict::kKilledByLaw: ++s.law; break;
    case Verdict::kKilledByTime: ++s.time; break;
    case Verdict::kKilledByCrash: ++s.crash; break;
    case Verdict::kKilledByChecks: ++s.checks; break;
    case Verdict::kSurvived:
      ++s.survived;
      s.equivalent += !m.equivalent.empty();
      break;
  }
}

std::string row(const std::string& name, const Score& s) {
  char line[256];
  std::snprintf(line, sizeof line, "%-20s %7zu %7zu %7zu %7zu %7zu %8zu %10zu %11zu %7.1f\n",
                name.c_str(), s.mutants, s.law, s.time, s.crash, s.checks,
                s.survived - s.equivalent, s.equivalent, s.not_covered, s.percent());
  return line;
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  return begin == std::string::npos
             ? ""
             : text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

bool fits(const std::string& pattern, const std::string& text) {
  return pattern == "*" || pattern == text;
}

// The instruction without register numbers and branch targets, which change with each compilation.
std::string without_numbers(const std::string& text) {
  static const std::regex kNumbers("(%[a-z]+|->)[0-9]+");
  return std::regex_replace(text, kNumbers, "$1");
}

bool fits_change(const std::string& pattern, const Mutant& m) {
  if (fits(pattern, m.change)) return true;
  const std::string text = without_numbers(m.text);
  return pattern == text + ": " + m.change || pattern == text + ": *";
}

}  // namespace

Score score_of(const std::vector<Mutant>& mutants) {
  Score score;
  for (const Mutant& m : mutants) count(m, score);
  return score;
}

std::map<std::string, Score> scores_by_operator(const std::vector<Mutant>& mutants) {
  std::map<std::string, Score> scores;
  for (const Mutant& m : mutants) count(m, scores[m.op]);
  return scores;
}

const std::vector<std::string>& Sources::lines(const std::string& file) {
  const auto [it, first] = read_.try_emplace(file);
  if (first && !file.empty()) {
    it->second = lines_of(file);
    // A build in a sandbox names files that no longer exist: uses the longest suffix of the path
    // that exists in a folder.
    for (const std::string& folder : folders_) {
      for (std::size_t at = 0; it->second.empty() && at != std::string::npos;
           at = file.find('/', at + 1))
        it->second = lines_of(folder + "/" + file.substr(at));
    }
  }
  return it->second;
}

std::string Sources::line(const std::string& file, int number) {
  const auto& all = lines(file);
  return number < 1 || static_cast<std::size_t>(number) > all.size()
             ? ""
             : trimmed(all[static_cast<std::size_t>(number) - 1]);
}

std::string text_report(const std::vector<Mutant>& mutants, Sources& sources) {
  std::string text =
      "operator             mutants killed:   of       of      by  survived equivalent not covered "
      "  score\n"
      "                                  law    time   crash  checks\n";
  for (const auto& [op, score] : scores_by_operator(mutants)) text += row(op, score);
  std::vector<Mutant> of_kernels, of_calls;
  for (const Mutant& m : mutants) (m.of_call ? of_calls : of_kernels).push_back(m);
  if (!of_kernels.empty() && !of_calls.empty())
    text += row("in kernels", score_of(of_kernels)) + row("in calls", score_of(of_calls));
  const Score all = score_of(mutants);
  text += row("all", all);
  std::vector<const Mutant*> survivors;
  for (const Mutant& m : mutants)
    if (m.verdict == Verdict::kSurvived && m.equivalent.empty()) survivors.push_back(&m);
  std::stable_sort(survivors.begin(), survivors.end(), [](const Mutant* a, const Mutant* b) {
    return std::tie(a->file, a->line, a->op) < std::tie(b->file, b->line, b->op);
  });
  if (!survivors.empty()) text += "\nNobody noticed:\n";
  std::pair<std::string, int> at;
  // Instances of a template share lines and print alike; counts them together.
  std::map<std::string, std::size_t> same;
  const auto sentence = [](const Mutant& m) {
    return m.op + ": " + (m.of_call ? m.text : "'" + m.text + "'") + ": " + m.change;
  };
  for (const Mutant* m : survivors) ++same[m->file + std::to_string(m->line) + m->op + m->change];
  std::set<std::string> printed;
  for (const Mutant* m : survivors) {
    const std::string key = m->file + std::to_string(m->line) + m->op + m->change;
    if (!printed.insert(key).second) continue;
    if (at != std::pair(m->file, m->line)) {
      at = {m->file, m->line};
      text += "\n" +
              (m->line == 0 ? m->function
                            : m->file + ":" + std::to_string(m->line) + "  " +
                                  sources.line(m->file, m->line)) +
              "\n";
    }
    text += "  " + sentence(*m) +
            (same[key] > 1 ? " (and " + std::to_string(same[key] - 1) + " like it)" : "") + "\n";
  }
  char line[256];
  std::snprintf(line, sizeof line,
                "\n%zu of %zu mutants that the tests execute are killed: %.1f %%. %zu of them by "
                "the simulated GPU's checks alone.\n",
                all.killed(), all.counted(), all.percent(), all.checks);
  text += line;
  const auto trusted =
      std::count_if(mutants.begin(), mutants.end(), [](const Mutant& m) { return m.trusted; });
  if (trusted > 0)
    text += std::to_string(trusted) +
            " of the equivalent ones were judged by a part of the rounds alone, their reasons "
            "being trusted.\n";
  if (all.not_judged > 0) text += std::to_string(all.not_judged) + " are not judged.\n";
  return text;
}

std::string read_equivalents(const std::string& path, std::vector<Mutant>& mutants,
                             Sources& sources) {
  std::ifstream file(path);
  if (std::error_code none; !file || std::filesystem::is_directory(path, none))
    return path + " cannot be read";
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (trimmed(line).empty() || trimmed(line).front() == '#') continue;
    std::array<std::string, 4> parts;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t end = i == 3 ? line.size() : line.find(" ~ ", begin);
      if (end == std::string::npos)
        return path + ", line " + std::to_string(number) +
               ": not FILE: SOURCE LINE ~ OPERATOR ~ CHANGE ~ REASON";
      parts[i] = trimmed(line.substr(begin, end - begin));
      begin = end + 3;
    }
    const std::size_t colon = parts[0].find(": ");
    if (colon == std::string::npos || parts[3].empty())
      return path + ", line " + std::to_string(number) + ": no file, or no reason";
    const std::string name = parts[0].substr(0, colon), source = parts[0].substr(colon + 2);
    std::map<std::string, std::vector<LineRange>> places;  // of the statement, by file
    const auto stands_at = [&](const std::string& file, int number) {
      const auto [it, first] = places.try_emplace(file);
      if (first) it->second = places_of(source, sources.lines(file));
      return std::any_of(it->second.begin(), it->second.end(), [&](const LineRange& place) {
        return place.contains(static_cast<std::size_t>(number));
      });
    };
    for (Mutant& m : mutants) {
      if ((name != "*" && !m.file.ends_with(name)) || !fits(parts[1], m.op)) continue;
      if (source != "*" && !stands_at(m.file, m.line)) continue;
      if (fits_change(parts[2], m)) m.equivalent = parts[3];
    }
  }
  return {};
}

}  // namespace lockstep::exec
