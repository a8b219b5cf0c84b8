// The rows that a kind of program may contain, and the statements generated for a row.
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "simulator/fuzz/differential/reference.h"
#include "simulator/fuzz/differential/writer.h"

namespace lockstep::fuzz::differential {

using isa::Opcode;

const Menu& Menu::of(int target, bool silicon, bool referenced) {
  static std::mutex mutex;
  static std::map<std::tuple<int, bool, bool>, Menu> menus;
  const std::lock_guard lock(mutex);
  const auto [at, fresh] = menus.try_emplace({target, silicon, referenced});
  Menu& menu = at->second;
  if (!fresh) return menu;
  const Catalogue& all = Catalogue::get();
  std::map<Opcode, std::vector<int>> by_opcode;
  menu.examples.resize(all.rows().size());
  for (std::size_t r = 0; r < all.rows().size(); ++r) {
    const Row& row = all.rows()[r];
    if (row.place == Place::kNever || row.form->sm > target ||
        (row.form->suffix != 0 && target != 100))
      continue;
    for (int i = row.first; i < row.last; ++i) {
      const isa::Example& e = all.example(i);
      if (silicon && !exact_on_silicon(e)) continue;
      if (referenced && !reference_knows(e, row.place)) continue;
      const isa::Modifiers& m = e.spelling.modifiers;
      // Elements of half width eight at a time would need more registers than there are.
      if (m.vector == 8 && isa::size_of(m.type) == 2) continue;
      // Parameters of calls are the calls' own; the .arrive of barriers stands in what hands over.
      if (row.place == Place::kStore && m.space == isa::Space::kParam) continue;
      if (row.place == Place::kBarrier && e.spelling.text.find("arrive") != std::string::npos)
        continue;
      menu.examples[r].push_back(i);
    }
    if (menu.examples[r].empty()) continue;
    const int n = static_cast<int>(r);
    switch (row.place) {
      case Place::kCompute:
        menu.compute.push_back(n);
        by_opcode[row.form->opcode].push_back(n);
        break;
      case Place::kCarry: menu.carry.push_back(n); break;
      case Place::kWarp: menu.warp.push_back(n); break;
      case Place::kLoad: menu.load.push_back(n); break;
      case Place::kStore: menu.store.push_back(n); break;
      case Place::kAtomic: menu.atomic.push_back(n); break;
      case Place::kBarrier: menu.barrier.push_back(n); break;
      case Place::kText: menu.text.push_back(n); break;
      default: break;
    }
  }
  for (auto& [opcode, rows] : by_opcode) menu.compute_by_opcode.push_back(std::move(rows));
  return menu;
}

bool Writer::write(int row, const Context& at, std::vector<Statement>& to) {
  const auto& list = menu_.examples[static_cast<std::size_t>(row)];
  if (list.empty()) return false;
  const int example = choose_.of(list);
  const Place place = Catalogue::get().rows()[static_cast<std::size_t>(row)].place;
  Statement s;
  switch (place) {
    case Place::kCompute: s = compute(example); break;
    case Place::kCarry: s = carry(example); break;
    case Place::kWarp:
      if (!warp(example, at, s)) return false;
      break;
    case Place::kLoad:
      if (at.in_function) return false;
      s = load(example, at);
      break;
    case Place::kStore:
      if (at.in_function) return false;
      s = store(example);
      break;
    case Place::kAtomic:
      if (at.in_function) return false;
      if (!choose_.percent(45) || !sum(example, s)) s = atomic(example);
      break;
    case Place::kBarrier:
      if (at.level != Level::kBlock || at.in_function) return false;
      s = barrier(example);
      break;
    case Place::kText:
      if (!text(example, at, s)) return false;
      break;
    default: return false;
  }
  to.push_back(std::move(s));
  return true;
}

Statement Writer::random_unit(const Context& at) {
  std::vector<Statement> made;
  for (;;) {
    const std::size_t roll = choose_.below(100);
    const auto& rows = roll < 30   ? menu_.compute
                       : roll < 60 ? choose_.of(menu_.compute_by_opcode)
                       : roll < 63 ? menu_.carry
                       : roll < 71 ? menu_.warp
                       : roll < 80 ? menu_.load
                       : roll < 87 ? menu_.store
                       : roll < 93 ? menu_.atomic
                       : roll < 95 ? menu_.barrier
                                   : menu_.text;
    if (rows.empty()) continue;
    const int row = choose_.of(rows);
    // ptxas compiles divisions and roots to subroutines, which takes long. There they occur only in
    // programs generated for them.
    const Opcode o = Catalogue::get().rows()[static_cast<std::size_t>(row)].form->opcode;
    const bool subroutine =
        o == Opcode::k_div || o == Opcode::k_rem || o == Opcode::k_rcp || o == Opcode::k_sqrt;
    if (subroutine && silicon_ && !choose_.percent(25)) continue;
    if (write(row, at, made)) return std::move(made.front());
  }
}

}  // namespace lockstep::fuzz::differential
