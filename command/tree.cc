#include "command/tree.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <system_error>

#include "command/nearest.h"
#include "lockstep_version.h"

namespace lockstep::command {
namespace {

struct Named {
  Command command;
  const char* name;
  const char* summary;
  bool checkout = false;
};

constexpr Named kCommands[] = {
    {Command::kRun, "run",
     "run the conformance suites, print a table, and write passport, report and JUnit files"},
    {Command::kList, "list", "list the suites and their properties"},
    {Command::kExec, "exec",
     "run any CUDA program that nvcc built on the simulated GPU with all checks, and report what "
     "they find"},
    {Command::kCounters, "counters",
     "run a program without checks, and print the counters of its kernels"},
    {Command::kCoverage, "coverage",
     "write which lines and branches of kernels a program executes: an lcov tracefile, for "
     "genhtml and editors"},
    {Command::kMutate, "mutate",
     "count the mutants of its kernels, and of its calls of the runtime, that a test program "
     "notices"},
    {Command::kJudge, "judge",
     "judge a candidate kernel against a reference and a contract: a verdict with its reasons"},
    {Command::kCompare, "compare",
     "compare a kernel with its changed version: results, findings and counters in one table"},
    {Command::kInspect, "inspect",
     "report whether the simulated GPU can run programs, and what to change if it cannot"},
    {Command::kDiff, "diff", "report what changed between two passports"},
    {Command::kReport, "report", "write report.html from a passport; run does so itself"},
    {Command::kNew, "new", "add a kernel family, to be filled in"},
    {Command::kCompletion, "completion", "print the completions of this command for a shell"},
    {Command::kTest, "test", "run every test of the project: bazel test //...", true},
    {Command::kFormat, "format", "lay out all C++ and CUDA sources as .clang-format says", true},
    {Command::kBundle, "bundle",
     "pack the suites for machines that have neither Bazel nor a CUDA toolkit, into "
     "lockstep-out/lockstep-bundle.tar.xz",
     true},
    {Command::kPackage, "package", "make the packages that users install, in lockstep-out", true},
    {Command::kSelfMutate, "self-mutate",
     "plant mistakes into the harness, the references and the checks, and report which of them "
     "the tests notice",
     true},
};

// Formats help for a terminal of 110 columns.
class Layout : public CLI::Formatter {
 public:
  Layout() { column_width(kColumn); }

  std::string make_option_desc(const CLI::Option* option) const override {
    return wrapped(CLI::Formatter::make_option_desc(option));
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_type_size() == 0      ? ""
           : option->get_type_name().empty() ? ""
                                             : " " + option->get_type_name();
  }
  std::string make_subcommand(const CLI::App* sub) const override {
    std::stringstream out;
    CLI::detail::format_help(out, "  " + sub->get_name(), wrapped(sub->get_description()),
                             kCommandColumn);
    return out.str();
  }

 private:
  static constexpr std::size_t kColumn = 28, kCommandColumn = 16, kText = 80;

  static std::string wrapped(const std::string& text) {
    std::istringstream in(text);
    std::string out, line;
    for (std::string word; in >> word;) {
      if (!line.empty() && line.size() + 1 + word.size() > kText) {
        out += line + "\n";
        line.clear();
      }
      line += (line.empty() ? "" : " ") + word;
    }
    return out + line;
  }
};

// Adds options to one command. A list option accepts one value each time, because the next word may
// be something else.
class Options {
 public:
  Options(Tree& tree, CLI::App& app) : tree_(tree), app_(app) {}

  Options& group(const char* name) {
    group_ = name;
    return *this;
  }
  template <class T>
  CLI::Option* value(const char* flags, T& into, const char* type, const char* help,
                     std::vector<std::string> choices = {}) {
    CLI::Option* option = app_.add_option(flags, into, help)->type_name(type)->group(group_);
    if (!choices.empty()) tree_.choices[option] = std::move(choices);
    return option;
  }
  CLI::Option* list(const char* flags, std::vector<std::string>& into, const char* type,
                    const char* help) {
    return value(flags, into, type, help)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
  CLI::Option* flag(const char* flags, bool& into, const char* help) {
    return app_.add_flag(flags, into, help)->group(group_);
  }
  // A flag with an optional value after "=".
  CLI::Option* flag_with_value(const char* flags, std::string& into, const char* type,
                               const char* help) {
    return app_.add_flag(flags, into, help)->type_name(type)->group(group_);
  }
  CLI::Option* setting(const char* flag, const char* variable,
                       std::map<std::string, std::string>& set, const char* type, const char* help,
                       std::vector<std::string> choices = {}) {
    CLI::Option* option =
        app_.add_option_function<std::string>(
                flag, [&set, variable](const std::string& v) { set[variable] = v; }, help)
            ->type_name(type)
            ->group(group_);
    if (!choices.empty()) tree_.choices[option] = std::move(choices);
    return option;
  }

 private:
  Tree& tree_;
  CLI::App& app_;
  std::string group_ = "Options";
};

const CLI::Validator kNotNegative(
    [](std::string& text) { return text.starts_with('-') ? text + " is below 0" : std::string(); },
    "", "not negative");
const CLI::Validator kIsFolder(
    [](std::string& text) {
      std::error_code error;
      return std::filesystem::is_directory(text, error) ? std::string()
                                                        : "there is no folder " + text;
    },
    "", "a folder");

const std::vector<std::string> kChecks = {"all",
                                          "none",
                                          "bounds",
                                          "initialisation",
                                          "races",
                                          "synchronisation",
                                          "leaks",
                                          "strict-barriers",
                                          "strict-libraries",
                                          "strict-proxies",
                                          "strict-writes"};

const std::vector<std::string> kDevices = {"sm_75",  "sm_80",  "sm_89",  "sm_90", "sm_100",
                                           "sm_103", "sm_110", "sm_120", "sm_121"};

std::string between_commas(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all;
}

// "there is no check 'racs'; did you mean races? The checks are all, ..."
std::string no_such(const std::string& what, const std::string& typed,
                    const std::vector<std::string>& names) {
  const std::string wrong =
      "there is no " + what + " '" + typed + "'" + did_you_mean(nearest(typed, names));
  return wrong + (wrong.ends_with('?') ? " The " : "; the ") + what + "s are " +
         between_commas(names);
}

// Validate a list of checks, and a device. Return an empty text, or the error.
std::string wrong_checks(const std::string& list) {
  std::istringstream words(list + ",");
  for (std::string word; std::getline(words, word, ',');) {
    if (word.starts_with('-')) word.erase(0, 1);
    if (word.empty())
      return "a name is missing in '" + list + "'; the checks are " + between_commas(kChecks);
    if (std::find(kChecks.begin(), kChecks.end(), word) == kChecks.end())
      return no_such("check", word, kChecks);
  }
  return "";
}

std::string wrong_device(const std::string& name) {
  return std::find(kDevices.begin(), kDevices.end(), name) == kDevices.end()
             ? no_such("device", name, kDevices)
             : "";
}

void add_config(Options& o, std::string& config) {
  o.value("--config", config, "FILE",
          "the file with a project's options, in place of the nearest lockstep.toml here or above; "
          "none: no file");
}

void add_selection(Options& o, RunArguments& a) {
  o.group("What runs");
  o.list("--suite", a.suites, "NAME",
         "only this suite, such as stencil; several between commas; may be repeated");
  o.value("-k", a.pattern, "PATTERN",
          "only properties whose name has this in it, upper or lower case; * and ? stand for any "
          "characters; several between commas; with ! in front, all others");
}

void add_amounts(Options& o, RunArguments& a) {
  o.group("How much of it");
  o.flag("--quick", a.quick, "a tenth of the cases: the same as --scale=0.1");
  o.value("--scale", a.scale, "X",
          "X times each property's own number of cases, such as 0.1 or 10; one at least");
  o.value("--cases", a.cases, "N",
          "cases of each property that has more than one, in place of its own number");
  o.value("--seed", a.seed, "N",
          "seed of the generators, in place of one from each property's name");
  o.value("--random-seed", a.random_seed, "N",
          "mixed with each property's name into a seed of its own");
}

// The source of the suites for run and list.
void add_source(Options& o, RunArguments& a) {
  o.value("--target", a.target, "NAME",
          "the conformance target of your project, if it has several: build/conformance of CMake, "
          "//:conformance of Bazel, or conformance alone");
  o.value("--manifest", a.manifest, "FILE",
          "list of suites in place of a target, or of the built-in one: lines of name, program and "
          "label between tabs");
  add_config(o, a.config);
}

void add_run(Options& o, RunArguments& a) {
  add_selection(o, a);
  o.flag("--lf,--last-failed", a.last_failed,
         "only what failed, or did not run, when --out was last written; all, if nothing did");
  o.value("--case", a.replay, "CASE",
          "this case alone, 'Suite.Name: field=value ...', as a failure prints it; needs --suite, "
          "and writes to lockstep-out/replay unless --out is given");
  o.flag("-x,--stop", a.stop, "stop at the first failure");
  add_amounts(o, a);
  o.value("--repeat", a.repeat, "N",
          "everything N times, each time with other random seeds; stops at the first failure");
  o.group("Where");
  std::vector<std::string> devices = kDevices;
  devices.insert(devices.end(), {"simulator", "gpu", "all", "0"});
  o.value("--device", a.device, "WHERE",
          "simulator (the default); sm_75, sm_80, sm_89, sm_90, sm_100, ... (the simulated GPU as "
          "that one); gpu (this machine's first GPU), all, or numbers of GPUs such as 0 or 0,1",
          devices)
      ->check([](const std::string& where) {
        return where.starts_with("sm_") ? wrong_device(where) : std::string();
      });
  o.value("--sanitizer", a.sanitizer, "TOOL",
          "on a GPU: under that tool of NVIDIA's compute-sanitizer (memcheck, racecheck, initcheck "
          "or synccheck), once it has found a planted fault",
          {"memcheck", "racecheck", "initcheck", "synccheck"});
  o.value("--jobs", a.jobs, "N",
          "suites that run at the same time; without it as many as there are processors on the "
          "simulated GPU, and 1 on a GPU");
  o.value("--time-limit", a.time_limit, "SECONDS", "that a suite's process may take (900)");
  o.value("--property-limit", a.property_limit, "SECONDS", "that one property may take (300)");
  o.value("--out", a.out, "FOLDER",
          "for passport.json, report.html, junit.xml, ledgers and logs (lockstep-out); with "
          "several GPUs, FOLDER/gpu-N");
  add_source(o, a);
}

void add_settings(Options& o, ExecArguments& a) {
  o.group("The simulated GPU");
  o.setting("--check", "LOCKSTEP_CHECKS", a.set, "LIST",
            "which checks run: all, none, or some of bounds, initialisation, races, "
            "synchronisation, leaks, strict-barriers, strict-libraries, strict-proxies, "
            "strict-writes, with "
            "commas; -races: all but races; all,leaks: all, and leaks",
            kChecks)
      ->check(wrong_checks);
  o.setting("--device", "LOCKSTEP_DEVICE", a.set, "sm_NN",
            "which device is simulated: sm_75, sm_80, sm_89, sm_90 (the default), sm_100, sm_103, "
            "sm_110, sm_120, sm_121",
            kDevices)
      ->check(wrong_device);
  o.setting("--devices", "LOCKSTEP_DEVICES", a.set, "N", "how many of them");
  o.setting("--memory", "LOCKSTEP_MEMORY", a.set, "GIB", "memory of each device");
  o.setting("--schedule", "LOCKSTEP_SCHEDULE", a.set, "SEED",
            "seed of the schedule; 0 is the deterministic order");
  o.setting("--threads", "LOCKSTEP_HOST_THREADS", a.set, "N",
            "host threads that run blocks; 0: as many as the machine has");
  o.setting("--instruction-limit", "LOCKSTEP_INSTRUCTION_LIMIT", a.set, "N",
            "warp instructions a block may run before a time-limit finding");
  o.setting("--suppressions", "LOCKSTEP_SUPPRESSIONS", a.set, "FILE",
            "findings to keep quiet about: lines of KIND KERNEL");
}

void add_reports(Options& o, ExecArguments& a) {
  o.list(
      "--report", a.reports, "FILE",
      "write the findings to FILE: .json, .sarif, .xml (JUnit), .html, else text; -: stdout; may "
      "be repeated");
  o.value("--source-root", a.root, "FOLDER",
          "SARIF and annotations name source files below FOLDER from there")
      ->check(kIsFolder);
  o.value("--annotations", a.annotations, "HOW",
          "a line on stderr for each finding at the end: github (workflow commands), lines "
          "(FILE:LINE: error: ..., for editors), none; default: github where GITHUB_ACTIONS is "
          "true",
          {"github", "lines", "none"})
      ->check(CLI::IsMember({"github", "lines", "none"}));
  o.flag("--quiet", a.quiet, "no findings and no summary on stderr");
  o.flag("--stop", a.stop,
         "end a launch at its first finding; else a kernel goes on where it can, and each place is "
         "reported once");
  o.flag("--require-kernels", a.require_kernels, "exit with 87 when no kernel was launched");
  o.value("--write-suppressions", a.write_suppressions, "FILE",
          "write a line for --suppressions for each error, to be looked at");
  o.value(
      "--certificate", a.certificate, "FILE",
      "write what is proved of each launch before it begins, as JSON, to FILE, and print a line "
      "for each; -: stdout");
  o.flag_with_value("--profile", a.profile, "[=FILE]",
                    "print in which kernels, lines and checks the time goes, and with =FILE write "
                    "it as JSON");
  CLI::Option* const watch =
      o.flag("--watch", a.watch, "run again whenever the program changes; Ctrl-C ends");
  o.list("--watch-file", a.watched, "FILE",
         "with --watch: run again when FILE changes too; may be repeated")
      ->needs(watch);
  add_config(o, a.config);
}

void add_coverage(Options& o, ExecArguments& a) {
  o.value("--out", a.tracefile, "FILE", "the tracefile, in lcov's format (coverage.info)");
  o.value("--text", a.text, "FILE", "write what was not executed, for people, to FILE; -: stdout");
  o.list("--only", a.only, "PREFIX",
         "report only files whose names in the program begin with PREFIX; may be repeated");
  o.flag("--toolkit", a.toolkit, "report the CUDA toolkit's headers too");
  o.value("--source-root", a.root, "FOLDER",
          "where relative names of source files begin; default: the working folder")
      ->check(kIsFolder);
  o.flag("--quiet", a.quiet, "no findings and no summary on stderr");
  add_config(o, a.config);
}

void add_mutate(Options& o, MutateArguments& a) {
  o.value("--mutants", a.sample, "N", "judge so many mutants, chosen by chance; 0: all")
      ->check(kNotNegative);
  o.value("--seed", a.seed, "N", "seed of that choice")->check(kNotNegative);
  o.value("--operators", a.operators, "LIST",
          "only these kinds of change, by name, or kernels, or calls; several between commas")
      ->delimiter(',')
      ->allow_extra_args(false);
  o.value("--jobs", a.jobs, "N",
          "mutants that run at the same time; 0: as many as the machine has processors")
      ->check(kNotNegative);
  o.value("--out", a.out, "FOLDER", "of the reports (lockstep-mutation)");
  o.value("--fail-under", a.fail_under, "PERCENT",
          "exit with 1 when fewer of the mutants are killed")
      ->check(CLI::Range(0, 100));
  o.value("--files", a.files, "REGEX", "only kernels from source files whose path this fits");
  o.value("--callers", a.callers, "REGEX",
          "only calls of the runtime from functions whose name this fits");
  o.value("--equivalents", a.equivalents, "FILE",
          "mutants that behave as the original does: lines of FILE: SOURCE LINE ~ OPERATOR "
          "~ CHANGE ~ REASON");
  o.list("--first", a.first, "ARGUMENT",
         "that makes the program do less, for a first round; may be repeated");
  o.list("--sources", a.sources, "FOLDER", "in which source files are looked for; may be repeated");
  o.flag("--resume", a.resume, "go on with what an interrupted command has left in --out");
  o.flag(
      "--trust-equivalents", a.trust_equivalents,
      "do not run those of --equivalents on that survive the first round; the report counts them");
  o.flag("--whole-runs", a.whole_runs,
         "run every mutant to its end, even where no launch of it leaves anything else than "
         "unchanged: much slower");
  add_config(o, a.config);
}

void add_judge(Options& o, JudgeArguments& a) {
  o.value("--task", a.task, "FILE", "Python file that defines the contract and the reference");
  o.value("--entry", a.entry, "NAME", "kernel or function, if not the one that the task names");
  o.value("--cases", a.cases, "N", "generated cases; each is called three times")
      ->check(CLI::Range(1, 100000));
  o.value("--seed", a.seed, "N", "seed of the cases; without it a new one is drawn")
      ->check(CLI::NonNegativeNumber);
  o.value("--device", a.device, "sm_NN", "which device is simulated", kDevices)
      ->check(wrong_device);
  o.value("--json", a.json, "FILE", "write the result as JSON to FILE; -: stdout, without text");
  o.value("--html", a.html, "FILE", "write the result as a page for a browser to FILE");
  o.value("--time-limit", a.time_limit, "SECONDS", "how long the candidate may run")
      ->check(CLI::PositiveNumber);
  o.value("--memory-limit", a.memory_limit, "GIB",
          "how much host memory the candidate may allocate")
      ->check(CLI::Range(1, 1024));
  o.value("--isolation", a.isolation, "HOW",
          "full: in namespaces of its own, without network and files to write; off: not isolated",
          {"full", "off"})
      ->check(CLI::IsMember({"full", "off"}));
  add_config(o, a.config);
}

void add_options(Tree& tree, CLI::App& app, Command command, const Offer& offer,
                 CommandLine& line) {
  Options o(tree, app);
  switch (command) {
    case Command::kRun:
      add_run(o, line.run);
      app.footer(
          "Exit status: 0 all green; 1 not; 2 wrong usage, nothing was run; 3 set-up incomplete; 5 "
          "the GPU that was asked for is not there; 6 the\n"
          "sanitizer that was asked for is not there or blind; 130 and 143 interrupted.");
      break;
    case Command::kList:
      add_selection(o, line.run);
      o.flag("--names", line.run.names_only, "the suites alone");
      add_source(o, line.run);
      break;
    case Command::kExec:
    case Command::kCounters:
      add_reports(o, line.exec);
      add_settings(o, line.exec);
      break;
    case Command::kCoverage:
      add_coverage(o, line.exec);
      add_settings(o, line.exec);
      break;
    case Command::kMutate: add_mutate(o, line.mutate); break;
    case Command::kInspect:
      app.add_option("PROGRAM", line.program, "programs, or libraries")
          ->required()
          ->type_name("")
          ->group("What");
      app.footer(
          "LOCKSTEP_DEVICE=sm_NN says for which device. Exit status: 0 all can run; 1 some cannot; "
          "2 wrong usage.");
      break;
    case Command::kJudge:
      add_judge(o, line.judge);
      app.add_option("CANDIDATE", line.judge.candidate, "a .cu, .ptx or .py file")
          ->required()
          ->type_name("")
          ->group("What");
      app.footer(
          "Exit status: 0 accepted; 1 rejected; 2 wrong usage or task, nothing was judged; 3 "
          "set-up "
          "incomplete.");
      break;
    case Command::kCompare:
      add_judge(o, line.judge);
      app.add_option("OLD", line.judge.old_one, "a .cu, .ptx or .py file")
          ->required()
          ->type_name("")
          ->group("What");
      app.add_option("NEW", line.judge.candidate, "likewise")
          ->required()
          ->type_name("")
          ->group("What");
      app.footer(
          "Exit status: 0 the new one is accepted; 1 it is rejected; 2 wrong usage or task; 3 "
          "set-up incomplete.");
      break;
    case Command::kDiff:
      app.add_option("BEFORE", line.passport.before,
                     "a passport, a folder with a passport.json, or a folder with several such "
                     "folders, a run each")
          ->required()
          ->type_name("")
          ->group("What");
      app.add_option("AFTER", line.passport.after, "likewise")
          ->required()
          ->type_name("")
          ->group("What");
      app.footer(
          "The first line has the verdict, and why. Exit status: 0 the second is not worse; 1 "
          "worse: a verdict, other bits, more of an error bound,\n"
          "slower in runs made in turn; 2 the two cannot be compared.");
      break;
    case Command::kReport:
      app.add_option("FOLDER", line.passport.folder, "what a run wrote, or its passport.json")
          ->required()
          ->type_name("")
          ->group("What");
      o.value("--since", line.passport.compared_with, "PASSPORT",
              "show the change against this earlier one too");
      app.footer("Exit status: 0; 2 when there is nothing to make it from.");
      break;
    case Command::kNew:
      if (!offer.checkout)
        o.value(
            "--namespace", line.family_namespace, "NAMESPACE",
            "namespace of the family's C++ code, such as acme::linear_algebra; default: lockstep");
      app.add_option("NAME", line.program, "of the family, such as dot_product")
          ->required()
          ->expected(1)
          ->type_name("")
          ->group("What");
      break;
    case Command::kCompletion:
      tree.choices[app.add_option("SHELL", line.shell, "bash or zsh")
                       ->required()
                       ->type_name("")
                       ->check(CLI::IsMember({"bash", "zsh"}))
                       ->group("What")] = {"bash", "zsh"};
      app.footer(
          "  source <(lockstep completion bash)                    in ~/.bashrc\n"
          "  lockstep completion zsh > FOLDER/_lockstep            FOLDER among zsh's fpath");
      break;
    case Command::kTest:
      app.footer(
          "Options are Bazel's:\n"
          "  ./lockstep test //tests:stencil_test --test_arg=--cases=100\n"
          "  ./lockstep test --config=gpu         on the GPUs of this machine too; without any, "
          "their tests fail");
      break;
    case Command::kFormat:
      o.flag("--check", line.check, "change nothing, and fail if something would change");
      break;
    case Command::kBundle: break;
    case Command::kPackage:
    case Command::kSelfMutate: break;
  }
  if (takes_program(command)) {
    // In a checkout's script the command runs on the suites if no program is given.
    if (offer.checkout && command != Command::kExec) {
      const std::size_t own = app.get_options().size();
      o.group("Without a program, of the suites");
      o.list("--suite", line.run.suites, "NAME", "only this suite; several between commas");
      if (command != Command::kMutate) add_amounts(o, line.run);
      const std::vector<CLI::Option*> all = app.get_options();
      tree.of_a_run.insert(all.begin() + static_cast<std::ptrdiff_t>(own), all.end());
      app.footer(
          "[OPTION...] -- PROGRAM [ARGUMENT...], or without a program the suites themselves. "
          "docs/reference/exec.md, docs/reference/coverage.md, docs/reference/mutation.md");
    } else {
      app.footer("Write -- and then the program: [OPTION...] -- PROGRAM [ARGUMENT...]");
    }
  }
}

}  // namespace

bool takes_config(Command c) {
  return takes_program(c) || c == Command::kJudge || c == Command::kCompare || c == Command::kRun ||
         c == Command::kList;
}

bool takes_program(Command c) {
  return c == Command::kExec || c == Command::kCounters || c == Command::kCoverage ||
         c == Command::kMutate;
}

Offer whole_offer(bool checkout) {
  Offer offer;
  offer.checkout = checkout;
  for (const Named& n : kCommands) {
    if (checkout || !n.checkout) offer.commands.push_back(n.command);
  }
  return offer;
}

Tree make_tree(const Offer& offer, CommandLine& line, const std::string& only) {
  Tree tree;
  const std::string program = offer.checkout ? "./lockstep" : "lockstep";
  tree.app = std::make_unique<CLI::App>(
      "Correctness of CUDA kernels, on any machine: runs them on a simulated GPU that checks every "
      "access.",
      program);
  CLI::App& app = *tree.app;
  app.formatter(std::make_shared<Layout>());
  app.set_help_flag("-h,--help", "this text; of a command, its options");
  app.set_version_flag("--version", "lockstep " LOCKSTEP_VERSION, "the version");
  const auto offers = [&](Command c) {
    return std::find(offer.commands.begin(), offer.commands.end(), c) != offer.commands.end();
  };
  if (offers(Command::kNew) && !offer.checkout)
    app.add_flag("--prefix", line.prefix,
                 "print the folder of this installation, as CMAKE_PREFIX_PATH takes it");
  app.allow_extras();  // parse() reports them
  app.require_subcommand(0, 1);
  const bool all = std::none_of(std::begin(kCommands), std::end(kCommands), [&](const Named& n) {
    return offers(n.command) && only == n.name;
  });
  for (const Named& n : kCommands) {
    if (!offers(n.command)) continue;
    CLI::App* sub = app.add_subcommand(n.name, n.summary);
    sub->group(n.checkout ? "Commands of this checkout" : "Commands");
    sub->set_help_flag("-h,--help", "this text");
    if (all || only == n.name) add_options(tree, *sub, n.command, offer, line);
    sub->allow_extras();  // parse() reports them
    tree.commands[sub] = n.command;
  }
  return tree;
}

}  // namespace lockstep::command
