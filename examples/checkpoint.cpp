// A training run that is ended in mid-epoch goes on with exactly the batch that would have come,
// even with another number of threads. Prints:
//
//   ended behind batch 37 of 100
//   the position is text of less than 4096 bytes: yes
//   the other 63 batches are the same: yes
#include <headway/headway.h>

#include <cstdio>
#include <vector>

using namespace headway;

Dataset numbers(int threads) {
  return range(1000)
      .shuffle()
      .random_map([](Element e, Random& random) {
        e.set("noise", Tensor::scalar(random.normal()));
        return e;
      })
      .batch(10)
      .with_options({.threads = threads, .seed = 7});
}

int main() {
  constexpr int kEnded = 37;
  std::vector<Batch> expected;
  Pipeline undisturbed = numbers(2).start();
  while (auto batch = undisturbed.next()) expected.push_back(*batch);

  Pipeline ended = numbers(2).start();
  for (int i = 0; i < kEnded; ++i) ended.next();
  const PipelineState saved = ended.save();
  std::printf("ended behind batch %d of %zu\n", kEnded, expected.size());
  const bool small = saved.text.size() < 4096;
  std::printf("the position is text of less than 4096 bytes: %s\n", small ? "yes" : "no");

  Pipeline restored = numbers(3).start({.state = saved});
  size_t number = kEnded;
  bool same = true;
  while (auto batch = restored.next())
    same = same && number < expected.size() && batch->same(expected[number++]);
  same = same && number == expected.size();
  std::printf("the other %zu batches are the same: %s\n", expected.size() - kEnded,
              same ? "yes" : "no");
  return same && small ? 0 : 1;
}
