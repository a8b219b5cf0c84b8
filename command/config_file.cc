#include "command/config_file.h"

#include <cctype>
#include <filesystem>
#include <sstream>

namespace lockstep::command {
namespace {

// Parses one line. Each function leaves `at_` after the text that it has parsed; `error_` is the
// first error.
class Line {
 public:
  explicit Line(const std::string& text) : text_(text) { skip_blanks(); }

  bool ends() {
    skip_blanks();
    return at_ == text_.size() || text_[at_] == '#';
  }
  bool take(char c) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string bare_key() {
    skip_blanks();
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  text_[at_] == '-' || text_[at_] == '_'))
      ++at_;
    if (at_ == begin) fail("a name of letters, digits and - is missing");
    return text_.substr(begin, at_ - begin);
  }
  void value(ConfigEntry& entry) {
    if (!take('[')) return scalar(entry);
    entry.is_array = true;
    while (error_.empty() && !take(']')) {
      scalar(entry);
      if (!take(',')) {
        if (!take(']')) fail("an array ends with ], on the line on which it begins");
        return;
      }
    }
  }
  void fail(const std::string& sentence) {
    if (error_.empty()) error_ = sentence;
  }
  const std::string& error() const { return error_; }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  void scalar(ConfigEntry& entry) {
    skip_blanks();
    if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
      entry.is_string = true;
      entry.values.push_back(quoted());
      return;
    }
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::string(" \t,]#").find(text_[at_]) == std::string::npos) ++at_;
    const std::string word = text_.substr(begin, at_ - begin);
    if (word.empty()) return fail("a value is missing");
    std::istringstream number(word);
    double ignored = 0;
    const bool is_number = (number >> ignored) && number.peek() == EOF;
    if (word != "true" && word != "false" && !is_number)
      return fail("'" + word + "' is no value: a string stands in quotes");
    entry.values.push_back(word);
  }
  std::string quoted() {
    const char end = text_[at_++];
    std::string out;
    for (; at_ < text_.size() && text_[at_] != end; ++at_) {
      if (end == '"' && text_[at_] == '\\') {
        if (++at_ == text_.size()) break;
        switch (text_[at_]) {
          case '"':
          case '\\': out += text_[at_]; break;
          case 't': out += '\t'; break;
          case 'n': out += '\n'; break;
          default: fail(std::string("there is no escape \\") + text_[at_]);
        }
      } else {
        out += text_[at_];
      }
    }
    if (at_ == text_.size()) {
      fail("a string does not end on its line");
    } else {
      ++at_;
    }
    return out;
  }

  const std::string& text_;
  std::size_t at_ = 0;
  std::string error_;
};

}  // namespace

std::variant<ConfigFile, std::string> parse_config(const std::string& text) {
  ConfigFile file;
  std::istringstream in(text);
  int number = 0;
  for (std::string one; std::getline(in, one);) {
    ++number;
    if (!one.empty() && one.back() == '\r') one.pop_back();
    Line line(one);
    if (line.ends()) continue;
    if (line.take('[')) {
      const std::string name = line.bare_key();
      if (!line.take(']')) line.fail("a table is [COMMAND]");
      file.tables.emplace_back(name, number);
    } else {
      ConfigEntry entry;
      entry.line = number;
      entry.key = line.bare_key();
      if (!line.take('=')) line.fail("'=' must follow the key " + entry.key);
      line.value(entry);
      if (file.tables.empty()) line.fail("a key stands below a table, such as [exec]");
      if (!file.tables.empty()) entry.table = file.tables.back().first;
      for (const ConfigEntry& other : file.entries) {
        if (other.table == entry.table && other.key == entry.key)
          line.fail(entry.key + " stands in line " + std::to_string(other.line) + " too");
      }
      file.entries.push_back(std::move(entry));
    }
    if (!line.ends()) line.fail("more than one statement in a line");
    if (!line.error().empty()) return "line " + std::to_string(number) + ": " + line.error();
  }
  return file;
}

std::string find_config(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  for (fs::path at = fs::absolute(folder, error).lexically_normal(); !at.empty();
       at = at.parent_path()) {
    if (const fs::path file = at / "lockstep.toml"; fs::is_regular_file(file, error))
      return file.string();
    if (at == at.parent_path()) break;
  }
  return {};
}

}  // namespace lockstep::command
