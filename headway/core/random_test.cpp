#include "headway/core/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "headway/core/permutation.h"

namespace headway {
namespace {

// The published test vectors of Philox4x32-10 are for raw keys and counters; what matters here is
// that every part of the key counts and that the numbers are uniform.
TEST(Random, EveryPartOfTheKeyCounts) {
  std::set<uint64_t> first;
  for (int seed = 0; seed < 2; ++seed) {
    for (int epoch = 0; epoch < 2; ++epoch) {
      for (int sample = 0; sample < 2; ++sample) {
        for (int op = 0; op < 2; ++op) first.insert(Random(seed, epoch, sample, op).next_u64());
      }
    }
  }
  EXPECT_EQ(first.size(), 16u);
  EXPECT_EQ(Random(1, 2, 3, 4).next_u64(), Random(1, 2, 3, 4).next_u64());
}

// Pearson's statistic for counts that should all be equal.
double chi_squared(const std::vector<int64_t>& counts) {
  double total = 0, sum = 0;
  for (int64_t c : counts) total += double(c);
  const double expected = total / double(counts.size());
  for (int64_t c : counts) sum += (double(c) - expected) * (double(c) - expected) / expected;
  return sum;
}

// Within five standard deviations of its mean, for that many degrees of freedom.
void expect_uniform(const std::vector<int64_t>& counts) {
  const double freedom = double(counts.size() - 1);
  EXPECT_NEAR(chi_squared(counts), freedom, 5 * std::sqrt(2 * freedom));
}

TEST(Random, BelowIsUniform) {
  std::vector<int64_t> counts(97);
  Random random(1, 0, 0, 0);
  for (int i = 0; i < 97'000; ++i) ++counts[random.below(97)];
  expect_uniform(counts);
}

TEST(Random, NormalHasMeanZeroAndDeviationOne) {
  Random random(7, 0, 0, 0);
  double sum = 0, squares = 0;
  constexpr int kCount = 100'000;
  for (int i = 0; i < kCount; ++i) {
    const double x = random.normal();
    sum += x, squares += x * x;
  }
  EXPECT_NEAR(sum / kCount, 0, 0.02);
  EXPECT_NEAR(squares / kCount, 1, 0.02);
}

TEST(Permutation, HasEveryElementOnce) {
  for (int64_t n : {1, 2, 3, 1000}) {
    Permutation p(n, 5, 0);
    std::set<int64_t> seen;
    for (int64_t i = 0; i < n; ++i) seen.insert(p[i]);
    EXPECT_EQ(int64_t(seen.size()), n);
    EXPECT_EQ(*seen.rbegin(), n - 1);
  }
}

TEST(Permutation, IsTheSameWhateverIsAskedFirst) {
  Permutation forward(5000, 9, 2), jumping(5000, 9, 2);
  const int64_t late = jumping[4321];
  for (int64_t i = 0; i < 5000; ++i) ASSERT_EQ(forward[i], jumping[i]);
  EXPECT_EQ(late, forward[4321]);
}

// Every element is equally likely at every position.
TEST(Permutation, IsUniform) {
  constexpr int64_t kSize = 20, kTrials = 20'000;
  std::vector<int64_t> counts(kSize * kSize);
  for (int64_t t = 0; t < kTrials; ++t) {
    Permutation p(kSize, 11, t);
    for (int64_t i = 0; i < kSize; ++i) ++counts[i * kSize + p[i]];
  }
  const double freedom = (kSize - 1) * (kSize - 1);
  EXPECT_NEAR(chi_squared(counts), freedom, 5 * std::sqrt(2 * freedom));
}

// ... and so is every order of a few.
TEST(Permutation, GivesEveryOrderOfFourEquallyOften) {
  std::vector<int64_t> counts(24);
  for (int64_t t = 0; t < 24'000; ++t) {
    Permutation p(4, 3, t);
    int64_t rank = 0;
    for (int i = 0; i < 4; ++i) {
      int64_t smaller = 0;
      for (int j = i + 1; j < 4; ++j) smaller += p[j] < p[i];
      rank = rank * (4 - i) + smaller;
    }
    ++counts[rank];
  }
  expect_uniform(counts);
}

TEST(Permutation, OfVeryManyNeedsNoMemoryAndStaysABijection) {
  constexpr int64_t kMany = (int64_t{1} << 24) + 12345;
  Permutation p(kMany, 1, 0);
  std::vector<bool> seen(kMany);
  for (int64_t i = 0; i < kMany; i += 1) {
    const int64_t at = p[i];
    ASSERT_TRUE(at >= 0 && at < kMany);
    ASSERT_FALSE(seen[at]);
    seen[at] = true;
  }
  EXPECT_EQ(p.memory_bytes(), 0);
}

// The keyed bijection too is uniform in where the first elements go.
TEST(Permutation, OfVeryManySpreadsEvenly) {
  constexpr int64_t kMany = int64_t{1} << 30;
  std::vector<int64_t> counts(100);
  Permutation p(kMany, 77, 0);
  for (int64_t i = 0; i < 100'000; ++i) ++counts[p[i] * 100 / kMany];
  expect_uniform(counts);
}

}  // namespace
}  // namespace headway
