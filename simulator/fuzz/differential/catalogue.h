// The table of instruction forms as the generator sees it: which row stands where in a program, and
// which cannot.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "simulator/isa/form_examples.h"

namespace lockstep::fuzz::differential {

// How a row comes into a program.
enum class Place : std::uint8_t {
  kCompute,  // reads registers, writes registers
  kCarry,    // likewise, with the carry
  kWarp,     // exchanges values within the warp
  kLoad,
  kStore,
  kAtomic,   // atom, red
  kBarrier,  // barriers of the block that give a value, or none
  kText,     // what needs instructions around it (text.cc)
  kControl,  // branches, calls: wherever there are any
  kNever,
};

struct Row {
  const isa::FormRow* form = nullptr;
  int first = 0, last = 0;  // examples
  Place place = Place::kNever;
  std::string_view never;  // why it cannot stand in a program, with kNever
  std::string_view
      not_on_silicon;  // why results are not compared with a GPU's; empty when they are
};

class Catalogue {
 public:
  static const Catalogue& get();
  const std::vector<isa::Example>& examples() const { return examples_; }
  const std::vector<Row>& rows() const { return rows_; }
  const isa::Example& example(int i) const { return examples_[static_cast<std::size_t>(i)]; }
  int row_of(int example) const { return row_of_[static_cast<std::size_t>(example)]; }
  // The example of an opcode as spelled, with as many operands; ends the program when there is
  // none. `variant` distinguishes moves to and from vectors.
  int find(std::string_view opcode, std::size_t operands, int variant) const;
  std::string name(int row) const;  // "add{.rnd}{.ftz}{.sat}.f32 d, a, b"
  std::vector<int> rows_of(isa::Opcode opcode) const;

 private:
  Catalogue();
  std::vector<isa::Example> examples_;
  std::vector<int> row_of_;
  std::vector<Row> rows_;
};

// An example that may be in a program whose results a GPU must give too: what it computes follows
// from the manual, bit for bit, whatever ptxas makes of it.
bool exact_on_silicon(const isa::Example& e);

}  // namespace lockstep::fuzz::differential
