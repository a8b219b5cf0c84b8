#include "harness/report/measurements_html.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "harness/report/html.h"

namespace lockstep {
namespace {

using html::escape;
using nlohmann::ordered_json;

// Forms of which every value is the same.
struct Alike {
  std::vector<const Measurement*> forms;

  const Measurement& first() const { return *forms.front(); }
  std::string names(const char* between) const {
    std::string text;
    for (const Measurement* m : forms) text += (text.empty() ? "" : between) + escape(m->name);
    return text;
  }
};

std::vector<Alike> groups_of(const Passport& p) {
  std::vector<Alike> groups;
  const auto add = [&](const Measurement& m) {
    for (Alike& g : groups) {
      if (g.first().values == m.values) return g.forms.push_back(&m);
    }
    groups.push_back({{&m}});
  };
  for (const PassportSuite& s : p.suites) {
    for (const std::string& name : s.order) {
      for (const Measurement& m : s.properties.at(name).measurements) {
        if (m.kind == "matrix_unit") add(m);
      }
    }
  }
  return groups;
}

int leading_number(const std::string& text) {
  int n = 0;
  std::from_chars(text.data(), text.data() + text.size(), n);
  return n;
}

// The columns that everybody asks for; the rest stands below, form by form.
constexpr const char* kColumns[] = {"products at once",
                                    "bits below the largest",
                                    "terms are cut",
                                    "bits of a sum",
                                    "sums are rounded",
                                    "exponent of zero",
                                    "C",
                                    "NaN"};

std::string all_values(const Alike& g) {
  html::Table t("ll", {"measured", "value"});
  for (const auto& [name, value] : g.first().values) t.row({escape(name), escape(value)});
  return fmt::format("<details><summary>{}{}</summary>\n{}</details>\n", escape(g.first().name),
                     g.forms.size() > 1 ? fmt::format(" and {} more", g.forms.size() - 1) : "", t.end());
}

}  // namespace

std::string matrix_units_html(const Passport& p) {
  const std::vector<Alike> groups = groups_of(p);
  if (groups.empty()) return "";
  std::vector<std::string> heads = {"instruction"};
  heads.insert(heads.end(), std::begin(kColumns), std::end(kColumns));
  html::Table floats("lllllllll", heads, "units");
  html::Table integers("llll", {"instruction", "factors", "overflow", "is limited"}, "units");
  ordered_json rows = ordered_json::array();
  std::string details;
  bool any_integers = false;
  for (const Alike& g : groups) {
    const Measurement& m = g.first();
    const int bits = leading_number(m.value(kColumns[1]));
    if (m.value(kColumns[0]).empty()) {
      const std::string factors = m.value("factors").empty() ? "counts " + m.value("counts") : m.value("factors");
      integers.row({g.names("<br>"), escape(factors), escape(m.value("overflow")), escape(m.value("is limited"))});
      any_integers = true;
      continue;
    }
    std::vector<std::string> cells = {g.names("<br>")};
    for (const char* column : kColumns) cells.push_back(escape(m.value(column)));
    floats.row(cells);
    details += all_values(g);
    if (bits <= 0) continue;
    rows.push_back({{"name", m.name + (g.forms.size() > 1 ? fmt::format(" and {} more", g.forms.size() - 1) : "")},
                    {"bits", bits},
                    {"sum", leading_number(m.value(kColumns[3]))},
                    {"at_once", leading_number(m.value(kColumns[0]))}});
  }
  std::string body =
      "<p class=\"soft\">How each instruction sums, measured by what it gives for chosen numbers. The bar is what a "
      "step keeps of its terms, from the largest exponent down; the mark is where its sum ends. Forms that compute "
      "alike share a row.</p>\n";
  if (!rows.empty()) {
    body += fmt::format(
        "<figure class=\"chart\" data-kind=\"kept\" aria-label=\"bits that a step keeps below the largest "
        "exponent\" data-rows=\"{}\"></figure>\n",
        escape(rows.dump()));
  }
  body += floats.end() + details;
  if (any_integers) body += "<h3>Integers</h3>\n" + integers.end();
  return body;
}

}  // namespace lockstep
