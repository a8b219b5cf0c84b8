// make_manual: writes the manual page of the installed command to stdout.
#include <cstdio>

#include "command/command_line.h"

int main() {
  using namespace lockstep::command;
  return std::fputs(manual(whole_offer(false)).c_str(), stdout) < 0 || std::fflush(stdout) != 0;
}
