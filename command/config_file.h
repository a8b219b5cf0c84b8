// lockstep.toml: a project's default options for commands. A table is a command, a key is an option
// without its dashes:
//
//     [exec]
//     check = ["all", "leaks"]
//     suppressions = "tests/known.txt"
//     require-kernels = true
//
// Supports a part of TOML 1.0: tables, bare keys, strings on one line, integers, floats, true,
// false, and arrays of these.
#pragma once

#include <string>
#include <variant>
#include <vector>

namespace lockstep::command {

struct ConfigEntry {
  std::string table, key;
  std::vector<std::string>
      values;  // the elements of an array; otherwise one value: a string's contents, or the word
  bool is_array = false, is_string = false;
  int line = 0;  // from 1
};

struct ConfigFile {
  std::vector<ConfigEntry> entries;
  std::vector<std::pair<std::string, int>> tables;  // in order, each with its line
};

// Parses the text. On an error returns a sentence that begins with "line N: ".
std::variant<ConfigFile, std::string> parse_config(const std::string& text);

// Returns the file lockstep.toml of `folder`, or of the nearest folder above with one. Empty: none.
std::string find_config(const std::string& folder);

}  // namespace lockstep::command
