#include "simulator/exec/mutate/shares.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "simulator/exec/mutate/judgement.h"

namespace lockstep::exec {
namespace {

using nlohmann::json;

constexpr std::string_view kDigits = "0123456789abcdef";

std::size_t digit(const std::string& text, std::size_t at) {
  return at < text.size() ? kDigits.find(text[at]) : 0;
}

// The lines of a file that are about mutants, by mutant.
std::map<int, std::vector<std::string>> lines_by_mutant(const std::string& path) {
  std::map<int, std::vector<std::string>> by;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line) && !file.eof();) {
    const json j = json::parse(line, nullptr, false);
    if (j.is_object() && j.value("id", 0) > 0) by[j.at("id")].push_back(line);
  }
  return by;
}

struct Known {
  std::map<int, Trace> traces;
  std::map<int, std::vector<std::string>> lines;
};

bool is_final(const Trace& trace, int usual, bool checks) {
  const Verdict verdict = judge_trace(trace, usual, checks, "").verdict;
  return is_killed(verdict) || verdict == Verdict::kInvalid;
}

// Of a mutant that no share has killed: the lines that say that it has survived. Empty if that is
// not known.
std::vector<std::string> survival(const std::vector<Share>& shares, const std::vector<Known>& known,
                                  int id) {
  bool reached = false, has_felt = true;
  std::string felt;
  int status = 0;
  for (std::size_t s = 0; s < shares.size(); ++s) {
    const auto it = known[s].traces.find(id);
    if (it == known[s].traces.end() && shares[s].whole)
      continue;  // nothing in it comes to the mutant
    if (it == known[s].traces.end() || !it->second.died) return {};
    reached = true;
    status = it->second.status;
    has_felt = has_felt && it->second.felt;
    if (has_felt) felt = joined_parts(felt, *it->second.felt);
  }
  if (!reached) return {};
  json end = {{"id", id}, {"end", status >> 8}};
  if (has_felt) end["felt"] = felt;
  return {end.dump(), json({{"id", id}, {"died", status}}).dump()};
}

}  // namespace

std::string joined_parts(const std::string& a, const std::string& b) {
  std::string text;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i)
    text += kDigits[digit(a, i) | digit(b, i)];
  return text;
}

Survey joined_surveys(std::vector<Survey> shares) {
  Survey all = std::move(shares.front());
  std::map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < all.mutants.size(); ++i) index[all.mutants[i].key()] = i;
  std::vector<std::string> parts;  // by mutant
  for (const std::size_t set : all.parts) parts.push_back(all.sets[set]);
  for (std::size_t s = 1; s < shares.size(); ++s) {
    Survey& share = shares[s];
    all.status = std::max(all.status, share.status);
    all.threads |= share.threads;
    all.instructions = std::max(all.instructions, share.instructions);
    all.seconds += share.seconds;
    all.part_count = std::max(all.part_count, share.part_count);
    all.counters = joined_parts(all.counters, share.counters);
    for (std::size_t i = 0; i < share.mutants.size(); ++i) {
      const auto [it, is_new] = index.try_emplace(share.mutants[i].key(), all.mutants.size());
      if (is_new) {
        all.mutants.push_back(std::move(share.mutants[i]));
        all.at.push_back(0);
        parts.emplace_back();
      }
      all.at[it->second] = std::max(all.at[it->second], share.at[i]);
      parts[it->second] = joined_parts(parts[it->second], share.sets[share.parts[i]]);
    }
  }
  // Code is in the order of its hashes, as in a survey of the whole program.
  std::vector<std::size_t> order(all.mutants.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const Mutant &x = all.mutants[a], &y = all.mutants[b];
    return std::pair(x.of_call, x.code) < std::pair(y.of_call, y.code);
  });
  Survey sorted = all;
  std::map<std::string, std::size_t> sets;
  sorted.sets.clear();
  sorted.parts.assign(order.size(), 0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    sorted.mutants[i] = all.mutants[order[i]];
    sorted.at[i] = all.at[order[i]];
    const auto [it, is_new] = sets.try_emplace(parts[order[i]], sets.size());
    if (is_new) sorted.sets.push_back(it->first);
    sorted.parts[i] = it->second;
  }
  return sorted;
}

JoinedLines joined_lines(const std::vector<Share>& shares, const std::vector<int>& ids, int usual,
                         bool checks) {
  std::vector<Known> known;
  for (const Share& s : shares) known.push_back({Traces(s.lines).read(), lines_by_mutant(s.lines)});
  JoinedLines joined;
  for (const int id : ids) {
    std::optional<std::size_t> killed, skipped;
    std::uint64_t part = 0;
    for (std::size_t s = 0; s < shares.size(); ++s) {
      const auto it = known[s].traces.find(id);
      if (it == known[s].traces.end()) continue;
      const Trace& trace = it->second;
      if (trace.died && is_final(trace, usual, checks) && (!killed || trace.part < part))
        killed = s, part = trace.part;
      if (!skipped && !trace.skipped.empty()) skipped = s;
    }
    if (killed) joined.killed_by.emplace_back(id, *killed);
    const std::vector<std::string> lines = killed    ? known[*killed].lines[id]
                                           : skipped ? known[*skipped].lines[id]
                                                     : survival(shares, known, id);
    joined.lines.insert(joined.lines.end(), lines.begin(), lines.end());
  }
  return joined;
}

}  // namespace lockstep::exec
