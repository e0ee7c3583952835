#pragma once

#include "headway/doctor/rules/rules.h"

namespace headway {

// Rules that need all observations together: looks, ledger, losses.

// waits.cpp: the training thread waits for something else, forever or in every step.
std::optional<Finding> waits_for_terminal(const Observations& o);
std::optional<Finding> waits_for_file_lock(const Observations& o);
std::optional<Finding> waits_for_server(const Observations& o);
std::optional<Finding> waits_for_pipe(const Observations& o);
std::optional<Finding> lock_order(const Observations& o);
std::optional<Finding> lock_never_released(const Observations& o);
std::optional<Finding> producer_is_gone(const Observations& o);
std::optional<Finding> loop_never_ends(const Observations& o);
std::optional<Finding> asks_in_vain(const Observations& o);

// either_eye.cpp: what both eyes tell in the same way.
std::optional<Finding> cpu_quota(const Observations& o);
std::optional<Finding> hidden_validation(const Observations& o);

// own_code.cpp: the user's own code on the training thread, and other removable accounts.
std::optional<Finding> neighbours_take_cores(const Observations& o);
std::optional<Finding> own_code_feeds(const Observations& o);  // no-prefetch
std::optional<Finding> garbage_collection(const Observations& o);
std::optional<Finding> reference_blas(const Observations& o);
std::optional<Finding> one_thread_by_setting(const Observations& o);
std::optional<Finding> hot_line(const Observations& o);

// gpu.cpp: what slows down the GPU of a watched run.
std::optional<Finding> gpu_waits_for_uploads(const Observations& o);
std::optional<Finding> gpu_waits_for_reads(const Observations& o);
std::optional<Finding> gpu_waits_for_orders(const Observations& o);
std::optional<Finding> gpu_has_small_batches(const Observations& o);
std::optional<Finding> gpu_computes_in_float32(const Observations& o);
std::optional<Finding> gpu_memory_grows(const Observations& o);
std::optional<Finding> gpu_hardly_used(const Observations& o);

// native_input.cpp: tf.data pipelines, judged by their native code.
std::optional<Finding> native_serial_map(const Observations& o);
std::optional<Finding> native_decode_saturated(const Observations& o);
std::optional<Finding> native_input_bound(const Observations& o);

// outside_makers.cpp
std::optional<Finding> python_generator(const Observations& o);
std::optional<Finding> serial_mapped_python(const Observations& o);
std::optional<Finding> work_after_prefetch(const Observations& o);

// outside_loop.cpp
std::optional<Finding> compiles_again(const Observations& o);

// told_losses.cpp: what the losses show that a program printed.
std::optional<Finding> told_nan(const Observations& o);
std::optional<Finding> told_negative(const Observations& o);
std::optional<Finding> told_frozen(const Observations& o);
std::optional<Finding> told_growing(const Observations& o);
std::optional<Finding> told_too_low(const Observations& o);
std::optional<Finding> told_vanished_rate(const Observations& o);
std::optional<Finding> told_thrown(const Observations& o);
std::optional<Finding> told_oscillating(const Observations& o);
// Must the loss fall when the model learns? Not for models that compete with each other (GANs) nor
// for agents.
bool is_measure(const Observations& o);

// explained.cpp: little is learnt, and a line of the source says why. What the losses must show
// before a line is blamed: the more often a line is intended, the more they must show.
enum class Unlearnt { kHardlyFalls, kStays, kFrozen, kStaysBeyond, kStopped };
bool losses_show(const Observations& o, Unlearnt needs);
std::optional<Finding> explained(const Observations& o, Cause cause);
template <Cause cause>
std::optional<Finding> explained(const Observations& o) {
  return explained(o, cause);
}

// live_model.cpp: what weights, gradients and the optimizer show.
std::optional<Finding> weights_stand_still(const Observations& o);  // several causes
std::optional<Finding> weights_left_out(const Observations& o);
std::optional<Finding> live_rate(const Observations& o);
std::optional<Finding> live_hooks(const Observations& o);  // step-time-grows
std::optional<Finding> live_vanishing(const Observations& o);
std::optional<Finding> live_bad_start(const Observations& o);
std::optional<Finding> live_input(const Observations& o);  // input-not-scaled
std::optional<Finding> live_dead(const Observations& o);

// Shares of the training thread's time from which a finding is reported, and is a warning.
inline constexpr double kSaid = 0.09, kRepair = 0.15, kMuchTime = 0.5;
Severity severity_of_share(double low);
// "waits for a server 62% of the time (57 to 66)"
std::string share_text(const Share& share);
// Throughput without that share, as a multiple of today's.
inline double gain_without(double share) { return 1 / (1 - std::min(0.95, share)); }

}  // namespace headway
