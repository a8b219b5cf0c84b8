// Every PTX text that nvcc generates from testdata/ must parse without loss. A second, much simpler
// reader counts the statements of every function body and compares them with the instructions.
#include <gtest/gtest.h>

#include <cctype>
#include <chrono>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "simulator/isa/names.h"
#include "simulator/ptx/parser.h"

namespace lockstep::ptx {
namespace {

std::vector<std::string>& files() {
  static auto* const all = new std::vector<std::string>;
  return *all;
}

std::string read(const std::string& name) {
  std::ifstream in(name, std::ios::binary);
  EXPECT_TRUE(in) << name;
  return std::string((std::istreambuf_iterator<char>(in)), {});
}

std::string without_comments(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text.compare(i, 2, "//") == 0) {
      while (i < text.size() && text[i] != '\n') ++i;
    } else if (text.compare(i, 2, "/*") == 0) {
      i = text.find("*/", i) + 2;
    } else {
      out += text[i++];
    }
  }
  return out;
}

struct Statement {
  std::string opcode;
  std::vector<std::string> registers;  // words that begin with '%', the guard's first
};

// The statements of one body between its outer braces, split at ';'. Labels and directives are
// dropped.
std::vector<Statement> statements(std::string body) {
  // Braces of blocks stand alone; braces of vectors follow an opcode.
  std::vector<Statement> all;
  std::string current;
  auto word_end = [](char c) {
    return !(std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%' ||
             c == '.');
  };
  for (std::size_t i = 0; i < body.size(); ++i) {
    const char c = body[i];
    const std::size_t first = current.find_first_not_of(" \t\n\r");
    if (first == std::string::npos && (c == '{' || c == '}')) continue;
    if (c == '\n' && first != std::string::npos && current.compare(first, 4, ".loc") == 0) {
      current.clear();
      continue;
    }
    if (c == ':' && body[i + 1] != ':' && body[i - 1] != ':' && first != std::string::npos &&
        current[first] != '@' &&
        current.find_first_not_of(" \t", current.find_first_of(" \t", first)) ==
            std::string::npos) {
      current.clear();  // a label
      continue;
    }
    if (c != ';') {
      current += c;
      continue;
    }
    if (first != std::string::npos && current[first] != '.') {
      Statement s;
      std::size_t at = first;
      if (current[at] == '@') {
        while (!std::isspace(static_cast<unsigned char>(current[at]))) ++at;
        while (std::isspace(static_cast<unsigned char>(current[at]))) ++at;
      }
      while (at < current.size() && (!word_end(current[at]) || current[at] == ':'))
        s.opcode += current[at++];
      for (std::size_t k = 0; k < current.size(); ++k) {
        if (current[k] != '%') continue;
        std::string word;
        while (k < current.size() && !word_end(current[k])) word += current[k++];
        s.registers.push_back(word);
      }
      all.push_back(std::move(s));
    }
    current.clear();
  }
  return all;
}

// Function bodies by name.
std::map<std::string, std::vector<Statement>> bodies(const std::string& text) {
  std::map<std::string, std::vector<Statement>> all;
  std::size_t at = 0;
  for (;;) {
    const std::size_t entry = text.find(".entry", at), func = text.find(".func", at);
    if (entry == std::string::npos && func == std::string::npos) return all;
    at = std::min(entry, func) + 5;
    const std::size_t open = text.find('{', at), semicolon = text.find(';', at);
    if (semicolon < open) {  // a declaration
      at = semicolon;
      continue;
    }
    if (open == std::string::npos) return all;
    // The name is the last word before the last parenthesised list, or before '{' if there is no
    // list.
    std::string header = text.substr(at, open - at);
    std::size_t name = header.find_first_not_of(" \t\n\r");
    if (header.compare(name, 1, "y") == 0) name = header.find_first_not_of(" \t\n\r", name + 1);
    if (header[name] == '(') name = header.find_first_not_of(" \t\n\r", header.find(')') + 1);
    std::size_t end = name;
    while (end < header.size() && !std::isspace(static_cast<unsigned char>(header[end])) &&
           header[end] != '(')
      ++end;
    int depth = 0;
    std::size_t close = open;
    for (;; ++close) {
      depth += text[close] == '{';
      depth -= text[close] == '}';
      if (depth == 0) break;
    }
    all[header.substr(name, end - name)] = statements(text.substr(open + 1, close - open - 1));
    at = close;
  }
}

void registers_of(const Operand& o, const Function& f, std::vector<std::string>& out) {
  auto add = [&](const std::string& name) {
    if (name[0] == '%') out.push_back(name);
  };
  const bool indexed = o.kind == Operand::Kind::kRegister ||
                       o.kind == Operand::Kind::kNegatedPredicate ||
                       (o.kind == Operand::Kind::kAddress && o.has_register);
  if (indexed) add(f.registers[o.index].name);
  if (o.kind == Operand::Kind::kSpecialRegister)
    add(std::string(isa::special_register_name(o.special)));
  for (const Operand& e : o.elements) registers_of(e, f, out);
}

TEST(Corpus, ParsesWithNothingLost) {
  ASSERT_FALSE(files().empty());
  std::size_t instructions = 0, located = 0, inlined = 0;
  for (const std::string& name : files()) {
    SCOPED_TRACE(name);
    const std::string text = read(name);
    const auto parsed = parse(text);
    if (const auto* error = std::get_if<ParseError>(&parsed)) {
      ADD_FAILURE() << error->to_string();
      continue;
    }
    const Module& m = std::get<Module>(parsed);
    const auto expected = bodies(without_comments(text));
    std::size_t with_body = 0;
    for (const Function& f : m.functions) {
      if (f.is_declaration) continue;
      ++with_body;
      SCOPED_TRACE(f.name);
      const auto found = expected.find(f.name);
      ASSERT_NE(found, expected.end());
      ASSERT_EQ(f.body.size(), found->second.size());
      for (std::size_t i = 0; i < f.body.size(); ++i) {
        const Instruction& in = f.body[i];
        ASSERT_EQ(in.text, found->second[i].opcode) << "PTX line " << in.ptx_line;
        std::vector<std::string> registers;
        if (in.guard.present && f.registers[in.guard.index].name[0] == '%')
          registers.push_back(f.registers[in.guard.index].name);
        for (const Operand& o : in.operands) registers_of(o, f, registers);
        ASSERT_EQ(registers, found->second[i].registers) << in.text << ", PTX line " << in.ptx_line;
        EXPECT_NE(in.opcode, Opcode::kInvalid);
        located += in.source.line != 0;
        inlined += in.source.inlined_at >= 0;
        if (in.source.line != 0) {
          ASSERT_LT(static_cast<std::size_t>(in.source.file), m.files.size());
          EXPECT_FALSE(m.files[static_cast<std::size_t>(in.source.file)].empty());
        }
      }
      instructions += f.body.size();
    }
    EXPECT_EQ(with_body, expected.size());
    for (const InlineSite& site : m.inline_sites) EXPECT_FALSE(site.function.empty());
  }
  EXPECT_GT(instructions, 20000u);
  EXPECT_GT(located, 5000u);  // from the texts with -lineinfo and -G
  EXPECT_GT(inlined, 100u);
  RecordProperty("instructions", static_cast<int>(instructions));
}

// A text as large as a library's must parse quickly: all texts, repeated to several megabytes with
// different function names.
TEST(Corpus, ParsesInLinearTime) {
  double seconds = 0;
  std::size_t bytes = 0;
  for (const std::string& name : files()) {
    const std::string text = read(name);
    const auto start = std::chrono::steady_clock::now();
    (void)parse(text);
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    bytes += text.size();
  }
  RecordProperty("megabytes", static_cast<int>(bytes >> 20));
  std::printf("%.2f MB in %.3f s\n", static_cast<double>(bytes) / 1e6, seconds);
  EXPECT_LT(seconds / (static_cast<double>(bytes) / 1e6), 2.0)
      << "seconds a megabyte";  // generous: a quadratic parser is far beyond
}

}  // namespace
}  // namespace lockstep::ptx

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) lockstep::ptx::files().push_back(argv[i]);
  return RUN_ALL_TESTS();
}
