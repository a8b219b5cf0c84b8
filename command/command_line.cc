#include "command/command_line.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <utility>

#include "command/tree.h"

namespace lockstep::command {
namespace {

constexpr int kUsage = 2;

// The number of letters to change, add, leave out, or exchange with the next: what typing gets wrong.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t k = 0; k <= b.size(); ++k) {
      if (i == 0 || k == 0) {
        d[i][k] = i + k;
        continue;
      }
      d[i][k] = std::min({d[i - 1][k] + 1, d[i][k - 1] + 1, d[i - 1][k - 1] + (a[i - 1] != b[k - 1])});
      if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
        d[i][k] = std::min(d[i][k], d[i - 2][k - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

std::string did_you_mean(const std::string& name) { return name.empty() ? "" : "; did you mean " + name + "?"; }

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
  std::fprintf(stderr, "%s%s --help lists %s\n", app.get_name().c_str(), command.empty() ? "" : (" " + command).c_str(),
               command.empty() ? "the commands" : "its options");
  return kUsage;
}

// CLI11 says "Could not convert: --scale = x".
std::string in_words(const CLI::ParseError& error) {
  const std::string text = error.what();
  const auto colon = text.find(": "), equals = text.find(" = ");
  if (dynamic_cast<const CLI::ConversionError*>(&error) == nullptr || colon == text.npos || equals == text.npos)
    return text;
  return text.substr(colon + 2, equals - colon - 2) + " takes a number, not '" + text.substr(equals + 3) + "'";
}

// A word that no option took.
std::string about(const std::string& word, const CLI::App& sub) {
  const std::string name = word.substr(0, word.find('='));
  if (!name.starts_with("-")) return sub.get_name() + " does not take '" + word + "'";
  return sub.get_name() + " has no option " + name + did_you_mean(nearest(name, option_names(sub)));
}

}  // namespace

std::string nearest(const std::string& typed, const std::vector<std::string>& names) {
  std::string best;
  // A third of what was typed may be wrong: more, and it is another word.
  std::size_t least = std::max<std::size_t>(1, typed.size() / 3) + 1;
  for (const std::string& name : names) {
    // A word that was not typed to its end is meant too.
    const std::size_t d = typed.size() > 2 && name.starts_with(typed) ? 1 : distance(typed, name);
    if (d < least) {
      least = d;
      best = name;
    }
  }
  return best;
}

CommandLine parse(const Offer& offer, const std::vector<std::string>& arguments) {
  CommandLine line;
  const Tree tree = make_tree(offer, line);
  CLI::App& app = *tree.app;
  std::vector<std::string> words = arguments;
  // What follows the first "--" is the program's alone.
  const auto dashes = std::find(words.begin(), words.end(), "--");
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
  } catch (const CLI::Success& told) {
    app.exit(told);
    line.status = 0;
    return line;
  } catch (const CLI::ParseError& error) {
    const auto subs = app.get_subcommands();
    line.status = refuse(app, in_words(error), subs.empty() ? "" : subs.front()->get_name());
    return line;
  }
  const auto subs = app.get_subcommands();
  if (const std::vector<std::string> rest = app.remaining(); !rest.empty() && subs.empty()) {
    std::vector<std::string> names;
    for (const auto& [sub, command] : tree.commands) names.push_back(sub->get_name());
    line.status =
        refuse(app,
               "there is no " + std::string(rest.front().starts_with("-") ? "option " : "command ") + rest.front() +
                   did_you_mean(nearest(rest.front(), rest.front().starts_with("-") ? option_names(app) : names)),
               "");
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
    line.status = refuse(app, about(rest.front(), sub), sub.get_name());
  } else if (takes_program(line.command)) {
    // The script of a checkout takes the suites for the program of these two.
    const bool suites = offer.checkout && line.command != Command::kExec;
    if (program.empty() && !suites) {
      line.status = refuse(app, "no program: write -- PROGRAM [ARGUMENT...] after the options", sub.get_name());
    }
    line.program = std::move(program);
  } else if (has_program && !takes_anything(line.command, offer)) {
    line.status = refuse(app, sub.get_name() + " takes no program after --", sub.get_name());
  }
  return line;
}

}  // namespace lockstep::command
