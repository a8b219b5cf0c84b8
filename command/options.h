// Options of this repository's own tools, over CLI11: compiled once, where its header takes seconds
// in each program that includes it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::command {

class Options {
 public:
  explicit Options(const std::string& description);
  ~Options();
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;

  // An option with a value, such as "--seed"; a name without dashes takes what stands alone.
  // `value` keeps what it has where the option is not given, and must live until parse() has
  // returned.
  void value(const std::string& name, std::string& value, const std::string& help);
  void value(const std::string& name, std::vector<std::string>& value, const std::string& help);
  void value(const std::string& name, double& value, const std::string& help);
  void value(const std::string& name, std::uint64_t& value, const std::string& help);
  // Above zero.
  void count(const std::string& name, int& value, const std::string& help);
  void count(const std::string& name, long& value, const std::string& help);
  void flag(const std::string& name, bool& value, const std::string& help);
  // The option of this name must be given.
  void require(const std::string& name);

  // The exit status where the program ends here, after --help or a sentence on what is wrong;
  // nothing where it goes on.
  std::optional<int> parse(int argc, char** argv);

 private:
  struct Application;
  std::unique_ptr<Application> application_;
};

}  // namespace lockstep::command
