#include "simulator/isa/form_examples.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "simulator/isa/category.h"
#include "simulator/isa/names.h"

namespace lockstep::isa {
namespace {

// Kernels stay so small that ptxas takes time proportional to their number.
constexpr std::size_t kPerKernel = 250;
// Rows with at most this many examples are used completely.
constexpr std::size_t kSmallForm = 400;

}  // namespace

std::string register_for(Type type, int n) {
  const std::string number = std::to_string(n);
  if (type == Type::kPred) return "p" + number;
  switch (size_of(type)) {
    case 1:
    case 2: return "h" + number;
    case 4: return "r" + number;
    case 8: return "d" + number;
    default: return "q" + number;
  }
}

Type half_of(Type t) {
  switch (size_of(t)) {
    case 2: return Type::kB8;
    case 4: return Type::kB16;
    case 8: return Type::kB32;
    default: return Type::kB64;
  }
}

std::string target_of(const FormRow& row) {
  return "sm_" + std::to_string(row.sm) + (row.suffix != 0 ? std::string("a") : std::string());
}

namespace {

std::string vector_of(Type type, int count, int first) {
  std::string s = "{";
  for (int i = 0; i < count; ++i) s += (i ? ", " : "") + register_for(type, first + i);
  return s + "}";
}

std::string vector_of_bytes(int count, int first) {
  std::string s = "{";
  for (int i = 0; i < count; ++i) s += (i ? ", c" : "c") + std::to_string(first + i);
  return s + "}";
}

// Two registers of 8 bits, as mov.b16 requires.
std::string two_bytes(int first) {
  return "{c" + std::to_string(first) + ", c" + std::to_string(first + 1) + "}";
}

// The value in the name of a rule such as "imm16"; otherwise a lookup table.
std::string integer_for(std::string_view name) {
  const std::string_view digits = name.substr(3);
  return digits.empty() || digits[0] < '0' || digits[0] > '9' ? "0xEA" : std::string(digits);
}

std::string operand_text(const OperandRule& rule, const Modifiers& m, int n, bool is_store) {
  using Role = OperandRule::Role;
  const Type type = operand_type(rule, m);
  switch (rule.role) {
    case Role::kDestination:
    case Role::kSource:
      if (const int length = vector_length(rule, m); length != 0) {
        const bool byte = type == Type::kE4M3 || type == Type::kE5M2;  // accepts no wider register
        return byte ? vector_of_bytes(length, n) : vector_of(type, length, n);
      }
      // For bf16 to 8 bits, and for pairs of fp4, ptxas accepts no wider register.
      if (type == Type::kE2M1x2 ||
          (rule.role == Role::kDestination && size_of(type) == 1 && m.source_type == Type::kBF16))
        return "c" + std::to_string(n);
      return register_for(type, n);
    case Role::kDestinationPredicate: return register_for(Type::kPred, n);
    case Role::kSourcePredicate: return (rule.may_negate ? "!" : "") + register_for(Type::kPred, n);
    case Role::kDestinationPair:
      return (vector_length(rule, m) != 0 ? vector_of(type, vector_length(rule, m), n)
                                          : register_for(type, n)) +
             "|" + register_for(rule.second, n + 1);
    case Role::kDestinationVector:
    case Role::kSourceVector:
      if (size_of(type) == 2) return two_bytes(n);
      return vector_of(half_of(type), 2, n);
    case Role::kAddress: {
      if (rule.name == "[a]" && m.space == Space::kParam)
        return is_store ? "[outgoing]" : "[argument]";
      if (rule.name == "[tm]") return "[" + register_for(Type::kB32, n) + "]";
      return "[d" + std::to_string(n) + "]";
    }
    case Role::kImage: {
      std::string c;
      for (int i = 0; i < coordinates_of(m.geometry); ++i)
        c += (i ? ", " : "") + register_for(type, n + 1 + i);
      return "[d" + std::to_string(n) + ", {" + c + "}]";
    }
    case Role::kTensor:
      return "[d" + std::to_string(n) + ", " + vector_of(type, tensor_coordinates_of(m), n + 1) +
             "]";
    case Role::kOffsets: return vector_of(type, im2col_values_of(m), n);
    case Role::kGradient: return vector_of(type, gradients_of(m.geometry), n);
    case Role::kInteger: return integer_for(rule.name);
    case Role::kLabel: return "$end";
    case Role::kLabelList: return "$targets";
    case Role::kFunction: return "callee, (outgoing)";
    case Role::kSink: return "_";
  }
  return {};
}

}  // namespace

int first_register(const std::vector<OperandRule>& rules, const Modifiers& m,
                   std::size_t position) {
  const int n = 8 * static_cast<int>(position),
            longest = rules.empty() ? 0 : vector_length(rules[0], m);
  return position != 0 && longest > 8 ? 128 + n : n;
}

namespace {

bool wants_policy(const Spelling& s) { return s.text.find(".L2::cache_hint") != std::string::npos; }

bool has_policy(const std::vector<OperandRule>& rules) {
  for (const OperandRule& r : rules)
    if (r.name == "policy") return true;
  return false;
}

// Pseudorandom numbers that depend on the spelling and are the same in every run.
class Choice {
 public:
  explicit Choice(std::string_view text) {
    for (const char c : text) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  int below(int end) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int>((state_ >> 33) % static_cast<std::uint64_t>(end));
  }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325;
};

Selector some_selector(Selects what, int lanes, Choice& choice) {
  Selector s;
  switch (what) {
    case Selects::kNothing: break;
    case Selects::kPart:
      s.halves = choice.below(3) == 0;
      s.digit[s.count++] = static_cast<std::uint8_t>(choice.below(s.halves ? 2 : 4));
      break;
    case Selects::kMask:
      s.halves = lanes == 2;
      for (int i = 0; i < lanes; ++i) {
        if (choice.below(2) == 0) s.digit[s.count++] = static_cast<std::uint8_t>(i);
      }
      if (s.count == 0) s.digit[s.count++] = 1;
      break;
    case Selects::kLanes:
      s.halves = lanes == 2;
      for (int i = 0; i < lanes; ++i)
        s.digit[s.count++] = static_cast<std::uint8_t>(choice.below(2 * lanes));
      break;
  }
  return s;
}

// `number`: 0 for an example without optional parts, others for examples with selectors and minus
// signs.
Example make_example(const Spelling& s, const std::vector<OperandRule>& rules, int number = 0) {
  Example e{s, &rules, s.text};
  Choice choice(s.text + static_cast<char>('0' + number));
  const char last = s.form->first_word.back();
  const int lanes = last == '2' ? 2 : last == '4' ? 4 : 1;
  // As with ptxas: negated factors, or a negated summand.
  const int minus = choice.below(4);
  for (std::size_t i = 0; i < rules.size(); ++i) {
    e.text += i ? ", " : " ";
    const bool chosen = rules[i].name == "c"
                            ? minus == 3
                            : minus < 3 && (minus + 1) >> (rules[i].name == "a" ? 0 : 1) & 1;
    if (number != 0 && rules[i].may_be_minus && chosen) e.text += "-";
    e.text += operand_text(rules[i], s.modifiers, first_register(rules, s.modifiers, i),
                           s.form->row->opcode == Opcode::k_st);
    if (rules[i].selects != Selects::kNothing && (number != 0 || rules[i].selector_wanted))
      e.text += text_of(some_selector(rules[i].selects, lanes, choice));
  }
  e.text += ";";
  return e;
}

bool has_choices(const std::vector<OperandRule>& rules) {
  return std::any_of(rules.begin(), rules.end(), [](const OperandRule& r) {
    return r.selects != Selects::kNothing || r.may_be_minus;
  });
}

// The words of an opcode, each with its dot.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t i = text.find('.'); i != std::string::npos;) {
    const std::size_t next = text.find('.', i + 1);
    words.push_back(text.substr(i, next == std::string::npos ? next : next - i));
    i = next;
  }
  return words;
}

}  // namespace

std::vector<Example> all_examples() {
  std::vector<Example> all;
  for (const Spelling& s : enumerate_forms())
    for (const auto& rules : s.form->operands)
      if (has_policy(rules) == wants_policy(s)) {
        all.push_back(make_example(s, rules));
        if (has_choices(rules)) all.push_back(make_example(s, rules, 1));
      }
  return all;
}

std::vector<Example> pairwise_examples() {
  std::vector<Example> chosen;
  const Form* form = nullptr;
  std::set<std::pair<std::string, std::string>> seen;  // within the form
  std::set<const std::vector<OperandRule>*> lists;
  auto all = all_examples();
  std::map<const Form*, std::size_t> count;
  for (const Example& e : all) ++count[e.spelling.form];
  for (Example& e : all) {
    if (e.spelling.form != form) {
      form = e.spelling.form;
      seen.clear();
      lists.clear();
    }
    // The many shapes of a warpgroup's matrices are covered by pairs of words.
    const bool small =
        count[form] <= kSmallForm && category_of(form->row->opcode) != Category::kWarpgroup;
    bool fresh = lists.insert(e.operands).second || small;
    const auto words = words_of(e.spelling.text);
    for (std::size_t i = 0; i < words.size(); ++i)
      for (std::size_t j = i; j < words.size(); ++j)
        fresh |= seen.emplace(words[i], words[j]).second;
    if (fresh) chosen.push_back(std::move(e));
  }
  return chosen;
}

std::string example_module(std::span<const Example> examples, const std::string& version,
                           const std::string& target, std::vector<int>* line_of) {
  std::string text = ".version " + version + "\n.target " + target +
                     "\n.address_size 64\n.func callee(.param .align 16 .b8 in[64])\n{\nret;\n}\n";
  int line = 8;
  if (line_of) line_of->clear();
  int kernels = 0;
  for (std::size_t i = 0, end = 0; i < examples.size(); i = end) {
    // ptxas accepts, in one kernel, tcgen05 instructions of one block or of pairs, not both.
    std::uint8_t group = 0;
    for (end = i; end < std::min(i + kPerKernel, examples.size()); ++end) {
      const std::uint8_t next = examples[end].spelling.modifiers.cta_group;
      if (group != 0 && next != 0 && next != group) break;
      if (next != 0) group = next;
    }
    text +=
        ".entry kernel" + std::to_string(kernels++) + "(.param .align 16 .b8 argument[64])\n{\n";
    text +=
        ".reg .pred p<256>; .reg .b8 c<64>; .reg .b16 h<128>; .reg .b32 r<256>; .reg .b64 d<256>; "
        ".reg .b128 q<64>;\n";
    text += "$targets: .branchtargets $end; .param .align 16 .b8 outgoing[64];\n";
    line += 4;
    for (std::size_t j = i; j < end; ++j) {
      text += examples[j].text + "\n";
      if (line_of) line_of->push_back(line);
      ++line;
    }
    text += "$end:\ncall callee, (outgoing);\nret;\n}\n";
    line += 4;
  }
  return text;
}

}  // namespace lockstep::isa
