#include "simulator/fuzz/differential/reduce.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace lockstep::fuzz::differential {
namespace {

using Kind = Statement::Kind;
using List = std::vector<Statement>;

class Reducer {
 public:
  Reducer(Program program, const std::function<bool(const Program&)>& shows, std::size_t most)
      : best_(std::move(program)), shows_(shows), left_(most) {}

  Program run() {
    for (bool changed = true; changed && left_ > 0;) {
      changed = false;
      changed |= with_lists([&](List& list) { return shorten(list); });
      changed |= with_lists([&](List& list) { return open(list); });
      changed |= with_lists([&](List& list) { return simplify(list); });
      changed |= machine();
    }
    return std::move(best_);
  }

 private:
  // Whether the changed program still shows the difference. If not, the change is undone.
  bool keep(Program& before) {
    if (left_ == 0) {
      best_ = std::move(before);
      return false;
    }
    --left_;
    if (shows_(best_)) return true;
    best_ = std::move(before);
    return false;
  }

  // A list is identified by its path, since undoing a change replaces the objects.
  using Path = std::vector<std::pair<std::size_t, std::size_t>>;  // statement, which of its lists
  static List* list_of(Statement& s, std::size_t n) {
    if (n == 0) return &s.body;
    if (n == 1) return &s.other;
    return n - 2 < s.cases.size() ? &s.cases[n - 2] : nullptr;
  }
  List* at(std::size_t root, const Path& path) {
    List* list = root == 0                           ? &best_.body
                 : root - 1 < best_.functions.size() ? &best_.functions[root - 1].body
                                                     : nullptr;
    for (const auto& [statement, n] : path) {
      if (list == nullptr || statement >= list->size()) return nullptr;
      list = list_of((*list)[statement], n);
    }
    return list;
  }
  void paths(List& list, Path& path, std::vector<Path>& to) {
    to.push_back(path);
    for (std::size_t i = 0; i < list.size(); ++i) {
      for (std::size_t n = 0; n < 2 + list[i].cases.size(); ++n) {
        List* inner = list_of(list[i], n);
        if (inner == nullptr || inner->empty()) continue;
        path.emplace_back(i, n);
        paths(*inner, path, to);
        path.pop_back();
      }
    }
  }
  template <class Pass>
  bool with_lists(Pass pass) {
    bool changed = false;
    for (std::size_t root = 0; root <= best_.functions.size(); ++root) {
      std::vector<Path> all;
      Path path;
      paths(*at(root, {}), path, all);
      for (const Path& p : all) {
        root_ = root, path_ = p;
        if (List* list = at(root, p)) changed |= pass(*list);
      }
    }
    return changed;
  }
  List* here() { return at(root_, path_); }

  // Removes ranges of a half, a quarter, ... of the list.
  bool shorten(List& list) {
    bool changed = false;
    for (std::size_t chunk = std::max<std::size_t>(list.size() / 2, 1);; chunk /= 2) {
      for (std::size_t i = 0; here() != nullptr && i < here()->size();) {
        Program before = best_;
        List& l = *here();
        const auto first = l.begin() + static_cast<std::ptrdiff_t>(i);
        l.erase(first, first + static_cast<std::ptrdiff_t>(std::min(chunk, l.size() - i)));
        if (keep(before))
          changed = true;
        else
          i += chunk;
        if (left_ == 0) return changed;
      }
      if (chunk == 1) return changed;
    }
  }

  // Replaces a branch or a loop by its statements.
  bool open(List&) {
    bool changed = false;
    for (std::size_t i = 0; here() != nullptr && i < here()->size() && left_ > 0; ++i) {
      const Statement s = (*here())[i];
      if (s.kind != Kind::kIf && s.kind != Kind::kLoop && s.kind != Kind::kSwitch &&
          s.kind != Kind::kIrreducible)
        continue;
      std::vector<List> choices = {s.body, s.other};
      choices.insert(choices.end(), s.cases.begin(), s.cases.end());
      for (const List& choice : choices) {
        if (choice.empty()) continue;
        Program before = best_;
        List& l = *here();
        l.erase(l.begin() + static_cast<std::ptrdiff_t>(i));
        l.insert(l.begin() + static_cast<std::ptrdiff_t>(i), choice.begin(), choice.end());
        if (keep(before)) {
          changed = true;
          break;
        }
      }
    }
    return changed;
  }

  template <class Change>
  bool attempt(std::size_t i, Change change) {
    Program before = best_;
    if (!change((*here())[i])) return false;
    return keep(before);
  }

  bool simplify(List&) {
    bool changed = false;
    for (std::size_t i = 0; here() != nullptr && i < here()->size() && left_ > 0; ++i) {
      changed |= attempt(i, [](Statement& s) { return std::exchange(s.count, 1) != 1; });
      changed |= attempt(i, [](Statement& s) { return std::exchange(s.alternative, -1) != -1; });
      changed |= attempt(i, [](Statement& s) { return std::exchange(s.walk, -1) != -1; });
      changed |= attempt(i, [](Statement& s) {
        if (s.kind != Kind::kLoop || s.trips == Statement::Trips::kConstant) return false;
        s.trips = Statement::Trips::kConstant;
        s.tracked = false;
        return true;
      });
      changed |= attempt(i, [](Statement& s) {
        if (s.unit.empty() || s.unit.back().guard < 0) return false;
        for (Instruction& x : s.unit) x.guard = -1;
        return true;
      });
      // Address registers become a fixed place; sources become zero or one.
      const std::size_t instructions = (*here())[i].unit.size();
      for (std::size_t k = 0; k < instructions; ++k) {
        const std::size_t operands = (*here())[i].unit[k].operands.size();
        for (std::size_t o = 0; o < operands; ++o) {
          changed |= attempt(i, [&](Statement& s) {
            Operand& x = s.unit[k].operands[o];
            if (x.kind != Operand::Kind::kAddress || x.address.index < 0 || x.address.others)
              return false;
            x.address.index = -1;
            return true;
          });
        }
      }
    }
    return changed;
  }

  bool machine() {
    bool changed = false;
    const auto change = [&](auto f) {
      Program before = best_;
      if (f(best_)) changed |= keep(before);
    };
    change([](Program& p) { return std::exchange(p.blocks, 1) != 1; });
    change([](Program& p) {
      // Hand-overs and barriers with counts depend on the number of threads.
      const auto uses_count = [](const List& list, const auto& self) -> bool {
        for (const Statement& s : list) {
          if (s.kind == Kind::kHandOver || s.kind == Kind::kBarrier || s.kind == Kind::kExchange)
            return true;
          if (self(s.body, self) || self(s.other, self)) return true;
        }
        return false;
      };
      if (p.threads == 32 || uses_count(p.body, uses_count)) return false;
      p.threads = 32;
      return true;
    });
    change([](Program& p) {
      bool any = false;
      for (Function& f : p.functions) any |= std::exchange(f.recursive, false);
      return any;
    });
    change([](Program& p) {
      const auto calls = [](const List& list, const auto& self) -> bool {
        for (const Statement& s : list) {
          if (s.kind == Kind::kCall || self(s.body, self) || self(s.other, self)) return true;
          for (const auto& c : s.cases)
            if (self(c, self)) return true;
        }
        return false;
      };
      if (p.functions.empty() || calls(p.body, calls)) return false;
      p.functions.clear();
      return true;
    });
    return changed;
  }

  Program best_;
  const std::function<bool(const Program&)>& shows_;
  std::size_t left_;
  std::size_t root_ = 0;
  Path path_;
};

}  // namespace

Program reduced(const Program& program, const std::function<bool(const Program&)>& shows,
                std::size_t most) {
  return Reducer(program, shows, most).run();
}

}  // namespace lockstep::fuzz::differential
