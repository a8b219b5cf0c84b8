#include "simulator/ptx/parser.h"

#include <unordered_map>
#include <unordered_set>

#include "simulator/isa/names.h"
#include "simulator/ptx/cursor.h"
#include "simulator/ptx/declarations.h"
#include "simulator/ptx/function_parser.h"

namespace lockstep::ptx {
namespace {

// Parses a part of a version or target; -1 if it is not a small number.
int small_number(std::string_view text) {
  constexpr std::uint64_t kLargest = 9999;
  const auto c = parse_number(text);
  return c && c->kind == Constant::Kind::kSigned && c->bits <= kLargest ? static_cast<int>(c->bits)
                                                                        : -1;
}

class ModuleParser {
 public:
  explicit ModuleParser(std::string_view text) : in_(text), state_(module_) {}

  Module parse() {
    header();
    while (!in_.at_end()) statement();
    check_uses();
    name_inline_sites();
    return std::move(module_);
  }

 private:
  void header() {
    if (!in_.accept(".version")) in_.unexpected("'.version', with which every PTX module begins");
    const Token version = in_.take();
    const std::size_t dot = version.text.find('.');
    const int major = small_number(version.text.substr(0, dot)),
              minor =
                  dot == std::string_view::npos ? -1 : small_number(version.text.substr(dot + 1));
    if (version.kind != Token::Kind::kNumber || major < 0 || minor < 0)
      in_.fail(version.line,
               "expected a version such as 9.0, found '" + std::string(version.text) + "'");
    module_.version_major = major;
    module_.version_minor = minor;
    if (!in_.accept(".target")) in_.unexpected("'.target'");
    target();
  }

  void target() {
    const int line = in_.line();
    module_.target = in_.expect_word("a target such as sm_90");
    std::string_view t = module_.target;
    if (!t.starts_with("sm_"))
      in_.fail(line, "expected a target such as sm_90, found '" + module_.target + "'");
    t.remove_prefix(3);
    if (t.ends_with('a') || t.ends_with('f')) {
      module_.target_suffix = t.back();
      t.remove_suffix(1);
    }
    const int number = small_number(t);
    if (number < 0)
      in_.fail(line, "expected a target such as sm_90, found '" + module_.target + "'");
    module_.target_number = number;
    // The other words are options of the whole module: debug, texmode_independent, map_f64_to_f32.
    while (in_.accept(',')) {
      maps_f64_ |= in_.expect_word("a target option") == "map_f64_to_f32";
    }
  }

  void statement() {
    if (in_.accept(';')) return;
    if (in_.accept(".address_size")) {
      const int line = in_.line();
      if (in_.expect_integer("32 or 64") != 64)
        in_.fail(line, "only 64-bit addresses are supported");
    } else if (in_.accept(".file")) {
      file();
    } else if (in_.accept(".section")) {
      section();
    } else if (in_.accept(".pragma")) {
      while (!in_.accept(';')) {
        if (in_.at_end()) in_.unexpected("';'");
        in_.take();
      }
    } else if (in_.accept(".alias")) {
      std::string first(in_.expect_word("a function"));
      in_.expect(',');
      const int line = in_.line();
      std::string second(in_.expect_word("a function"));
      in_.expect(';');
      state_.uses.push_back({second, line, ""});
      module_.aliases.emplace_back(std::move(first), std::move(second));
    } else {
      const Linkage linkage = parse_linkage(in_);
      if (in_.at(".entry") || in_.at(".func")) {
        function(linkage);
      } else if (in_.at(".global") || in_.at(".const") || in_.at(".shared") || in_.at(".local")) {
        variables(linkage);
      } else {
        in_.unexpected("a directive of module scope");
      }
    }
  }

  void file() {
    const std::uint32_t number = in_.expect_count("a file number");
    if (in_.current().kind != Token::Kind::kString) in_.unexpected("a file name");
    if (number > 1u << 20) in_.fail("file number " + std::to_string(number) + " is out of range");
    if (module_.files.size() <= number) module_.files.resize(number + 1);
    module_.files[number] = in_.take().text;
    while (in_.accept(',')) in_.expect_integer("a time stamp or size");
  }

  // Skips DWARF, except for the strings that name inlined functions.
  void section() {
    if (!in_.at_directive() && !in_.at_word()) in_.unexpected("a section's name");
    if (!in_.take().is(".debug_str")) {
      in_.skip_braces();
      return;
    }
    in_.expect('{');
    std::string label;
    while (!in_.accept('}')) {
      if (in_.at_end()) in_.unexpected("'}'");
      if (in_.at_word()) {
        label = in_.take().text;
        in_.expect(':');
      } else if (in_.accept(".b8")) {
        do {
          const auto c = static_cast<char>(in_.expect_integer("a byte"));
          debug_strings_[label] += c;
        } while (in_.accept(','));
      } else {
        in_.unexpected("a label or .b8");
      }
    }
  }

  void add_variable(Variable v, int line) {
    const auto [it, inserted] = variables_.emplace(v.name, module_.variables.size());
    if (inserted) {
      module_.variables.push_back(std::move(v));
      return;
    }
    Variable& known = module_.variables[it->second];
    if (!known.is_extern && !v.is_extern)
      in_.fail(line, "variable " + v.name + " is defined twice");
    if (known.is_extern) known = std::move(v);
  }

  void variables(const Linkage& linkage) {
    const int line = in_.line();
    for (Variable& v : parse_variables(in_, linkage)) {
      for (const auto& r : v.relocations) state_.uses.push_back({r.symbol, line, ""});
      add_variable(std::move(v), line);
    }
  }

  void launch_bounds(std::uint32_t (&out)[3]) {
    out[0] = out[1] = out[2] = 1;
    for (int i = 0; i < 3; ++i) {
      out[i] = in_.expect_count("a number of threads or blocks");
      if (!in_.accept(',')) break;
    }
  }

  void function_directives(Function& f) {
    for (;;) {
      if (in_.accept(".maxntid")) {
        launch_bounds(f.max_threads);
      } else if (in_.accept(".reqntid")) {
        launch_bounds(f.required_threads);
      } else if (in_.accept(".reqnctapercluster")) {
        launch_bounds(f.required_cluster);
      } else if (in_.accept(".minnctapersm")) {
        f.min_blocks = in_.expect_count("a number of blocks");
      } else if (in_.accept(".maxnctapersm")) {
        in_.expect_count("a number of blocks");
      } else if (in_.accept(".maxnreg")) {
        f.max_registers = in_.expect_count("a number of registers");
      } else if (in_.accept(".maxclusterrank")) {
        f.max_cluster_rank = in_.expect_count("a number of blocks");
      } else if (in_.accept(".explicitcluster")) {
        f.explicit_cluster = true;
      } else if (in_.accept(".noreturn")) {
        f.noreturn = true;
      } else if (in_.accept(".abi_preserve") || in_.accept(".abi_preserve_control")) {
        in_.expect_count("a number of registers");
      } else if (in_.accept(".attribute")) {
        // Skips .unified, which only identifies the function across modules of one process.
        in_.expect('(');
        while (!in_.accept(')')) {
          if (in_.at_end()) in_.unexpected("')'");
          if (in_.accept('(')) {
            while (!in_.accept(')')) {
              if (in_.at_end()) in_.unexpected("')'");
              in_.take();
            }
          } else {
            in_.take();
          }
        }
      } else if (in_.accept(".pragma")) {
        while (!in_.accept(';')) {
          if (in_.at_end()) in_.unexpected("';'");
          in_.take();
        }
      } else {
        return;
      }
    }
  }

  void function(const Linkage& linkage) {
    const int line = in_.line();
    Function f;
    f.is_kernel = in_.take().is(".entry");
    f.is_extern = linkage.is_extern;
    f.is_weak = linkage.is_weak;
    f.is_visible = linkage.is_visible;
    function_directives(f);  // .attribute may stand before the name
    f.name = parse_signature(in_, f.results, f.parameters);
    if (f.is_kernel && !f.results.empty()) in_.fail(line, "a kernel returns nothing: " + f.name);
    in_.function = f.name;
    function_directives(f);
    if (in_.accept(';')) {
      f.is_declaration = true;
    } else {
      if (!in_.at('{')) in_.unexpected("'{' or ';'");
      body(f);
    }
    in_.function.clear();
    add_function(std::move(f), line);
  }

  // Parses a body; skips its rest after an unknown instruction.
  void body(Function& f) {
    const Cursor begin = in_;
    const Function declared = f;
    try {
      parse_body(in_, state_, f);
      if (maps_f64_) refuse_f64(f);
    } catch (const Failure& failure) {
      if (!failure.unknown_instruction) throw;
      in_ = begin;
      in_.skip_braces();
      f = declared;
      f.unknown = Function::Unknown{failure.error.line, failure.error.message};
    }
  }

  // Refuses .f64 instructions under map_f64_to_f32, which would compute in .f32 (PTX ISA, "PTX
  // Module Directives: .target"). Targets that need the option are not simulated, and such modules
  // seldom use .f64.
  void refuse_f64(const Function& f) {
    for (const Instruction& i : f.body) {
      if (i.modifiers.type == Type::kF64 || i.modifiers.source_type == Type::kF64)
        in_.fail_unknown(i.ptx_line, "'" + i.text +
                                         "' under the target option map_f64_to_f32 is not "
                                         "supported");
    }
  }

  void add_function(Function f, int line) {
    const auto [it, inserted] = functions_.emplace(f.name, module_.functions.size());
    if (inserted) {
      module_.functions.push_back(std::move(f));
      return;
    }
    Function& known = module_.functions[it->second];
    if (!known.is_declaration && !f.is_declaration)
      in_.fail(line, "function " + f.name + " is defined twice");
    if (known.is_declaration) known = std::move(f);
  }

  // Names in instructions and initialisers must be defined somewhere in the module.
  void check_uses() {
    std::unordered_set<std::string_view> aliases;
    for (const auto& a : module_.aliases) aliases.insert(a.first);
    for (const SymbolUse& use : state_.uses) {
      const auto f = functions_.find(use.name);
      if (f == functions_.end() && !aliases.contains(use.name)) {
        if (variables_.contains(use.name) && !use.is_call) continue;
        throw Failure{{use.line, use.function, "undefined symbol '" + use.name + "'"}};
      }
      if (!use.is_call || f == functions_.end()) continue;
      const Function& callee = module_.functions[f->second];
      if (callee.is_kernel)
        throw Failure{{use.line, use.function, "a kernel cannot be called: " + use.name}};
      if (callee.results.size() != use.results.size() ||
          callee.parameters.size() != use.arguments.size())
        throw Failure{{use.line, use.function,
                       use.name + " takes " + std::to_string(callee.parameters.size()) +
                           " arguments and returns " + std::to_string(callee.results.size()) +
                           " values; the call has " + std::to_string(use.arguments.size()) +
                           " and " + std::to_string(use.results.size())}};
      check_passed(use, callee.parameters, use.arguments);
      check_passed(use, callee.results, use.results);
    }
  }

  // Compares only sizes; ptxas also requires equal alignments.
  static void check_passed(const SymbolUse& use, const std::vector<Variable>& formal,
                           const std::vector<std::uint64_t>& bytes) {
    for (std::size_t n = 0; n < formal.size(); ++n) {
      if (bytes[n] == 0 || formal[n].size == 0 || bytes[n] == formal[n].size) continue;
      throw Failure{{use.line, use.function,
                     formal[n].name + " of " + use.name + " has " + std::to_string(formal[n].size) +
                         " bytes; the call passes " + std::to_string(bytes[n])}};
    }
  }

  // Replaces labels by function names in the inline sites. The strings follow at the module's end.
  void name_inline_sites() {
    for (InlineSite& site : module_.inline_sites) {
      const std::size_t plus = site.function.find('+');
      std::size_t offset = 0;
      if (plus != std::string::npos)
        offset = static_cast<std::size_t>(parse_number(site.function.substr(plus + 1))->bits);
      const auto found = debug_strings_.find(site.function.substr(0, plus));
      std::string name;
      if (found != debug_strings_.end() && offset < found->second.size())
        name = found->second.c_str() + offset;
      site.function = std::move(name);
    }
  }

  Module module_;
  Cursor in_;
  ModuleState state_;
  bool maps_f64_ = false;  // the target option map_f64_to_f32
  std::unordered_map<std::string, std::size_t> variables_;
  std::unordered_map<std::string, std::size_t> functions_;
  std::unordered_map<std::string, std::string> debug_strings_;
};

}  // namespace

std::variant<Module, ParseError> parse(std::string_view ptx) {
  try {
    return ModuleParser(ptx).parse();
  } catch (const Failure& failure) {
    return failure.error;
  }
}

}  // namespace lockstep::ptx
