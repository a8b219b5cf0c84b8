#include "simulator/vectors/vectors.h"

#include <algorithm>
#include <set>
#include <utility>

#include "simulator/isa/category.h"

namespace lockstep::vectors {
namespace {

using isa::Modifiers;
using isa::Opcode;
using isa::OperandRule;
using isa::Space;
using isa::Type;
using Role = OperandRule::Role;

bool is_exchange(Opcode op) {
  return isa::category_of(op) == isa::Category::kCollective && op != Opcode::k_activemask &&
         op != Opcode::k_bar_warp_sync;
}

bool touches_memory(Opcode op) {
  return isa::category_of(op) == isa::Category::kLoadStore ||
         isa::category_of(op) == isa::Category::kAtomic;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// Loads through a path that may not see the kernel's own writes.
bool reads_only_inputs(const isa::Spelling& s) {
  return s.modifiers.non_coherent || s.form->row->opcode == Opcode::k_ldu;
}

// A memory operation in memory that every thread has 32 bytes of. Loads and stores of .b128 only
// move bits (load_store_test has them): they came after the recording.
bool reaches_its_own_bytes(const isa::Spelling& s) {
  const Opcode op = s.form->row->opcode;
  if (s.modifiers.type == Type::kB128 &&
      (op == Opcode::k_ld || op == Opcode::k_ldu || op == Opcode::k_st))
    return false;
  switch (s.modifiers.space) {
    case Space::kNone:
    case Space::kGeneric:
    case Space::kGlobal:
    case Space::kShared:
    case Space::kSharedCluster: return true;
    default: return false;
  }
}

// Memory operations in their plainest spelling: no hint, order or scope.
bool is_plain(const isa::Spelling& s) {
  const Modifiers& m = s.modifiers;
  return !contains(s.text, "::") && !contains(s.text, ".weak") &&
         m.semantics == isa::Semantics::kNone && m.scope == isa::Scope::kNone &&
         m.cache == isa::CacheOp::kNone && !reads_only_inputs(s) &&
         m.space != Space::kSharedCluster;
}

// A barrier that reduces a predicate over the block.
bool reduces_at_a_barrier(const isa::Spelling& s) {
  const Opcode op = s.form->row->opcode;
  return isa::category_of(op) == isa::Category::kBarrier && contains(s.text, ".red.");
}

bool exists(const isa::Example& e, VectorTarget target) {
  return isa::exists_on(*e.spelling.form->row, target.number, target.suffix);
}

// Scalar video instructions that ptxas 13.0 compiles to several others, so that a GPU's result
// differs from the manual (docs/journal/silicon.md).
bool is_not_as_the_manual_says(const isa::Example& e) {
  const isa::Modifiers& m = e.spelling.modifiers;
  const char last = e.spelling.form->first_word.back();
  if (isa::category_of(e.spelling.form->row->opcode) != isa::Category::kVideo || last == '2' ||
      last == '4')
    return false;
  return m.sat || m.atom == isa::AtomOp::kMin || m.atom == isa::AtomOp::kMax || m.component != 0 ||
         contains(e.text, " r0.h1,");
}

// Bytes from and to a register of 16 bits only move bits (move_test has them): they came after the
// recording.
bool moves_two_bytes(const isa::Spelling& s) {
  return s.form->row->opcode == Opcode::k_mov && s.form->row->variant != 0 &&
         s.modifiers.type == Type::kB16;
}

bool belongs(const isa::Example& e) {
  const Opcode op = e.spelling.form->row->opcode;
  if (moves_two_bytes(e.spelling)) return false;
  if (is_not_as_the_manual_says(e)) return false;
  if (touches_memory(op)) return is_plain(e.spelling) && reaches_its_own_bytes(e.spelling);
  return isa::computes(isa::category_of(op)) || is_exchange(op) || reduces_at_a_barrier(e.spelling);
}

// Memory operations with a hint, order or scope compute what the plain ones do. A few of every row,
// spread over the row, verify that.
constexpr std::size_t kHintedPerRow = 4;

std::vector<const isa::Example*> hinted_representatives(const std::vector<isa::Example>& examples,
                                                        VectorTarget target) {
  std::vector<const isa::Example*> chosen;
  for (std::size_t begin = 0, end; begin < examples.size(); begin = end) {
    const isa::Form* form = examples[begin].spelling.form;
    std::vector<const isa::Example*> of_row;
    for (end = begin; end < examples.size() && examples[end].spelling.form == form; ++end) {
      const isa::Example& e = examples[end];
      if (touches_memory(form->row->opcode) && exists(e, target) && !is_plain(e.spelling) &&
          reaches_its_own_bytes(e.spelling))
        of_row.push_back(&e);
    }
    const std::size_t count = std::min(kHintedPerRow, of_row.size());
    for (std::size_t k = 0; k < count; ++k)
      chosen.push_back(of_row[count == 1 ? 0 : k * (of_row.size() - 1) / (count - 1)]);
  }
  return chosen;
}

bool reads_carry(const Modifiers& m, Opcode op) {
  return m.carry_in || op == Opcode::k_addc || op == Opcode::k_subc || op == Opcode::k_madc;
}

int bytes_of(Type t) { return t == Type::kPred ? 0 : isa::size_of(t); }

// Collects the text before and after the instruction while the operands are processed one by one.
class KernelWriter {
 public:
  explicit KernelWriter(const isa::Example& example)
      : example_(example), opcode_(example.spelling.form->row->opcode) {}

  void write(VectorForm& out) {
    const Modifiers& m = example_.spelling.modifiers;
    const auto& rules = *example_.operands;
    for (std::size_t i = 0; i < rules.size(); ++i)
      operand(rules[i], static_cast<int>(i), i + 1 == rules.size());
    if (reads_carry(m, opcode_)) {
      const std::string x = input({Word::Kind::kCarry, Type::kPred, 0, 0});
      before_ += "cvt.u32.u64 y0, " + x +
                 ";\nadd.cc.u32 y1, y0, 0xffffffff;\n";  // 1 + 0xffffffff carries, 0 does not
    }
    if (m.carry_out) {
      after_ = "addc.u32 y2, 0, 0;\n" + after_ + "cvt.u64.u32 x9, y2;\n";
      output({Word::Kind::kCarry, Type::kPred, 0, 0}, "x9");
    }
    out.inputs = inputs_;
    out.outputs = outputs_;
    out.kernel =
        ".entry " + out.entry +
        "(.param .u64 in, .param .u64 out)\n{\n"
        ".reg .pred p<64>; .reg .b8 c<64>; .reg .b16 h<64>; .reg .b32 r<64>; .reg .b64 d<64>; .reg "
        ".b128 q<64>;\n"
        ".reg .b64 x<12>; .reg .b32 y<8>;\n" +
        (shared_ ? ".shared .align 32 .b8 cells[" + std::to_string(kBlock * 32) + "];\n" : "") +
        "ld.param.u64 x0, [in];\nld.param.u64 x1, [out];\n"
        "mov.u32 y4, %tid.x;\nmov.u32 y5, %ctaid.x;\nmad.lo.u32 y5, y5, " +
        std::to_string(kBlock) + ", y4;\n" + "mad.wide.u32 x0, y5, " +
        std::to_string(8 * inputs_.size()) + ", x0;\n" + "mad.wide.u32 x1, y5, " +
        std::to_string(8 * outputs_.size()) + ", x1;\n" + before_ + example_.text + "\n" + after_ +
        "ret;\n}\n";
  }

 private:
  void operand(const OperandRule& rule, int position, bool last) {
    const Modifiers& m = example_.spelling.modifiers;
    const Type type = isa::operand_type(rule, m);
    const int n = 8 * position;
    const int elements = rule.follows_vector ? m.vector : 1;
    switch (rule.role) {
      case Role::kDestination:
        for (int e = 0; e < elements; ++e) destination(type, n + e, position);
        break;
      case Role::kDestinationPredicate: destination(Type::kPred, n, position); break;
      case Role::kDestinationPair:
        destination(type, n, position);
        destination(rule.second, n + 1, position);
        break;
      case Role::kDestinationVector:
        for (int e = 0; e < 2; ++e) destination(isa::half_of(type), n + e, position);
        break;
      case Role::kSourceVector:
        for (int e = 0; e < 2; ++e) source(isa::half_of(type), n + e, position);
        break;
      case Role::kSourcePredicate: source(Type::kPred, n, position); break;
      case Role::kSource:
        if (last && is_exchange(opcode_)) {
          before_ += "mov.b32 " + isa::register_for(type, n) + ", 0xffffffff;\n";
          break;
        }
        if (rule.name == "policy") {
          before_ += "createpolicy.fractional.L2::evict_last.b64 " + isa::register_for(type, n) +
                     ", 0f3f800000;\n";
          break;
        }
        if (reduces_at_a_barrier(example_.spelling)) {  // which barrier, and how many threads
          before_ += "mov.b32 " + isa::register_for(type, n) + ", " +
                     std::to_string(rule.name == "a" ? 3 : kBlock) + ";\n";
          break;
        }
        for (int e = 0; e < elements; ++e) source(type, n + e, position);
        break;
      case Role::kAddress: memory(type, n, position); break;
      case Role::kImage:
      case Role::kGradient:
      case Role::kTensor:
      case Role::kOffsets:
      case Role::kInteger:
      case Role::kLabel:
      case Role::kLabelList:
      case Role::kFunction:
      case Role::kSink: break;
    }
  }

  // Loads the next input word. Returns the register that contains it.
  std::string input(const Word& word) {
    before_ += "ld.global.b64 x2, [x0+" + std::to_string(8 * inputs_.size()) + "];\n";
    inputs_.push_back(word);
    return "x2";
  }
  void output(const Word& word, const std::string& from) {
    after_ += "st.global.b64 [x1+" + std::to_string(8 * outputs_.size()) + "], " + from + ";\n";
    outputs_.push_back(word);
  }

  void source(Type type, int n, int position) {
    const std::string name = isa::register_for(type, n);
    const int bytes = bytes_of(type);
    const std::string x = input({Word::Kind::kRegister, type, std::min(bytes, 8), position});
    switch (bytes) {
      case 0: before_ += "setp.ne.b64 " + name + ", " + x + ", 0;\n"; break;
      case 1:
      case 2: before_ += "cvt.u16.u64 " + name + ", " + x + ";\n"; break;
      case 4: before_ += "cvt.u32.u64 " + name + ", " + x + ";\n"; break;
      case 8: before_ += "mov.b64 " + name + ", " + x + ";\n"; break;
      default:
        before_ += "mov.b64 x3, x2;\n";
        input({Word::Kind::kRegister, type, 8, position});
        before_ += "mov.b128 " + name + ", {x3, x2};\n";
    }
  }

  void destination(Type type, int n, int position) {
    std::string name = isa::register_for(type, n);
    const int bytes = bytes_of(type);
    if (example_.text.find(" c" + std::to_string(n)) != std::string::npos) {
      name = "c" + std::to_string(n);
      after_ += "cvt.u64.u8 x4, " + name + ";\n";
      output({Word::Kind::kRegister, type, 1, position}, "x4");
      return;
    }
    switch (bytes) {
      case 0: after_ += "selp.b64 x4, 1, 0, " + name + ";\n"; break;
      case 1:
      case 2: after_ += "cvt.u64.u16 x4, " + name + ";\n"; break;
      case 4: after_ += "cvt.u64.u32 x4, " + name + ";\n"; break;
      case 8: after_ += "mov.b64 x4, " + name + ";\n"; break;
      default:
        after_ += "mov.b128 {x4, x5}, " + name + ";\n";
        output({Word::Kind::kRegister, type, 8, position}, "x4");
        output({Word::Kind::kRegister, type, 8, position}, "x5");
        return;
    }
    // 16 bits is the smallest register, and its upper half is part of the result.
    output({Word::Kind::kRegister, type, bytes == 1 ? 2 : bytes, position}, "x4");
  }

  // The thread's own 32 bytes of global or shared memory, or its inputs where they lie.
  void memory(Type type, int n, int position) {
    const Modifiers& m = example_.spelling.modifiers;
    const int words = (isa::size_of(type) * m.vector + 7) / 8;
    if (reads_only_inputs(example_.spelling)) {
      before_ +=
          "add.u64 d" + std::to_string(n) + ", x0, " + std::to_string(8 * inputs_.size()) + ";\n";
      inputs_.insert(inputs_.end(), static_cast<std::size_t>(words),
                     {Word::Kind::kMemory, type, 8, position});
      return;
    }
    shared_ = m.space == Space::kShared || m.space == Space::kSharedCluster;
    before_ += shared_ ? "mov.u64 x6, cells;\nmad.wide.u32 x6, y4, 32, x6;\n"
                       : "mov.u64 x6, memory;\nmad.wide.u32 x6, y5, 32, x6;\n";
    const std::string space = shared_ ? ".shared" : ".global";
    const Word word{Word::Kind::kMemory, type, 8, position};
    for (int w = 0; w < words; ++w) {
      const std::string x = input(word);
      before_ += "st" + space + ".b64 [x6+" + std::to_string(8 * w) + "], " + x + ";\n";
    }
    before_ += "mov.b64 d" + std::to_string(n) + ", x6;\n";
    for (int w = 0; w < words; ++w) {
      after_ += "ld" + space + ".b64 x7, [x6+" + std::to_string(8 * w) + "];\n";
      output(word, "x7");
    }
  }

  const isa::Example& example_;
  Opcode opcode_;
  bool shared_ = false;
  std::string before_, after_;
  std::vector<Word> inputs_, outputs_;
};

// lop3's table is an immediate: each operand alone, majority, selection, sum.
constexpr const char* kTables[] = {"0xEA", "0x96", "0xE8", "0xCA", "0xF0", "0xCC", "0xAA", "0x1B"};

}  // namespace

std::vector<VectorForm> vector_forms(VectorTarget target) {
  std::vector<VectorForm> forms;
  std::set<std::string> names;
  const auto add = [&](const isa::Example& e) {
    if (!names.insert(e.text).second) return;
    VectorForm& f = forms.emplace_back();
    f.name = e.text;
    f.spelling = e.spelling;
    f.entry = "form" + std::to_string(forms.size() - 1);
    KernelWriter(e).write(f);
  };
  const std::vector<isa::Example> examples = isa::all_examples();
  const std::vector<const isa::Example*> hinted = hinted_representatives(examples, target);
  for (const isa::Example& example : examples) {
    if (!exists(example, target) || !belongs(example)) continue;
    isa::Example e = example;
    if (e.spelling.form->row->opcode == Opcode::k_lop3) {
      const std::size_t at = e.text.find("0xEA");
      for (const char* table : kTables) {
        e.text.replace(at, 4, table);
        add(e);
      }
    } else {
      add(e);
    }
  }
  for (const isa::Example* e : hinted) add(*e);
  return forms;
}

std::string module_text(std::span<const VectorForm> forms, VectorTarget target) {
  std::string text = ".version 9.0\n.target " + target.name() +
                     "\n.address_size 64\n.global .align 32 .b8 memory[" +
                     std::to_string(kThreads * 32) + "];\n";
  for (const VectorForm& f : forms) text += f.kernel;
  return text;
}

std::uint64_t digest(std::span<const std::uint64_t> words) {
  std::uint64_t h = 0xcbf29ce484222325;
  for (const std::uint64_t w : words) {
    for (int i = 0; i < 64; i += 8) h = (h ^ (w >> i & 0xff)) * 0x100000001b3;
  }
  return h;
}

std::uint64_t digest(std::span<const std::uint32_t> words) {
  constexpr std::uint64_t kPrime = 0x100000001b3,
                          kOfFourZeroBytes = kPrime * kPrime * kPrime * kPrime;
  std::uint64_t h = 0xcbf29ce484222325;
  for (const std::uint32_t w : words) {
    for (int i = 0; i < 32; i += 8) h = (h ^ (w >> i & 0xff)) * kPrime;
    h *= kOfFourZeroBytes;
  }
  return h;
}

std::vector<std::uint8_t> pack(const VectorForm& form, std::span<const std::uint64_t> words) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t c = 0; c < form.outputs.size(); ++c) {
    const int size = form.outputs[c].bytes;
    for (int t = 0; t < kThreads; ++t) {
      const std::uint64_t w = words[static_cast<std::size_t>(t) * form.outputs.size() + c];
      if (size == 0) {
        if (t % 8 == 0) bytes.push_back(0);
        bytes.back() |= static_cast<std::uint8_t>((w & 1) << (t % 8));
      }
      for (int i = 0; i < size; ++i) bytes.push_back(static_cast<std::uint8_t>(w >> (8 * i)));
    }
  }
  return bytes;
}

std::vector<std::uint64_t> unpack(const VectorForm& form, std::span<const std::uint8_t> bytes) {
  std::size_t expected = 0;
  for (const Word& w : form.outputs)
    expected += w.bytes == 0 ? kThreads / 8 : static_cast<std::size_t>(kThreads * w.bytes);
  if (bytes.size() != expected) return {};
  std::vector<std::uint64_t> words(kThreads * form.outputs.size());
  const std::uint8_t* p = bytes.data();
  for (std::size_t c = 0; c < form.outputs.size(); ++c) {
    const int size = form.outputs[c].bytes;
    for (int t = 0; t < kThreads; ++t) {
      std::uint64_t& w = words[static_cast<std::size_t>(t) * form.outputs.size() + c];
      if (size == 0) w = p[t / 8] >> (t % 8) & 1;
      for (int i = 0; i < size; ++i) w |= std::uint64_t{p[t * size + i]} << (8 * i);
    }
    p += size == 0 ? kThreads / 8 : kThreads * size;
  }
  return words;
}

}  // namespace lockstep::vectors
