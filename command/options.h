// Options of this repository's tools, with CLI11. In one source file, because CLI11's header takes
// seconds to compile.
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

  // An option with a value, such as "--seed"; a name without dashes is a positional argument.
  // `value` is unchanged if the option is not given, and must live until parse() has returned.
  void value(const std::string& name, std::string& value, const std::string& help);
  void value(const std::string& name, std::vector<std::string>& value, const std::string& help);
  void value(const std::string& name, double& value, const std::string& help);
  void value(const std::string& name, std::uint64_t& value, const std::string& help);
  // A number above zero.
  void count(const std::string& name, int& value, const std::string& help);
  void count(const std::string& name, long& value, const std::string& help);
  void flag(const std::string& name, bool& value, const std::string& help);
  // Requires the option of this name.
  void require(const std::string& name);

  // Returns an exit status if the program must exit now, after --help or an error message;
  // otherwise nothing.
  std::optional<int> parse(int argc, char** argv);

 private:
  struct Application;
  std::unique_ptr<Application> application_;
};

}  // namespace lockstep::command
