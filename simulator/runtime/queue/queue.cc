#include "simulator/runtime/queue/queue.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace lockstep::runtime {
namespace {

bool comes_after(const Entry& later, const Entry& earlier) {
  return later.at.before.covers(earlier.at.lane, earlier.at.sequence);
}

}  // namespace

void Queue::add(std::shared_ptr<Entry> entry) {
  entry->host = order_.host_now();
  if (entries_.empty()) order_.hold(entry->host);
  host_functions_ += entry->for_host;
  entries_.push_back(std::move(entry));
}

void Queue::insert_behind(const Entry& before, std::shared_ptr<Entry> entry) {
  auto it = std::find_if(entries_.begin(), entries_.end(),
                         [&](const auto& e) { return e.get() == &before; });
  entry->host = before.host;
  if (it != entries_.end()) ++it;
  host_functions_ += entry->for_host;
  entries_.insert(it, std::move(entry));
}

std::shared_ptr<Entry> Queue::entry(const Entry& entry) const {
  const auto it = std::find_if(entries_.begin(), entries_.end(),
                               [&](const auto& e) { return e.get() == &entry; });
  return it == entries_.end() ? nullptr : *it;
}

void Queue::remove(Entry& entry) {
  const auto it = std::find_if(entries_.begin(), entries_.end(),
                               [&](const auto& e) { return e.get() == &entry; });
  if (it == entries_.end()) return;
  entry.done = true;
  host_functions_ -= entry.for_host;
  ++changes_;
  entries_.erase(it);
  order_.hold(entries_.empty() ? nullptr : entries_.front()->host);
}

bool Queue::has(const Clock& what) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const auto& e) { return what.covers(e->at.lane, e->at.sequence); });
}

bool Queue::is_stuck(const Entry& entry, bool no_host_functions) const {
  return entry.running || entry.tried_at == changes_ || entry.turn_in == rounds_ ||
         (no_host_functions && entry.for_host);
}

// Whatever comes after an operation that is neither ready nor stuck comes after one that is: so
// the stuck ones show which of the others wait.
std::shared_ptr<Entry> Queue::next(const Choice& choice) const {
  std::vector<const Entry*> stuck;
  std::vector<const std::shared_ptr<Entry>*> free;
  for (const auto& entry : entries_) {
    if (choice.what != nullptr && !choice.what->covers(entry->at.lane, entry->at.sequence))
      continue;
    if (is_stuck(*entry, choice.no_host_functions)) {
      stuck.push_back(entry.get());
      continue;
    }
    if (std::any_of(stuck.begin(), stuck.end(),
                    [&](const Entry* s) { return comes_after(*entry, *s); }))
      continue;
    if (choice.random == nullptr) return entry;
    free.push_back(&entry);
  }
  if (free.empty()) return nullptr;
  const std::shared_ptr<Entry>& wanted = *free[(*choice.random)() % free.size()];
  // The first that it comes after comes after none.
  const auto first = std::find_if(entries_.begin(), entries_.end(), [&](const auto& e) {
    return e == wanted || comes_after(*wanted, *e);
  });
  return *first;
}

// Operations of a lane that do not come before `at` come after it if the first of them does. That
// one has the lane's next number. Reserved numbers may be those of several operations.
bool Queue::orders_all_with(const Operation& at) const {
  const std::vector<std::uint32_t>& last = order_.last();
  std::ptrdiff_t lanes = 0;  // with operations that do not come before `at`
  for (Lane lane = 0; lane < last.size(); ++lane) lanes += !at.before.covers(lane, last[lane]);
  for (const auto& entry : entries_) {
    if (lanes == 0 && !order_.has_reserved()) break;
    const Operation& e = entry->at;
    lanes -= e.sequence == at.before.at(e.lane) + 1 && e.before.covers(at.lane, at.sequence);
  }
  return lanes == 0;
}

void Queue::learn(const Clock& what) {
  for (const auto& entry : entries_) entry->at.before.join(what);
}

void Queue::learn_after(const Operation& at, const Clock& what) {
  if (what.values().empty()) return;
  for (const auto& entry : entries_) {
    if (entry->at.before.covers(at.lane, at.sequence)) entry->at.before.join(what);
  }
}

}  // namespace lockstep::runtime
