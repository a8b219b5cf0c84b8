#include "simulator/coverage/coverage.h"

#include <string_view>
#include <variant>

#include "simulator/engine/launch/launch.h"
#include "simulator/memory/device_memory.h"

namespace lockstep::coverage {
namespace {

// The compiler's error message; empty if it accepts all examples.
std::string refusal(std::span<const isa::Example> examples, memory::DeviceMemory& memory) {
  const std::string text =
      isa::example_module(examples, "9.0", isa::target_of(*examples.front().spelling.form->row));
  const std::string_view texts[] = {text};
  const auto error = engine::first_refusal(engine::load_module(texts, memory, 0));
  return error ? error->message : std::string();
}

}  // namespace

const std::vector<RowCoverage>& measure() {
  static const std::vector<RowCoverage> rows = measure(isa::pairwise_examples());
  return rows;
}

std::vector<RowCoverage> measure(std::span<const isa::Example> examples) {
  std::vector<RowCoverage> rows;
  for (const isa::Form& form : isa::forms()) {
    if (rows.empty() || rows.back().row != form.row) rows.emplace_back().row = form.row;
  }
  std::size_t at = 0;
  const auto row_of = [&](const isa::Form* form) -> RowCoverage& {
    while (rows[at].row != form->row) ++at;
    return rows[at];
  };
  for (const isa::Spelling& s : isa::enumerate_forms()) ++row_of(s.form).spellings;
  at = 0;
  memory::DeviceMemory memory;
  for (std::size_t i = 0, end = 0; i < examples.size(); i = end) {
    RowCoverage& row = row_of(examples[i].spelling.form);
    for (end = i; end < examples.size() && examples[end].spelling.form->row == row.row;) ++end;
    const std::span<const isa::Example> of_row(&examples[i], end - i);
    row.examples = of_row.size();
    if (refusal(of_row, memory).empty()) {
      row.executed = of_row.size();
      continue;
    }
    for (const isa::Example& e : of_row) {
      const std::string why = refusal({&e, 1}, memory);
      if (why.empty()) {
        ++row.executed;
      } else if (row.first_refusal.empty()) {
        row.first_refusal = why;
      }
    }
  }
  return rows;
}

}  // namespace lockstep::coverage
