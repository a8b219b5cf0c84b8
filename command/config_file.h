// lockstep.toml: options of commands, by name, for a project. A table is a command, a key an option
// without its dashes:
//
//     [exec]
//     check = ["all", "leaks"]
//     suppressions = "tests/known.txt"
//     require-kernels = true
//
// The part of TOML 1.0 that it needs: tables, bare keys, strings on one line, integers, floats,
// true, false, and arrays of these.
#pragma once

#include <string>
#include <variant>
#include <vector>

namespace lockstep::command {

struct ConfigEntry {
  std::string table, key;
  std::vector<std::string> values;  // of an array each; else one: a string's contents, or the word
  bool is_array = false, is_string = false;
  int line = 0;  // counts from 1
};

struct ConfigFile {
  std::vector<ConfigEntry> entries;
  std::vector<std::pair<std::string, int>> tables;  // in order, with their lines
};

// What the text says; or a sentence that begins with "line N: ".
std::variant<ConfigFile, std::string> parse_config(const std::string& text);

// The file lockstep.toml of `folder`, or of the nearest folder above it that has one. Empty: none.
std::string find_config(const std::string& folder);

}  // namespace lockstep::command
