// What programs of random calls share: random numbers, names, and text.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace lockstep::calls {

// printf into a string.
__attribute__((format(printf, 1, 2))) inline std::string text(const char* format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  return line;
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {  // splitmix64
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  std::size_t below(std::size_t bound) { return next() % bound; }
  bool chance(int percent) { return below(100) < static_cast<std::size_t>(percent); }
  template <class T, std::size_t kCount>
  T of(const T (&values)[kCount]) {
    return values[below(kCount)];
  }

 private:
  std::uint64_t state_;
};

// An object with its name in the transcript.
template <class T>
struct Named {
  T it = {};
  std::string name;
};

// Each operation that a stream or graph executes writes to a slot of its own, and reads constants.
// So results do not depend on the order of operations.
inline constexpr std::size_t kSlots = 4096, kSlotWords = 16, kSlotBytes = 4 * kSlotWords;

// What a rig of either API has: random numbers, names, and the number of slots in use.
class Objects {
 public:
  explicit Objects(std::uint64_t seed) : random(seed) {}

  // One of `all`, or nullptr without any.
  template <class T>
  T* pick(std::vector<T>& all) {
    return all.empty() ? nullptr : &all[random.below(all.size())];
  }
  // Takes one of `all` out, by its address.
  template <class T>
  void remove(std::vector<T>& all, T* one) {
    all.erase(all.begin() + (one - all.data()));
  }
  std::string number(const char* prefix) { return text("%s%d", prefix, ++count_); }
  // Of the slot that was used last.
  std::string slot_name() const { return text("slot%zu", slots_used_ - 1); }

  Random random;

 protected:
  std::size_t next_slot() { return slots_used_++ % kSlots; }

 private:
  int count_ = 0;
  std::size_t slots_used_ = 0;
};

// FNV-1a.
inline std::uint64_t digest(const void* data, std::size_t bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (std::size_t i = 0; i < bytes; ++i)
    hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3;
  return hash;
}

// Calls of `Rig`, each with its weight.
template <class Rig>
struct Call {
  int weight;
  void (*make)(Rig&);
};

// Makes `count` of the calls, drawn by their weights.
template <class Rig>
void make_calls(Rig& rig, const std::vector<Call<Rig>>& all, int count) {
  std::size_t weights = 0;
  for (const Call<Rig>& call : all) weights += static_cast<std::size_t>(call.weight);
  for (int i = 0; i < count; ++i) {
    auto at = static_cast<int>(rig.random.below(weights));
    std::size_t chosen = 0;
    while ((at -= all[chosen].weight) >= 0) ++chosen;
    all[chosen].make(rig);
  }
}

}  // namespace lockstep::calls
