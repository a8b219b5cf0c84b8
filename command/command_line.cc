#include "command/command_line.h"

#include <algorithm>
#include <cstdio>
#include <utility>

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

// Whoever does it looks at the words itself: Bazel, or a script.
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

// CLI11 says "--check: At Most 1 required but received 2", "--check: 1 required LIST missing" and
// "Could not convert:
// --scale = x".
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

// A word that no option took.
std::string about(const std::string& word, const CLI::App& sub, bool program) {
  const std::string name = word.substr(0, word.find('='));
  const std::string no = sub.get_name() + " does not take '" + word + "'";
  if (!name.starts_with("-"))
    return program ? no + "; a program stands behind --, as in " + sub.get_name() + " -- " + word
                   : no;
  return sub.get_name() + " has no option " + name + did_you_mean(nearest(name, option_names(sub)));
}

// "--suite=a" for each value of an option that was given; a flag is its name.
std::vector<std::string> as_typed(const CLI::Option& option) {
  const std::string name = "--" + option.get_lnames().front();
  if (option.get_items_expected_max() == 0) return {name};
  std::vector<std::string> words;
  for (const std::string& value : option.results()) words.push_back(name + "=" + value);
  return words;
}

// Where the program begins, of words without a "--": at the first that is neither an option nor an
// option's value. words.size() where none is, or where that is not clear.
std::size_t find_program(const Tree& tree, const Offer& offer,
                         const std::vector<std::string>& words) {
  for (const auto& [sub, command] : tree.commands) {
    if (words.empty() || sub->get_name() != words.front()) continue;
    // The script of a checkout takes the suites for the program of the others.
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

}  // namespace

CommandLine parse(const Offer& offer, const std::vector<std::string>& arguments) {
  CommandLine line;
  const Tree tree = make_tree(offer, line);
  CLI::App& app = *tree.app;
  std::vector<std::string> words = arguments;
  // What follows the first "--" is the program's alone. It may be left out before a word that can
  // only be the program.
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
  // `help run` is what some type.
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    words.push_back("--help");
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
  // What stands before the command, or in its place.
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
    // The script of a checkout takes the suites for the program of these two.
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
