// Compares categories and control flow with the forms' operands, which are defined independently.
#include "simulator/isa/category.h"

#include <algorithm>

#include "simulator/isa/forms.h"
#include "simulator/isa/names.h"

namespace lockstep::isa {
namespace {

using Role = OperandRule::Role;

bool has_operand(const Form& form, Role role) {
  return std::ranges::any_of(form.operands, [&](const auto& list) {
    return std::ranges::any_of(list, [&](const OperandRule& rule) { return rule.role == role; });
  });
}

TEST(Category, WhatHasALabelBranches) {
  for (const Form& form : forms()) {
    const bool labels = has_operand(form, Role::kLabel) || has_operand(form, Role::kLabelList);
    EXPECT_EQ(flow_of(form.row->opcode) == Flow::kBranches, labels) << form.row->syntax;
  }
}

TEST(Category, WhatCallsIsACall) {
  for (const Form& form : forms()) {
    EXPECT_EQ(flow_of(form.row->opcode) == Flow::kCalls,
              category_of(form.row->opcode) == Category::kCall)
        << form.row->syntax;
  }
}

TEST(Category, WhatComputesHasAResultAndNoAddress) {
  for (const Form& form : forms()) {
    if (!computes(category_of(form.row->opcode))) continue;
    EXPECT_FALSE(has_operand(form, Role::kAddress) || has_operand(form, Role::kImage) ||
                 has_operand(form, Role::kTensor))
        << form.row->syntax;
    for (const auto& list : form.operands) {
      EXPECT_TRUE(!list.empty() && list[0].is_destination()) << form.row->syntax;
    }
    EXPECT_EQ(flow_of(form.row->opcode), Flow::kNext) << form.row->syntax;
  }
}

TEST(Category, WhatIsInBracketsIsMemoryOrAnImage) {
  for (const Form& form : forms()) {
    const Category c = category_of(form.row->opcode);
    if (has_operand(form, Role::kImage)) {
      EXPECT_TRUE(c == Category::kTexture || c == Category::kSurface || c == Category::kImageQuery)
          << form.row->syntax;
    }
    EXPECT_TRUE(!has_operand(form, Role::kTensor) || c == Category::kTensorCopy)
        << form.row->syntax;
    if (has_operand(form, Role::kAddress)) {
      // A hint or fence may name an address without accessing it; a query of an image names its
      // object.
      const bool names_only = c == Category::kCacheHint || c == Category::kFence ||
                              c == Category::kImageQuery || c == Category::kCachePolicy;
      EXPECT_TRUE(accesses_memory(c) || names_only) << form.row->syntax;
    }
  }
}

TEST(Category, HintsHaveNoResult) {
  for (const Form& form : forms()) {
    const Category c = category_of(form.row->opcode);
    if (c != Category::kHint && c != Category::kCacheHint) continue;
    for (const auto& list : form.operands) {
      EXPECT_TRUE(std::ranges::none_of(list, [](const OperandRule& rule) {
        return rule.is_destination();
      })) << form.row->syntax;
    }
  }
}

// One opcode of each category by name, so that two exchanged categories are detected.
TEST(Category, IsTheOneThatTheManualsChapterSays) {
  EXPECT_EQ(category_of(Opcode::k_add), Category::kArithmetic);
  EXPECT_EQ(category_of(Opcode::k_lop3), Category::kBits);
  EXPECT_EQ(category_of(Opcode::k_ld), Category::kLoadStore);
  EXPECT_EQ(category_of(Opcode::k_red), Category::kAtomic);
  EXPECT_EQ(category_of(Opcode::k_shfl_sync), Category::kCollective);
  EXPECT_EQ(category_of(Opcode::k_bar), Category::kBarrier);
  EXPECT_EQ(category_of(Opcode::k_cp_async_bulk), Category::kAsyncCopy);
  EXPECT_EQ(category_of(Opcode::k_prefetch), Category::kCacheHint);
  EXPECT_EQ(category_of(Opcode::k_pmevent), Category::kHint);
  EXPECT_TRUE(synchronises(category_of(Opcode::k_mbarrier_try_wait)));
  EXPECT_TRUE(synchronises(category_of(Opcode::k_fence)));
  EXPECT_FALSE(synchronises(category_of(Opcode::k_atom)));
}

}  // namespace
}  // namespace lockstep::isa
