// Litmus programs as text, for reports and lists of programs.
//
//   litmus message_passing
//   cluster 2                                   blocks of a cluster; default 1
//   copies 32                                   of all threads and locations, one in each lane;
//                                               default 1
//   generic                                     addresses are generic
//   x global+0 4                                name, place, bytes
//   f shared1+8 4                               in the shared memory of block 1
//   mbarrier0 0 2                               mbarrier 0: in block 0, two arrivals a phase
//   P0 0.0.0: st.weak x 1; st.release.gpu f 1   thread P0 is block.warp.lane
//   P1 1.0.0: await.ld.acquire.gpu f 1; ld.weak x
//   expect free                                 the rest of the line is for the list's reader
//
// Operations are spelt as in PTX, without state space, type and brackets:
//   ld.SEM[.SCOPE] x           st.SEM[.SCOPE] x 1
//   atom.add.SEM.SCOPE x 1     the result is kept; `atom.add.SEM.SCOPE _ x 1`: it is not
//   atom.cas.SEM.SCOPE x 0 1   if it is 0, then 1     red.add.SEM.SCOPE x 1
//   await.ld.SEM[.SCOPE] x 1   loads until it reads 1
//   await.cas.SEM.SCOPE x 0 1  compares and swaps until it finds 0
//   fence.SEM.SCOPE   membar.cta|gl|sys   fence.proxy.alias|async|async.global|async.shared::cta
//   bne 0 1 4         to operation 4 of the thread if the result of its operation 0 is not 1
//   beq 0 1 4   goto 4
//   bar.sync 0   bar.sync 1 2   bar.arrive 1 2   (2: warps)   bar.warp.sync 0x3
//   cluster.arrive.SEM   cluster.wait
//   mbarrier.arrive.SEM.SCOPE 0   mbarrier.wait.SEM.SCOPE 0 PHASE
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "simulator/litmus/program.h"

namespace lockstep::litmus {

std::string to_text(const Op& op, const Program& program);
std::string to_text(const Program& program, std::string_view name);

struct Named {
  std::string name;
  Program program;
  std::vector<std::string> expected;  // the lines after `expect`
};
// Parses the programs of a text. Lines that start with # are comments. Throws std::runtime_error
// with the line that cannot be parsed.
std::vector<Named> parse(std::string_view text);

}  // namespace lockstep::litmus
