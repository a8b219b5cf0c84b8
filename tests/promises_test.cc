// Every sentence of a family's header must be in docs/reference/promises.md, with laws that are
// tests of the family. The page must have no other sentence.
#include <gtest/gtest.h>

#include <cctype>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "harness/ledger/runfiles.h"

namespace lockstep {
namespace {

using Sentences = std::set<std::string>;

std::string one_line(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::isspace(static_cast<unsigned char>(c)) == 0) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

// Normalises a sentence: a trailing fragment and a sentence on its own line are the same promise,
// so the case of the first letter and the final full stop are ignored.
std::string normal(std::string sentence) {
  if (!sentence.empty() && sentence.back() == '.') sentence.pop_back();
  if (!sentence.empty())
    sentence[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(sentence[0])));
  return sentence;
}

// A sentence ends with a full stop before a capital letter, or at the end of its block.
void add_sentences(const std::string& block, Sentences& sentences) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i + 2 < block.size(); ++i) {
    const bool ends = block[i] == '.' || block[i] == '!' || block[i] == '?';
    if (!ends || block[i + 1] != ' ' || std::isupper(static_cast<unsigned char>(block[i + 2])) == 0)
      continue;
    sentences.insert(normal(block.substr(begin, i + 1 - begin)));
    begin = i + 2;
  }
  if (begin < block.size()) sentences.insert(normal(block.substr(begin)));
}

// The sentences of a header's comments: of consecutive comment lines, and of trailing comments with
// their continuation lines in the same column.
Sentences sentences_of(std::istream& header) {
  Sentences sentences;
  std::string block;
  std::size_t column = 0;  // of the block's first line
  const auto end_block = [&] {
    add_sentences(one_line(block), sentences);
    block.clear();
  };
  for (std::string line; std::getline(header, line);) {
    const std::size_t at = line.find("//"), code = line.find_first_not_of(' ');
    if (at == line.npos || line.starts_with("}  // namespace")) {
      end_block();
      continue;
    }
    const std::string text = one_line(std::string_view(line).substr(at + 2));
    if (at != code || at != column || text.empty()) end_block();
    if (block.empty()) column = at;
    block += " " + text;
  }
  end_block();
  return sentences;
}

struct Row {
  std::string sentence;
  std::vector<std::string> held_by;  // laws, or one of the reasons
};

// The names in a cell: "`A`, *defines*" -> A, defines.
std::vector<std::string> names_in(const std::string& cell) {
  std::vector<std::string> names;
  std::istringstream in(cell);
  for (std::string part; std::getline(in, part, ',');) {
    std::string name;
    for (const char c : part) {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
    }
    names.push_back(name);
  }
  return names;
}

// The rows "| sentence | held by |" by family, from the heading "## stencil".
std::map<std::string, std::vector<Row>> rows_of(std::istream& page) {
  std::map<std::string, std::vector<Row>> families;
  std::string family;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) family = line.substr(3);
    if (family.empty() || !line.starts_with("| ") || line.starts_with("| sentence |") ||
        line.starts_with("| --- |"))
      continue;
    const std::size_t end = line.find(" | ", 2), last = line.rfind(" |");
    if (end == line.npos || last <= end) {
      ADD_FAILURE() << "no row of the table: " << line;
      continue;
    }
    families[family].push_back(
        {normal(line.substr(2, end - 2)), names_in(line.substr(end + 3, last - end - 3))});
  }
  return families;
}

// The names of a program's tests, without their suites.
std::set<std::string> tests_of(const std::string& program) {
  std::set<std::string> tests;
  const std::string command = "env -i '" + runfile(program) + "' --gtest_list_tests";
  FILE* const listed = popen(command.c_str(), "r");
  if (listed == nullptr) return tests;
  char line[512];
  while (std::fgets(line, sizeof line, listed) != nullptr) {
    if (line[0] == ' ') tests.insert(one_line(line));
  }
  pclose(listed);
  // Reading "  Name" removes the indentation.
  std::set<std::string> names;
  for (const std::string& test : tests) names.insert(test.substr(test.find_first_not_of(' ')));
  return names;
}

std::vector<std::string> families() {
  std::vector<std::string> all;
  std::ifstream list(runfile("kernels/families.bzl"));
  for (std::string line; std::getline(list, line);) {
    const std::size_t open = line.find('"'), close = line.rfind('"');
    if (line.starts_with("    \"") && open < close)
      all.push_back(line.substr(open + 1, close - open - 1));
  }
  return all;
}

TEST(Promises, EverySentenceOfAHeaderIsHeldByALawOrSaysWhyNot) {
  std::ifstream page(runfile("docs/reference/promises.md"));
  auto rows = rows_of(page);
  const std::set<std::string> reasons = {"defines", "reason", "caller"};
  ASSERT_GE(families().size(), 10u);
  for (const std::string& family : families()) {
    std::ifstream header(runfile("kernels/" + family + ".h"));
    const Sentences in_header = sentences_of(header);
    const std::set<std::string> laws = tests_of("tests/" + family + "_test");
    EXPECT_GT(in_header.size(), 5u) << family;
    EXPECT_GT(laws.size(), 5u) << family;
    Sentences in_page;
    for (const Row& row : rows[family]) {
      EXPECT_TRUE(in_page.insert(row.sentence).second)
          << family << ": twice in the page: " << row.sentence;
      EXPECT_FALSE(row.held_by.empty()) << family << ": held by nothing: " << row.sentence;
      EXPECT_TRUE(in_header.contains(row.sentence))
          << family << ": no longer in the header: " << row.sentence;
      for (const std::string& name : row.held_by) {
        EXPECT_TRUE(laws.contains(name) || (reasons.contains(name) && row.held_by.size() == 1))
            << family << ": no test of that name: " << name;
      }
    }
    std::string missing;
    for (const std::string& sentence : in_header)
      if (!in_page.contains(sentence)) missing += "| " + sentence + " | |\n";
    EXPECT_TRUE(missing.empty())
        << "Add these rows below \"## " << family
        << "\" in docs/reference/promises.md, each with the laws that hold it or its reason:\n"
        << missing;
    rows.erase(family);
  }
  EXPECT_TRUE(rows.empty()) << "docs/reference/promises.md has a family that there is not: "
                            << rows.begin()->first;
}

TEST(Promises, SentencesAreThoseOfTheComments) {
  std::istringstream header(
      "// A title. It\n// goes on (as 2.5 does).\n//\n//   y = x\nint a;  // 1 ... 9\n        // "
      "and so on\n// The next.\nint b;\n");
  EXPECT_EQ(sentences_of(header), (Sentences{"a title", "it goes on (as 2.5 does)", "y = x",
                                             "1 ... 9 and so on", "the next"}));
}

}  // namespace
}  // namespace lockstep
