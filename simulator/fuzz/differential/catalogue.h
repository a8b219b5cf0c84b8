// The generator's view of the table of instruction forms: where each row can be in a program, and
// which rows cannot.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "simulator/isa/form_examples.h"

namespace lockstep::fuzz::differential {

// How a row is used in a program.
enum class Place : std::uint8_t {
  kCompute,  // reads registers, writes registers
  kCarry,    // likewise, with the carry
  kWarp,     // exchanges values within the warp
  kLoad,
  kStore,
  kAtomic,   // atom, red
  kBarrier,  // barriers of the block, with or without a result
  kText,     // needs surrounding instructions (text.cc)
  kControl,  // branches and calls, wherever they occur
  kNever,
};

struct Row {
  const isa::FormRow* form = nullptr;
  int first = 0, last = 0;  // examples
  Place place = Place::kNever;
  std::string_view never;  // for kNever: why it cannot be in a program
  std::string_view
      not_on_silicon;  // why its results are not compared with a GPU's; empty if they are
};

class Catalogue {
 public:
  static const Catalogue& get();
  const std::vector<isa::Example>& examples() const { return examples_; }
  const std::vector<Row>& rows() const { return rows_; }
  const isa::Example& example(int i) const { return examples_[static_cast<std::size_t>(i)]; }
  int row_of(int example) const { return row_of_[static_cast<std::size_t>(example)]; }
  // The example of an opcode with this spelling and number of operands. Ends the program if there
  // is none. `variant` distinguishes moves to and from vectors.
  int find(std::string_view opcode, std::size_t operands, int variant) const;
  std::string name(int row) const;  // "add{.rnd}{.ftz}{.sat}.f32 d, a, b"
  std::vector<int> rows_of(isa::Opcode opcode) const;

 private:
  Catalogue();
  std::vector<isa::Example> examples_;
  std::vector<int> row_of_;
  std::vector<Row> rows_;
};

// Whether a program whose results are compared with a GPU may contain the example: its result
// follows from the manual, bit for bit, whatever ptxas generates.
bool exact_on_silicon(const isa::Example& e);

}  // namespace lockstep::fuzz::differential
