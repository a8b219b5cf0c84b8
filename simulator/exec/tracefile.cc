#include "simulator/exec/tracefile.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <utility>

namespace lockstep::exec {
namespace {

namespace fs = std::filesystem;

// lcov 1 ends a function's name at the first comma.
std::string without_commas(std::string name) {
  std::replace(name.begin(), name.end(), ',', ';');
  return name;
}

bool in_toolkit(const fs::path& file) {
  std::error_code error;
  for (fs::path folder = file.parent_path(); !folder.empty() && folder != folder.parent_path();
       folder = folder.parent_path()) {
    if (fs::exists(folder / "cuda_runtime_api.h", error)) return true;
  }
  return false;
}

struct Totals {
  std::size_t lines = 0, lines_hit = 0, ways = 0, ways_hit = 0, functions = 0, functions_hit = 0;
  std::size_t never_parted = 0, only_full = 0;
};

bool never_parted(const SourceLine& line) { return line.count != 0 && !line.parted; }
bool only_full(const SourceLine& line) { return line.count != 0 && !line.partial; }

Totals totals_of(const SourceFile& file) {
  Totals t;
  for (const auto& [number, line] : file.lines) {
    ++t.lines;
    t.lines_hit += line.count != 0;
    t.never_parted += never_parted(line);
    t.only_full += only_full(line);
    for (const SourceBranch& b : line.branches) {
      t.ways += b.ways.size();
      t.ways_hit += static_cast<std::size_t>(
          std::count_if(b.ways.begin(), b.ways.end(), [](std::uint64_t n) { return n != 0; }));
    }
  }
  for (const auto& [name, function] : file.functions) {
    ++t.functions;
    t.functions_hit += function.count != 0;
  }
  return t;
}

// "3, 7-9": the lines that satisfy `is`. All lines with instructions within a range satisfy it.
std::string ranges(const SourceFile& file, const std::function<bool(const SourceLine&)>& is) {
  std::string text;
  int first = 0, last = 0;
  const auto put = [&] {
    if (first != 0)
      text += (text.empty() ? "" : ", ") + std::to_string(first) +
              (first == last ? "" : "-" + std::to_string(last));
    first = 0;
  };
  for (const auto& [number, line] : file.lines) {
    if (!is(line)) {
      put();
      continue;
    }
    if (first == 0) first = number;
    last = number;
  }
  put();
  return text;
}

// "in void f<3>(int), help at k.cu:6:9"
std::string place_of(const SourceBranch& b) {
  return "in " + b.function + (b.inlined.empty() ? "" : ", " + b.inlined);
}

// The ways of a branch that no thread took: "never with a true guard", "never to targets 1, 3".
std::string missing(const SourceBranch& b) {
  if (b.reached == 0) return "nobody came to it";
  if (b.ways.size() == 2 && b.text.find("brx") == b.text.npos)
    return b.ways[0] == 0 ? "never with a true guard" : "never with a false guard";
  std::string targets;
  for (std::size_t i = 0; i < b.ways.size(); ++i) {
    if (b.ways[i] == 0) targets += (targets.empty() ? "" : ", ") + std::to_string(i);
  }
  return "never to target " + targets;
}

std::string percent(std::size_t part, std::size_t whole) {
  if (whole == 0) return "-";
  char text[64];
  // Rounded down, so that 100 % means all.
  std::snprintf(text, sizeof text, "%zu/%zu %3zu %%", part, whole, 100 * part / whole);
  return text;
}

}  // namespace

SourceCoverage select(SourceCoverage coverage, const CoverageFiles& wanted) {
  SourceCoverage result;
  result.without_lines = std::move(coverage.without_lines);
  const fs::path root = wanted.root.empty() ? fs::path(".") : fs::path(wanted.root);
  for (auto& [name, file] : coverage.files) {
    const auto begins = [&n = name](const std::string& prefix) { return n.starts_with(prefix); };
    if (!wanted.only.empty() && std::none_of(wanted.only.begin(), wanted.only.end(), begins))
      continue;
    std::error_code error;
    const fs::path whole = fs::absolute(root / name, error).lexically_normal();
    if (!wanted.toolkit && in_toolkit(whole)) continue;
    result.files[fs::exists(whole, error) ? whole.string() : name] = std::move(file);
  }
  return result;
}

std::string tracefile(const SourceCoverage& coverage) {
  std::string text;
  for (const auto& [name, file] : coverage.files) {
    const Totals totals = totals_of(file);
    std::string branches, comments;
    for (const auto& [number, line] : file.lines) {
      const std::string at = std::to_string(number) + ",";
      for (std::size_t block = 0; block < line.branches.size(); ++block) {
        const SourceBranch& b = line.branches[block];
        const std::string in_line = at + std::to_string(block) + ",";
        comments += "# branch " + in_line + " " + b.text + " (PTX line " +
                    std::to_string(b.ptx_line) + ") " + place_of(b) + "\n";
        for (std::size_t way = 0; way < b.ways.size(); ++way) {
          branches += "BRDA:" + in_line + std::to_string(way) + "," +
                      (b.reached == 0 ? "-" : std::to_string(b.ways[way])) + "\n";
        }
      }
    }
    text += "# " + name + "\n# no warp ever parted: " + ranges(file, never_parted) +
            "\n# only full warps: " + ranges(file, only_full) + "\n" + comments;
    text += "TN:\nSF:" + name + "\n";
    for (const auto& [function, at] : file.functions)
      text += "FN:" + std::to_string(at.line) + "," + without_commas(function) + "\n";
    for (const auto& [function, at] : file.functions)
      text += "FNDA:" + std::to_string(at.count) + "," + without_commas(function) + "\n";
    text += "FNF:" + std::to_string(totals.functions) +
            "\nFNH:" + std::to_string(totals.functions_hit) + "\n" + branches +
            "BRF:" + std::to_string(totals.ways) + "\nBRH:" + std::to_string(totals.ways_hit) +
            "\n";
    for (const auto& [number, line] : file.lines)
      text += "DA:" + std::to_string(number) + "," + std::to_string(line.count) + "\n";
    text += "LF:" + std::to_string(totals.lines) + "\nLH:" + std::to_string(totals.lines_hit) +
            "\nend_of_record\n";
  }
  return text;
}

std::string coverage_table(const SourceCoverage& coverage) {
  using Row = std::vector<std::string>;
  std::vector<Row> rows = {
      {"file", "lines", "branch ways", "functions", "never parted", "only full warps"}};
  for (const auto& [name, file] : coverage.files) {
    const Totals t = totals_of(file);
    rows.push_back({name, percent(t.lines_hit, t.lines), percent(t.ways_hit, t.ways),
                    percent(t.functions_hit, t.functions), std::to_string(t.never_parted),
                    std::to_string(t.only_full)});
  }
  std::vector<std::size_t> widths(rows[0].size());
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string table;
  for (const Row& row : rows) {
    table += row[0] + std::string(widths[0] - row[0].size(), ' ');
    for (std::size_t i = 1; i < row.size(); ++i)
      table += "  " + std::string(widths[i] - row[i].size(), ' ') + row[i];
    table += "\n";
  }
  return table;
}

std::string coverage_text(const SourceCoverage& coverage) {
  std::string text;
  const auto list = [&](const char* what, const std::string& lines) {
    text += std::string("  ") + what + ": " + (lines.empty() ? "none" : lines) + "\n";
  };
  for (const auto& [name, file] : coverage.files) {
    text += name + "\n";
    list("lines that nobody executed",
         ranges(file, [](const SourceLine& line) { return line.count == 0; }));
    std::string branches;
    for (const auto& [number, line] : file.lines) {
      const auto one_sided =
          static_cast<std::size_t>(std::count_if(line.branches.begin(), line.branches.end(),
                                                 [](const auto& b) { return !b.every_way(); }));
      if (one_sided == 0) continue;
      branches += "    " + name + ":" + std::to_string(number) + ": " + std::to_string(one_sided) +
                  " of " + std::to_string(line.branches.size()) + "\n";
      for (const SourceBranch& b : line.branches) {
        if (!b.every_way())
          branches += "      " + b.text + ", PTX line " + std::to_string(b.ptx_line) + ": " +
                      missing(b) + " " + place_of(b) + "\n";
      }
    }
    text += "  branches that did not go every way:" +
            (branches.empty() ? std::string(" none\n") : "\n" + branches);
    list("lines where no warp ever parted", ranges(file, never_parted));
    list("lines that only full warps executed", ranges(file, only_full));
    text += "\n";
  }
  return text;
}

}  // namespace lockstep::exec
