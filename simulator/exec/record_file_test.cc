#include "simulator/exec/record_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "simulator/runtime/state/record_mark.h"

namespace lockstep::exec {
namespace record_file_test {

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(RecordFile, IsOpenedByItsPathInEveryProcess) {
  const RecordFile record;
  ASSERT_EQ(record.error(), "");
  EXPECT_EQ(contents(record.path()), runtime::kRecordMark);
  const pid_t child = fork();
  if (child == 0) {
    closefrom(3);  // like daemons
    std::ofstream(record.path(), std::ios::app) << "a line";
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(contents(record.path()), std::string(runtime::kRecordMark) + "a line");
}

TEST(RecordFile, ThatCannotBeWrittenSaysWhy) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_FSIZE, &none);
    const RecordFile record;
    _exit(record.error().find("File too large") != std::string::npos ? 7 : 8);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "a signal ended it";
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

}  // namespace record_file_test
}  // namespace lockstep::exec
