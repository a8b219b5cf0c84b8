#include "simulator/fuzz/differential/generator.h"

#include <algorithm>
#include <set>

#include "simulator/fuzz/differential/data.h"
#include "simulator/fuzz/differential/writer.h"

namespace lockstep::fuzz::differential {
namespace {

using isa::Opcode;
using Kind = Statement::Kind;

// The approximate number of statements of a program, without nested ones. If ptxas is used, it
// takes most of the time, so most programs for a GPU are small.
struct Size {
  int least, most, depth, inner;
};
constexpr Size kUsual = {8, 30, 3, 4}, kSmall = {2, 8, 2, 2};

class Generator {
 public:
  Generator(const Recipe& recipe, Program& program)
      : recipe_(recipe),
        choose_(
            mixed(recipe.seed * 0x9e3779b97f4a7c15 + static_cast<std::uint64_t>(recipe.row + 1))),
        program_(program) {}

  void run() {
    const Catalogue& all = Catalogue::get();
    Program& p = program_;
    p.seed = recipe_.number();
    if (recipe_.silicon && choose_.percent(96)) size_ = kSmall;
    const Row* row = recipe_.row >= 0 && recipe_.row < static_cast<int>(all.rows().size())
                         ? &all.rows()[static_cast<std::size_t>(recipe_.row)]
                         : nullptr;
    const std::size_t t = choose_.below(20);
    p.target = recipe_.silicon || t < 13 ? 90 : t < 16 ? 80 : t < 17 ? 75 : 100;
    if (row != nullptr && row->form->sm > p.target) p.target = row->form->sm <= 90 ? 90 : 100;
    if (p.target == 100) p.suffix = 'a';
    p.referenced = choose_.percent(60);
    if (row != nullptr && p.referenced &&
        Menu::of(p.target, recipe_.silicon, true)
            .examples[static_cast<std::size_t>(recipe_.row)]
            .empty() &&
        row->place != Place::kText && row->place != Place::kControl)
      p.referenced = false;
    const Menu& menu = Menu::of(p.target, recipe_.silicon, p.referenced);
    constexpr std::uint32_t kThreads[] = {32, 64, 64, 96, 128};
    p.threads = choose_.of(kThreads);
    p.blocks =
        static_cast<std::uint32_t>(1 + choose_.below(std::min<std::size_t>(4, 256 / p.threads)));
    p.input_offset = static_cast<std::uint32_t>(
        256 * (1 + choose_.below((kInputBytes - 256 * kInputStride - kWindow) / 256 - 1)));
    for (std::size_t i = 0; i < p.arguments.size(); ++i)
      p.arguments[i] = static_cast<std::uint32_t>(choose_.bits());
    for (std::size_t i = 0; i < 4; ++i)
      p.arguments[i] = static_cast<std::uint32_t>(choose_.below(4));  // trip counts
    // A register that is not stored at the end may lose its slot after its last use.
    if (choose_.percent(75))
      p.kept = static_cast<std::uint32_t>((choose_.bits() | choose_.bits()) & 0xfffff);
    p.ends_early = choose_.percent(12);
    if (row != nullptr) p.ends_early = false;
    Writer writer(choose_, p, menu, recipe_.silicon);
    writer_ = &writer;
    for (std::size_t n = choose_.percent(25) ? 1 + choose_.below(2) : 0; n > 0; --n) {
      Function f;
      Context inside;
      inside.in_function = true;
      inside.level = Level::kLanes;
      inside.depth = 1;
      f.body = list(static_cast<int>(2 + choose_.below(static_cast<std::size_t>(2 * size_.inner))),
                    inside);
      f.recursive = choose_.percent(30);
      p.functions.push_back(std::move(f));
    }
    const Context top;
    const int n =
        size_.least +
        static_cast<int>(choose_.below(static_cast<std::size_t>(size_.most - size_.least)));
    if (row != nullptr) {
      p.body = list(n / 2, top);
      focus(*row, top);
      for (Statement& s : list((n + 1) / 2, top)) p.body.push_back(std::move(s));
    } else {
      p.body = list(n, top);
    }
    if (p.ends_early) {
      Statement end;
      end.kind = Kind::kEnd;
      end.predicate = writer.pool(Class::kPredicate).index;
      end.negated = choose_.percent(50);
      p.body.push_back(end);
      Context rest;
      rest.level = Level::kLanes;
      for (Statement& s : list(5, rest)) p.body.push_back(std::move(s));
    }
  }

 private:
  // Generates the row that the recipe requests, at the top level of the program.
  void focus(const Row& row, const Context& at) {
    for (int tries = 0; tries < 4; ++tries) {
      if (row.place == Place::kControl) {
        program_.body.push_back(control(at, row.form->opcode));
      } else if (row.form->opcode == Opcode::k_bar || row.form->opcode == Opcode::k_barrier) {
        writer_->write(recipe_.row, at, program_.body);
        if (row.form->syntax.find("arrive") != std::string_view::npos)
          program_.body.push_back(hand_over(at, recipe_.row));
      } else {
        writer_->write(recipe_.row, at, program_.body);
      }
      if (choose_.percent(80)) return;
    }
  }

  std::vector<Statement> list(int n, const Context& at) {
    std::vector<Statement> v;
    for (int i = 0; i < n; ++i) v.push_back(statement(at));
    return v;
  }

  Statement statement(const Context& at) {
    const std::size_t roll = choose_.below(100);
    if (roll < 80 || at.depth >= size_.depth) return writer_->random_unit(at);
    return control(at, Opcode::kInvalid);
  }

  int inner() { return static_cast<int>(1 + choose_.below(static_cast<std::size_t>(size_.inner))); }

  Context deeper(const Context& at, Level level) {
    Context c = at;
    ++c.depth;
    c.level = std::max(at.level, level);
    return c;
  }

  Statement conditional(const Context& at) {
    Statement s;
    s.kind = Kind::kIf;
    s.uniform = !at.in_function && choose_.percent(25);
    s.argument = static_cast<std::uint32_t>(choose_.below(8 * kArgumentBytes));
    s.predicate = writer_->pool(Class::kPredicate).index;
    s.negated = choose_.percent(30);
    s.tracked = !s.uniform && at.level != Level::kLanes && choose_.percent(60);
    const Context inside = deeper(at, s.uniform   ? at.level
                                      : s.tracked ? Level::kTracked
                                                  : Level::kLanes);
    s.body = list(inner(), inside);
    if (choose_.percent(50)) s.other = list(inner(), inside);
    return s;
  }

  Statement loop(const Context& at) {
    Statement s;
    s.kind = Kind::kLoop;
    const std::size_t roll = choose_.below(3);
    s.trips = at.in_function ? (roll == 0 ? Statement::Trips::kLanes : Statement::Trips::kConstant)
              : roll == 0    ? Statement::Trips::kLanes
              : roll == 1    ? Statement::Trips::kArgument
                             : Statement::Trips::kConstant;
    s.count = static_cast<std::uint32_t>(1 + choose_.below(4));
    s.argument = static_cast<std::uint32_t>(choose_.below(4));
    s.reg = writer_->pool(Class::k32).index;
    s.at_bottom = s.trips == Statement::Trips::kConstant && choose_.percent(50);
    if (!at.in_function && choose_.percent(40)) s.walk = writer_->pool(Class::k32).index;
    const bool leaves = choose_.percent(35);
    Context inside;
    if (s.trips == Statement::Trips::kLanes) {
      s.tracked = !leaves && at.level != Level::kLanes && choose_.percent(60);
      inside = deeper(at, s.tracked ? Level::kTracked : Level::kLanes);
    } else {
      inside = deeper(at, leaves ? Level::kLanes : at.level);
    }
    s.body = list(inner(), inside);
    if (leaves) {
      Statement leave;
      leave.kind = Kind::kLeaveIf;
      leave.predicate = writer_->pool(Class::kPredicate).index;
      leave.negated = choose_.percent(50);
      leave.go_on = choose_.percent(40);
      s.body.insert(s.body.begin() + static_cast<std::ptrdiff_t>(choose_.below(s.body.size() + 1)),
                    leave);
    }
    return s;
  }

  Statement call() {
    Statement s;
    s.kind = Kind::kCall;
    s.function = static_cast<int>(choose_.below(program_.functions.size()));
    if (choose_.percent(40))
      s.alternative = static_cast<int>(choose_.below(program_.functions.size()));
    s.predicate = writer_->pool(Class::kPredicate).index;
    for (std::size_t i = 0; i < s.registers.size(); ++i)
      s.registers[i] = writer_->pool(i == 1 ? Class::k64 : Class::k32).index;
    s.count = static_cast<std::uint32_t>(choose_.below(3));
    return s;
  }

  Statement exchange(const Context& at) {
    Statement s;
    s.kind = Kind::kExchange;
    const bool warp = at.level == Level::kWarp || choose_.percent(30);
    s.variant = warp ? 100 : static_cast<int>(choose_.below(5));
    s.unit.push_back(board_store());
    Context inside = at;
    ++inside.depth;
    (warp ? inside.warp_board : inside.board) = true;
    s.body.push_back(board_load(inside));
    for (Statement& x : list(inner(), inside)) s.body.push_back(std::move(x));
    return s;
  }

  Statement hand_over(const Context& at, int row) {
    if (program_.threads % 64 != 0) return writer_->random_unit(at);
    Statement s;
    s.kind = Kind::kHandOver;
    s.variant = static_cast<int>(choose_.below(3));
    const Catalogue& all = Catalogue::get();
    std::vector<int> arrivals;
    for (const Opcode o : {Opcode::k_bar, Opcode::k_barrier}) {
      for (const int r : all.rows_of(o)) {
        if (all.rows()[static_cast<std::size_t>(r)].form->syntax.find("arrive") !=
            std::string_view::npos)
          arrivals.push_back(r);
      }
    }
    if (row < 0 || std::find(arrivals.begin(), arrivals.end(), row) == arrivals.end())
      row = choose_.of(arrivals);
    const Row& chosen = all.rows()[static_cast<std::size_t>(row)];
    s.unit.push_back(board_store());
    Instruction arrive;
    arrive.example = static_cast<int>(
        chosen.first +
        static_cast<int>(choose_.below(static_cast<std::size_t>(chosen.last - chosen.first))));
    arrive.operands = {immediate(1 + choose_.below(15)), immediate(program_.threads)};
    s.unit.push_back(arrive);
    Context inside = at;
    ++inside.depth;
    inside.level = Level::kWarp;
    inside.board = true;
    s.body.push_back(board_load(inside));
    return s;
  }

  Instruction board_store() {
    Operand to, from;
    to.kind = Operand::Kind::kAddress;
    to.address.region = Region::kBoard;
    from.kind = Operand::Kind::kVector;
    for (int i = 0; i < 4; ++i) from.elements.push_back(writer_->source(isa::Type::kB32));
    return instruction("st.shared.v4.b32", {to, from});
  }

  Statement board_load(const Context& at) {
    Operand from;
    from.kind = Operand::Kind::kAddress;
    Address& a = from.address;
    a.region = Region::kBoard;
    a.others = true;
    a.warp = at.warp_board;
    a.index = writer_->source(isa::Type::kB32).index;
    a.count = 32;
    while (!a.warp && 2 * a.count <= program_.threads) a.count *= 2;
    a.scale = kBoardStride;
    Statement s;
    s.unit.push_back(
        instruction("ld.shared.b32", {of(writer_->destination(isa::Type::kB32)), from}));
    return s;
  }

  // Generates control flow for the opcode, or of any kind if there is none for it.
  Statement control(const Context& at, Opcode wanted) {
    enum {
      kConditional,
      kCounted,
      kSwitched,
      kMiddle,
      kCalled,
      kDeadCode,
      kExchanged,
      kHanded,
      kKinds
    };
    int kind = static_cast<int>(choose_.below(12));
    if (kind >= kKinds) kind = kind % 2 == 0 ? kConditional : kCounted;
    switch (wanted) {
      case Opcode::k_brx_idx: kind = kSwitched; break;
      case Opcode::k_call:
      case Opcode::k_ret: kind = kCalled; break;
      case Opcode::k_bar_warp_sync: kind = kExchanged; break;
      case Opcode::k_bra: kind = kConditional; break;
      default: break;
    }
    Statement s;
    switch (kind) {
      case kConditional: return conditional(at);
      case kCounted: return loop(at);
      case kSwitched: {
        s.kind = Kind::kSwitch;
        s.reg = writer_->pool(Class::k32).index;
        s.variant = static_cast<int>(choose_.below(2));
        for (int i = 0; i < 4; ++i)
          s.cases.push_back(
              list(static_cast<int>(1 + choose_.below(2)), deeper(at, Level::kLanes)));
        return s;
      }
      case kMiddle:
        // At -O1 and above, ptxas 13.0.88 keeps the counter of a loop that some lanes enter in its
        // middle in a uniform register. Lanes that come second find it counted down, and do not end
        // (docs/journal/ptxas.md). So in programs for a GPU all lanes enter at the same place.
        if (recipe_.silicon && at.in_function) return conditional(at);
        s.uniform = recipe_.silicon;
        s.argument = static_cast<std::uint32_t>(choose_.below(8 * kArgumentBytes));
        s.kind = Kind::kIrreducible;
        s.predicate = writer_->pool(Class::kPredicate).index;
        s.count = static_cast<std::uint32_t>(1 + choose_.below(3));
        s.body = list(static_cast<int>(1 + choose_.below(2)), deeper(at, Level::kLanes));
        s.other = list(static_cast<int>(1 + choose_.below(2)), deeper(at, Level::kLanes));
        return s;
      case kCalled:
        if (at.in_function) return writer_->random_unit(at);
        if (program_.functions.empty()) {
          if (wanted == Opcode::kInvalid) return conditional(at);
          Context inside;
          inside.in_function = true;
          inside.level = Level::kLanes;
          inside.depth = 1;
          Function f;
          f.body = list(4, inside);
          program_.functions.push_back(std::move(f));
        }
        s = call();
        s.variant = static_cast<int>(choose_.below(2));
        return s;
      case kDeadCode: {
        if (at.in_function) return conditional(at);
        s.kind = Kind::kDead;
        s.variant = static_cast<int>(choose_.below(4));
        s.body = list(inner(), deeper(at, Level::kLanes));
        return s;
      }
      case kExchanged:
        if (at.level > Level::kWarp || at.in_function || at.board || at.warp_board)
          return conditional(at);
        s = exchange(at);
        if (wanted == Opcode::k_bar_warp_sync && s.variant != 100) return control(at, wanted);
        return s;
      default:
        if (at.level != Level::kBlock || at.in_function || at.board || at.warp_board)
          return conditional(at);
        return hand_over(at, -1);
    }
  }

  Recipe recipe_;
  Choices choose_;
  Program& program_;
  Writer* writer_ = nullptr;
  Size size_ = kUsual;
};

void collect(const std::vector<Statement>& list, std::set<int>& rows, const Program& p);

void collect_opcode(Opcode o, std::set<int>& rows) {
  for (const int r : Catalogue::get().rows_of(o)) rows.insert(r);
}

void collect(const Statement& s, std::set<int>& rows, const Program& p) {
  const Catalogue& all = Catalogue::get();
  if (s.kind == Kind::kDead) return;  // is not executed
  for (const Instruction& i : s.unit) rows.insert(all.row_of(i.example));
  for (const int r : s.rows) rows.insert(r);
  switch (s.kind) {
    case Kind::kIf:
    case Kind::kLoop:
    case Kind::kIrreducible: collect_opcode(Opcode::k_bra, rows); break;
    case Kind::kSwitch: collect_opcode(Opcode::k_brx_idx, rows); break;
    case Kind::kCall:
      collect_opcode(Opcode::k_call, rows);
      collect_opcode(Opcode::k_ret, rows);
      break;
    case Kind::kExchange:
      if (s.variant == 100) collect_opcode(Opcode::k_bar_warp_sync, rows);
      break;
    case Kind::kEnd: break;
    default: break;
  }
  collect(s.body, rows, p);
  collect(s.other, rows, p);
  for (const auto& c : s.cases) collect(c, rows, p);
}

void collect(const std::vector<Statement>& list, std::set<int>& rows, const Program& p) {
  for (const Statement& s : list) collect(s, rows, p);
}

std::size_t count(const std::vector<Statement>& list) {
  std::size_t n = 0;
  for (const Statement& s : list) {
    n += 1 + s.unit.size() + count(s.body) + count(s.other);
    for (const auto& c : s.cases) n += count(c);
  }
  return n;
}

}  // namespace

Program generate(const Recipe& recipe) {
  Program p;
  Generator(recipe, p).run();
  return p;
}

std::vector<int> rows_of(const Program& p) {
  std::set<int> rows;
  collect(p.body, rows, p);
  for (const Function& f : p.functions) collect(f.body, rows, p);
  collect_opcode(Opcode::k_exit, rows);
  return {rows.begin(), rows.end()};
}

std::size_t size_of(const Program& p) {
  std::size_t n = count(p.body);
  for (const Function& f : p.functions) n += count(f.body);
  return n;
}

}  // namespace lockstep::fuzz::differential
