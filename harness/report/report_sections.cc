#include "harness/report/report_sections.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "harness/report/html.h"
#include "harness/report/passport_diff.h"

namespace lockstep {
namespace {

using html::escape;
using html::Table;

std::string percent(std::size_t part, std::size_t whole) {
  // Rounded down, so that 100 % means all.
  return whole == 0 ? "" : fmt::format("{:.1f} %", static_cast<double>(1000 * part / whole) / 10);
}

// A long list is folded, unless it lists regressions.
constexpr std::size_t kLong = 8;

void add_list(std::string& out, const char* head, const std::vector<std::string>& sentences,
              bool bad) {
  if (sentences.empty()) return;
  const bool folded = !bad && sentences.size() > kLong;
  out += folded ? fmt::format("<details><summary>{} ({})</summary>\n<ul>\n", head, sentences.size())
                : fmt::format("<h3{}>{}</h3>\n<ul>\n", bad ? " class=\"fail\"" : "", head);
  for (const std::string& s : sentences) out += "<li>" + escape(s) + "</li>\n";
  out += folded ? "</ul>\n</details>\n" : "</ul>\n";
}

}  // namespace

std::string kind_of_run(const Passport& p) {
  const auto option = [&](const char* key) {
    return p.options.contains(key) ? p.options.at(key) : std::string();
  };
  if (!option("case").empty())
    return fmt::format(
        "This is a replay of one case, <code>{}</code>, and says nothing of any other. The run "
        "that it comes from has a report of its own.",
        escape(option("case")));
  if (!p.partial.empty())
    return fmt::format(
        "This run was {}: what is here is partial{}.", escape(p.partial),
        p.not_begun.empty()
            ? ""
            : fmt::format(", without {}", escape(fmt::format("{}", fmt::join(p.not_begun, ", ")))));
  std::vector<std::string> parts;
  if (!option("suites").empty()) parts.push_back("of the suites " + escape(option("suites")));
  if (!option("pattern").empty())
    parts.push_back("of properties with <code>" + escape(option("pattern")) +
                    "</code> in their names");
  if (!option("last_failed").empty()) parts.push_back("of what had failed before");
  if (!option("scale").empty())
    parts.push_back("with " + escape(option("scale")) + " times the cases");
  if (!option("work").empty())
    parts.push_back("with at most " + escape(option("work")) + " steps of each property");
  if (!option("cases").empty())
    parts.push_back("with " + escape(option("cases")) + " cases of each property");
  return parts.empty() ? ""
                       : fmt::format("This run covers a part of the suites: it is a run {}.",
                                     fmt::join(parts, ", "));
}

std::string mark_of_run(const Passport& p) {
  if (p.options.contains("case")) return "ONE CASE";
  if (!p.partial.empty()) return "PARTIAL";
  return kind_of_run(p).empty() ? "" : "A PART";
}

std::string change_section(const Passport& p, const ReportContext& context) {
  if (!context.earlier) return "";
  const Passport& before = *context.earlier;
  const PassportDiff d = diff_runs({before}, {p});
  std::string body =
      fmt::format("<p class=\"soft\">Against the run of {}, commit <code>{}</code>.</p>\n",
                  escape(before.created),
                  escape(before.commit.empty() ? "unknown" : before.commit.substr(0, 12)));
  add_list(body, "Not comparable", d.not_comparable, false);
  add_list(body, "Worse verdicts", d.verdicts_worse, true);
  add_list(body, "Other bits", d.bits, true);
  add_list(body, "More of the error bound is used", d.budget_worse, true);
  add_list(body, "Slower", d.timing_worse, true);
  add_list(body, "Computes otherwise", d.measured_worse, true);
  add_list(body, "Other verdicts", d.verdicts_other, false);
  add_list(body, "Other budgets", d.budget_other, false);
  add_list(body, "Timings, for information", d.timing_other, false);
  add_list(body, "Another generation computes otherwise", d.measured_other, false);
  add_list(body, "Not compared", d.not_compared, false);
  if (d.not_comparable.empty())
    body += fmt::format(
        "<p>{} properties compared, outputs of {} bit for bit: <span class=\"{}\">{}</span>.</p>\n",
        d.compared, d.digests_compared, d.worse() ? "fail" : "pass",
        d.worse() ? "worse" : "not worse");
  return html::section("change", "Change", body);
}

std::string kernel_section(const ReportContext& context) {
  if (context.counters.empty()) return "";
  // A phone hides columns that follow from others or are rarely needed.
  Table t("lnnNnnnNN",
          {"kernel", "launches", "warp instructions", "lanes of 32", "sectors a load",
           "sectors a store", "bank conflicts", "atomics", "barriers"},
          "named");
  const auto ratio = [](std::uint64_t part, std::uint64_t whole) {
    return whole == 0
               ? ""
               : fmt::format("{:.2f}", static_cast<double>(part) / static_cast<double>(whole));
  };
  for (const KernelCounters& k : context.counters)
    t.row({"<code>" + escape(k.kernel) + "</code>", std::to_string(k.at("launches")),
           std::to_string(k.at("warp_instructions")),
           ratio(k.at("thread_instructions"), k.at("warp_instructions")),
           ratio(k.at("global_load_sectors"), k.at("global_load_requests")),
           ratio(k.at("global_store_sectors"), k.at("global_store_requests")),
           std::to_string(k.at("shared_load_bank_conflicts") + k.at("shared_store_bank_conflicts")),
           std::to_string(k.at("atomics")), std::to_string(k.at("barriers"))});
  return html::section(
      "kernels", "Kernels",
      "<p class=\"soft\">Over all their launches on the simulated GPU: exact counts of the PTX, "
      "not of machine code. 4 sectors a request are perfect for elements of 4 bytes.</p>\n" +
          t.end());
}

std::string judgement_section(const ReportContext& context) {
  std::string body;
  if (!context.mutations.empty()) {
    Table t("lnnnnn", {"suite", "noticed", "killed", "survived", "not covered", "equivalent"});
    for (const MutationScore& m : context.mutations) {
      const std::string name =
          m.page.empty() ? escape(m.suite)
                         : fmt::format("<a href=\"{}\">{}</a>", escape(m.page), escape(m.suite));
      t.row({name, percent(m.killed, m.killed + m.survived), std::to_string(m.killed),
             std::to_string(m.survived), std::to_string(m.not_covered),
             std::to_string(m.equivalent)});
    }
    body +=
        "<h3>Mutants</h3>\n<p class=\"soft\">Of changes to the kernels and to their calls of the "
        "runtime, how many the suites' laws and the simulated GPU's checks notice.</p>\n" +
        t.end();
  }
  if (!context.coverage.empty()) {
    Table t("lnnnn", {"file", "lines", "executed", "branches", "both ways"});
    for (const FileCoverage& f : context.coverage)
      t.row({"<code>" + escape(f.file) + "</code>", std::to_string(f.lines),
             percent(f.lines_hit, f.lines), std::to_string(f.branches),
             percent(f.branches_hit, f.branches)});
    body +=
        "<h3>Coverage</h3>\n<p class=\"soft\">Of the kernels' lines and branches, what the suites "
        "execute.</p>\n" +
        t.end();
  }
  return body.empty() ? "" : html::section("judgement", "How good the suites are", body);
}

}  // namespace lockstep
