#include <algorithm>
#include <string>
#include <vector>

#include "command/command_line.h"
#include "command/tree.h"

namespace lockstep::command {
namespace {

// Quotes text with single quotes, for both shells.
std::string in_quotes(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& w : words) out += (out.empty() ? "" : " ") + w;
  return out;
}

struct OneOption {
  std::vector<std::string> names;  // "-x", "--stop"
  std::string help, type;
  bool takes_value = false;
  std::vector<std::string> choices;
};

std::vector<OneOption> options_of(const Tree& tree, const CLI::App& app) {
  std::vector<OneOption> all;
  for (const CLI::Option* option :
       app.get_options([](const CLI::Option* o) { return !o->get_positional(); })) {
    OneOption one;
    for (const std::string& name : option->get_snames()) one.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) one.names.push_back("--" + name);
    one.help = option->get_description();
    one.type = option->get_type_name();
    one.takes_value = option->get_type_size() != 0;
    if (const auto it = tree.choices.find(option); it != tree.choices.end())
      one.choices = it->second;
    all.push_back(std::move(one));
  }
  return all;
}

// A command's words besides options.
std::vector<std::string> words_of(const Tree& tree, const CLI::App& app) {
  for (const CLI::Option* option :
       app.get_options([](const CLI::Option* o) { return o->get_positional(); })) {
    if (const auto it = tree.choices.find(option); it != tree.choices.end()) return it->second;
  }
  return {};
}

bool takes_files(const CLI::App& app) {
  return !app.get_options([](const CLI::Option* o) {
               return o->get_positional() && o->get_name() != "SHELL" && o->get_name() != "NAME";
             })
              .empty();
}

std::string for_bash(const Tree& tree) {
  std::string names, cases;
  for (const CLI::App* sub : tree.app->get_subcommands({})) {
    names += (names.empty() ? "" : " ") + sub->get_name();
    std::string options, values;
    for (const OneOption& o : options_of(tree, *sub)) {
      for (const std::string& name : o.names) {
        options += (options.empty() ? "" : " ") + name +
                   (o.takes_value && name.starts_with("--") ? "=" : "");
        if (!o.takes_value) continue;
        const std::string words = !o.choices.empty()   ? "words=" + in_quotes(joined(o.choices))
                                  : o.type == "FOLDER" ? "kind=-d"
                                  : o.type == "FILE"   ? "kind=-f"
                                                       : "words=''";
        values += "        " + name + ") " + words + " ;;\n";
      }
    }
    cases += "    " + sub->get_name() + ")\n      options=" + in_quotes(options) + "\n";
    if (const auto words = words_of(tree, *sub); !words.empty())
      cases += "      words=" + in_quotes(joined(words)) + "\n";
    if (takes_files(*sub)) cases += "      kind=-f\n";
    if (!values.empty()) cases += "      case $before in\n" + values + "      esac\n";
    cases += "      ;;\n";
  }
  return R"(# Completions of lockstep for bash, made by `lockstep completion bash`.
_lockstep() {
  local now=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  local command=${COMP_WORDS[1]} kind='' words='' options='' i
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W ')" +
         names + (tree.app->get_option_no_throw("--prefix") == nullptr ? "" : " --prefix") +
         R"( --help --version' -- "$now")
    return
  fi
  # After -- comes a program, with words of its own.
  for ((i = 2; i < COMP_CWORD; ++i)); do
    if [[ ${COMP_WORDS[i]} == -- ]]; then
      mapfile -t COMPREPLY < <(compgen -f -- "$now")
      return
    fi
  done
  # The shell takes --option=value for three words.
  if [[ $now == = ]]; then
    now=''
  elif [[ $before == = ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  case $command in
)" + cases +
         R"(  esac
  if [[ $now == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$now")
    [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2> /dev/null
  elif [[ $kind ]]; then
    mapfile -t COMPREPLY < <(compgen "$kind" -- "$now")
  else
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$now")
  fi
}
complete -o filenames -o bashdefault -F _lockstep lockstep ./lockstep
)";
}

// A description in brackets for _arguments.
std::string described(std::string text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string for_zsh(const Tree& tree) {
  std::string names, cases;
  for (const CLI::App* sub : tree.app->get_subcommands({})) {
    std::string summary;
    for (const char c : sub->get_description())
      summary += c == ':' ? std::string("\\:") : std::string(1, c);
    names += "    " + in_quotes(sub->get_name() + ":" + summary) + "\n";
    cases += "    " + sub->get_name() + ")\n      _arguments -s -S";
    for (const OneOption& o : options_of(tree, *sub)) {
      for (const std::string& name : o.names) {
        std::string spec = name +
                           (!o.takes_value           ? ""
                            : name.starts_with("--") ? "="
                                                     : "+") +
                           "[" + described(o.help) + "]";
        if (o.takes_value) {
          spec += ":" + o.type + ":";
          spec += !o.choices.empty()   ? "(" + joined(o.choices) + ")"
                  : o.type == "FOLDER" ? "_files -/"
                  : o.type == "FILE"   ? "_files"
                                       : "";
        }
        cases += " \\\n        '*" + in_quotes(spec).substr(1);
      }
    }
    const std::vector<std::string> words = words_of(tree, *sub);
    if (!words.empty()) cases += " \\\n        '1:word:(" + joined(words) + ")'";
    if (takes_files(*sub)) cases += " \\\n        '*:file:_files'";
    if (takes_program(tree.commands.at(sub))) cases += " \\\n        '*::program:_normal'";
    cases += "\n      ;;\n";
  }
  return R"(#compdef lockstep
# Completions of lockstep for zsh, made by `lockstep completion zsh`.
_lockstep() {
  local -a commands
  commands=(
)" + names +
         R"(  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  shift words
  ((CURRENT--))
  case $words[1] in
)" + cases +
         R"(  esac
}
_lockstep "$@"
)";
}

}  // namespace

std::string completion(const Offer& offer, const std::string& shell) {
  CommandLine line;
  const Tree tree = make_tree(offer, line);
  return shell == "zsh" ? for_zsh(tree) : for_bash(tree);
}

}  // namespace lockstep::command
