// What the tensor copies' launchers are called with, and their contracts.
#pragma once

#include <functional>

#include "harness/property/contract.h"
#include "properties/tensor_copy.h"
#include "properties/tensor_copy_case.h"

namespace lockstep::properties {

struct CopyContents {
  std::function<ByteList()> tensor, images;  // what the launcher reads
  CopyPlaces at;
};

Call<TensorCopy> load_call(const TensorCopyCase& c, const CopyContents& contents);
Call<TensorCopy> multicast_call(const TensorCopyCase& c, const CopyContents& contents);
Call<TensorCopy> store_call(const TensorCopyCase& c, const CopyContents& contents);
Call<TensorCopy> reduce_call(const TensorCopyCase& c, const CopyContents& contents);

// `count` of them; small: integers whose sums are exact.
ByteList images_of(const TensorCopyCase& c, std::int64_t count, bool small);
// Of the case's own places.
CopyContents load_contents(const TensorCopyCase& c);
CopyContents store_contents(const TensorCopyCase& c, bool small = false);

// All launchers that take the case: loads alone go beyond the tensor by columns, and not every tile
// can be reduced.
Calls<TensorCopy> calls_of(const SmallTensorCopyCase& drawn);
// Those that know im2col, of larger cases.
Calls<TensorCopy> column_calls_of(const TensorStoreCase& drawn);

}  // namespace lockstep::properties
