#include "simulator/exec/mutate/mutation_html.h"

#include <cstdio>
#include <map>
#include <utility>

namespace lockstep::exec {
namespace {

constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --ink: #1d2329; --paper: #fff; --line: #d7dce1; --soft: #f3f5f7;
  --bad: #b3261e; --good: #1c7a3d; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ec; --paper: #15191d; --line: #363d44;
  --soft: #1f252a; --bad: #ff8a80; --good: #7bd88f; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; }
td, th { padding: .25rem .6rem; border-bottom: 1px solid var(--line); text-align: right;
  white-space: nowrap; }
td:first-child, th:first-child { text-align: left; }
th { white-space: normal; vertical-align: bottom; }
tr:last-child td { font-weight: 600; }
.score { font-size: 2.2rem; font-weight: 600; }
.bad { color: var(--bad); }
.good { color: var(--good); }
.survivor { border: 1px solid var(--line); border-left: 4px solid var(--bad); border-radius: 4px;
  margin: 1rem 0; padding: .5rem .8rem; }
.survivor pre { margin: .3rem 0; padding: .3rem .5rem; background: var(--soft); overflow-x: auto; }
.survivor ul { margin: .3rem 0; padding-left: 1.2rem; }
code { font-size: .9em; overflow-wrap: anywhere; } details { margin: 1rem 0; }
)";

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string cells(const std::string& name, const Score& s) {
  std::string row = "<tr><td>" + escaped(name) + "</td>";
  for (const std::size_t n : {s.mutants, s.law, s.time, s.crash, s.checks,
                              s.survived - s.equivalent, s.equivalent, s.not_covered})
    row += "<td>" + std::to_string(n) + "</td>";
  char percent[32];
  std::snprintf(percent, sizeof percent, "<td>%.1f %%</td></tr>\n", s.percent());
  return row + percent;
}

std::string where(const Mutant& m) {
  return m.line == 0 ? m.function : m.file + ":" + std::to_string(m.line);
}

}  // namespace

std::string mutation_html(const std::vector<Mutant>& mutants, Sources& sources,
                          const std::vector<std::string>& command) {
  const Score all = score_of(mutants);
  std::string words;
  for (const std::string& word : command) words += (words.empty() ? "" : " ") + word;
  char score[32];
  std::snprintf(score, sizeof score, "%.1f %%", all.percent());
  std::string page =
      "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width\"><title>Mutants</title><style>" +
      std::string(kStyle) + "</style>\n<h1>What the tests notice</h1>\n<p><code>" + escaped(words) +
      "</code></p>\n<p><span class=\"score " + (all.percent() >= 95 ? "good" : "bad") + "\">" +
      score + "</span> of " + std::to_string(all.counted()) +
      " mutants that the tests execute are killed, " + std::to_string(all.checks) +
      " of them by the simulated GPU's checks alone.</p>\n";
  page +=
      "<div class=\"scroll\"><table><tr><th>operator</th><th>mutants</th><th>killed by a "
      "law</th><th>time limit</th><th>crash</th><th>checks alone</th>"
      "<th>survived</th><th>equivalent</th><th>not covered</th><th>score</th></tr>\n";
  for (const auto& [op, s] : scores_by_operator(mutants)) page += cells(op, s);
  page += cells("all", all) + "</table></div>\n";
  std::map<std::pair<std::string, int>, std::vector<const Mutant*>> survivors, excused;
  for (const Mutant& m : mutants) {
    if (m.verdict != Verdict::kSurvived) continue;
    (m.equivalent.empty() ? survivors : excused)[{m.line == 0 ? m.function : m.file, m.line}]
        .push_back(&m);
  }
  page += survivors.empty() ? "<h2>No mutant survived</h2>\n" : "<h2>Nobody noticed</h2>\n";
  const auto list = [&](const auto& groups) {
    for (const auto& [place, group] : groups) {
      page += "<div class=\"survivor\"><code>" + escaped(where(*group.front())) + "</code>";
      if (const std::string line = sources.line(group.front()->file, group.front()->line);
          !line.empty())
        page += "<pre>" + escaped(line) + "</pre>";
      page += "<ul>";
      for (const Mutant* m : group) {
        page += "<li>" + escaped(m->change) + " <code>" + escaped(m->text) + "</code> (" +
                escaped(m->op) + ")" +
                (m->equivalent.empty() ? "" : ": " + escaped(m->equivalent)) + "</li>";
      }
      page += "</ul></div>\n";
    }
  };
  list(survivors);
  if (!excused.empty()) {
    page += "<details><summary>Survivors that behave as the original does</summary>\n";
    list(excused);
    page += "</details>\n";
  }
  return page + "</html>\n";
}

}  // namespace lockstep::exec
