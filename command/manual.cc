#include <string>
#include <vector>

#include "command/command_line.h"
#include "command/tree.h"
#include "lockstep_version.h"

namespace lockstep::command {
namespace {

// Escapes text for troff: no escape sequence, and no request at the beginning of a line.
std::string for_troff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) {
      out += std::string("\\&") + c;
    } else {
      out += c;
    }
  }
  return out;
}

std::string names_of(const CLI::Option& option) {
  std::string out;
  const auto add = [&](const std::string& name) {
    out += (out.empty() ? "" : ", ") + ("\\fB" + for_troff(name) + "\\fR");
  };
  for (const std::string& name : option.get_snames()) add("-" + name);
  for (const std::string& name : option.get_lnames()) add("--" + name);
  if (option.get_positional()) out = "\\fI" + for_troff(option.get_name()) + "\\fR";
  // "N:INT in [1 - 9]": the text after the colon is CLI11's check, not documentation.
  const std::string type = option.get_type_name().substr(0, option.get_type_name().find(':'));
  if (!option.get_positional() && option.get_type_size() != 0 && !type.empty())
    out += (option.get_lnames().empty() ? " " : "=") + ("\\fI" + for_troff(type) + "\\fR");
  return out;
}

std::string section_of(const Tree& tree, const CLI::App& sub) {
  std::string text =
      ".SS \"lockstep " + sub.get_name() + "\"\n" + for_troff(sub.get_description()) + ".\n";
  for (const CLI::Option* option : sub.get_options()) {
    if (option->get_lnames() == std::vector<std::string>{"help"}) continue;
    text += ".TP\n" + names_of(*option) + "\n" + for_troff(option->get_description());
    if (const auto it = tree.choices.find(option); it != tree.choices.end()) {
      text += "\n.br\nOne of: ";
      for (std::size_t i = 0; i < it->second.size(); ++i)
        text += (i == 0 ? "" : ", ") + for_troff(it->second[i]);
    }
    text += "\n";
  }
  if (!sub.get_footer().empty()) text += ".PP\n" + for_troff(sub.get_footer()) + "\n";
  return text;
}

}  // namespace

std::string manual(const Offer& offer) {
  CommandLine line;
  const Tree tree = make_tree(offer, line);
  std::string text =
      ".\\\" Made from the options of the command.\n"
      ".TH LOCKSTEP 1 \"\" \"lockstep " LOCKSTEP_VERSION
      "\" \"User Commands\"\n"
      ".SH NAME\nlockstep \\- correctness of CUDA kernels, on machines with and without a GPU\n"
      ".SH SYNOPSIS\n"
      ".B lockstep exec\n[\\fIOPTION\\fR...] [\\fB\\-\\-\\fR] \\fIPROGRAM\\fR "
      "[\\fIARGUMENT\\fR...]\n"
      ".br\n.B lockstep\n\\fICOMMAND\\fR [\\fIOPTION\\fR...]\n"
      ".SH DESCRIPTION\n"
      "Runs CUDA programs on a simulated GPU that checks every access. "
      "\\fBlockstep\\fR \\fICOMMAND\\fR \\fB\\-\\-help\\fR prints the options of one command.\n"
      ".SH COMMANDS\n";
  for (const CLI::App* sub : tree.app->get_subcommands({})) text += section_of(tree, *sub);
  text +=
      ".SH EXIT STATUS\n"
      "Of \\fBlockstep exec\\fR: that of the program, where it is not 0; else\n"
      ".TP\n.B 0\nno error was found\n"
      ".TP\n.B 2\nwrong usage: nothing ran\n"
      ".TP\n.B 86\nerrors that the program did not handle\n"
      ".TP\n.B 87\nno kernel ran, with \\fB\\-\\-require\\-kernels\\fR\n"
      ".TP\n.B 88\nsome output could not be written\n"
      ".TP\n.B 126\nthe program cannot run here: the message states why\n"
      ".TP\n.B 127\nthere is no such program\n"
      ".SH FILES\n"
      ".TP\n.I lockstep.toml\n"
      "A project's options, in the working folder or the nearest above it. A table is a command, a "
      "key an option without its dashes. The command line wins.\n"
      ".TP\n.I /usr/share/doc/lockstep\nGuide and reference.\n"
      ".SH ENVIRONMENT\n"
      ".TP\n.B NO_COLOR\nNo colours on a terminal.\n"
      ".TP\n.B LOCKSTEP_\\fR...\nThe settings of the simulated GPU; options win.\n";
  return text;
}

}  // namespace lockstep::command
