#include "simulator/ptx/function_parser.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "simulator/isa/names.h"
#include "simulator/ptx/declarations.h"
#include "simulator/ptx/operand_check.h"
#include "simulator/ptx/scope.h"

namespace lockstep::ptx {
namespace {

// More registers than any program uses: a larger count is a mistake in the text.
constexpr std::uint32_t kMaxRegisters = 1u << 20;

// The nesting depth of braces and brackets in an operand, with some reserve.
constexpr int kDeepestOperand = 8;

class BodyParser {
 public:
  BodyParser(Cursor& in, ModuleState& state, Function& function)
      : in_(in), state_(state), function_(function) {}

  void parse() {
    const int opened = in_.line();
    scopes_.open();  // parameters and results have a scope around the body's own block
    for (const Variable& v : function_.results) scopes_.add_variable(v.name, v.name);
    for (const Variable& v : function_.parameters)
      if (!scopes_.add_variable(v.name, v.name)) in_.fail("a second parameter is called " + v.name);
    for (const Variable& v : function_.parameters) ++names_[v.name];
    for (const Variable& v : function_.results) ++names_[v.name];
    in_.expect('{');
    scopes_.open();
    while (scopes_.depth() > 1) {
      if (in_.at_end()) in_.fail(opened, "'{' is never closed");
      statement();
    }
    for (const auto& p : scopes_.close(function_.body)) undefined_label(p);
  }

 private:
  [[noreturn]] void undefined_label(const Scopes::Pending& p) {
    in_.fail(p.line, "undefined label '" + std::string(p.label) + "'");
  }

  void statement() {
    if (in_.at('{')) {
      in_.take();
      scopes_.open();
    } else if (in_.at('}')) {
      in_.take();
      scopes_.close(function_.body);
    } else if (in_.at(';')) {
      in_.take();
    } else if (in_.at_directive()) {
      directive();
    } else if (in_.at('@')) {
      const int line = in_.line();
      in_.take();
      Guard guard;
      guard.present = true;
      guard.negated = in_.accept('!');
      const std::string_view name = in_.expect_word("a predicate");
      const auto reg = scopes_.find_register(name);
      if (!reg) in_.fail(line, "undefined register '" + std::string(name) + "'");
      if (function_.registers[*reg].type != Type::kPred)
        in_.fail(line, std::string(name) + " is no predicate");
      guard.index = *reg;
      if (!in_.at_word()) in_.unexpected("an instruction");
      const Token opcode = in_.take();
      instruction(opcode, guard);
    } else if (in_.at_word()) {
      const Token word = in_.take();
      if (in_.accept(':')) {
        label(word);
      } else {
        instruction(word, {});
      }
    } else {
      in_.unexpected("an instruction, a label or a declaration");
    }
  }

  // ---- Declarations -----------------------------------------------------------------------------

  void directive() {
    const std::string_view d = in_.current().text;
    if (d == ".reg") {
      in_.take();
      registers();
    } else if (d == ".loc") {
      in_.take();
      location();
    } else if (d == ".pragma") {
      in_.take();
      while (!in_.accept(';')) {
        if (in_.at_end()) in_.unexpected("';'");
        in_.take();
      }
    } else if (d == ".local" || d == ".shared" || d == ".param" || d == ".global" ||
               d == ".const") {
      variables({});
    } else if (d == ".extern" || d == ".visible" || d == ".weak" || d == ".common") {
      const Linkage linkage = parse_linkage(in_);
      variables(linkage);
    } else {
      in_.unexpected("a directive that may stand in a function");
    }
  }

  void registers() {
    const int line = in_.line();
    if (in_.at(".v2") || in_.at(".v4"))
      in_.fail(line, "vector registers are not supported: declare their elements");
    const Type type = expect_type(in_);
    do {
      const std::string_view name = in_.expect_word("a register's name");
      const auto first = static_cast<std::uint32_t>(function_.registers.size());
      if (in_.accept('<')) {
        // Not parsed as an expression, since '>' would count as a comparison.
        const auto number = parse_number(in_.current().text);
        if (in_.current().kind != Token::Kind::kNumber || !number || number->bits > kMaxRegisters)
          in_.unexpected("a number of registers");
        const auto count = static_cast<std::uint32_t>(number->bits);
        in_.take();
        in_.expect('>');
        if (count > kMaxRegisters - first) in_.fail(line, "too many registers");
        if (!scopes_.add_register_range(name, first, count))
          in_.fail(line, "registers " + std::string(name) + "<> are declared twice");
        for (std::uint32_t i = 0; i < count; ++i)
          function_.registers.push_back({std::string(name) + std::to_string(i), type});
      } else {
        if (!scopes_.add_register(name, first))
          in_.fail(line, "register " + std::string(name) + " is declared twice");
        function_.registers.push_back({std::string(name), type});
      }
    } while (in_.accept(','));
    in_.expect(';');
  }

  void variables(const Linkage& linkage) {
    const int line = in_.line();
    for (Variable& v : parse_variables(in_, linkage)) {
      // The first variable of a name keeps it. Variables of other blocks get a suffix that no PTX
      // name can contain.
      const int seen = names_[v.name]++;
      const std::string renamed = seen == 0 ? v.name : v.name + "#" + std::to_string(seen + 1);
      const std::string& key =
          *keep_.emplace(keep_.end(), std::make_unique<std::string>(v.name))->get();
      if (!scopes_.add_variable(key, renamed))
        in_.fail(line, "variable " + v.name + " is declared twice");
      v.name = renamed;
      function_.variables.push_back(std::move(v));
    }
  }

  void location() {
    SourceLocation at;
    at.file = static_cast<int>(in_.expect_count("a file number"));
    at.line = static_cast<int>(in_.expect_count("a line"));
    at.column = static_cast<int>(in_.expect_count("a column"));
    std::string inlined_function;
    while (in_.accept(',')) {
      if (in_.accept("function_name")) {
        inlined_function = in_.expect_word("a label");
        if (in_.accept('+'))
          inlined_function += "+" + std::to_string(in_.expect_count("an offset"));
      } else if (in_.accept("inlined_at")) {
        SourceLocation caller;
        caller.file = static_cast<int>(in_.expect_count("a file number"));
        caller.line = static_cast<int>(in_.expect_count("a line"));
        caller.column = static_cast<int>(in_.expect_count("a column"));
        const auto outer = state_.inlined_locations.find({caller.file, caller.line, caller.column});
        if (outer != state_.inlined_locations.end()) caller.inlined_at = outer->second;
        at.inlined_at = state_.inline_site(inlined_function, caller);
        state_.inlined_locations[{at.file, at.line, at.column}] = at.inlined_at;
      } else {
        in_.unexpected("function_name or inlined_at");
      }
    }
    source_ = at;
  }

  void label(const Token& name) {
    if (in_.accept(".callprototype")) {
      Prototype p;
      parse_signature(in_, p.results, p.parameters);
      while (!in_.at(';')) {
        if (in_.accept(".noreturn")) {
          p.noreturn = true;
        } else if (in_.accept(".abi_preserve") || in_.accept(".abi_preserve_control")) {
          in_.expect_count("a number of registers");
        } else {
          in_.unexpected("';'");
        }
      }
      in_.take();
      function_.prototypes[std::string(name.text)] = std::move(p);
      return;
    }
    if (in_.accept(".calltargets")) {
      do {
        const int line = in_.line();
        state_.uses.push_back({std::string(in_.expect_word("a function")), line, in_.function});
      } while (in_.accept(','));
      in_.expect(';');
      call_targets_.push_back(std::string(name.text));
      return;
    }
    if (in_.accept(".branchtargets")) {
      std::vector<std::string_view> labels;
      do {
        const std::string_view prefix = in_.expect_word("a label");
        if (in_.at('<')) in_.fail("ranges of branch targets are not supported: list them");
        labels.push_back(prefix);
      } while (in_.accept(','));
      in_.expect(';');
      if (!scopes_.add_targets(name.text, std::move(labels)))
        in_.fail(name.line, "label '" + std::string(name.text) + "' is defined twice");
      return;
    }
    if (!scopes_.add_label(name.text, static_cast<std::uint32_t>(function_.body.size())))
      in_.fail(name.line, "label '" + std::string(name.text) + "' is defined twice");
  }

  // ---- Operands ---------------------------------------------------------------------------------

  Operand immediate() {
    const Constant c = in_.expect_constant("an operand");
    Operand o;
    o.kind = Operand::Kind::kImmediate;
    o.is_float = c.kind == Constant::Kind::kFloat;
    o.bits = c.bits;
    return o;
  }

  // A name as an operand: a register, a special register, or a symbol that is resolved later.
  Operand named(const Token& word) {
    Operand o;
    if (word.text == "_") {
      o.kind = Operand::Kind::kSink;
    } else if (const auto reg = scopes_.find_register(word.text)) {
      o.kind = Operand::Kind::kRegister;
      o.index = *reg;
    } else if (const SpecialRegister s = isa::special_register_from_name(word.text);
               s != SpecialRegister::kNone) {
      o.kind = Operand::Kind::kSpecialRegister;
      o.special = s;
    } else if (const auto dot = word.text.rfind('.');
               dot != std::string_view::npos && scopes_.find_register(word.text.substr(0, dot))) {
      o.kind = Operand::Kind::kRegister;
      o.index = *scopes_.find_register(word.text.substr(0, dot));
      if (!isa::selector_from(word.text.substr(dot + 1), o.selector))
        in_.fail(word.line, "'" + std::string(word.text.substr(dot)) + "' is no selector");
    } else if (word.text[0] == '%') {
      in_.fail(word.line, "undefined register '" + std::string(word.text) + "'");
    } else {
      o.kind = Operand::Kind::kSymbol;
      o.symbol = word.text;
    }
    return o;
  }

  // "+4", "-4", "+-4" or nothing.
  std::int64_t offset() {
    if (!in_.at('+') && !in_.at('-')) return 0;
    const bool minus = in_.take().is('-');
    const auto v = static_cast<std::uint64_t>(in_.expect_integer("an offset"));
    return static_cast<std::int64_t>(minus ? 0 - v : v);  // wraps, as addresses do
  }

  Operand address(int depth) {
    in_.expect('[');
    Operand o;
    o.kind = Operand::Kind::kAddress;
    if (in_.at_word() && !in_.at("WARP_SZ")) {
      const Token word = in_.take();
      const Operand base = named(word);
      if (base.kind == Operand::Kind::kRegister) {
        if (const Type t = function_.registers[base.index].type;
            t == Type::kPred || size_of(t) < 4 || size_of(t) > 8)
          in_.fail(word.line, std::string(word.text) + " cannot hold an address");
        o.has_register = true;
        o.index = base.index;
      } else if (base.kind == Operand::Kind::kSymbol) {
        o.symbol = base.symbol;
        resolve_symbol(o, word.line);
      } else {
        in_.fail(word.line, "'" + std::string(word.text) + "' is no base of an address");
      }
      o.offset = offset();
    } else {
      o.offset = in_.expect_integer("an address");
    }
    while (in_.accept(',')) o.elements.push_back(operand(depth + 1));
    in_.expect(']');
    return o;
  }

  Operand operand(int depth = 0) {
    if (depth == kDeepestOperand) in_.fail("an operand nested deeper than any instruction's");
    if (in_.at('[')) return address(depth);
    if (in_.accept('{')) {
      Operand o;
      o.kind = Operand::Kind::kVector;
      do {
        o.elements.push_back(operand(depth + 1));
      } while (in_.accept(','));
      in_.expect('}');
      return in_.accept('|') ? pair(std::move(o)) : o;
    }
    if (in_.at('!')) {
      in_.take();
      if (!in_.at_word()) in_.unexpected("a predicate");
      const Token word = in_.take();
      Operand o = named(word);
      if (o.kind != Operand::Kind::kRegister)
        in_.fail(word.line, "undefined register '" + std::string(word.text) + "'");
      o.kind = Operand::Kind::kNegatedPredicate;
      return o;
    }
    if (in_.at('-')) {
      const Cursor before = in_;
      in_.take();
      if (in_.at_word() && !in_.at("WARP_SZ")) {
        Operand o = named(in_.take());
        o.minus = true;
        return o;
      }
      in_ = before;
    }
    if (!in_.at_word() || in_.at("WARP_SZ")) return immediate();
    Operand o = named(in_.take());
    if (o.kind == Operand::Kind::kSymbol) o.offset = offset();
    return in_.accept('|') ? pair(std::move(o)) : o;
  }

  // What follows "p|".
  Operand pair(Operand first) {
    Operand o;
    o.kind = Operand::Kind::kPair;
    o.elements.push_back(std::move(first));
    if (!in_.at_word()) in_.unexpected("a register");
    o.elements.push_back(named(in_.take()));
    return o;
  }

  // A symbol is a variable of this function, which has a unique name, or must be defined by the end
  // of the module.
  void resolve_symbol(Operand& o, int line) {
    if (const std::string* renamed = scopes_.find_variable(o.symbol)) {
      o.symbol = *renamed;
    } else {
      state_.uses.push_back({o.symbol, line, in_.function});
    }
  }

  // ---- Instructions -----------------------------------------------------------------------------

  // Modules for devices before sm_20 have a mad.f32 without rounding, which newer ones compute as
  // fma.rn.ftz.f32 (PTX ISA, "Floating Point Instructions: mad").
  std::string_view spelling(std::string_view opcode) const {
    constexpr int kFirstFused = 20;
    if (state_.module.target_number >= kFirstFused) return opcode;
    if (opcode == "mad.f32") return "mad.rn.ftz.f32";
    return opcode == "mad.sat.f32" ? "mad.rn.ftz.sat.f32" : opcode;
  }

  void instruction(const Token& opcode, const Guard& guard) {
    const std::vector<isa::Match>& matches = state_.matches(spelling(opcode.text));
    if (matches.empty()) {
      const std::string nearest = isa::explain_no_match(opcode.text);
      const bool of_ptx = isa::is_instruction(opcode.text) || state_.module.version_major > kNewest;
      const auto fail = [&](std::string why) {
        of_ptx ? in_.fail_unknown(opcode.line, std::move(why))
               : in_.fail(opcode.line, std::move(why));
      };
      const std::string name = "'" + std::string(opcode.text) + "'";
      fail(nearest.empty() ? "unknown instruction " + name
           : isa::has_forms_not_here(opcode.text)
               ? name + " is not implemented by the simulated GPU, or is no instruction: " + nearest
               : "no instruction " + name + ": " + nearest);
    }
    Instruction i;
    i.guard = guard;
    i.source = source_;
    i.ptx_line = opcode.line;
    i.text = opcode.text;
    if (matches.front().form->row->opcode == Opcode::k_call) {
      i.opcode = Opcode::k_call;
      i.row = matches.front().form->row;
      i.modifiers = matches.front().modifiers;
      call(i);
    } else {
      if (!in_.at(';')) {
        do {
          i.operands.push_back(operand());
        } while (in_.accept(','));
      }
      if (!in_.at(';')) {
        if (in_.line() != opcode.line)
          in_.fail(opcode.line, "expected ';' or ',' after '" + i.text + "' and its operands");
        in_.unexpected("';' or ','");
      }
      in_.take();
      choose_form(i, matches);
    }
    function_.body.push_back(std::move(i));
  }

  static constexpr int kNewest = 9;  // the PTX version whose instructions are all known by name
  static constexpr int kOldestTarget = 75;  // of the rows of isa/form_rows.inc

  bool available(const isa::FormRow& row) const {
    const Module& m = state_.module;
    if (row.ptx > m.version_major * 10 + m.version_minor) return false;
    // A driver treats code for a device older than any that nvcc supports as code for a newer
    // device.
    return isa::exists_on(row, std::max(m.target_number, kOldestTarget), m.target_suffix);
  }

  void choose_form(Instruction& i, const std::vector<isa::Match>& matches) {
    Misfit nearest;
    const isa::Form* nearest_form = nullptr;
    const isa::FormRow* too_new = nullptr;
    for (const isa::Match& match : matches) {
      for (const auto& rules : match.form->operands) {
        if (!policy_agrees(i, rules)) continue;
        Misfit misfit = check_operands(match, rules, i.operands, function_.registers);
        if (!misfit.reason.empty()) {
          if (nearest_form == nullptr || misfit.progress > nearest.progress)
            nearest = misfit, nearest_form = match.form;
          continue;
        }
        if (spelling(i.text) == i.text && !available(*match.form->row)) {
          too_new = match.form->row;
          continue;
        }
        accept(i, match, rules);
        return;
      }
    }
    if (too_new != nullptr) {
      in_.fail(i.ptx_line, "'" + i.text + "' needs PTX ISA " + std::to_string(too_new->ptx / 10) +
                               "." + std::to_string(too_new->ptx % 10) + " and sm_" +
                               std::to_string(too_new->sm) + (too_new->suffix != 0 ? "a" : "") +
                               "; this module is " + std::to_string(state_.module.version_major) +
                               "." + std::to_string(state_.module.version_minor) + " for " +
                               state_.module.target);
    }
    in_.fail_unknown(i.ptx_line,
                     "'" + i.text + "': " + nearest.reason +
                         (nearest_form ? "; the form is: " + std::string(nearest_form->row->syntax)
                                       : std::string()));
  }

  // An operand for the cache policy must be present exactly if the opcode requests one.
  static bool policy_agrees(const Instruction& i, const std::vector<isa::OperandRule>& rules) {
    bool has = false;
    for (const isa::OperandRule& r : rules) has |= r.name == "policy";
    return has == (i.text.find(".L2::cache_hint") != std::string::npos);
  }

  void accept(Instruction& i, const isa::Match& match, const std::vector<isa::OperandRule>& rules) {
    i.opcode = match.form->row->opcode;
    i.modifiers = match.modifiers;
    i.rules = &rules;
    i.row = match.form->row;
    settle_operands(match, rules, i.operands);
    for (std::size_t n = 0; n < rules.size(); ++n) {
      Operand& o = i.operands[n];
      if (rules[n].role == isa::OperandRule::Role::kLabel ||
          rules[n].role == isa::OperandRule::Role::kLabelList) {
        pend_label(o, n, i.ptx_line, rules[n].role == isa::OperandRule::Role::kLabelList);
      } else if (o.kind == Operand::Kind::kSymbol) {
        resolve_symbol(o, i.ptx_line);
      }
    }
  }

  void pend_label(Operand& o, std::size_t n, int line, bool list) {
    keep_.push_back(std::make_unique<std::string>(std::move(o.symbol)));
    o.symbol.clear();
    o.kind = list ? Operand::Kind::kList : Operand::Kind::kLabel;
    scopes_.add_pending({function_.body.size(), n, -1, *keep_.back(), line});
  }

  Operand call_list() {
    Operand list;
    list.kind = Operand::Kind::kList;
    in_.expect('(');
    if (in_.accept(')')) return list;
    do {
      const int line = in_.line();
      Operand o = operand();
      if (o.kind == Operand::Kind::kSymbol) {
        const std::string* renamed = scopes_.find_variable(o.symbol);
        if (renamed == nullptr) in_.fail(line, "undefined symbol '" + o.symbol + "'");
        o.symbol = *renamed;
      } else if (o.kind != Operand::Kind::kRegister && o.kind != Operand::Kind::kImmediate) {
        in_.fail(line, "an argument is a .param variable, a register or a constant");
      }
      list.elements.push_back(std::move(o));
    } while (in_.accept(','));
    in_.expect(')');
    return list;
  }

  std::vector<std::uint64_t> passed_bytes(const Operand& list) const {
    std::vector<std::uint64_t> bytes;
    for (const Operand& o : list.elements) bytes.push_back(passed_bytes_of(o));
    return bytes;
  }

  std::uint64_t passed_bytes_of(const Operand& o) const {
    if (o.kind == Operand::Kind::kRegister)
      return static_cast<std::uint64_t>(size_of(function_.registers[o.index].type));
    if (o.kind != Operand::Kind::kSymbol) return 0;
    const auto named = [&o](const Variable& v) { return v.name == o.symbol; };
    // The variables of a call directly precede it.
    const auto& variables = function_.variables;
    const auto v = std::find_if(variables.rbegin(), variables.rend(), named);
    if (v != variables.rend()) return v->size;
    for (const auto* own : {&function_.parameters, &function_.results}) {
      const auto p = std::find_if(own->begin(), own->end(), named);
      if (p != own->end()) return p->size;
    }
    return 0;
  }

  void call(Instruction& i) {
    i.operands.resize(4);
    i.operands[0].kind = i.operands[2].kind = Operand::Kind::kList;
    if (in_.at('(')) {
      i.operands[0] = call_list();
      in_.expect(',');
    }
    if (!in_.at_word()) in_.unexpected("a function");
    const Token target = in_.take();
    i.operands[1] = named(target);
    if (in_.accept(',')) {
      if (in_.at('(')) {
        i.operands[2] = call_list();
        if (in_.accept(',')) prototype(i);
      } else {
        prototype(i);
      }
    }
    in_.expect(';');
    if (i.operands[1].kind == Operand::Kind::kSymbol) {
      state_.uses.push_back({i.operands[1].symbol, i.ptx_line, in_.function, true,
                             passed_bytes(i.operands[0]), passed_bytes(i.operands[2])});
    } else if (i.operands[1].kind != Operand::Kind::kRegister) {
      in_.fail(target.line, "'" + std::string(target.text) + "' cannot be called");
    } else if (i.operands[3].kind == Operand::Kind::kNone) {
      in_.fail(target.line, "an indirect call names its .callprototype or .calltargets");
    }
  }

  void prototype(Instruction& i) {
    const int line = in_.line();
    Operand& o = i.operands[3];
    o.kind = Operand::Kind::kSymbol;
    o.symbol = in_.expect_word("the label of a .callprototype or .calltargets");
    bool known = function_.prototypes.contains(o.symbol);
    for (const std::string& t : call_targets_) known |= t == o.symbol;
    if (!known) in_.fail(line, "undefined prototype '" + o.symbol + "'");
  }

  Cursor& in_;
  ModuleState& state_;
  Function& function_;
  Scopes scopes_;
  SourceLocation source_;
  std::unordered_map<std::string, int> names_;      // variables so far, by the name as written
  std::vector<std::unique_ptr<std::string>> keep_;  // names to which scopes_ has views
  std::vector<std::string> call_targets_;
};

// An opcode in PTX 9.0 form. PTX 9.1 allows .volatile for .local, which later NVRTC versions
// generate. No other thread accesses local memory, so it equals the plain access.
std::string as_in_9_0(std::string_view opcode, const Module& m) {
  std::string plain(opcode);
  constexpr std::string_view kVolatile = ".volatile";
  const bool is_newer = m.version_major * 10 + m.version_minor > 90;
  if (is_newer &&
      (opcode.starts_with("ld.volatile.local.") || opcode.starts_with("st.volatile.local.")))
    plain.erase(2, kVolatile.size());
  return plain;
}

}  // namespace

const std::vector<isa::Match>& ModuleState::matches(std::string_view opcode) {
  const auto found = cache_.find(opcode);
  if (found != cache_.end()) return found->second;
  return cache_.emplace(opcode, isa::match_opcode(as_in_9_0(opcode, module))).first->second;
}

int ModuleState::inline_site(const std::string& function_label, const SourceLocation& caller) {
  const auto key =
      std::make_tuple(function_label, caller.file, caller.line, caller.column, caller.inlined_at);
  const auto [it, inserted] = sites_.emplace(key, static_cast<int>(module.inline_sites.size()));
  if (inserted) module.inline_sites.push_back({function_label, caller});
  return it->second;
}

void parse_body(Cursor& in, ModuleState& state, Function& function) {
  BodyParser(in, state, function).parse();
}

std::string parse_signature(Cursor& in, std::vector<Variable>& results,
                            std::vector<Variable>& parameters) {
  if (in.at('(')) results = parse_parameter_list(in);
  std::string name(in.expect_word("a name"));
  if (in.at('(')) parameters = parse_parameter_list(in);
  return name;
}

}  // namespace lockstep::ptx
