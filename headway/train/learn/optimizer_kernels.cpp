#include "headway/train/learn/optimizer_kernels.h"

#include <algorithm>
#include <type_traits>

// Memory bandwidth is the limit here: wider vectors gain nothing, and each target takes time to
// compile.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headway/train/learn/optimizer_kernels.cpp"
#include <hwy/foreach_target.h>  // compiles the rest once per instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace headway {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
using Tag = hn::ScalableTag<T>;
template <typename T>
using Vector = hn::Vec<Tag<T>>;

// StepFactors in the type of the weights. Complements are computed in double: 1 - 0.999f is off by
// 1e-5.
template <typename T>
struct Factors {
  explicit Factors(const StepFactors& f)
      : rate(T(f.rate)),
        decay(T(f.decay)),
        limit(T(f.limit)),
        momentum(T(f.momentum)),
        new_1(T(1 - f.beta_1)),
        new_2(T(1 - f.beta_2)),
        rho(T(f.rho)),
        new_rho(T(1 - f.rho)),
        epsilon(T(f.epsilon)) {}

  T rate, decay, limit, momentum, new_1, new_2, rho, new_rho, epsilon;
};

// ---- the rules: gradient in, weight and slots changed ----

enum class Velocity { kNone, kPlain, kNesterov };

template <Velocity kVelocity>
struct Sgd {
  static constexpr bool kFirst = kVelocity != Velocity::kNone, kSecond = false, kThird = false;

  template <typename T, class V>
  static HWY_INLINE void apply(const Factors<T>& f, V g, V& w, V& m, V&, V&) {
    const Tag<T> d;
    const V move = hn::Mul(g, hn::Set(d, f.rate));
    if constexpr (kVelocity == Velocity::kNone) {
      w = hn::Sub(w, move);
    } else {
      const V momentum = hn::Set(d, f.momentum);
      m = hn::MulSub(m, momentum, move);
      w = hn::Add(w, kVelocity == Velocity::kNesterov ? hn::MulSub(m, momentum, move) : m);
    }
  }
};

template <bool kAmsgrad>
struct Adam {
  static constexpr bool kFirst = true, kSecond = true, kThird = kAmsgrad;

  template <typename T, class V>
  static HWY_INLINE void apply(const Factors<T>& f, V g, V& w, V& m, V& v, V& v_hat) {
    const Tag<T> d;
    m = hn::MulAdd(hn::Sub(g, m), hn::Set(d, f.new_1), m);
    v = hn::MulAdd(hn::MulSub(g, g, v), hn::Set(d, f.new_2), v);
    if constexpr (kAmsgrad) v_hat = hn::Max(v_hat, v);
    const V root = hn::Sqrt(kAmsgrad ? v_hat : v);
    const V move = hn::Mul(m, hn::Set(d, f.rate));
    w = hn::Sub(w, hn::Div(move, hn::Add(root, hn::Set(d, f.epsilon))));
  }
};

template <bool kMomentum, bool kCentered>
struct RmsProp {
  static constexpr bool kFirst = true, kSecond = kMomentum, kThird = kCentered;

  template <typename T, class V>
  static HWY_INLINE void apply(const Factors<T>& f, V g, V& w, V& v, V& momentum, V& mean) {
    const Tag<T> d;
    const V rho = hn::Set(d, f.rho), fresh = hn::Set(d, f.new_rho);
    v = hn::MulAdd(rho, v, hn::Mul(fresh, hn::Mul(g, g)));
    V spread = v;
    if constexpr (kCentered) {
      mean = hn::MulAdd(rho, mean, hn::Mul(fresh, g));
      spread = hn::NegMulAdd(mean, mean, v);
    }
    V move =
        hn::Div(hn::Mul(g, hn::Set(d, f.rate)), hn::Sqrt(hn::Add(spread, hn::Set(d, f.epsilon))));
    if constexpr (kMomentum) move = momentum = hn::MulAdd(momentum, hn::Set(d, f.momentum), move);
    w = hn::Sub(w, move);
  }
};

// ---- the pass ----

// Comparisons, not Min and Max: a NaN must stay a NaN.
template <class D, class V>
HWY_INLINE V clamp(D d, V g, hn::TFromD<D> limit) {
  const V high = hn::Set(d, limit), low = hn::Set(d, -limit);
  return hn::IfThenElse(hn::Gt(g, high), high, hn::IfThenElse(hn::Lt(g, low), low, g));
}

template <class Rule, bool kClamp, typename T>
HWY_INLINE void one_vector(const Factors<T>& f, const StepArrays<T>& p, int64_t i) {
  const Tag<T> d;
  using V = Vector<T>;
  V g = hn::Mul(hn::LoadU(d, p.gradient + i), hn::Set(d, T(p.gradient_scale)));
  if constexpr (kClamp) g = clamp(d, g, f.limit);
  const V before = hn::LoadU(d, p.weight + i);
  V w = hn::NegMulAdd(before, hn::Set(d, f.decay), before);
  V a = hn::Zero(d), b = a, c = a;
  if constexpr (Rule::kFirst) a = hn::LoadU(d, p.first + i);
  if constexpr (Rule::kSecond) b = hn::LoadU(d, p.second + i);
  if constexpr (Rule::kThird) c = hn::LoadU(d, p.third + i);
  Rule::apply(f, g, w, a, b, c);
  hn::StoreU(w, d, p.weight + i);
  if constexpr (Rule::kFirst) hn::StoreU(a, d, p.first + i);
  if constexpr (Rule::kSecond) hn::StoreU(b, d, p.second + i);
  if constexpr (Rule::kThird) hn::StoreU(c, d, p.third + i);
}

// For fewer values than a vector holds: through a buffer, with the same arithmetic.
template <class Rule, bool kClamp, typename T>
HWY_NOINLINE void last_values(const Factors<T>& f, const StepArrays<T>& p, int64_t count) {
  HWY_ALIGN T memory[5][HWY_MAX_BYTES / sizeof(T)] = {};
  const T* from[] = {p.weight, p.gradient, p.first, p.second, p.third};
  for (int k = 0; k < 5; ++k)
    if (from[k]) std::copy_n(from[k], count, memory[k]);
  one_vector<Rule, kClamp, T>(
      f, {memory[0], memory[1], memory[2], memory[3], memory[4], p.gradient_scale}, 0);
  T* to[] = {p.weight, nullptr, p.first, p.second, p.third};
  for (int k = 0; k < 5; ++k)
    if (to[k]) std::copy_n(memory[k], count, to[k]);
}

template <class Rule, bool kClamp, typename T>
void pass(const Factors<T>& f, const StepArrays<T>& p, int64_t count) {
  const int64_t lanes = int64_t(hn::Lanes(Tag<T>()));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) one_vector<Rule, kClamp>(f, p, i);
  if (i < count) last_values<Rule, kClamp>(f, p.from(i), count - i);
}

template <class Rule, typename T>
void run(const StepFactors& factors, const StepArrays<T>& p, int64_t count) {
  const Factors<T> f(factors);
  if (factors.limit > 0) return pass<Rule, true>(f, p, count);
  return pass<Rule, false>(f, p, count);
}

template <typename T>
void step(const StepFactors& f, const StepArrays<T>& p, int64_t count) {
  switch (f.rule) {
    case StepRule::kSGD: return run<Sgd<Velocity::kNone>>(f, p, count);
    case StepRule::kMomentum: return run<Sgd<Velocity::kPlain>>(f, p, count);
    case StepRule::kNesterov: return run<Sgd<Velocity::kNesterov>>(f, p, count);
    case StepRule::kAdam: return run<Adam<false>>(f, p, count);
    case StepRule::kAmsgrad: return run<Adam<true>>(f, p, count);
    case StepRule::kRMSprop: return run<RmsProp<false, false>>(f, p, count);
    case StepRule::kRMSpropMomentum: return run<RmsProp<true, false>>(f, p, count);
    case StepRule::kRMSpropCentered: return run<RmsProp<false, true>>(f, p, count);
    case StepRule::kRMSpropCenteredMomentum: return run<RmsProp<true, true>>(f, p, count);
  }
}

void step_float(const StepFactors& f, const StepArrays<float>& p, int64_t count) {
  step(f, p, count);
}
void step_double(const StepFactors& f, const StepArrays<double>& p, int64_t count) {
  step(f, p, count);
}

// ---- norms ----

template <typename T>
HWY_INLINE Vector<double> doubles_at(const T* values) {
  const Tag<double> d;
  if constexpr (std::is_same_v<T, double>) return hn::LoadU(d, values);
  else return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, Tag<double>>(), values));
}

template <typename T>
double squares(const T* values, int64_t count) {
  const Tag<double> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  auto even = hn::Zero(d), odd = even;
  int64_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    const auto a = doubles_at(values + i), b = doubles_at(values + i + lanes);
    even = hn::MulAdd(a, a, even);
    odd = hn::MulAdd(b, b, odd);
  }
  double sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
  for (; i < count; ++i) sum += double(values[i]) * double(values[i]);
  return sum;
}

double squares_float(const float* values, int64_t count) { return squares(values, count); }
double squares_double(const double* values, int64_t count) { return squares(values, count); }

}  // namespace HWY_NAMESPACE
}  // namespace headway
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headway {

HWY_EXPORT(step_float);
HWY_EXPORT(step_double);
HWY_EXPORT(squares_float);
HWY_EXPORT(squares_double);

void apply_step(const StepFactors& factors, const StepArrays<float>& arrays, int64_t count) {
  HWY_DYNAMIC_DISPATCH(step_float)(factors, arrays, count);
}
void apply_step(const StepFactors& factors, const StepArrays<double>& arrays, int64_t count) {
  HWY_DYNAMIC_DISPATCH(step_double)(factors, arrays, count);
}
double sum_of_squares(const float* values, int64_t count) {
  return HWY_DYNAMIC_DISPATCH(squares_float)(values, count);
}
double sum_of_squares(const double* values, int64_t count) {
  return HWY_DYNAMIC_DISPATCH(squares_double)(values, count);
}

}  // namespace headway
#endif
