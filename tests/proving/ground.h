#pragma once

#include <functional>
#include <string>
#include <vector>

#include "headway/train/train.h"

// The proving ground: runs put into trouble by real mechanisms, and sound ones that look bad. What
// is expected of the doctor stands beside each; the code under test never sees it.
namespace headway::ground {

struct Setup {
  FitOptions fit;      // steps, trace file and silence are set
  std::string folder;  // empty, the case's own
  double level = 1;    // how bad: 1 is plainly over the threshold
  uint64_t seed = 0;
  bool cured = false;  // with the fix that the finding names
};

struct Case {
  std::string name;
  std::string expected;  // a cause, or "healthy"
  std::function<void(Setup&)> run;
  std::string needs{};    // "cpu-quota", "memory-limit", "slow-disk", "small-disk", "neighbour"
  std::string also{};     // accepted as well: the other of two faults, or a twin
  bool has_cure = false;  // the gain of the fix can be measured
  double mild = 0;        // a level that is no trouble yet; 0: there is none
};

std::vector<Case> input_cases();
std::vector<Case> machine_cases();
std::vector<Case> learning_cases();
std::vector<Case> loop_cases();
std::vector<Case> healthy_cases();

// ---- what the cases are made of ----

// Rows of normal numbers whose sign of the sum is to be learnt; without an end.
Dataset rows(const Setup& setup, int64_t count, int64_t width, double scale = 1);
// One such row: "x" and "y".
Element row(uint64_t number, int64_t width, double scale = 1);
// relu layers of that width with a softmax behind.
Model dense_model(int64_t width, int64_t depth = 2, Optimizer optimizer = SGD(1e-2));
// Epochs of so many steps; one without an end. The prover ends a run after some seconds.
FitOptions steps(const Setup& setup, int64_t count);
inline FitOptions for_a_while(const Setup& setup) { return steps(setup, 1'000'000'000); }
// Keeps a core busy, or sleeps.
void compute_for(double seconds);
void sleep_for(double seconds);
// `count` drawn images in classes under setup.folder, as PNG, JPEG or TFRecord. A slow disk is slow
// where the name begins with "images".
std::string drawn_images(const Setup& setup, int64_t count, int64_t side, const char* format,
                         const char* name = "images");
// The same images in shards beside it, by `headway convert`.
std::string packed(const std::string& folder);

}  // namespace headway::ground
