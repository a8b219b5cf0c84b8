// A program may look at memory, instead of calling anything, until an operation has been executed:
// a flag in pinned memory, a variable that a host function sets. As long as operations wait that it
// could notice, a thread of the simulated GPU attends: where the program makes no call for some
// time it executes one operation after another.
//
// What is executed then depends on time, and not on the seed alone.
#pragma once

#include <cstdint>

namespace lockstep::runtime {

class Runtime;

class Attendant {
 public:
  // Operations wait. Makes the thread unless it is there, or nobody could notice. Under the device
  // lock.
  void attend(Runtime& runtime);
  // Whether it executes something now: it has the device lock.
  bool is_busy() const;

 private:
  void run(Runtime& runtime);
  // Executes one operation, if the program has been idle since `seen`.
  void act(Runtime& runtime, std::uint64_t& seen);

  bool attends_ = false;
  bool has_acted_ = false;  // the program is one that looks
};

// That of the process.
Attendant& attendant();

}  // namespace lockstep::runtime
