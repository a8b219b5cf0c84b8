#include "simulator/vectors/matrix_forms.h"

#include <algorithm>
#include <numeric>

#include "simulator/isa/category.h"
#include "simulator/isa/forms.h"
#include "simulator/isa/names.h"

namespace lockstep::vectors {
namespace {

using isa::Modifiers;
using isa::Opcode;
using isa::OperandRule;
using isa::Type;
using Role = OperandRule::Role;

std::string text(int n) { return std::to_string(n); }
// The register of example_module() for element `n` of an operand of `type`.
std::string word_name(Type type, int n) { return (isa::size_of(type) == 8 ? "d" : "r") + text(n); }

int words_of(const std::vector<Section>& sections, int lanes) {
  return lanes * std::accumulate(sections.begin(), sections.end(), 0,
                                 [](int sum, const Section& s) { return sum + s.words; });
}

constexpr int kWarp = 32;

// A matrix in memory, in words a lane of a warp.
Section in_memory(Type type, int rows, int columns, Section::Use use) {
  const int bits = rows * columns * isa::bits_of(type);
  return {type, (bits + 32 * kWarp - 1) / (32 * kWarp), use};
}

// The types of an instruction's matrices, in the order of its words.
struct Types {
  Type d, a, b, c;
};
Types types_of(const isa::Spelling& s) {
  const Modifiers& m = s.modifiers;
  if (s.form->row->opcode == Opcode::k_wmma_mma && m.third_type == Type::kNone)
    return {m.type, Type::kF16, Type::kF16, m.source_type};
  return {m.type, m.source_type, m.third_type, m.fourth_type};
}

// How a matrix of a warpgroup lies in shared memory.
struct Layout {
  int swizzle = 32;     // bytes, 0: none
  bool across = false;  // a column is contiguous instead of a row
};

class Writer {
 public:
  Writer(const isa::Example& example, Layout layout, int lanes)
      : example_(example),
        m_(example.spelling.modifiers),
        opcode_(example.spelling.form->row->opcode),
        layout_(layout),
        lanes_(lanes) {}

  void write(MatrixForm& out) {
    switch (opcode_) {
      case Opcode::k_wmma_load: load(); break;
      case Opcode::k_wmma_store: store(); break;
      case Opcode::k_wmma_mma: multiply_in_memory(); break;
      case Opcode::k_ldmatrix:
      case Opcode::k_stmatrix: through_shared(); break;
      case Opcode::k_wgmma_mma_async:
      case Opcode::k_wgmma_mma_async_sp: multiply_in_shared(); break;
      default: registers();
    }
    out.inputs = inputs_;
    out.outputs = outputs_;
    const std::string in = text(4 * words_of(inputs_, lanes_)),
                      all_out = text(4 * words_of(outputs_, lanes_));
    out.kernel =
        ".entry " + out.entry +
        "(.param .u64 in, .param .u64 out)\n{\n.reg .pred p<256>; .reg .b16 h<64>; .reg .b32 "
        "r<256>; .reg .b64 d<256>; .reg .b64 x<12>; .reg .b32 y<12>;\n" +
        (shared_ != 0 ? ".shared .align 1024 .b8 cells[" + text(shared_) + "];\n" : "") +
        "ld.param.u64 x0, [in];\nld.param.u64 x1, [out];\nmov.u32 y0, %tid.x;\nand.b32 y1, y0, " +
        text(lanes_ - 1) + ";\ndiv.u32 y2, y0, " + text(lanes_) +
        ";\nmov.u32 y3, %ctaid.x;\nmad.lo.u32 y3, y3, " + text(kThreadsABlock / lanes_) +
        ", y2;\nmad.wide.u32 x0, y3, " + in + ", x0;\nmad.wide.u32 x1, y3, " + all_out + ", x1;\n" +
        text_ + "ret;\n}\n";
  }

 private:
  const std::vector<OperandRule>& rules() const { return *example_.operands; }
  void line(const std::string& s) { text_ += s + "\n"; }

  // Sets x2 to the address of the tile's section, or of this lane's part of it.
  void address(const std::vector<Section>& sections, const std::string& base, bool of_lane) {
    const int before = words_of(sections, lanes_) - lanes_ * sections.back().words;
    line("add.u64 x2, " + base + ", " + text(4 * before) + ";");
    if (of_lane) line("mad.wide.u32 x2, y1, " + text(4 * sections.back().words) + ", x2;");
  }

  int first(std::size_t n) const { return isa::first_register(rules(), m_, n); }

  // Loads the registers of operand `n` from a new section, or stores them to one.
  void fill(std::size_t n, Type element, Section::Use use) {
    const Type type = isa::operand_type(rules()[n], m_);
    const int count = std::max(1, isa::vector_length(rules()[n], m_));
    inputs_.push_back({element, count * isa::size_of(type) / 4, use});
    address(inputs_, "x0", true);
    for (int i = 0; i < count; ++i) {
      line("ld.global.b" + text(8 * isa::size_of(type)) + " " + word_name(type, first(n) + i) +
           ", [x2+" + text(i * isa::size_of(type)) + "];");
    }
  }
  void drain(std::size_t n) {
    const Type type = isa::operand_type(rules()[n], m_);
    const int count = std::max(1, isa::vector_length(rules()[n], m_));
    outputs_.push_back({type, count * isa::size_of(type) / 4, Section::Use::kAny});
    address(outputs_, "x1", true);
    for (int i = 0; i < count; ++i) {
      line("st.global.b" + text(8 * isa::size_of(type)) + " [x2+" + text(i * isa::size_of(type)) +
           "], " + word_name(type, first(n) + i) + ";");
    }
  }

  // mma and movmatrix.
  void registers() {
    const Types t = types_of(example_.spelling);
    const Type elements[] = {t.d, t.a, t.b, t.c};
    for (std::size_t n = 1; n < rules().size(); ++n) {
      if (rules()[n].role != Role::kSource) continue;
      if (opcode_ == Opcode::k_movmatrix) {
        fill(n, Type::kB32, Section::Use::kAny);
      } else if (n == 4) {
        fill(n, t.a, Section::Use::kMetadata);
      } else {
        fill(n, elements[n], n == 3 ? Section::Use::kAccumulator : Section::Use::kFactor);
      }
    }
    line(example_.text);
    drain(0);
  }

  // The distance in elements between rows (or columns) of a matrix in memory.
  int leading(Type type, int rows, int columns, bool by_columns) const {
    // A multiple of 16 bytes.
    const int least = 128 / isa::bits_of(type);
    const int natural = by_columns ? rows : columns;
    return (natural + least - 1) / least * least;
  }
  struct Matrix {
    Type type;
    int rows, columns;
    bool by_columns;
    int stride;  // elements
    Section::Use use;
  };
  Matrix matrix(int which, Type type, bool by_columns) const {
    const isa::Shape& s = m_.shape;
    const int rows = which == 2 ? s.k : s.m, columns = which == 1 ? s.k : s.n;
    return {type,
            rows,
            columns,
            by_columns,
            leading(type, rows, columns, by_columns),
            which == 3 ? Section::Use::kAccumulator : Section::Use::kFactor};
  }
  static Section section_of(const Matrix& m) {
    return in_memory(m.type, m.by_columns ? m.stride : m.rows, m.by_columns ? m.columns : m.stride,
                     m.use);
  }

  void load() {
    const Matrix m = matrix(example_.spelling.form->row->variant, m_.type, m_.a_by_columns);
    inputs_.push_back(section_of(m));
    address(inputs_, "x0", false);
    line("mov.u64 d8, x2;");
    if (rules().size() == 3) line("mov.u32 r16, " + text(m.stride) + ";");
    line(example_.text);
    drain(0);
  }

  void store() {
    const Matrix m = matrix(3, m_.type, m_.a_by_columns);
    fill(1, m.type, Section::Use::kAccumulator);
    outputs_.push_back(section_of(m));
    address(outputs_, "x1", false);
    line("mov.u64 d0, x2;");
    if (rules().size() == 3) line("mov.u32 r16, " + text(m.stride) + ";");
    line(example_.text);
  }

  // A, B and C from memory, and the registers of D.
  void multiply_in_memory() {
    const Types t = types_of(example_.spelling);
    const char* const names[] = {"", "a", "b", "c"};
    const Type types[] = {t.d, t.a, t.b, t.c};
    for (int which = 1; which <= 3; ++which) {
      const bool by_columns = which == 1 ? m_.a_by_columns : which == 2 ? m_.b_by_columns : false;
      const Matrix m = matrix(which, types[which], by_columns);
      inputs_.push_back(section_of(m));
      address(inputs_, "x0", false);
      const auto n = static_cast<std::size_t>(which);
      const Type type = isa::operand_type(rules()[n], m_);
      std::string list;
      for (int i = 0; i < rules()[n].count; ++i)
        list += (i ? ", " : "") + word_name(type, first(n) + i);
      line("mov.u32 y4, " + text(m.stride) + ";");
      line("wmma.load." + std::string(names[which]) + ".sync.aligned." +
           (by_columns ? "col" : "row") + ".m" + text(m_.shape.m) + "n" + text(m_.shape.n) + "k" +
           text(m_.shape.k) + ".global." + std::string(isa::type_name(m.type)) + " {" + list +
           "}, [x2], y4;");
    }
    line(example_.text);
    drain(0);
  }

  // ldmatrix and stmatrix: 512 bytes of shared memory, and for each lane a row of them.
  void through_shared() {
    shared_ = 512 * kThreadsABlock / kWarp;
    const bool loads = opcode_ == Opcode::k_ldmatrix;
    line("mov.u64 x3, cells;\nmad.wide.u32 x3, y2, 512, x3;");  // the warp's
    inputs_.push_back({Type::kB32, 4, Section::Use::kAny});
    address(inputs_, "x0", true);
    line(
        "ld.global.v4.b32 {y4, y5, y6, y7}, [x2];\nmad.wide.u32 x4, y1, 16, x3;\nst.shared.v4.b32 "
        "[x4], {y4, y5, y6, y7};");
    inputs_.push_back({Type::kB32, 1, Section::Use::kAny});
    address(inputs_, "x0", true);
    // Stores go to separate rows: the lane's number with some bits inverted, the same for the whole
    // tile.
    line("ld.global.b32 y4, [x2];");
    if (!loads) line("shfl.sync.idx.b32 y4, y4, 0, 31, 0xffffffff;\nxor.b32 y4, y4, y1;");
    line("and.b32 y4, y4, 31;");
    const bool generic = m_.space == isa::Space::kNone;
    line(std::string("mad.wide.u32 x5, y4, 16, x3;\n") +
         (generic ? "cvta.shared.u64 x5, x5;" : ""));
    line(std::string("mov.u64 ") + (loads ? "d8" : "d0") + ", x5;");
    if (!loads) fill(1, Type::kB32, Section::Use::kAny);
    line("bar.warp.sync 0xffffffff;");
    line(example_.text);
    line("bar.warp.sync 0xffffffff;");
    if (loads) return drain(0);
    outputs_.push_back({Type::kB32, 4, Section::Use::kAny});
    address(outputs_, "x1", true);
    line("ld.shared.v4.b32 {y4, y5, y6, y7}, [x4];\nst.global.v4.b32 [x2], {y4, y5, y6, y7};");
  }

  // A matrix of `rows` by `columns` elements in shared memory from `shared_` on, filled from a new
  // section; its descriptor in register `name`.
  void describe(const std::string& name, Type type, int rows, int columns, bool across,
                int swizzle) {
    const int lines = across ? columns : rows,
              chunks = (across ? rows : columns) * isa::bits_of(type) / 128, row = swizzle / 16;
    int leading = 16, stride = 8 * swizzle, bytes = lines * swizzle;
    if (swizzle == 0 && !across) {
      leading = 16 * lines, stride = 128, bytes = 16 * lines * chunks;
    } else if (swizzle == 0) {
      leading = 128 * chunks, stride = 128, bytes = 16 * lines * chunks;
    } else {
      const int wide = (chunks + row - 1) / row;
      leading = wide == 1 ? 16 : bytes;
      bytes *= wide;
    }
    const int words = (bytes / 4 + lanes_ - 1) / lanes_;
    inputs_.push_back({type, words, Section::Use::kFactor});
    address(inputs_, "x0", true);
    line("mov.u64 x3, cells;\nadd.u64 x3, x3, " + text(shared_) + ";\nmad.wide.u32 x4, y1, " +
         text(4 * words) + ", x3;");
    for (int i = 0; i < words; ++i)
      line("ld.global.b32 y4, [x2+" + text(4 * i) + "];\nst.shared.b32 [x4+" + text(4 * i) +
           "], y4;");
    const std::uint64_t code = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
    const std::uint64_t bits = static_cast<std::uint64_t>(leading / 16) << 16 |
                               static_cast<std::uint64_t>(stride / 16) << 32 | code << 62;
    line("shr.u64 x3, x3, 4;\nor.b64 " + name + ", x3, " +
         std::to_string(static_cast<std::int64_t>(bits)) + ";");
    shared_ += (4 * words * lanes_ + 1023) / 1024 * 1024;
  }

  // wgmma of a whole warpgroup, and the registers of D.
  void multiply_in_shared() {
    const Types t = types_of(example_.spelling);
    const isa::Shape& s = m_.shape;
    const bool sparse = opcode_ == Opcode::k_wgmma_mma_async_sp;
    const bool in_registers = example_.spelling.form->row->variant == 1;
    if (in_registers) {
      fill(1, t.a, Section::Use::kFactor);
    } else {
      describe("d" + text(first(1)), t.a, s.m, sparse ? s.k / 2 : s.k, layout_.across,
               layout_.swizzle);
    }
    describe("d" + text(first(2)), t.b, s.n, s.k, layout_.across,
             sparse && layout_.swizzle == 32 && !layout_.across ? 64 : layout_.swizzle);
    if (sparse) fill(3, t.a, Section::Use::kMetadata);
    fill(0, t.d, Section::Use::kAccumulator);
    line("setp.eq.u32 p" + text(first(sparse ? 5 : 3)) + ", 0, 0;");
    line("fence.proxy.async;\nbar.sync 0;\nwgmma.fence.sync.aligned;\n" + example_.text +
         "\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;");
    drain(0);
  }

  const isa::Example& example_;
  const Modifiers& m_;
  Opcode opcode_;
  Layout layout_;
  int lanes_;
  int shared_ = 0;  // bytes
  std::string text_;
  std::vector<Section> inputs_, outputs_;
};

// Of a warpgroup's shapes, all for one form of each kind of unit, and a few for the others.
bool is_chosen_shape(const isa::Example& e) {
  const Modifiers& m = e.spelling.modifiers;
  const bool common = e.spelling.form->row->opcode == Opcode::k_wgmma_mma_async &&
                      e.spelling.form->row->variant == 0 && m.source_type == m.third_type && !m.sat;
  if (common && (m.type == Type::kF32 || m.type == Type::kS32) &&
      (m.source_type == Type::kF16 || m.source_type == Type::kE4M3 || m.source_type == Type::kS8))
    return true;
  return m.shape.n == 8 || m.shape.n == 24 || m.shape.n == 64 || (m.shape.n == 256 && !m.sat);
}

bool is_recorded(const isa::Example& e) {
  const Opcode op = e.spelling.form->row->opcode;
  if (op == Opcode::k_wgmma_mma_async || op == Opcode::k_wgmma_mma_async_sp)
    return is_chosen_shape(e);
  const isa::Category category = isa::category_of(op);
  if (category != isa::Category::kMatrix && category != isa::Category::kMatrixLoadStore)
    return false;
  if (e.spelling.form->row->sm > 90 || e.spelling.form->row->suffix != 0) return false;
  // The layout of a wmma matrix does not depend on its state space.
  if (op == Opcode::k_wmma_load || op == Opcode::k_wmma_store)
    return e.spelling.modifiers.space == isa::Space::kGlobal && e.operands->size() == 3;
  return true;
}

// One form of each kind of unit has its matrices in every layout.
std::vector<Layout> layouts_of(const isa::Example& e) {
  const Modifiers& m = e.spelling.modifiers;
  if (e.spelling.form->row->opcode != Opcode::k_wgmma_mma_async || m.shape.n != 64) return {{}};
  std::vector<Layout> all{{32, false}, {0, false}, {64, false}, {128, false}};
  if (m.type == Type::kF32 && isa::bits_of(m.source_type) == 16)
    all.insert(all.end(), {{0, true}, {32, true}, {64, true}, {128, true}});
  return all;
}

}  // namespace

int MatrixForm::input_words() const { return words_of(inputs, lanes); }
int MatrixForm::output_words() const { return words_of(outputs, lanes); }

std::vector<MatrixForm> matrix_forms() {
  std::vector<MatrixForm> forms;
  const auto add = [&](const isa::Example& e, Layout layout, const std::string& name) {
    MatrixForm& f = forms.emplace_back();
    f.name = name;
    f.spelling = e.spelling;
    f.entry = "form" + text(static_cast<int>(forms.size()) - 1);
    if (isa::category_of(e.spelling.form->row->opcode) == isa::Category::kWarpgroup) {
      f.lanes = kThreadsABlock;
      f.tiles = std::max(16, 1024 / e.spelling.modifiers.shape.n);
    }
    Writer(e, layout, f.lanes).write(f);
  };
  for (const isa::Example& example : isa::all_examples()) {
    if (!is_recorded(example)) continue;
    for (const Layout& layout : layouts_of(example)) {
      isa::Example e = example;
      std::string name = e.text;
      if (layout.across) {
        // The last two operands, or the last where A is in registers.
        const bool both = e.spelling.form->row->variant == 0;
        e.text.replace(e.text.size() - (both ? 5 : 2), both ? 4 : 1, both ? "1, 1" : "1");
      }
      if (layout.swizzle != 32 || layout.across) name = e.text + " swizzle " + text(layout.swizzle);
      // Which lanes' metadata count.
      const int selectors = example.spelling.form->row->opcode == Opcode::k_mma_sp
                                ? isa::sparsity_selectors(example.spelling.modifiers)
                                : 1;
      for (int selector = 0; selector < selectors; ++selector) {
        if (selector > 0) {
          e.text.replace(e.text.size() - 2, 1, text(selector));
          name = e.text;
        }
        add(e, layout, name);
      }
    }
  }
  return forms;
}

std::string matrix_module(std::span<const MatrixForm> forms) {
  std::string text = ".version 9.0\n.target sm_90a\n.address_size 64\n";
  for (const MatrixForm& f : forms) text += f.kernel;
  return text;
}

std::vector<std::uint8_t> tile_digests(const MatrixForm& form,
                                       std::span<const std::uint32_t> output) {
  std::vector<std::uint8_t> bytes;
  const auto words = static_cast<std::size_t>(form.output_words());
  for (std::size_t at = 0; at + words <= output.size(); at += words) {
    std::uint64_t h = 0xcbf29ce484222325;
    for (const std::uint32_t w : output.subspan(at, words)) {
      for (int i = 0; i < 32; i += 8) h = (h ^ (w >> i & 0xff)) * 0x100000001b3;
    }
    const auto folded = static_cast<std::uint32_t>(h ^ h >> 32);
    for (int i = 0; i < 32; i += 8) bytes.push_back(static_cast<std::uint8_t>(folded >> i));
  }
  return bytes;
}

}  // namespace lockstep::vectors
