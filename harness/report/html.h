// Builds small pieces of HTML. All text passes through escape(), so that no case, path or message
// can become markup.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lockstep::html {

// For element contents and for attributes in double quotes.
std::string escape(std::string_view text);
std::string section(std::string_view id, std::string_view title, std::string_view body);
// The contents of a <script> element; no "</" in the program can end the element early.
std::string script(std::string_view program);
std::string base64(std::string_view bytes);

// A table that scrolls sideways if it is too wide. Cells are HTML. `align` has one letter per
// column: l left, n right (numbers); a capital hides the column on a phone. A table of class
// "named" has long first cells, which have their own line on a phone.
class Table {
 public:
  Table(std::string_view align, const std::vector<std::string>& heads,
        std::string_view css_class = "");
  void row(const std::vector<std::string>& cells, std::string_view css_class = "");
  std::string end() const;

 private:
  std::string cell(std::size_t column, std::string_view tag, const std::string& content) const;
  std::string align_, css_class_, rows_;
};

}  // namespace lockstep::html
