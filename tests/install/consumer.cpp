// A stranger's program: sees only what `cmake --install` put in place. Prints "0 1 2 3".
#if __has_include(<headway/headway.h>)
#include <headway/headway.h>
#else
#include <headway/core/tensor.h>
#endif

#include <cstdio>

int main() {
  const headway::Tensor numbers = headway::Tensor::vector<int64_t>({0, 1, 2, 3});
  for (const int64_t value : numbers.values<int64_t>()) std::printf("%ld ", value);
  std::printf("\n");
  return numbers.count() == 4 ? 0 : 1;
}
