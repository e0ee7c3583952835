// A stranger's program: sees only what `cmake --install` put in place.
#include <headway/headway.h>

#include <cstdio>

int main() {
  const headway::Dataset squares = headway::range(10).map([](int64_t x) { return x * x; }).batch(5);
  int64_t sum = 0;
  for (const headway::Element& batch : squares) {
    for (const int64_t value : batch["value"].values<int64_t>()) sum += value;
  }
  std::printf("sum of the squares below 10: %ld\n", sum);
  return sum == 285 ? 0 : 1;
}
