// Sound runs that look suspicious.
#include "tests/proving/ground.h"

namespace headway::ground {
namespace {

// Nothing but computing; some hundred milliseconds per step.
void computes(Setup& s) { dense_model(1024, 3).fit(rows(s, 512, 1024).batch(512), for_a_while(s)); }

void small_and_quick(Setup& s) {
  dense_model(64, 2, Adam(1e-3)).fit(rows(s, 4096, 64).shuffle().batch(32), for_a_while(s));
}

// The first epoch reads and works, the others take from memory.
void cold_first_epoch(Setup& s) {
  FitOptions fit = s.fit;
  fit.epochs = 1'000'000;
  const auto work = [](Element e) {
    compute_for(2e-3);
    return e;
  };
  const Dataset data = rows(s, 512, 512).take(1024).map(work, {.name = "decode"}).cache().batch(64);
  dense_model(1024, 2).fit(data, fit);
}

// Serial, but quicker than training.
void serial_and_quick(Setup& s) {
  const auto work = [](Element e) {
    compute_for(5e-6);
    return e;
  };
  dense_model(1024, 2).fit(
      rows(s, 512, 512).map(work, {.num_parallel_calls = 1, .name = "scale"}).batch(512),
      for_a_while(s));
}

void generator_that_keeps_up(Setup& s) {
  const Dataset data = generator([] {
    return [n = uint64_t{0}]() mutable -> std::optional<Element> { return row(n++, 512); };
  });
  dense_model(1024, 2).fit(data.batch(128), for_a_while(s));
}

void checkpoints(Setup& s) {
  FitOptions fit = for_a_while(s);
  fit.checkpoint = {.folder = s.folder + "/checkpoints", .every_steps = 50};
  dense_model(1024, 3).fit(rows(s, 512, 1024).batch(256), fit);
}

void validates(Setup& s) {
  FitOptions fit = steps(s, 60);
  fit.epochs = 1'000'000;
  fit.validation = rows(s, 512, 512).take(2048).batch(128);
  dense_model(1024, 2).fit(rows(s, 512, 512).batch(128), fit);
}

void beside_a_neighbour(Setup& s) { computes(s); }

void large_model_batch_of_one(Setup& s) {
  Model model({Input({96, 96, 3}), Conv2D(64, 3, {.activation = "relu"}),
               Conv2D(64, 3, {.activation = "relu"}), GlobalAveragePooling2D(),
               Dense(2, {.activation = "softmax"})},
              {.device = "cpu"});
  model.compile({.optimizer = SGD(1e-3), .loss = SparseCategoricalCrossentropy()});
  const Dataset data = rows(s, 64, 96 * 96 * 3).map([](Element e) {
    Element out;
    out.set("x", e["x"].reshaped({96, 96, 3}));
    out.set("y", e["y"]);
    return out;
  });
  model.fit(data.batch(1), for_a_while(s));
}

// Half of the elements are dropped, and half is enough.
void filter_drops_half(Setup& s) {
  const Dataset data =
      rows(s, 512, 512).filter([](const Element& e) { return e["x"].values<float>()[0] > 0; });
  dense_model(1024, 2).fit(data.batch(128), for_a_while(s));
}

void quick_callbacks(Setup& s) {
  FitOptions fit = for_a_while(s);
  double sum = 0;
  fit.callbacks = {LambdaCallback({.on_batch_end = [&](Training&, double loss) { sum += loss; }})};
  dense_model(1024, 2).fit(rows(s, 512, 512).batch(128), fit);
}

// Prefetch written in the middle, and not at all: it is always at the end.
void prefetch_in_the_middle(Setup& s) {
  const auto work = [](Element e) {
    compute_for(1e-5);
    return e;
  };
  dense_model(1024, 2).fit(rows(s, 512, 512).prefetch(2).map(work).batch(512), for_a_while(s));
}

// Has learnt what there is: the loss is low and flat.
void converged(Setup& s) {
  FitOptions fit = for_a_while(s);
  dense_model(64, 1, Adam(1e-2)).fit(rows(s, 256, 16).batch(64), fit);
}

// Falls, but not in every step.
void noisy_loss(Setup& s) {
  dense_model(256, 2, SGD(0.2)).fit(rows(s, 4096, 256).shuffle().batch(32), for_a_while(s));
}

}  // namespace

std::vector<Case> healthy_cases() {
  return {
      {"computes", "healthy", computes},
      {"small-and-quick", "healthy", small_and_quick},
      {"cold-first-epoch", "healthy", cold_first_epoch},
      {"serial-and-quick", "healthy", serial_and_quick},
      {"generator-that-keeps-up", "healthy", generator_that_keeps_up},
      {"checkpoints", "healthy", checkpoints},
      {"validates", "healthy", validates},
      {"beside-a-neighbour", "healthy", beside_a_neighbour, "neighbour"},
      {"large-model-batch-of-one", "healthy", large_model_batch_of_one},
      {"filter-drops-half", "healthy", filter_drops_half},
      {"quick-callbacks", "healthy", quick_callbacks},
      {"prefetch-in-the-middle", "healthy", prefetch_in_the_middle},
      {"converged", "healthy", converged},
      {"noisy-loss", "healthy", noisy_loss},
  };
}

}  // namespace headway::ground
