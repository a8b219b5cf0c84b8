#include "command/command_line.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "command/config_file.h"
#include "command/nearest.h"
#include "command/tree.h"

namespace lockstep::command {
namespace {

constexpr int kUsage = 2;

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// Commands whose words Bazel or a script parses.
bool takes_anything(Command c, const Offer& offer) {
  return c == Command::kTest || c == Command::kPackage || c == Command::kSelfMutate ||
         (c == Command::kNew && !offer.checkout);
}

int refuse(const CLI::App& app, const std::string& sentence, const std::string& command) {
  std::fprintf(stderr, "lockstep: %s\n", sentence.c_str());
  std::fprintf(stderr, "%s%s --help lists %s\n", app.get_name().c_str(),
               command.empty() ? "" : (" " + command).c_str(),
               command.empty() ? "the commands" : "its options");
  return kUsage;
}

// Rewrites CLI11's messages, such as "--check: At Most 1 required but received 2", "--check: 1
// required LIST missing" and "Could not convert: --scale = x".
std::string in_words(const CLI::ParseError& error) {
  const std::string text = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const std::string option = text.substr(0, text.find(':'));
    return option +
           (text.find("received") != text.npos ? " is given more than once" : " needs a value");
  }
  const auto colon = text.find(": "), equals = text.find(" = ");
  if (dynamic_cast<const CLI::ConversionError*>(&error) == nullptr || colon == text.npos ||
      equals == text.npos)
    return text;
  return text.substr(colon + 2, equals - colon - 2) + " takes a number, not '" +
         text.substr(equals + 3) + "'";
}

// The error for a word that no option accepts.
std::string about(const std::string& word, const CLI::App& sub, bool program) {
  const std::string name = word.substr(0, word.find('='));
  const std::string no = sub.get_name() + " does not take '" + word + "'";
  if (!name.starts_with("-"))
    return program ? no + "; a program stands behind --, as in " + sub.get_name() + " -- " + word
                   : no;
  return sub.get_name() + " has no option " + name + did_you_mean(nearest(name, option_names(sub)));
}

// "--suite=a" for each value of a given option; for a flag, its name.
std::vector<std::string> as_typed(const CLI::Option& option) {
  const std::string name = "--" + option.get_lnames().front();
  if (option.get_items_expected_max() == 0) return {name};
  std::vector<std::string> words;
  for (const std::string& value : option.results()) words.push_back(name + "=" + value);
  return words;
}

// The index of the program in words without "--": the first word that is neither an option nor an
// option's value. words.size() if there is none, or if it is ambiguous.
std::size_t find_program(const Tree& tree, const Offer& offer,
                         const std::vector<std::string>& words) {
  for (const auto& [sub, command] : tree.commands) {
    if (words.empty() || sub->get_name() != words.front()) continue;
    // In a checkout's script, the other commands without a program run on the suites.
    if (!takes_program(command) || (offer.checkout && command != Command::kExec)) break;
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (!words[i].starts_with('-')) return i;
      if (words[i].find('=') != std::string::npos) continue;
      const CLI::Option* const option = sub->get_option_no_throw(words[i]);
      if (option == nullptr) break;
      if (option->get_items_expected_max() > 0) ++i;
    }
  }
  return words.size();
}

// The value of --config among the words of a command; nothing if it is absent.
std::optional<std::string> named_config(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].starts_with("--config=")) return words[i].substr(9);
    if (words[i] == "--config" && i + 1 < words.size()) return words[i + 1];
  }
  return std::nullopt;
}

// The configuration file of a command; empty: none.
std::string config_path(const std::vector<std::string>& words) {
  const std::string path = named_config(words).value_or(find_config("."));
  return path == "none" ? "" : path;
}

bool is_typed(const std::vector<std::string>& words, const CLI::Option& option) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    const std::string name = word.substr(0, word.find('='));
    return name.starts_with("-") && option.check_name(name);
  });
}

// Converts one entry to words. Returns a sentence if its value is invalid for the option.
std::string add_entry(const ConfigEntry& entry, const CLI::Option& option,
                      const std::filesystem::path& folder, std::vector<std::string>& words) {
  const std::string name = "--" + entry.key;
  if (option.get_items_expected_max() == 0) {
    if (entry.is_array || entry.is_string ||
        (entry.values[0] != "true" && entry.values[0] != "false"))
      return entry.key + " is true or false";
    if (entry.values[0] == "true") words.push_back(name);
    return "";
  }
  const bool is_path = option.get_type_name() == "FILE" || option.get_type_name() == "FOLDER";
  std::string joined;
  const bool repeated = option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  for (const std::string& value : entry.values) {
    if (!entry.is_string && (value == "true" || value == "false"))
      return entry.key + " needs a value";
    const std::string meant =
        is_path && value != "-" ? (folder / value).lexically_normal().string() : value;
    if (repeated) words.push_back(name + "=" + meant);
    joined += (joined.empty() ? "" : ",") + meant;
  }
  if (!repeated) words.push_back(name + "=" + joined);
  return "";
}

// Adds the options of lockstep.toml to `words`, which begin with a command, except those already
// given. Returns a sentence with the error, or an empty text.
std::string add_config(const Tree& tree, std::vector<std::string>& words, std::string& read) {
  std::vector<std::string> commands;
  const auto find = [&](const std::string& name) -> const CLI::App* {
    for (const auto& [sub, command] : tree.commands)
      if (takes_config(command) && sub->get_name() == name) return sub;
    return nullptr;
  };
  const CLI::App* const sub = words.empty() ? nullptr : find(words.front());
  if (sub == nullptr) return "";
  const std::string path = config_path(words);
  if (path.empty()) return "";
  std::ifstream in(path);
  if (!in || std::filesystem::is_directory(path)) return path + " cannot be read";
  const auto parsed = parse_config({std::istreambuf_iterator<char>(in), {}});
  if (const auto* error = std::get_if<std::string>(&parsed)) return path + ", " + *error;
  const ConfigFile& file = std::get<ConfigFile>(parsed);
  const auto at = [&](int line) { return path + ":" + std::to_string(line) + ": "; };
  for (const auto& [other, command] : tree.commands)
    if (takes_config(command)) commands.push_back(other->get_name());
  for (const auto& [table, line] : file.tables) {
    if (find(table) == nullptr)
      return at(line) + "there is no command " + table + " with options" +
             did_you_mean(nearest(table, commands));
  }
  std::vector<std::string> added;
  for (const ConfigEntry& entry : file.entries) {
    const CLI::App& of = *find(entry.table);
    const CLI::Option* const option = of.get_option_no_throw("--" + entry.key);
    if (option == nullptr || entry.key == "config" || entry.key == "help") {
      std::vector<std::string> names;
      for (const std::string& name : option_names(of)) names.push_back(name.substr(2));
      return at(entry.line) + entry.table + " has no option " + entry.key +
             did_you_mean(nearest(entry.key, names));
    }
    std::vector<std::string> made;
    const std::string wrong =
        add_entry(entry, *option, std::filesystem::absolute(path).parent_path(), made);
    if (!wrong.empty()) return at(entry.line) + wrong;
    // run and list use the same suites of a project.
    const bool of_list = sub->get_name() == "list" && entry.table == "run" &&
                         (entry.key == "target" || entry.key == "manifest");
    if ((&of == sub || of_list) && !is_typed(words, *option))
      added.insert(added.end(), made.begin(), made.end());
  }
  read = path;
  words.insert(words.begin() + 1, added.begin(), added.end());
  return "";
}

}  // namespace

CommandLine parse(const Offer& offer, const std::vector<std::string>& arguments) {
  CommandLine line;
  std::vector<std::string> words = arguments;
  // A configuration file may have options of every command.
  const bool one = !words.empty() && (!offer.reads_config || config_path(words).empty());
  const Tree tree = make_tree(offer, line, one ? words.front() : "");
  CLI::App& app = *tree.app;
  // The words after the first "--" belong to the program. "--" may be omitted before a word that
  // can only be the program.
  auto dashes = std::find(words.begin(), words.end(), "--");
  if (dashes == words.end()) {
    const auto at = static_cast<std::ptrdiff_t>(find_program(tree, offer, words));
    dashes = words.insert(words.begin() + at, "--");
    if (dashes + 1 == words.end()) {
      words.pop_back();
      dashes = words.end();
    }
  }
  const bool has_program = dashes != words.end();
  std::vector<std::string> program(has_program ? dashes + 1 : dashes, words.end());
  words.erase(dashes, words.end());
  // Accepts `help run` for `run --help`.
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    words.push_back("--help");
  }
  if (const std::string wrong =
          offer.reads_config ? add_config(tree, words, line.config) : std::string();
      !wrong.empty()) {
    line.status = refuse(app, wrong, words.front());
    return line;
  }
  line.words = words;
  if (!line.config.empty()) {
    for (std::size_t i = 1; i < line.words.size(); ++i) {
      if (line.words[i].starts_with("--config="))
        line.words.erase(line.words.begin() + i--);
      else if (line.words[i] == "--config")
        line.words.erase(line.words.begin() + i, line.words.begin() + i + 2);
    }
    line.words.insert(line.words.begin() + 1, "--config=none");
  }
  if (has_program) {
    line.words.push_back("--");
    line.words.insert(line.words.end(), program.begin(), program.end());
  }
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::Success& success) {
    app.exit(success);
    line.status = 0;
    return line;
  } catch (const CLI::ParseError& error) {
    const auto subs = app.get_subcommands();
    line.status = refuse(app, in_words(error), subs.empty() ? "" : subs.front()->get_name());
    return line;
  }
  const auto subs = app.get_subcommands();
  // Words before the command, or in its place.
  if (const std::vector<std::string> rest = app.remaining(); !rest.empty()) {
    const bool option = rest.front().starts_with("-");
    const std::string name = option ? rest.front().substr(0, rest.front().find('=')) : rest.front();
    std::vector<std::string> names;
    for (const auto& [sub, command] : tree.commands) names.push_back(sub->get_name());
    std::string sentence = "there is no " + std::string(option ? "option " : "command ") + name;
    const auto of_command = [&](const CLI::App* sub) {
      const std::vector<std::string> own = option_names(*sub);
      return std::find(own.begin(), own.end(), name) != own.end();
    };
    if (option && !subs.empty() && of_command(subs.front())) {
      sentence =
          "options of a command stand behind it: " + subs.front()->get_name() + " " + rest.front();
    } else {
      sentence += did_you_mean(nearest(name, option ? option_names(app) : names));
    }
    line.status = refuse(app, sentence, option && !subs.empty() ? subs.front()->get_name() : "");
    return line;
  }
  if (subs.empty() && line.prefix) return line;
  if (subs.empty()) {
    std::fputs(app.help().c_str(), stderr);
    line.status = kUsage;
    return line;
  }
  const CLI::App& sub = *subs.front();
  line.command = tree.commands.at(&sub);
  const std::vector<std::string> rest = sub.remaining();
  if (!rest.empty() && !takes_anything(line.command, offer)) {
    line.status = refuse(app, about(rest.front(), sub, takes_program(line.command) && !has_program),
                         sub.get_name());
  } else if (takes_program(line.command)) {
    // In a checkout's script these two commands can run on the suites.
    const bool suites = offer.checkout && line.command != Command::kExec;
    if (program.empty() && !suites) {
      line.status = refuse(app, "no program: write -- PROGRAM [ARGUMENT...] after the options",
                           sub.get_name());
    }
    for (const CLI::Option* option : sub.get_options()) {
      if (option->count() == 0) continue;
      auto& words = tree.of_a_run.contains(option) ? line.run_words : line.own_words;
      const std::vector<std::string> typed = as_typed(*option);
      words.insert(words.end(), typed.begin(), typed.end());
    }
    line.program = std::move(program);
  } else if (has_program && !takes_anything(line.command, offer)) {
    line.status = refuse(app, sub.get_name() + " takes no program after --", sub.get_name());
  }
  return line;
}

}  // namespace lockstep::command
