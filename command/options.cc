#include "command/options.h"

#include <CLI/CLI.hpp>
#include <cstdlib>

namespace lockstep::command {

namespace {

std::string above_zero(const std::string& text) {
  return std::strtod(text.c_str(), nullptr) > 0 ? "" : "must be above zero, and is " + text;
}

}  // namespace

struct Options::Application {
  CLI::App app;
};

Options::Options(const std::string& description)
    : application_(new Application{CLI::App(description)}) {}
Options::~Options() = default;

void Options::value(const std::string& name, std::string& value, const std::string& help) {
  application_->app.add_option(name, value, help);
}
void Options::value(const std::string& name, std::vector<std::string>& value,
                    const std::string& help) {
  application_->app.add_option(name, value, help);
}
void Options::value(const std::string& name, double& value, const std::string& help) {
  application_->app.add_option(name, value, help);
}
void Options::value(const std::string& name, std::uint64_t& value, const std::string& help) {
  application_->app.add_option(name, value, help);
}
void Options::count(const std::string& name, int& value, const std::string& help) {
  application_->app.add_option(name, value, help)->check(above_zero);
}
void Options::count(const std::string& name, long& value, const std::string& help) {
  application_->app.add_option(name, value, help)->check(above_zero);
}
void Options::flag(const std::string& name, bool& value, const std::string& help) {
  application_->app.add_flag(name, value, help);
}
void Options::require(const std::string& name) { application_->app.get_option(name)->required(); }

std::optional<int> Options::parse(int argc, char** argv) {
  try {
    application_->app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return application_->app.exit(e);
  }
  return std::nullopt;
}

}  // namespace lockstep::command
