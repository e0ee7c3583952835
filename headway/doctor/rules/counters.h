#pragma once

#include "headway/doctor/evidence.h"
#include "headway/doctor/finding.h"

namespace headway {

// Rules about the counters of a run on Headway, one file for each group. table.cpp combines them
// with the rules about what is seen from outside.

// refusals.cpp
std::optional<Finding> refused(const Evidence& e);
std::optional<Finding> disk_full(const Evidence& e);

// config.cpp
std::optional<Finding> thread_oversubscription(const Evidence& e);
std::optional<Finding> single_core(const Evidence& e);
std::optional<Finding> gpu_throttled(const Evidence& e);
std::optional<Finding> gpu_not_used(const Evidence& e);

// memory.cpp
std::optional<Finding> memory_limit(const Evidence& e);
std::optional<Finding> pressure(const Evidence& e);
std::optional<Finding> leak(const Evidence& e);

// loop.cpp
std::optional<Finding> step_time_grows(const Evidence& e);
std::optional<Finding> epoch_never_ends(const Evidence& e);

// gradients.cpp
std::optional<Finding> not_connected(const Evidence& e);
std::optional<Finding> not_updated(const Evidence& e);
std::optional<Finding> bad_start(const Evidence& e);
std::optional<Finding> input_not_scaled(const Evidence& e);
std::optional<Finding> exploding(const Evidence& e);
std::optional<Finding> vanishing(const Evidence& e);
std::optional<Finding> dead_relu(const Evidence& e);

// numerical.cpp
std::optional<Finding> rate_too_high(const Evidence& e);
std::optional<Finding> not_a_number(const Evidence& e);
std::optional<Finding> rate_is_zero(const Evidence& e);
std::optional<Finding> rate_too_low(const Evidence& e);
std::optional<Finding> loss_frozen(const Evidence& e);

// no_data.cpp
std::optional<Finding> source_never_yields(const Evidence& e);
std::optional<Finding> worker_deadlock(const Evidence& e);
std::optional<Finding> shuffle_fill(const Evidence& e);
std::optional<Finding> slow_first_batch(const Evidence& e);

// input.cpp
std::optional<Finding> serial_map(const Evidence& e);
std::optional<Finding> few_workers(const Evidence& e);
std::optional<Finding> slow_storage(const Evidence& e);
std::optional<Finding> decode_saturated(const Evidence& e);
std::optional<Finding> input_bound(const Evidence& e);
std::optional<Finding> upload_bound(const Evidence& e);

// compute.cpp
std::optional<Finding> stuck_callback(const Evidence& e);
std::optional<Finding> slow_callback(const Evidence& e);
std::optional<Finding> measured_small_batch(const Evidence& e);
std::optional<Finding> batch_too_small(const Evidence& e);
std::optional<Finding> launch_bound(const Evidence& e);
std::optional<Finding> float32_on_a_gpu(const Evidence& e);
std::optional<Finding> first_step(const Evidence& e);

}  // namespace headway
