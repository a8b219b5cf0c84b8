#include "harness/report/report_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/ledger/runfiles.h"
#include "harness/report/cause.h"
#include "harness/report/html.h"
#include "harness/report/measurements_html.h"
#include "harness/report/report_sections.h"
#include "harness/report/sentence.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using html::escape;
using html::section;
using html::Table;
using nlohmann::ordered_json;

constexpr double kTouches = 0.95;  // of a bound

// Hidden until report.js, which implements it, shows it.
constexpr char kFilter[] =
    "<p class=\"filter\" hidden><label>Show <input type=\"search\" placeholder=\"part of a name or "
    "sentence\"></label> <label><input type=\"checkbox\"> only what is not green</label> <span "
    "class=\"soft\"></span></p>\n";

std::string css_class(Verdict v) {
  std::string text = name(v);
  std::replace(text.begin(), text.end(), ' ', '-');
  return text;
}

std::string badge(Verdict v) {
  return fmt::format("<span class=\"{}\">{}</span>", css_class(v), name(v));
}

bool is_red(Verdict v) { return v == Verdict::kFail || v == Verdict::kNotRun; }

std::string pre(const std::string& label, const std::string& text) {
  return text.empty()
             ? ""
             : fmt::format("<p class=\"label\">{}</p>\n<pre>{}</pre>\n", label, escape(text));
}

// A chart, drawn by report.js. A table of the same numbers must be near it.
std::string chart(const char* kind, const std::string& meaning, const ordered_json& rows) {
  return fmt::format(
      "<figure class=\"chart\" data-kind=\"{}\" aria-label=\"{}\" data-rows=\"{}\"></figure>\n",
      kind, escape(meaning), escape(rows.dump()));
}

std::uint64_t count(const Passport& p, const char* key) {
  return p.counts.contains(key) ? p.counts.at(key) : 0;
}

std::string device_entry(const Passport& p, const char* key) {
  return p.device.contains(key) ? p.device.at(key) : "";
}

std::string summary(const Passport& p) {
  std::string tiles;
  const auto tile = [&](const std::string& number, const char* what, const char* kind) {
    tiles +=
        fmt::format("<div class=\"tile {}\"><b>{}</b><span>{}</span></div>\n", kind, number, what);
  };
  const auto counted = [&](const char* key, const char* what, bool bad) {
    const std::uint64_t n = count(p, key);
    tile(std::to_string(n), what, bad && n > 0 ? "bad" : "");
  };
  counted("planned", "planned", false);
  tile(std::to_string(count(p, "pass")), "pass",
       count(p, "pass") == count(p, "planned") ? "good" : "");
  counted("fail", "fail", true);
  counted("waived", "waived", false);
  counted("not_applicable", "not applicable", false);
  counted("not_run", "not run", true);
  counted("cases", "cases", false);
  tile(fmt::format("{:.3f}", p.budget), "budget used", p.budget > 1 ? "bad" : "");
  tile(fmt::format("{:.1f} s", p.seconds), "time", "");
  std::string body = "<div class=\"tiles\">\n" + tiles + "</div>\n";
  if (const std::string kind = kind_of_run(p); !kind.empty())
    body += "<p class=\"kind\">" + kind + "</p>\n";
  if (p.problems.empty() && p.options.contains("case")) {
    body += "<p>The case is green.</p>\n";
  } else if (p.problems.empty()) {
    body += "<p>Every ledger closes and all is green.</p>\n";
  } else {
    body += fmt::format("<h3 class=\"fail\">{} problem{}</h3>\n<ul>\n", p.problems.size(),
                        p.problems.size() == 1 ? "" : "s");
    for (const std::string& problem : p.problems)
      body += fmt::format("<li>{}</li>\n", escape(problem));
    body += "</ul>\n";
  }
  return section("summary", "Summary", body);
}

// The later failures with the same cause, by name and replay line. They are listed with this
// failure.
std::string others_of_that_cause(const PassportSuite& s, const std::string& first,
                                 std::set<std::string>& listed) {
  const PassportProperty& r = s.properties.at(first);
  const std::string cause = cause_of(r.reason, r.message);
  std::string rows;
  for (const std::string& name : s.order) {
    const PassportProperty& other = s.properties.at(name);
    const bool alike = r.verdict == Verdict::kNotRun ||
                       (!cause.empty() && cause == cause_of(other.reason, other.message));
    if (name == first || listed.contains(name) || other.verdict != r.verdict ||
        other.reason != r.reason || !alike)
      continue;
    listed.insert(name);
    rows +=
        fmt::format("<li>{}{}</li>\n", escape(name),
                    other.replay.empty() ? "" : "<br><code>" + escape(other.replay) + "</code>");
  }
  listed.insert(first);
  return rows.empty() ? ""
                      : "<p class=\"label\">also, of the same cause</p>\n<ul>\n" + rows + "</ul>\n";
}

std::string failures(const Passport& p) {
  std::string body;
  for (const PassportSuite& s : p.suites) {
    std::set<std::string> listed;
    for (const std::string& name : s.order) {
      const PassportProperty& r = s.properties.at(name);
      if (!is_red(r.verdict) || listed.contains(name)) continue;
      body += fmt::format("<div class=\"failure\">\n<h3>{} {}</h3>\n<p>{}</p>\n", escape(name),
                          badge(r.verdict), escape(r.reason));
      body += pre("smallest case", r.minimal_case) + pre("what was seen", r.message) +
              pre("replay", r.replay);
      if (r.cases > 0)
        body += fmt::format("<p class=\"soft\">{} case{}, seed {}</p>\n", r.cases,
                            r.cases == 1 ? "" : "s", escape(r.seed));
      body += others_of_that_cause(s, name, listed);
      body += "</div>\n";
    }
  }
  return body.empty() ? "" : section("failures", "Failures", body);
}

// A property's sentence, with a link to its source if known.
std::string sentence(const std::string& property, const PassportProperty& r,
                     const std::string& sources) {
  const std::string text = escape(sentence_of(property));
  if (r.source.empty()) return text;
  const std::string file = r.source.substr(0, r.source.rfind(':')),
                    line = r.source.substr(file.size() + (file.size() < r.source.size()));
  if (sources.empty())
    return fmt::format("{} <span class=\"wide\">({})</span>", text, escape(r.source));
  return fmt::format("<a href=\"{}#L{}\" title=\"{}\">{}</a>", escape(sources + file), escape(line),
                     escape(r.source), text);
}

std::string properties(const PassportSuite& s, const std::string& sources) {
  Table t("llnnNL", {"property", "verdict", "cases", "budget", "seconds", "digest of outputs"},
          "sortable");
  double inside = 0;
  for (const std::string& name : s.order) {
    const PassportProperty& r = s.properties.at(name);
    const auto dot = name.find('.');
    std::string verdict = badge(r.verdict);
    if (!r.reason.empty() && !is_red(r.verdict))
      verdict += fmt::format("<br><span class=\"soft\">{}</span>", escape(r.reason));
    inside += r.seconds;
    t.row({escape(name.substr(dot == name.npos ? 0 : dot + 1)) + "<br><span class=\"soft\">" +
               sentence(name, r, sources) + "</span>",
           verdict, std::to_string(r.cases), fmt::format("{:.3f}", r.budget),
           fmt::format("{:.2f}", r.seconds),
           r.digest.empty() ? "" : "<code>" + escape(r.digest) + "</code>"},
          "property");
  }
  // A suite takes longer than its properties together.
  t.row({"<span class=\"soft\">starting, ending, and between properties</span>", "", "", "",
         fmt::format("{:.2f}", std::max(0.0, s.seconds - inside)), ""},
        "sum rest");
  return t.end();
}

std::string ledger(const Passport& p, const std::string& sources) {
  Table t("lnnnNNnNNN",
          {"family", "planned", "pass", "fail", "waived", "n/a", "not run", "cases", "budget",
           "seconds"},
          "sortable");
  double in_suites = 0;
  std::string details;
  const auto cells = [](std::map<Verdict, std::uint64_t>& n, const std::string& who,
                        std::uint64_t planned, std::uint64_t cases, double budget, double seconds) {
    const auto of = [&](Verdict v) { return std::to_string(n[v]); };
    return std::vector<std::string>{escape(who),
                                    std::to_string(planned),
                                    of(Verdict::kPass),
                                    of(Verdict::kFail),
                                    of(Verdict::kWaived),
                                    of(Verdict::kNotApplicable),
                                    of(Verdict::kNotRun),
                                    std::to_string(cases),
                                    fmt::format("{:.3f}", budget),
                                    fmt::format("{:.1f}", seconds)};
  };
  for (const PassportSuite& s : p.suites) {
    std::map<Verdict, std::uint64_t> n;
    std::uint64_t cases = 0;
    double budget = 0;
    for (const auto& [name, r] : s.properties) {
      ++n[r.verdict];
      cases += r.cases;
      budget = std::max(budget, r.budget);
    }
    const bool red = !s.problems.empty();
    t.row(cells(n, s.family, s.properties.size(), cases, budget, s.seconds), red ? "bad" : "");
    details += fmt::format(
        "<details{}><summary>{}{}</summary>\n{}</details>\n", red ? " open" : "", escape(s.family),
        red ? fmt::format(" <span class=\"fail\">not green: {}</span>", escape(s.end)) : "",
        properties(s, sources));
    in_suites += s.seconds;
  }
  std::map<Verdict, std::uint64_t> all = {{Verdict::kPass, count(p, "pass")},
                                          {Verdict::kFail, count(p, "fail")},
                                          {Verdict::kWaived, count(p, "waived")},
                                          {Verdict::kNotApplicable, count(p, "not_applicable")},
                                          {Verdict::kNotRun, count(p, "not_run")}};
  t.row(cells(all, "all", count(p, "planned"), count(p, "cases"), p.budget, in_suites), "sum");
  return section("ledger", "Ledger",
                 "<p class=\"soft\">Every planned property has exactly one verdict. The budget is "
                 "the largest error divided by its bound. Seconds are those of the suites' "
                 "processes, which ran at the same time: the run took " +
                     fmt::format("{:.1f} s.</p>\n", p.seconds) + t.end() + kFilter + details);
}

// Names, in words, the budgets that leave almost nothing: a bar does not show it.
std::string at_the_limit(const Passport& p) {
  std::string body;
  for (const PassportSuite& s : p.suites) {
    for (const std::string& name : s.order) {
      const double used = s.properties.at(name).budget;
      if (!(used >= kTouches)) continue;
      const char* what =
          used > 1 ? "is beyond its bound"
          : used == 1
              ? "uses all of its bound: an error is as large as it may be, and anything more fails"
              : "touches its limit: a little more error, and it fails";
      body += fmt::format("<li><b>{}</b> {} ({:.4f}).</li>\n", escape(name), what, used);
    }
  }
  return body.empty() ? "" : "<ul class=\"limit\">\n" + body + "</ul>\n";
}

std::string goldens(const Passport& p, const std::vector<Picture>& pictures) {
  std::string body;
  for (const PassportSuite& s : p.suites) {
    for (const std::string& name : s.order) {
      for (const auto& [scene, how] : s.properties.at(name).golden) {
        const auto picture = std::find_if(pictures.begin(), pictures.end(),
                                          [&](const Picture& x) { return x.scene == scene; });
        const bool same = how == "same";
        body += fmt::format(
            "<figure class=\"{}\">{}<figcaption><b>{}</b> <span "
            "class=\"{}\">{}</span></figcaption></figure>\n",
            same ? "" : "bad",
            picture == pictures.end() ? ""
                                      : fmt::format("<img alt=\"golden, actual and difference of "
                                                    "{}\" src=\"data:image/png;base64,{}\">",
                                                    escape(scene), html::base64(picture->png)),
            escape(scene), same ? "pass" : "fail", same ? "equal, pixel for pixel" : escape(how));
      }
    }
  }
  if (body.empty()) return "";
  return section("goldens", "Golden images",
                 "<p class=\"soft\">Left to right: the golden, the picture of this run, and their "
                 "difference, 32 times as bright.</p>\n<div class=\"goldens\">\n" +
                     body + "</div>\n");
}

std::string budgets(const Passport& p) {
  std::string body;
  for (const PassportSuite& s : p.suites) {
    ordered_json rows = ordered_json::array();
    std::size_t exact = 0;
    for (const std::string& name : s.order) {
      const PassportProperty& r = s.properties.at(name);
      if (!(r.budget > 0) || !std::isfinite(r.budget)) {
        exact += r.cases > 0;
        continue;
      }
      rows.push_back({{"name", name}, {"budget", r.budget}});
    }
    if (rows.empty()) continue;
    body += fmt::format("<h3>{}</h3>\n", escape(s.family));
    body +=
        chart("budget", "share of the error bound that " + s.family + " uses, by property", rows);
    if (exact > 0)
      body += fmt::format(
          "<p class=\"soft\">{} more propert{}: nothing rounded, or equal to the last bit.</p>\n",
          exact, exact == 1 ? "y is exact" : "ies are exact");
  }
  if (body.empty()) return "";
  return section("budgets", "Error budgets",
                 "<p class=\"soft\">The largest error of each property as a share of its derived "
                 "bound; what passes stays "
                 "left of the dashed line. Families that are not here are exact.</p>\n" +
                     at_the_limit(p) + body);
}

// Compares texts with numbers in numeric order: "256 bins" before "1024 bins".
bool natural_order(const std::string& a, const std::string& b) {
  const auto digit = [](const std::string& s, std::size_t at) {
    return at < s.size() && s[at] >= '0' && s[at] <= '9';
  };
  std::size_t i = 0, k = 0;
  while (i < a.size() && k < b.size()) {
    if (digit(a, i) && digit(b, k)) {
      std::size_t m = i, n = k;
      while (digit(a, m)) ++m;
      while (digit(b, n)) ++n;
      if (m - i != n - k) return m - i < n - k;
      if (const int order = a.compare(i, m - i, b, k, n - k); order != 0) return order < 0;
      i = m, k = n;
    } else {
      if (a[i] != b[k]) return a[i] < b[k];
      ++i, ++k;
    }
  }
  return a.size() - i < b.size() - k;
}

// Returns a sorted copy; a ledger sorts by name.
template <class Named>
std::vector<Named> in_natural_order(std::vector<Named> all) {
  std::stable_sort(all.begin(), all.end(),
                   [](const Named& a, const Named& b) { return natural_order(a.name, b.name); });
  return all;
}

// Three significant digits.
std::string ratio(double r) {
  return r < 0.1 ? fmt::format("{:.3g}", r) : fmt::format("{:.3f}", r);
}

std::string timings(const Passport& p) {
  ordered_json ratios = ordered_json::array(), durations = ordered_json::array();
  Table verdicts("llnlN", {"comparison", "verdict", "ratio", "interval", "same within"}, "named");
  Table times("lnln", {"measured", "median", "interval", "samples"}, "named");
  for (const PassportSuite& s : p.suites) {
    for (const std::string& name : s.order) {
      for (const TimingVerdict& v : in_natural_order(s.properties.at(name).timing_verdicts)) {
        verdicts.row({escape(v.name), escape(v.verdict), "&times;" + ratio(v.ratio),
                      ratio(v.low) + " &hellip; " + ratio(v.high),
                      fmt::format("{:g} %", 100 * v.minimum_effect)});
        if (!(v.low > 0) || !std::isfinite(v.high)) continue;
        ratios.push_back({{"name", v.name},
                          {"verdict", v.verdict},
                          {"ratio", v.ratio},
                          {"low", v.low},
                          {"high", v.high},
                          {"band", v.minimum_effect}});
      }
      for (const Timing& t : in_natural_order(s.properties.at(name).timings)) {
        times.row({escape(t.name), fmt::format("{:.2f} &micro;s", t.median),
                   fmt::format("{:.2f} &hellip; {:.2f} &micro;s", t.low, t.high),
                   std::to_string(t.samples)});
        if (!std::isfinite(t.low) || !std::isfinite(t.high)) continue;
        durations.push_back(
            {{"name", t.name}, {"median", t.median}, {"low", t.low}, {"high", t.high}});
      }
    }
  }
  if (ratios.empty() && durations.empty()) return "";
  std::string body =
      "<p class=\"soft\">The second against the first, measured in turn on this GPU: below 1 it is "
      "faster. Within the grey band a difference counts as none. Intervals miss the median at most "
      "once in a thousand times.</p>\n";
  if (!ratios.empty())
    body += chart("ratio", "ratios of durations with their intervals", ratios) + verdicts.end();
  // Long and short durations need separate scales.
  std::map<int, ordered_json> by_scale;
  for (const ordered_json& d : durations)
    by_scale[static_cast<int>(std::floor(std::log10(d["high"].get<double>())))].push_back(d);
  if (!durations.empty()) body += "<h3>Durations</h3>\n";
  for (const auto& [scale, rows] : by_scale)
    body += chart("duration", "durations with their intervals", rows);
  return section("timings", "Timings", body + times.end());
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t at = 0;
  while (true) {
    const auto end = text.find(separator, at);
    parts.push_back(text.substr(at, end - at));
    if (end == text.npos) return parts;
    at = end + 1;
  }
}

// Tables that tests recorded, such as the one of transactions.
std::string tables(const Passport& p) {
  std::string out;
  for (const PassportSuite& s : p.suites) {
    for (const std::string& name : s.order) {
      for (const auto& [title, text] : s.properties.at(name).tables) {
        const std::vector<std::string> lines = split(text, '\n');
        const std::vector<std::string> heads = split(lines.front(), '\t');
        Table t("l" + std::string(heads.size(), 'n'), heads);
        for (std::size_t i = 1; i < lines.size(); ++i) {
          std::vector<std::string> cells = split(lines[i], '\t');
          const bool bad = cells.back() == "NO";
          for (std::string& cell : cells) cell = escape(cell);
          t.row(cells, bad ? "bad" : "");
        }
        out += section(out.empty() ? "tables" : "more", title, t.end());
      }
    }
  }
  return out;
}

std::string device_properties(const Passport& p) {
  Table t("ll", {"entry", "value"});
  for (const auto& [key, value] : p.device)
    t.row({escape(key), "<code>" + escape(value) + "</code>"});
  for (const auto& [key, value] : p.options)
    t.row({"option " + escape(key), "<code>" + escape(value) + "</code>"});
  return section("device", "Device and run", t.end());
}

std::string head_line(const Passport& p) {
  return fmt::format(
      "{} &middot; compute capability {} &middot; commit <code>{}</code>{} &middot; {}",
      escape(device_entry(p, "name")), escape(device_entry(p, "compute_capability")),
      escape(p.commit.empty() ? "unknown" : p.commit.substr(0, 12)),
      p.modified ? " (modified)" : "", escape(p.created));
}

bool read_all(const fs::path& path, std::string& out) {
  std::ifstream in(path, std::ios::binary);
  out.assign(std::istreambuf_iterator<char>(in), {});
  return in.good() || !out.empty();
}

}  // namespace

std::string read_assets(ReportAssets& assets) {
  for (const auto& [file, text] :
       {std::pair<const char*, std::string*>{"harness/report/report.css", &assets.css},
        {"harness/report/report.js", &assets.js},
        {"harness/report/d3.min.js", &assets.d3}}) {
    const std::string path = runfile(file);
    if (path.empty() || !read_all(path, *text))
      return fmt::format("{} is not among the runfiles", file);
  }
  return "";
}

std::string report_html(const Passport& p, const ReportContext& context,
                        const ReportAssets& assets) {
  std::string body, links;
  const auto add = [&](const std::string& part, const char* id, const char* title) {
    if (part.empty()) return;
    body += part;
    links += fmt::format("<a href=\"#{}\">{}</a>\n", id, title);
  };
  add(summary(p), "summary", "Summary");
  add(failures(p), "failures", "Failures");
  add(ledger(p, context.sources), "ledger", "Ledger");
  add(change_section(p, context), "change", "Change");
  add(budgets(p), "budgets", "Error budgets");
  add(goldens(p, context.pictures), "goldens", "Golden images");
  add(timings(p), "timings", "Timings");
  if (const std::string units = matrix_units_html(p); !units.empty())
    add(section("units", "Matrix units", units), "units", "Matrix units");
  add(tables(p), "tables", "Transactions");
  add(kernel_section(context), "kernels", "Kernels");
  add(judgement_section(context), "judgement", "How good the suites are");
  add(device_properties(p), "device", "Device");
  const std::string mark = mark_of_run(p);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
      "name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Lockstep: {0}, "
      "{1}</title>\n<style>\n{2}</style>\n</head>\n"
      "<body>\n<header>\n<h1>Lockstep <span class=\"verdict {3}\">{1}</span>{9}</h1>\n<p "
      "class=\"soft\">{4}</p>\n"
      "<nav>\n{5}</nav>\n</header>\n<main>\n{6}</main>\n<footer><p>Charts by d3.</p></footer>\n"
      "<script>\n{7}\n</script>\n<script>\n{8}</script>\n</body>\n</html>\n",
      escape(p.device.empty() ? "no device" : device_entry(p, "name")),
      p.green ? "GREEN" : "NOT GREEN", assets.css, p.green ? "green" : "red", head_line(p), links,
      body, html::script(assets.d3), html::script(assets.js),
      mark.empty() ? "" : " <span class=\"verdict part\">" + mark + "</span>");
}

}  // namespace lockstep
