// A reference implementation of races as the PTX memory model defines them. It is slow and
// complete: it keeps every access to every byte, and a vector clock for every thread.
// race_judge_test.cc compares the fast searches of this folder with it.
//
// These order accesses: program order, barriers, and release and acquire patterns (PTX ISA 8.8). A
// thread that has observed a write is ordered after it (8.9.2, 8.9.5). Fence-SC order (8.9.3) is
// not modelled. The three additional rules of block_order.h are included. Strong accesses of two
// threads to the same bytes count as morally strong whatever their sizes; those of one thread do
// only if they overlap completely (8.7).
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
    bool reduces = false;  // red: changes memory and returns nothing
    Scope scope = Scope::kGrid;
    std::uint32_t pc = 0;
  };

  // `cluster`: blocks in a cluster.
  RaceJudge(std::vector<Thread> threads, std::uint32_t cluster, std::uint32_t bytes)
      : threads_(std::move(threads)),
        cluster_(cluster),
        clock_(threads_.size(), Clock(threads_.size())),
        mail_(threads_.size()),
        bytes_(bytes) {}

  // The access that would race with `a` if it were made now, or nullptr.
  const Access* race(const Access& a) const {
    return race_where(a, [](const Access&) { return true; });
  }
  // Whether `a` would race with an access of `thread` at `pc`.
  bool race_with(const Access& a, std::uint32_t thread, std::uint32_t pc) const {
    return race_where(a, [&](const Access& d) { return d.thread == thread && d.pc == pc; }) !=
           nullptr;
  }
  // Whether strong accesses to the bytes of `a`, itself included, have several sizes. By the manual
  // they race, unless something orders them.
  bool mixes_sizes(const Access& a) const {
    std::uint32_t sizes = a.strong ? a.size : 0;
    for (std::uint32_t b = a.first; b < a.first + a.size; ++b) {
      for (const Accessed& before : bytes_[b].accesses)
        sizes |= done_[before.number].strong ? done_[before.number].size : 0;
    }
    return (sizes & (sizes - 1)) != 0;
  }
  // The number of earlier accesses to a byte of the granules that `a` touches: the largest number
  // of any byte.
  std::size_t history(const Access& a) const {
    std::size_t n = 0;
    for (std::uint32_t b = a.first & ~3u; b < ((a.first + a.size + 3) & ~3u); ++b)
      n = std::max(n, bytes_[b].accesses.size());
    return n;
  }

  void access(const Access& a) {
    Clock& clock = clock_[a.thread];
    Mail& mail = mail_[a.thread];
    const Done d{a, clock[a.thread] + 1};
    const auto number = static_cast<std::uint32_t>(done_.size());
    std::vector<Message>& found = mail.found[{a.first, a.size}];
    for (std::uint32_t b = a.first; b < a.first + a.size; ++b) {
      // The read observes the chain of writes that ends with the last write.
      Byte& byte = bytes_[b];
      if (!a.reads || !links(byte, a)) continue;
      for (const std::uint32_t w : byte.chain) {
        // A thread ordered after a later read of a thread is ordered after its first read, too.
        auto& observers = byte.accesses[w].observers;
        if (std::none_of(observers.begin(), observers.end(),
                         [&](const auto& o) { return o.first == a.thread; }))
          observers.push_back({a.thread, d.epoch});
        done_[byte.accesses[w].number].observed = true;
      }
      if (!a.strong) continue;
      for (const Message& m : byte.messages) add(found, m);
    }
    // An acquire operation acquires the messages that strong reads of its place have found, itself
    // included.
    if (a.acquires) acquire(clock, a.thread, a.scope, found);
    ++clock[a.thread];
    // The message includes the operation itself.
    if (a.releases) mail.of_place[{a.first, a.size}] = Message{clock, a.thread, a.scope};
    for (std::uint32_t b = a.first; b < a.first + a.size; ++b) {
      Byte& byte = bytes_[b];
      byte.accesses.push_back({number, {}});
      if (!a.writes) continue;
      if (!links(byte, a)) {
        byte.chain.clear();
        byte.messages.clear();
      }
      byte.chain.push_back(static_cast<std::uint32_t>(byte.accesses.size()) - 1);
      if (!a.strong) continue;
      for (const Message& m : mail.of_fences) add(byte.messages, m);
      for (const auto& [place, message] : mail.of_place) {
        if (place.first <= b && b < place.first + place.second) add(byte.messages, message);
      }
    }
    done_.push_back(d);
  }

  void fence(std::uint32_t thread, Scope scope) {
    Mail& mail = mail_[thread];
    for (const auto& [place, messages] : mail.found)
      acquire(clock_[thread], thread, scope, messages);
    std::erase_if(mail.of_fences, [&](const Message& m) { return m.scope == scope; });
    mail.of_fences.push_back({clock_[thread], thread, scope});
  }
  // Threads of a warp fence in one instruction: the fence of each counts for all of them.
  void fence(const std::vector<std::uint32_t>& threads, Scope scope) {
    Clock all(threads_.size());
    for (const std::uint32_t t : threads) {
      fence(t, scope);
      join(all, clock_[t]);
    }
    for (const std::uint32_t t : threads) mail_[t].of_fences.back().clock = all;
  }

  // A barrier at which `arriving` threads arrive and `waiting` threads wait. `of_block`: a barrier
  // of the block, which counts as a fence for strong reads. Fences before any barrier count as
  // fences before what follows it.
  void barrier(const std::vector<std::uint32_t>& arriving,
               const std::vector<std::uint32_t>& waiting, bool of_block) {
    Clock all(threads_.size());
    std::vector<Message> fences;
    for (const std::uint32_t t : arriving) {
      if (of_block) {
        for (const auto& [place, messages] : mail_[t].found)
          acquire(all, t, Scope::kGrid, messages);
      }
      join(all, clock_[t]);
      for (const Message& m : mail_[t].of_fences) add(fences, m);
    }
    for (const std::uint32_t t : waiting) {
      join(clock_[t], all);
      mail_[t].of_fences = fences;
    }
  }

 private:
  using Clock = std::vector<std::uint32_t>;
  struct Message {
    Clock clock;
    std::uint32_t thread;
    Scope scope;
  };
  struct Done : Access {
    Done(const Access& a, std::uint32_t at) : Access(a), epoch(at) {}
    std::uint32_t epoch;
    bool observed = false;  // at some byte
  };
  // An access to one byte, by its number in `done_`, and the threads that have observed it there.
  // Accesses of another size may have observed some bytes of a write and not others.
  using Observers = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  // thread, epoch
  struct Accessed {
    std::uint32_t number;
    Observers observers;
  };
  struct Byte {
    std::vector<Accessed> accesses;
    std::vector<std::uint32_t> chain;  // of these
    std::vector<Message> messages;     // of the release patterns in the chain
  };
  // The messages that a thread has published, and those that it has found but not acquired.
  struct Mail {
    std::vector<Message> of_fences;
    std::map<std::pair<std::uint32_t, std::uint32_t>, Message> of_place;  // first byte, size
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Message>> found;
  };

  template <class Meant>
  const Access* race_where(const Access& a, const Meant& meant) const {
    // An acquire operation is itself ordered after what it acquires. Where accesses of other sizes
    // have left messages at some of its bytes only, it acquires them byte after byte.
    Clock acquired;
    if (a.acquires) {
      acquired = clock_[a.thread];
      const auto found = mail_[a.thread].found.find({a.first, a.size});
      if (found != mail_[a.thread].found.end()) acquire(acquired, a.thread, a.scope, found->second);
    }
    const Clock& clock = a.acquires ? acquired : clock_[a.thread];
    for (std::uint32_t b = a.first; b < a.first + a.size; ++b) {
      if (a.acquires && links(bytes_[b], a))
        acquire(acquired, a.thread, a.scope, bytes_[b].messages);
      for (const Accessed& before : bytes_[b].accesses) {
        const Done& d = done_[before.number];
        if (b != a.first && d.first < b && !d.observed) continue;  // the byte before has it, too
        if (meant(d) && (d.writes || a.writes) && !morally_strong(d, a) &&
            !ordered(d, before.observers, clock))
          return &d;
      }
    }
    return nullptr;
  }
  static void join(Clock& to, const Clock& from) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = std::max(to[i], from[i]);
  }
  // Messages of one thread and scope are joined, as they reach the same threads.
  static void add(std::vector<Message>& to, const Message& m) {
    const auto same = std::find_if(to.begin(), to.end(), [&](const Message& t) {
      return t.thread == m.thread && t.scope == m.scope;
    });
    if (same == to.end()) {
      to.push_back(m);
    } else {
      join(same->clock, m.clock);
    }
  }
  bool reaches(std::uint32_t from, Scope scope, std::uint32_t to) const {
    const std::uint32_t a = threads_[from].block, b = threads_[to].block;
    return scope == Scope::kGrid || a == b ||
           (scope == Scope::kCluster && a / cluster_ == b / cluster_);
  }
  bool morally_strong(const Access& a, const Access& b) const {
    if (a.thread == b.thread) return a.first == b.first && a.size == b.size;
    return a.strong && b.strong && reaches(a.thread, a.scope, b.thread) &&
           reaches(b.thread, b.scope, a.thread);
  }
  // Whether the last write precedes the read, or the atomic, in observation order.
  bool links(const Byte& byte, const Access& a) const {
    return !byte.chain.empty() && (a.reads || a.reduces) &&
           morally_strong(done_[byte.accesses[byte.chain.back()].number], a);
  }
  static bool ordered(const Done& d, const Observers& observers, const Clock& clock) {
    if (clock[d.thread] >= d.epoch) return true;
    return std::any_of(observers.begin(), observers.end(),
                       [&](const auto& o) { return clock[o.first] >= o.second; });
  }
  void acquire(Clock& clock, std::uint32_t thread, Scope scope,
               const std::vector<Message>& messages) const {
    for (const Message& m : messages) {
      if (reaches(m.thread, m.scope, thread) && reaches(thread, scope, m.thread))
        join(clock, m.clock);
    }
  }

  std::vector<Thread> threads_;
  std::uint32_t cluster_;
  std::vector<Clock> clock_;
  std::vector<Mail> mail_;
  std::vector<Byte> bytes_;
  std::vector<Done> done_;
};

}  // namespace lockstep::check
