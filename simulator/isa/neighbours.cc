// Searches for instructions that ptxas accepts for a target and the table of forms lacks. Tries
// every spelling that differs by one word from an example of the table: a word removed, exchanged
// for another of the same instructions, or added.
//
//   bazel run //simulator/isa:neighbours -- PTXAS [TARGET ...]
//
// Prints for each target the numbers of spellings tried and accepted, and the spellings that the
// table lacks. The exit status is 1 if there are any.
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/isa/form_examples.h"
#include "simulator/isa/forms.h"

namespace lockstep::isa {
namespace {

// Rows of older targets have already been compared with ptxas: one example of each is enough.
constexpr int kNewFrom = 100;
constexpr std::size_t kLinesOfAModule = 3'000;

std::vector<std::string> words_of(const std::string& opcode) {
  std::vector<std::string> words;
  std::size_t begin = 0;
  for (std::size_t dot = opcode.find('.'); dot != std::string::npos;
       dot = opcode.find('.', begin)) {
    words.push_back(opcode.substr(begin, dot - begin));
    begin = dot + 1;
  }
  words.push_back(opcode.substr(begin));
  return words;
}

std::string joined(const std::vector<std::string>& words) {
  std::string all = words[0];
  for (std::size_t i = 1; i < words.size(); ++i) all += "." + words[i];
  return all;
}

struct Target {
  int number;
  char suffix;
  std::string name() const { return "sm_" + std::to_string(number) + suffix; }
};

const Target kOlder{90, 'a'};  // its spellings are not specific to the newer targets

bool in_table(const std::string& opcode, const Target& target) {
  const auto matches = match_opcode(opcode);
  return std::any_of(matches.begin(), matches.end(), [&](const Match& m) {
    return exists_on(*m.form->row, target.number, target.suffix);
  });
}

// The lines of a module that ptxas refuses, and the line at which it stopped reading, or 0. Or
// ptxas itself crashed.
struct Verdict {
  std::set<int> wrong;
  int stopped = 0;
  bool crashed = false;
};
Verdict assemble(const std::string& ptxas, const Target& target, const std::string& text) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "neighbours";
  std::filesystem::create_directories(folder);
  const std::string base = (folder / target.name()).string();
  std::ofstream(base + ".ptx") << text;
  const std::string command = ptxas + " -O0 -arch=" + target.name() + " " + base +
                              ".ptx -o /dev/null > " + base + ".log 2>&1";
  constexpr int kRefused = 255;
  const int status = WEXITSTATUS(std::system(command.c_str()));
  Verdict v;
  v.crashed = status != 0 && status != kRefused;
  std::ifstream log(base + ".log");
  for (std::string line; std::getline(log, line);) {
    int number = 0;
    const std::size_t at = line.find(", line ");
    if (at == std::string::npos || std::sscanf(line.c_str() + at, ", line %d", &number) != 1)
      continue;
    v.wrong.insert(number);
    if (line.find("; fatal") != std::string::npos) v.stopped = number;
  }
  return v;
}

// The candidates that ptxas accepts.
std::vector<Example> accepted(const std::string& ptxas, const Target& target,
                              const std::vector<Example>& candidates) {
  std::vector<Example> good;
  std::size_t most = kLinesOfAModule;
  for (std::size_t first = 0; first < candidates.size();) {
    const std::size_t count = std::min(most, candidates.size() - first);
    std::vector<int> lines;
    const std::string text =
        example_module(std::span(candidates).subspan(first, count), "9.0", target.name(), &lines);
    const Verdict v = assemble(ptxas, target, text);
    // Halves the module until it contains only the line that crashes ptxas.
    if (v.crashed && count > 1) {
      most = count / 2;
      continue;
    }
    most = kLinesOfAModule;
    if (v.crashed) {
      ++first;
      continue;
    }
    std::size_t read = 0;
    while (read < count && (v.stopped == 0 || lines[read] <= v.stopped)) {
      if (!v.wrong.contains(lines[read])) good.push_back(candidates[first + read]);
      ++read;
    }
    first += read;
  }
  return good;
}

int run(const std::string& ptxas, const std::vector<Target>& targets) {
  std::map<std::string, std::set<std::string>> vocabulary;  // by the first word of an instruction
  for (const Example& e : all_examples()) {
    const auto words = words_of(e.spelling.text);
    vocabulary[words[0]].insert(words.begin() + 1, words.end());
  }
  bool lacking = false;
  for (const Target& target : targets) {
    std::vector<Example> candidates;
    std::set<std::string> seen;
    const auto consider = [&](const Example& of, const std::vector<std::string>& words) {
      // ptxas accepts repeated words.
      if (std::set<std::string>(words.begin() + 1, words.end()).size() + 1 != words.size()) return;
      Example e = of;
      const std::string opcode = joined(words);
      e.text = opcode + of.text.substr(of.spelling.text.size());
      if (in_table(opcode, target)) return;
      // The words may also stand in another order.
      std::vector<std::string> sorted = words;
      std::sort(sorted.begin() + 1, sorted.end());
      if (seen.insert(joined(sorted) + of.text.substr(of.spelling.text.size())).second)
        candidates.push_back(std::move(e));
    };
    const FormRow* last = nullptr;
    std::size_t operands = 0;
    for (const Example& e : pairwise_examples()) {
      const FormRow* row = e.spelling.form->row;
      if (!exists_on(*row, target.number, target.suffix)) continue;
      const bool is_new = row->sm >= kNewFrom || row->suffix != 0;
      if (row == last && (!is_new || e.operands->size() == operands)) continue;
      last = row;
      operands = e.operands->size();
      const auto words = words_of(e.spelling.text);
      for (std::size_t at = 1; at <= words.size(); ++at) {
        if (at < words.size()) {
          auto without = words;
          without.erase(without.begin() + static_cast<std::ptrdiff_t>(at));
          consider(e, without);
        }
        for (const std::string& word : vocabulary[words[0]]) {
          auto changed = words;
          changed.insert(changed.begin() + static_cast<std::ptrdiff_t>(at), word);
          consider(e, changed);
          if (at == words.size()) continue;
          changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(at) + 1);
          consider(e, changed);
        }
      }
    }
    const auto good = accepted(ptxas, target, candidates);
    std::set<std::string> older;
    for (const Example& e : accepted(ptxas, kOlder, good)) older.insert(e.text);
    std::printf(
        "%s: %zu spellings beside the table, %zu accepted by ptxas, %zu of them for %s too\n",
        target.name().c_str(), candidates.size(), good.size(), older.size(), kOlder.name().c_str());
    for (const Example& e : good)
      std::printf("  %s%s\n", e.text.c_str(), older.contains(e.text) ? "  (older)" : "");
    std::fflush(stdout);
    lacking |= good.size() != older.size();
  }
  return lacking ? 1 : 0;
}

}  // namespace
}  // namespace lockstep::isa

int main(int argc, char** argv) {
  using lockstep::isa::Target;
  if (argc < 2) {
    std::fprintf(stderr, "usage: neighbours PTXAS [TARGET ...]\n");
    return 2;
  }
  std::vector<Target> targets;
  for (int i = 2; i < argc; ++i) {
    int number = 0;
    char suffix = 0;
    if (std::sscanf(argv[i], "sm_%d%c", &number, &suffix) < 1) {
      std::fprintf(stderr, "neighbours: %s is no target\n", argv[i]);
      return 2;
    }
    targets.push_back({number, suffix});
  }
  if (targets.empty()) targets = {{100, 'a'}, {103, 'a'}, {110, 'a'}, {120, 'a'}};
  return lockstep::isa::run(argv[1], targets);
}
