// The edits by subject. Each function appends the edits of its operators.
#pragma once

#include <string_view>
#include <vector>

#include "simulator/mutation/edit.h"

namespace lockstep::mutation {

// A word of an opcode, such as ".rn", and its replacement; an empty replacement removes the word.
struct Words {
  std::string_view from, to;
};

void add_thread_edits(const Site& site,
                      std::vector<Edit>& edits);  // barriers, fences, waits, groups, scopes and
                                                  // orders, atomics, shuffles, votes
void add_memory_edits(const Site& site, std::vector<Edit>& edits);   // indices, addresses, stores
void add_control_edits(const Site& site, std::vector<Edit>& edits);  // comparisons, guards
void add_arithmetic_edits(const Site& site, std::vector<Edit>& edits);  // computations
void add_copy_edits(const Site& site,
                    std::vector<Edit>& edits);  // bulk and tensor copies, waits for their bytes
void add_matrix_edits(const Site& site,
                      std::vector<Edit>& edits);  // matrices distributed over lanes

}  // namespace lockstep::mutation
