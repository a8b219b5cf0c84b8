#include "simulator/compile/liveness.h"

namespace lockstep::compile {

using ptx::RegisterAccess;

bool RegisterSet::add_all(const RegisterSet& other) {
  bool changed = false;
  for (std::size_t k = 0; k < words_.size(); ++k) {
    changed |= (other.words_[k] & ~words_[k]) != 0;
    words_[k] |= other.words_[k];
  }
  return changed;
}

bool RegisterSet::keep_only(const RegisterSet& other) {
  bool changed = false;
  for (std::size_t k = 0; k < words_.size(); ++k) {
    changed |= (words_[k] & ~other.words_[k]) != 0;
    words_[k] &= other.words_[k];
  }
  return changed;
}

void RegisterSet::remove_all(const RegisterSet& other) {
  for (std::size_t k = 0; k < words_.size(); ++k) words_[k] &= ~other.words_[k];
}

namespace {

// The state of the analysis of a function.
struct Analysis {
  const ptx::Function& function;
  std::size_t registers;
  std::vector<std::vector<RegisterAccess>> accesses;  // by instruction
  Liveness result;

  explicit Analysis(const ptx::Function& f) : function(f), registers(f.registers.size()) {}
  void find_blocks();
  void find_live();
  void find_undefined();
  void find_ranges();
};

void Analysis::find_blocks() {
  const auto n = static_cast<std::uint32_t>(function.body.size());
  std::vector<bool> leader(n + 1, false);
  std::vector<ptx::Successors> after;
  leader[0] = true;
  for (std::uint32_t i = 0; i < n; ++i) {
    accesses.push_back(ptx::register_accesses(function.body[i]));
    after.push_back(ptx::successors(function.body[i]));
    if (!after[i].next || !after[i].targets.empty()) leader[i + 1] = true;
    for (const std::uint32_t t : after[i].targets) leader[std::min(t, n)] = true;
  }
  auto& blocks = result.blocks;
  std::vector<std::uint32_t> block_at(n + 1, 0);
  for (std::uint32_t i = 0; i < n; ++i) {
    if (leader[i]) {
      if (!blocks.empty()) blocks.back().end = i;
      blocks.push_back({i, n, {}, RegisterSet(registers), RegisterSet(registers)});
    }
    block_at[i] = static_cast<std::uint32_t>(blocks.size() - 1);
  }
  for (BasicBlock& b : blocks) {
    const ptx::Successors& last = after[b.end - 1];
    for (const std::uint32_t t : last.targets) {
      if (t < n) b.successors.push_back(block_at[t]);
    }
    if (last.next && b.end < n) b.successors.push_back(block_at[b.end]);
  }
}

// Computes BasicBlock::in and out.
void Analysis::find_live() {
  auto& blocks = result.blocks;
  std::vector<RegisterSet> use(blocks.size(), RegisterSet(registers)), define = use;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    for (std::uint32_t i = blocks[b].begin; i < blocks[b].end; ++i) {
      // A guarded write keeps the other lanes' values, so it does not end a live range.
      const bool guarded = function.body[i].guard.present;
      for (const RegisterAccess& a : accesses[i]) {
        if (!a.writes) {
          if (!define[b].has(a.index)) use[b].add(a.index);
        } else if (!guarded) {
          define[b].add(a.index);
        }
      }
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t k = blocks.size(); k-- > 0;) {
      BasicBlock& b = blocks[k];
      for (const std::uint32_t s : b.successors) b.out.add_all(blocks[s].in);
      RegisterSet in = b.out;
      in.remove_all(define[k]);
      in.add_all(use[k]);
      changed |= b.in.add_all(in);
    }
  }
}

void Analysis::find_undefined() {
  const auto& blocks = result.blocks;
  std::vector<RegisterSet> assigned(blocks.size(), RegisterSet(registers, true)),
      written(blocks.size(), RegisterSet(registers));
  assigned[0] = RegisterSet(registers);
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    for (std::uint32_t i = blocks[k].begin; i < blocks[k].end; ++i) {
      for (const RegisterAccess& a : accesses[i]) {
        if (a.writes) written[k].add(a.index);
      }
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t k = 0; k < blocks.size(); ++k) {
      RegisterSet now = assigned[k];
      now.add_all(written[k]);
      for (const std::uint32_t s : blocks[k].successors) changed |= assigned[s].keep_only(now);
    }
  }
  RegisterSet undefined(registers);
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    RegisterSet& now = assigned[k];
    for (std::uint32_t i = blocks[k].begin; i < blocks[k].end; ++i) {
      for (const RegisterAccess& a : accesses[i]) {
        if (a.writes) {
          now.add(a.index);
        } else if (!now.has(a.index)) {
          undefined.add(a.index);
        }
      }
    }
  }
  undefined.each([&](std::uint32_t v) { result.undefined.push_back(v); });
}

void Analysis::find_ranges() {
  auto& ranges = result.ranges;
  ranges.resize(registers);
  for (const BasicBlock& block : result.blocks) {
    block.in.each([&](std::uint32_t v) { ranges[v].touch(block.begin); });
    block.out.each([&](std::uint32_t v) { ranges[v].touch(block.end - 1); });
    for (std::uint32_t i = block.begin; i < block.end; ++i) {
      for (const RegisterAccess& a : accesses[i]) ranges[a.index].touch(i);
    }
  }
  for (const std::uint32_t v : result.undefined) ranges[v].first = 0;
}

}  // namespace

Liveness find_liveness(const ptx::Function& f) {
  Analysis a(f);
  if (f.body.empty()) {
    a.result.ranges.resize(f.registers.size());
    return a.result;
  }
  a.find_blocks();
  a.find_live();
  a.find_undefined();
  a.find_ranges();
  return a.result;
}

}  // namespace lockstep::compile
