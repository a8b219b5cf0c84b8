// Counts the words of a text with thrust, and finds where each occurs first: sorts hashes with
// their places, and reduces equal ones.
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>

#include <map>
#include <numeric>

#include "program.h"

namespace thrust_words {

struct Word {
  long long count;
  unsigned first;
};

PROGRAM(thrust_words, 1) {
  const int n = 5000;
  std::vector<unsigned> words(n);
  Random random(111);
  for (unsigned& w : words) w = random.below(1 + random.below(1500)) * 2654435761u;
  std::vector<unsigned> places(n);
  std::iota(places.begin(), places.end(), 0);
  std::map<unsigned, Word> expected;
  for (int i = 0; i < n; ++i)
    ++expected.try_emplace(words[i], Word{0, places[i]}).first->second.count;

  thrust::device_vector<unsigned> d_words(words), keys(n);
  thrust::device_vector<unsigned> d_places(places);
  const thrust::device_vector<long long> ones(n, 1);
  thrust::device_vector<long long> counts(n);
  if (mistake != 1) thrust::sort_by_key(d_words.begin(), d_words.end(), d_places.begin());
  const auto ends = thrust::reduce_by_key(d_words.cbegin(), d_words.cend(), ones.begin(),
                                          keys.begin(), counts.begin());
  const size_t distinct = ends.first - keys.begin();
  std::vector<unsigned> got(distinct);
  std::vector<long long> got_counts(distinct);
  thrust::copy(keys.begin(), ends.first, got.begin());
  thrust::copy(counts.begin(), ends.second, got_counts.begin());
  thrust::copy(d_places.begin(), d_places.end(), places.begin());
  bool right = distinct == expected.size();
  long long before = 0;  // words in front of the next different one
  for (size_t i = 0; right && i < distinct; before += got_counts[i++]) {
    const Word& word = expected[got[i]];
    right = (i == 0 || got[i - 1] < got[i]) && word.count == got_counts[i] &&
            word.first == places[before];
  }
  return verdict(right, "%zu different words, %zu expected", distinct, expected.size());
}

}  // namespace thrust_words
