#include "simulator/isa/forms.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>

#include "simulator/isa/modifier_tokens.h"
#include "simulator/isa/names.h"

namespace lockstep::isa {
namespace {

#define LOCKSTEP_FORM(opcode, ...) {Opcode::k_##opcode, __VA_ARGS__},
constexpr FormRow kRows[] = {
#include "simulator/isa/form_rows.inc"
};
#undef LOCKSTEP_FORM

[[noreturn]] void reject(const FormRow& row, std::string_view why) {
  std::fprintf(stderr, "form_rows.inc: %.*s: %.*s\n", static_cast<int>(row.syntax.size()),
               row.syntax.data(), static_cast<int>(why.size()), why.data());
  std::abort();
}

bool is_space(char c) { return c == ' '; }

std::string_view trim(std::string_view s) {
  while (!s.empty() && is_space(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_space(s.back())) s.remove_suffix(1);
  return s;
}

// ".rn.rz" -> {".rn", ".rz"}.
std::vector<std::string_view> split_words(std::string_view s) {
  std::vector<std::string_view> words;
  std::size_t i = 0;
  while (i < s.size()) {
    std::size_t end = s.find('.', i + 1);
    if (end == std::string_view::npos) end = s.size();
    words.push_back(trim(s.substr(i, end - i)));
    i = end;
  }
  return words;
}

// The choices of a row for a word, or the word itself.
std::vector<std::string_view> choices_for(const FormRow& row, std::string_view word) {
  std::string_view rest = trim(row.choices);
  while (!rest.empty()) {
    std::size_t end = rest.find(' ');
    if (end == std::string_view::npos) end = rest.size();
    const std::string_view entry = rest.substr(0, end);
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos) reject(row, "choices without '='");
    if (entry.substr(0, equals) == word) return split_words(entry.substr(equals + 1));
    rest = trim(rest.substr(end));
  }
  return {word};
}

// An optional group of several words ("{.sem.scope}") is present or absent as a whole. Such a row
// yields several lists of slots.
std::vector<std::vector<ModifierSlot>> parse_slots(const FormRow& row, std::string_view text) {
  std::vector<std::vector<ModifierSlot>> lists(1);
  auto append = [&](std::vector<ModifierSlot>& list, std::string_view word, bool optional) {
    list.push_back({choices_for(row, word), optional});
  };
  std::size_t i = 0;
  while (i < text.size()) {
    if (text[i] == '{') {
      const std::size_t end = text.find('}', i);
      if (end == std::string_view::npos) reject(row, "'{' without '}'");
      const auto words = split_words(text.substr(i + 1, end - i - 1));
      if (words.size() == 1) {
        for (auto& list : lists) append(list, words[0], true);
      } else {
        const auto without = lists;
        for (auto& list : lists)
          for (const auto word : words) append(list, word, false);
        lists.insert(lists.end(), without.begin(), without.end());
      }
      i = end + 1;
    } else {
      std::size_t end = i + 1;
      while (end < text.size() && text[end] != '.' && text[end] != '{') ++end;
      for (auto& list : lists) append(list, text.substr(i, end - i), false);
      i = end;
    }
  }
  return lists;
}

OperandRule parse_operand(const FormRow& row, std::string_view text) {
  using Role = OperandRule::Role;
  OperandRule rule;
  if (text.starts_with("{!}")) {
    rule.may_negate = true;
    rule.role = Role::kSourcePredicate;
    rule.fixed = Type::kPred;
    rule.name = text.substr(3);
    return rule;
  }
  if (text.starts_with("{-}")) {
    rule.may_be_minus = true;
    text.remove_prefix(3);
  }
  // A pair "d|p": a type after the first name belongs to the first.
  const auto bar = text.find('|');
  char second = 0;
  if (bar != std::string_view::npos) {
    if (bar == 0 || bar + 1 == text.size()) reject(row, "half a pair");
    rule.role = Role::kDestinationPair;
    rule.second_optional = text[bar - 1] == '{';
    second = text[bar + 1];
    text = text.substr(0, rule.second_optional ? bar - 1 : bar);
  }
  std::string_view type;
  if (const auto colon = text.find(':'); colon != std::string_view::npos) {
    type = text.substr(colon + 1);
    text = text.substr(0, colon);
  }
  if (!type.empty()) {
    if (type == "t") {
    } else if (type == "s") {
      rule.type_slot = 1;
    } else if (type == "x") {
      rule.type_slot = 2;
    } else if (type == "2t") {
      rule.twice = true;
    } else {
      rule.fixed = type_from_name(type);
      if (rule.fixed == Type::kNone) reject(row, "operand of unknown type");
    }
  }
  if (const auto star = text.find('*'); star != std::string_view::npos) {
    std::string_view length = text.substr(star + 1);
    const bool is_part = length.starts_with("n/");
    if (is_part) length.remove_prefix(2);
    rule.times_number = length.starts_with("x");
    if (rule.times_number) length.remove_prefix(1);
    std::uint8_t& number = is_part ? rule.part : rule.count;
    for (const char digit : length) number = static_cast<std::uint8_t>(10 * number + (digit - '0'));
    if (number == 0) reject(row, "a vector without a length");
    text = text.substr(0, star);
  }
  if (const auto dot = text.find('.'); dot != std::string_view::npos && text[0] != '[') {
    const std::string_view what = text.substr(dot + 1);
    rule.selects = what == "p"   ? Selects::kPart
                   : what == "m" ? Selects::kMask
                   : what == "l" ? Selects::kLanes
                                 : Selects::kNothing;
    if (rule.selects == Selects::kNothing) reject(row, "operand with an unknown selector");
    text = text.substr(0, dot);
    rule.selector_wanted = rule.selects == Selects::kPart && text == "d";
  }
  rule.name = text;
  if (text.empty()) reject(row, "empty operand");
  if (second != 0) {
    if (text[0] == 'p') rule.fixed = Type::kPred;
    rule.second = Type::kPred;
    rule.follows_vector = text[0] == 'd';
    return rule;
  }
  if (text == "[a, c]") {
    rule.role = Role::kImage;
  } else if (text == "[t, c]") {
    rule.role = Role::kTensor;
    rule.fixed = Type::kS32;
  } else if (text == "offsets") {
    rule.role = Role::kOffsets;
    rule.fixed = Type::kB16;
  } else if (text == "grad") {
    rule.role = Role::kGradient;
  } else if (text[0] == '[') {
    rule.role = Role::kAddress;
  } else if (text == "_") {
    rule.role = Role::kSink;
  } else if (text == "label") {
    rule.role = Role::kLabel;
  } else if (text == "tlist") {
    rule.role = Role::kLabelList;
  } else if (text == "fname") {
    rule.role = Role::kFunction;
  } else if (text.starts_with("imm")) {
    rule.role = Role::kInteger;
  } else if (text == "vd") {
    rule.role = Role::kDestinationVector;
  } else if (text == "v") {
    rule.role = Role::kSourceVector;
  } else if (text[0] == 'd') {
    rule.role = Role::kDestination;
    rule.follows_vector = text != "d1";
    rule.read_too = text == "du";
  } else if (text == "p" || text == "q") {
    rule.role = Role::kDestinationPredicate;
    rule.fixed = Type::kPred;
  } else {
    rule.role = Role::kSource;
    rule.follows_vector = text == "b" || text == "c";
  }
  return rule;
}

// All operand lists that "d, a{, b}, c" describes, longest first.
void expand_operands(const FormRow& row, std::string_view rest, std::vector<OperandRule> so_far,
                     std::vector<std::vector<OperandRule>>& out) {
  rest = trim(rest);
  if (rest.starts_with(",")) rest = trim(rest.substr(1));
  if (rest.empty()) {
    out.push_back(std::move(so_far));
    return;
  }
  if (rest.starts_with("{,") || rest.starts_with("{ ")) {
    const std::size_t end = rest.find("}}") != std::string_view::npos ? rest.find("}}") + 1 : [&] {
      // The closing brace that does not belong to "{!}".
      std::size_t i = 1;
      while (i < rest.size() && (rest[i] != '}' || rest[i - 1] == '!')) ++i;
      return i;
    }();
    if (end >= rest.size()) reject(row, "'{' without '}' among the operands");
    std::string with(rest.substr(1, end - 1));
    auto longer = so_far;
    std::string_view group = trim(rest.substr(1, end - 1));
    if (group.starts_with(",")) group = trim(group.substr(1));
    longer.push_back(parse_operand(row, group));
    expand_operands(row, rest.substr(end + 1), std::move(longer), out);
    expand_operands(row, rest.substr(end + 1), std::move(so_far), out);
    return;
  }
  // One operand, up to a comma or a "{," group.
  std::size_t end =
      rest[0] == '[' ? rest.find(']') : 0;  // the comma of "[a, c]" belongs to the operand
  while (end < rest.size() && rest[end] != ',' &&
         !(rest[end] == '{' && end + 1 < rest.size() && rest[end + 1] == ','))
    ++end;
  so_far.push_back(parse_operand(row, trim(rest.substr(0, end))));
  expand_operands(row, rest.substr(end), std::move(so_far), out);
}

// "cp.async.wait_group": words of the row that are only parts of the opcode's name.
bool is_name_word(Opcode opcode, std::string_view word) {
  const std::string_view name = opcode_name(opcode);
  const std::string_view w = word.substr(1);
  for (std::size_t at = name.find(w); at != std::string_view::npos; at = name.find(w, at + 1)) {
    const std::size_t end = at + w.size();
    if (at > 0 && name[at - 1] == '_' && (end == name.size() || name[end] == '_')) return true;
  }
  return false;
}

bool classify(const Form& form, std::string_view token, bool literal, Modifiers& m,
              WordsSoFar& words) {
  if (literal && is_name_word(form.row->opcode, token)) return true;
  return apply_token(form.row->opcode, token, m, words);
}

void enumerate(const Form& form, std::size_t slot, std::string& text, Modifiers m,
               WordsSoFar so_far,
               const std::function<void(const std::string&, const Modifiers&)>& visit) {
  if (slot == form.slots.size()) {
    visit(text, m);
    return;
  }
  const ModifierSlot& s = form.slots[slot];
  if (s.optional) enumerate(form, slot + 1, text, m, so_far, visit);
  for (const auto token : s.tokens) {
    Modifiers with = m;
    WordsSoFar now = so_far;
    if (!classify(form, token, s.tokens.size() == 1 && !s.optional, with, now))
      reject(*form.row, std::string("word without a meaning: ") + std::string(token));
    const std::size_t size = text.size();
    text += token;
    enumerate(form, slot + 1, text, with, now, visit);
    text.resize(size);
  }
}

bool match_slots(const Form& form, std::size_t slot, const std::vector<std::string_view>& words,
                 std::size_t word, Modifiers m, WordsSoFar so_far, Modifiers& result) {
  if (slot == form.slots.size()) {
    if (word != words.size()) return false;
    result = m;
    return true;
  }
  const ModifierSlot& s = form.slots[slot];
  if (word < words.size()) {
    for (const auto token : s.tokens) {
      if (token != words[word]) continue;
      Modifiers with = m;
      WordsSoFar now = so_far;
      if (!classify(form, token, s.tokens.size() == 1 && !s.optional, with, now)) continue;
      if (match_slots(form, slot + 1, words, word + 1, with, now, result)) return true;
    }
  }
  return s.optional && match_slots(form, slot + 1, words, word, m, so_far, result);
}

// Types keep their relative order, and so do state spaces: cvt.f32.f64 is not cvt.f64.f32.
bool is_next_of_its_kind(const std::vector<std::string_view>& words, const std::string_view& word) {
  const bool type = type_from_name(word.substr(1)) != Type::kNone,
             space = space_from_name(word.substr(1)) != Space::kNone;
  for (const std::string_view& earlier : words) {
    if (&earlier == &word) return true;
    if (earlier.empty()) continue;
    if (type && type_from_name(earlier.substr(1)) != Type::kNone) return false;
    if (space && space_from_name(earlier.substr(1)) != Space::kNone) return false;
  }
  return true;
}

// ptxas accepts the words of most opcodes in any order, and nvcc uses that
// (atom.global.cta.add.u32). Each slot consumes the first remaining word that it accepts.
bool match_in_any_order(const Form& form, std::size_t slot, std::vector<std::string_view>& words,
                        std::size_t left, Modifiers m, WordsSoFar so_far, Modifiers& result) {
  if (slot == form.slots.size()) {
    if (left != 0) return false;
    result = m;
    return true;
  }
  const ModifierSlot& s = form.slots[slot];
  for (std::string_view& word : words) {
    if (word.empty() || std::find(s.tokens.begin(), s.tokens.end(), word) == s.tokens.end())
      continue;
    if (!is_next_of_its_kind(words, word)) continue;
    Modifiers with = m;
    WordsSoFar now = so_far;
    if (!classify(form, word, s.tokens.size() == 1 && !s.optional, with, now)) continue;
    const std::string_view taken = std::exchange(word, {});
    const bool matched = match_in_any_order(form, slot + 1, words, left - 1, with, now, result);
    word = taken;
    if (matched) return true;
    break;  // a later word of the same kind would only exchange their order
  }
  return s.optional && match_in_any_order(form, slot + 1, words, left, m, so_far, result);
}

// For messages: the number of words of an opcode that a form accepts, and the words that it accepts
// next.
struct Furthest {
  std::size_t words = 0;
  std::set<std::string_view> expected;
  bool may_end = false;

  void note(std::size_t reached, std::string_view token) {
    if (reached < words) return;
    if (reached > words) {
      words = reached;
      expected.clear();
      may_end = false;
    }
    if (token.empty()) {
      may_end = true;
    } else {
      expected.insert(token);
    }
  }
};

void explore(const Form& form, std::size_t slot, const std::vector<std::string_view>& words,
             std::size_t word, Furthest& furthest) {
  if (slot == form.slots.size()) {
    furthest.note(word, {});
    return;
  }
  const ModifierSlot& s = form.slots[slot];
  for (const auto token : s.tokens) {
    furthest.note(word, token);
    if (word < words.size() && token == words[word])
      explore(form, slot + 1, words, word + 1, furthest);
  }
  if (s.optional) explore(form, slot + 1, words, word, furthest);
}

// "cp" of "cp.async.wait_group N".
std::string_view first_word(std::string_view opcode) {
  return opcode.substr(0, opcode.find_first_of(".{ "));
}

void add_forms(const FormRow& row, std::vector<Form>& all) {
  std::size_t end = row.syntax.find(' ');
  if (end == std::string_view::npos) end = row.syntax.size();
  const std::string_view opcode = row.syntax.substr(0, end), word = first_word(opcode);
  std::vector<std::vector<OperandRule>> operands;
  expand_operands(row, row.syntax.substr(end), {}, operands);
  for (auto& slots : parse_slots(row, opcode.substr(word.size()))) {
    Form form;
    form.row = &row;
    form.first_word = word;
    form.slots = std::move(slots);
    form.operands = operands;
    all.push_back(std::move(form));
  }
}

// The forms of one first word. Most programs use few words, so each is expanded at its first use.
class Word {
 public:
  void add(const FormRow& row) { rows_.push_back(&row); }
  const std::vector<Form>& forms() {
    std::call_once(expanded_, [this] {
      for (const FormRow* row : rows_) add_forms(*row, forms_);
    });
    return forms_;
  }

 private:
  std::vector<const FormRow*> rows_;
  std::once_flag expanded_;
  std::vector<Form> forms_;
};

// nullptr if no form has the word.
Word* find_word(std::string_view word) {
  static auto* const all = [] {
    auto* words = new std::unordered_map<std::string_view, Word>;
    for (const FormRow& row : kRows) (*words)[first_word(row.syntax)].add(row);
    return words;
  }();
  const auto found = all->find(word);
  return found == all->end() ? nullptr : &found->second;
}

}  // namespace

const std::vector<Form>& forms() {
  static const auto* const all = [] {
    auto* forms = new std::vector<Form>;
    for (const FormRow& row : kRows) add_forms(row, *forms);
    return forms;
  }();
  return *all;
}

std::vector<Spelling> enumerate_forms() {
  std::vector<Spelling> all;
  for (const Form& form : forms()) {
    Modifiers m;
    m.variant = form.row->variant;
    std::string text(form.first_word);
    enumerate(form, 0, text, m, {}, [&](const std::string& t, const Modifiers& mods) {
      all.push_back({&form, t, mods});
    });
  }
  return all;
}

std::vector<Match> match_opcode(std::string_view opcode) {
  std::vector<Match> matches;
  const std::string_view word = first_word(opcode);
  Word* const found = find_word(word);
  if (found == nullptr) return matches;
  const auto words = split_words(opcode.substr(word.size()));
  auto try_all = [&](auto&& matcher) {
    for (const Form& form : found->forms()) {
      Modifiers m, result;
      m.variant = form.row->variant;
      if (matcher(form, m, result)) matches.push_back({&form, result});
    }
  };
  try_all([&](const Form& form, const Modifiers& m, Modifiers& result) {
    return match_slots(form, 0, words, 0, m, {}, result);
  });
  if (matches.empty()) {
    auto rest = words;
    try_all([&](const Form& form, const Modifiers& m, Modifiers& result) {
      return match_in_any_order(form, 0, rest, rest.size(), m, {}, result);
    });
  }
  return matches;
}

std::string explain_no_match(std::string_view opcode) {
  const std::string_view word = first_word(opcode);
  Word* const found = find_word(word);
  if (found == nullptr) return {};
  const auto words = split_words(opcode.substr(word.size()));
  Furthest furthest;
  for (const Form& form : found->forms()) explore(form, 0, words, 0, furthest);
  std::string after(word);
  for (std::size_t i = 0; i < furthest.words; ++i) after += words[i];
  std::string text = "after '" + after + "' there may be";
  for (const auto token : furthest.expected) text += " " + std::string(token);
  if (furthest.may_end) text += furthest.expected.empty() ? " nothing" : " or nothing";
  if (furthest.words < words.size()) return text + ", not " + std::string(words[furthest.words]);
  return text;
}

bool is_instruction(std::string_view opcode) {
  constexpr std::string_view kWithoutForms[] = {"istypep", "tcgen05"};
  const std::string_view word = first_word(opcode);
  return find_word(word) != nullptr || std::find(std::begin(kWithoutForms), std::end(kWithoutForms),
                                                 word) != std::end(kWithoutForms);
}

bool exists_on(const FormRow& row, int number, char suffix) {
  if (row.suffix == 'x') return number == row.sm && suffix == 'a';
  if (row.sm > number) return false;
  const bool family = number / 10 == 10 || number / 10 == 11;
  switch (row.suffix) {
    case 0: return true;
    case 't': return family && suffix != 0;
    case 'u': return family && suffix == 'a';
    case 'i': return (number == 100 || number == 110) && suffix == 'a';
    case 's': return number / 10 == 10 && suffix != 0;
    case 'w': return suffix == 'a';
    case 'y': return family ? suffix != 0 : suffix == 'a';
    case 'v': return number / 10 == 10 && suffix == 'a';
    default: return suffix != 0;
  }
}

bool has_forms_not_here(std::string_view opcode) { return first_word(opcode) == "tcgen05"; }

int vector_length(const OperandRule& rule, const Modifiers& m) {
  if (rule.part != 0) return m.shape.n / rule.part;
  if (rule.times_number) return rule.count * m.vector;
  if (rule.count != 0) return rule.count;
  return rule.follows_vector && m.vector > 1 ? m.vector : 0;
}

int sparsity_selectors(const Modifiers& m) {
  // Four bits select two of four columns: of eight columns in pairs for four-bit elements, of two
  // for 32-bit elements.
  const bool packed = m.source_type == Type::kE2M1 && m.shape.k == 128;
  const int bits = packed ? 4 : bits_of(m.source_type), columns = bits == 4    ? 8
                                                                  : bits == 32 ? 2
                                                                               : 4;
  return 4 * 16 / (4 * m.shape.k / columns);
}

Type operand_type(const OperandRule& rule, const Modifiers& m) {
  if (rule.fixed != Type::kNone) return rule.fixed;
  const Type t = rule.type_slot == 0 ? m.type : rule.type_slot == 1 ? m.source_type : m.third_type;
  if (!rule.twice) return t;
  switch (t) {
    case Type::kU16: return Type::kU32;
    case Type::kS16: return Type::kS32;
    case Type::kU32: return Type::kU64;
    case Type::kS32: return Type::kS64;
    default: return t;
  }
}

}  // namespace lockstep::isa
