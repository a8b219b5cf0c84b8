#include "harness/report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>

namespace lockstep::html {

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string section(std::string_view id, std::string_view title, std::string_view body) {
  return fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", id, escape(title), body);
}

std::string script(std::string_view program) {
  std::string out;
  for (std::size_t i = 0; i < program.size(); ++i) {
    out += program[i];
    if (program[i] == '<' && i + 1 < program.size() && program[i + 1] == '/') out += '\\';
  }
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (k < n ? static_cast<unsigned char>(bytes[i + k]) : 0);
    for (std::size_t k = 0; k < 4; ++k) out += k <= n ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

Table::Table(std::string_view align, const std::vector<std::string>& heads,
             std::string_view css_class)
    : align_(align), css_class_(css_class) {
  rows_ = "<thead><tr>";
  for (std::size_t i = 0; i < heads.size(); ++i) rows_ += cell(i, "th", escape(heads[i]));
  rows_ += "</tr></thead>\n<tbody>\n";
}

void Table::row(const std::vector<std::string>& cells, std::string_view css_class) {
  rows_ += css_class.empty() ? "<tr>" : fmt::format("<tr class=\"{}\">", css_class);
  for (std::size_t i = 0; i < cells.size(); ++i) rows_ += cell(i, "td", cells[i]);
  rows_ += "</tr>\n";
}

std::string Table::end() const {
  return fmt::format("<div class=\"scroll\"><table{}>{}</tbody></table></div>\n",
                     css_class_.empty() ? "" : " class=\"" + css_class_ + "\"", rows_);
}

std::string Table::cell(std::size_t column, std::string_view tag,
                        const std::string& content) const {
  const char kind = column < align_.size() ? align_[column] : 'l';
  std::string classes = std::tolower(kind) == 'n' ? "n" : "";
  if (std::isupper(static_cast<unsigned char>(kind))) classes += classes.empty() ? "wide" : " wide";
  return fmt::format("<{0}{1}>{2}</{0}>", tag, classes.empty() ? "" : " class=\"" + classes + "\"",
                     content);
}

}  // namespace lockstep::html
