// Races as the PTX memory model defines them, judged slowly and in full: every access to every byte is kept, and for every thread a vector clock.
// The searches for races of this folder are compared with it (race_judge_test.cc).
//
// What orders: program order, barriers, release and acquire patterns (PTX ISA 8.8), and who has observed a strong write is ordered after it (8.9.2,
// 8.9.5). Fence-SC order (8.9.3) is left out: it can order only what the values of strong reads prove, and the searches do not follow it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "simulator/check/global_races.h"

namespace lockstep::check {

class RaceJudge {
 public:
  struct Thread {
    std::uint32_t block, warp, lane;
  };
  struct Access {
    std::uint32_t thread = 0, first = 0, size = 0;  // bytes
    bool reads = false, writes = false, strong = false, acquires = false, releases = false;
    bool reduces = false;  // red: changes what is there without telling its thread
    Scope scope = Scope::kGrid;
    std::uint32_t pc = 0;
  };

  // `cluster`: blocks in a cluster.
  RaceJudge(std::vector<Thread> threads, std::uint32_t cluster, std::uint32_t bytes)
      : threads_(std::move(threads)), cluster_(cluster), clock_(threads_.size(), Clock(threads_.size())), told_(threads_.size()), bytes_(bytes) {}

  // The access that races with this one if it were made now, or nullptr.
  const Access* race(const Access& a) const {
    return race_where(a, [](const Access&) { return true; });
  }
  // Whether it would race with what `thread` did at `pc`.
  bool race_with(const Access& a, std::uint32_t thread, std::uint32_t pc) const {
    return race_where(a, [&](const Access& d) { return d.thread == thread && d.pc == pc; }) != nullptr;
  }
  // How many accesses to any byte of a four-byte granule that `a` touches there have been.
  std::size_t history(const Access& a) const {
    std::size_t n = 0;
    for (std::uint32_t b = a.first & ~3u; b < ((a.first + a.size + 3) & ~3u); ++b) n = std::max(n, bytes_[b].accesses.size());
    return n;
  }

  void access(const Access& a) {
    Clock& clock = clock_[a.thread];
    if (a.releases) {
      told_[a.thread].of_place[{a.first, a.size}] = Message{clock, a.thread, a.scope};
    }
    Done d{a, ++clock[a.thread], {}};
    const auto number = static_cast<std::uint32_t>(done_.size());
    std::vector<Message>& found = told_[a.thread].found[{a.first, a.size}];
    for (std::uint32_t b = a.first; b < a.first + a.size; ++b) {
      Byte& byte = bytes_[b];
      // What this read observes: the chain of writes that ends with the last one.
      const bool linked = !byte.chain.empty() && (a.reads || a.reduces) && morally_strong(done_[byte.chain.back()], a);
      if (linked && a.reads) {
        for (const std::uint32_t w : byte.chain) done_[w].observers.push_back({a.thread, d.epoch});
        if (a.strong) found.insert(found.end(), byte.messages.begin(), byte.messages.end());
      }
      if (a.writes) {
        if (!linked) {
          byte.chain.clear();
          byte.messages.clear();
        }
        byte.chain.push_back(number);
        if (a.strong) {
          const Told& told = told_[a.thread];
          for (const Message& m : told.of_fences) byte.messages.push_back(m);
          const auto it = told.of_place.find({a.first, a.size});
          if (it != told.of_place.end()) byte.messages.push_back(it->second);
        }
      }
      byte.accesses.push_back(number);
    }
    done_.push_back(d);
    // An acquire operation acquires what strong reads of its place have found, its own included.
    if (a.acquires) acquire(a.thread, a.scope, found);
  }

  void fence(std::uint32_t thread, Scope scope) {
    Told& told = told_[thread];
    for (const auto& [place, messages] : told.found) acquire(thread, scope, messages);
    std::erase_if(told.of_fences, [&](const Message& m) { return m.scope == scope; });
    told.of_fences.push_back({clock_[thread], thread, scope});
  }

  // A barrier at which `arriving` threads arrive and `waiting` ones wait.
  void barrier(const std::vector<std::uint32_t>& arriving, const std::vector<std::uint32_t>& waiting) {
    Clock all(threads_.size());
    for (const std::uint32_t t : arriving) join(all, clock_[t]);
    for (const std::uint32_t t : waiting) join(clock_[t], all);
  }

 private:
  using Clock = std::vector<std::uint32_t>;
  struct Message {
    Clock clock;
    std::uint32_t thread;
    Scope scope;
  };
  struct Done : Access {
    Done(const Access& a, std::uint32_t at, std::vector<std::pair<std::uint32_t, std::uint32_t>> by) : Access(a), epoch(at), observers(std::move(by)) {}
    std::uint32_t epoch;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> observers;  // thread, epoch
  };
  struct Byte {
    std::vector<std::uint32_t> accesses, chain;
    std::vector<Message> messages;  // of the release patterns that the chain holds
  };
  // What a thread has to tell, and has been told without having acquired it.
  struct Told {
    std::vector<Message> of_fences;
    std::map<std::pair<std::uint32_t, std::uint32_t>, Message> of_place;  // first byte, size
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Message>> found;
  };

  template <class Meant>
  const Access* race_where(const Access& a, const Meant& meant) const {
    for (std::uint32_t b = a.first; b < a.first + a.size; ++b) {
      for (const std::uint32_t before : bytes_[b].accesses) {
        const Done& d = done_[before];
        if (meant(d) && (d.writes || a.writes) && !morally_strong(d, a) && !ordered(d, a.thread)) return &d;
      }
    }
    return nullptr;
  }
  static void join(Clock& to, const Clock& from) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = std::max(to[i], from[i]);
  }
  bool reaches(std::uint32_t from, Scope scope, std::uint32_t to) const {
    const std::uint32_t a = threads_[from].block, b = threads_[to].block;
    return scope == Scope::kGrid || a == b || (scope == Scope::kCluster && a / cluster_ == b / cluster_);
  }
  bool morally_strong(const Access& a, const Access& b) const {
    if (a.first != b.first || a.size != b.size) return false;
    return a.thread == b.thread || (a.strong && b.strong && reaches(a.thread, a.scope, b.thread) && reaches(b.thread, b.scope, a.thread));
  }
  bool ordered(const Done& d, std::uint32_t thread) const {
    const Clock& clock = clock_[thread];
    if (clock[d.thread] >= d.epoch) return true;
    return std::any_of(d.observers.begin(), d.observers.end(), [&](const auto& o) { return clock[o.first] >= o.second; });
  }
  void acquire(std::uint32_t thread, Scope scope, const std::vector<Message>& messages) {
    for (const Message& m : messages) {
      if (reaches(m.thread, m.scope, thread) && reaches(thread, scope, m.thread)) join(clock_[thread], m.clock);
    }
  }

  std::vector<Thread> threads_;
  std::uint32_t cluster_;
  std::vector<Clock> clock_;
  std::vector<Told> told_;
  std::vector<Byte> bytes_;
  std::vector<Done> done_;
};

}  // namespace lockstep::check
