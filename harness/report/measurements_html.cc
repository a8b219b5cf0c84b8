#include "harness/report/measurements_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "harness/report/html.h"

namespace lockstep {
namespace {

using html::escape;
using nlohmann::ordered_json;

// Instruction forms with equal values in the shown columns.
struct Alike {
  std::vector<std::string> values;
  std::vector<const Measurement*> forms;

  const Measurement& first() const { return *forms.front(); }
  std::string names() const {
    std::string text;
    for (const Measurement* m : forms) text += (text.empty() ? "" : "<br>") + escape(m->name);
    return text;
  }
  std::string title() const {
    return first().name + (forms.size() > 1 ? fmt::format(" and {} more", forms.size() - 1) : "");
  }
};

template <class Look>
std::vector<Alike> groups_of(const std::vector<const Measurement*>& forms, const Look& look) {
  std::vector<Alike> groups;
  for (const Measurement* m : forms) {
    std::vector<std::string> values = look(*m);
    const auto at = std::find_if(groups.begin(), groups.end(),
                                 [&](const Alike& g) { return g.values == values; });
    if (at == groups.end()) {
      groups.push_back({std::move(values), {m}});
    } else {
      at->forms.push_back(m);
    }
  }
  return groups;
}

int leading_number(const std::string& text) {
  int n = 0;
  std::from_chars(text.data(), text.data() + text.size(), n);
  return n;
}

// The most important columns; the page lists the others below, per form.
constexpr const char* kAtOnce = "products at once";
constexpr const char* kBits = "bits below the largest";
constexpr const char* kSumBits = "bits of a sum";
constexpr const char* kZero = "exponent of zero";
constexpr const char* kColumns[] = {kAtOnce, kBits, "terms are cut", kSumBits, "sums are rounded",
                                    kZero};
constexpr const char* kIntegerColumns[] = {"factors", "counts", "overflow"};

// Hides a bound, which describes the inputs and not the unit.
std::string shown(const Measurement& m, const std::string& column) {
  const std::string text = m.value(column);
  if (column == kZero && (text.starts_with("no effect") || text.starts_with("at most")))
    return "no input decides";
  constexpr std::string_view kNoEffect = "no effect: ";
  if (text.starts_with(kNoEffect)) return text.substr(kNoEffect.size());
  if (column == kAtOnce && m.value("C").starts_with("is added at the end"))
    return text + "; C at the end";
  return text;
}

std::vector<std::string> shown(const Measurement& m) {
  std::vector<std::string> cells;
  for (const char* column : kColumns) cells.push_back(shown(m, column));
  return cells;
}

std::vector<std::string> shown_of_integers(const Measurement& m) {
  std::vector<std::string> cells;
  for (const char* column : kIntegerColumns) cells.push_back(m.value(column));
  return cells;
}

std::vector<std::string> all_values(const Measurement& m) {
  std::vector<std::string> all;
  for (const auto& [name, value] : m.values) all.insert(all.end(), {name, value});
  return all;
}

std::string table_of(const std::vector<Alike>& groups, std::vector<std::string> heads) {
  heads.insert(heads.begin(), "instruction");
  html::Table t(std::string(heads.size(), 'l'), heads, "units");
  for (const Alike& g : groups) {
    std::vector<std::string> cells = {g.names()};
    for (const std::string& value : g.values) cells.push_back(escape(value));
    t.row(cells);
  }
  return t.end();
}

std::string details_of(const Alike& g) {
  html::Table t("ll", {"measured", "value"});
  for (const auto& [name, value] : g.first().values) t.row({escape(name), escape(value)});
  return fmt::format("<details><summary>{}</summary>\n<p class=\"soft\">{}</p>\n{}</details>\n",
                     escape(g.title()), g.names(), t.end());
}

}  // namespace

std::string matrix_units_html(const Passport& p) {
  std::vector<const Measurement*> floats, integers;
  for (const PassportSuite& s : p.suites) {
    for (const std::string& name : s.order) {
      for (const Measurement& m : s.properties.at(name).measurements) {
        if (m.kind == "matrix_unit") (m.value(kAtOnce).empty() ? integers : floats).push_back(&m);
      }
    }
  }
  if (floats.empty() && integers.empty()) return "";
  std::string body =
      "<p class=\"soft\">How each instruction sums, measured by what it gives for chosen numbers. "
      "The bar is what a step keeps of its terms, from the largest exponent down; the mark is "
      "where its sum ends. Forms that compute alike share a row.</p>\n";
  const std::vector<Alike> groups =
      groups_of(floats, [](const Measurement& m) { return shown(m); });
  ordered_json rows = ordered_json::array();
  for (const Alike& g : groups) {
    const int bits = leading_number(g.first().value(kBits));
    if (bits <= 0) continue;
    rows.push_back({{"name", g.title()},
                    {"bits", bits},
                    {"sum", leading_number(g.first().value(kSumBits))},
                    {"at_once", leading_number(g.first().value(kAtOnce))}});
  }
  if (!rows.empty()) {
    body += fmt::format(
        "<figure class=\"chart\" data-kind=\"kept\" aria-label=\"bits that a step keeps below the "
        "largest exponent\" data-rows=\"{}\"></figure>\n",
        escape(rows.dump()));
  }
  if (!groups.empty()) {
    body += table_of(groups, {std::begin(kColumns), std::end(kColumns)}) +
            "<h3>All that was measured</h3>\n";
    for (const Alike& g : groups_of(floats, all_values)) body += details_of(g);
  }
  if (!integers.empty()) {
    body +=
        "<h3>Integers</h3>\n" + table_of(groups_of(integers, shown_of_integers),
                                         {std::begin(kIntegerColumns), std::end(kIntegerColumns)});
  }
  return body;
}

}  // namespace lockstep
