// A thread that executes operations while the program polls memory. A program may poll, without any
// call, until an operation has been executed: a flag in pinned memory, or a variable that a host
// function sets. As long as such operations are queued, the attendant watches. When the program
// makes no call for some time, it executes one operation after another.
//
// What is executed then depends on time, not only on the seed.
#pragma once

#include <atomic>
#include <cstdint>

namespace lockstep::runtime {

class Runtime;

class Attendant {
 public:
  // Call when operations are queued. Starts the thread unless it exists or no poll could notice the
  // operations. Call under the device lock.
  void attend(Runtime& runtime);
  // Whether it is executing an operation. It then holds the device lock.
  bool is_busy() const { return busy_; }

 private:
  void run(Runtime& runtime);
  // Executes one operation if the program has been idle since `seen`.
  void act(Runtime& runtime, std::uint64_t& seen);

  bool attends_ = false;
  std::atomic<bool> busy_ = false;
  bool has_acted_ = false;  // the program polls
};

// The attendant of the process.
Attendant& attendant();

}  // namespace lockstep::runtime
