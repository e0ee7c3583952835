#pragma once

#include "headway/doctor/finding.h"
#include "headway/doctor/outside_evidence.h"

namespace headway {

// Rules about looks from outside; those about input are in outside_input.h.

// outside_process.cpp
std::optional<Finding> shared_memory(const OutsideEvidence& e);
std::optional<Finding> worker_died(const OutsideEvidence& e);
std::optional<Finding> not_picklable(const OutsideEvidence& e);
std::optional<Finding> out_of_memory(const OutsideEvidence& e);
std::optional<Finding> cuda_mismatch(const OutsideEvidence& e);
std::optional<Finding> limits_or_disk_full(const OutsideEvidence& e);
std::optional<Finding> gradient_not_connected(const OutsideEvidence& e);
std::optional<Finding> loss_broadcasts(const OutsideEvidence& e);
std::optional<Finding> gpu_not_used(const OutsideEvidence& e);
std::optional<Finding> single_core(const OutsideEvidence& e);
std::optional<Finding> thread_oversubscription(const OutsideEvidence& e);

// outside_memory.cpp
std::optional<Finding> memory_grows(const OutsideEvidence& e);

// outside_loop.cpp
std::optional<Finding> first_step_compiling(const OutsideEvidence& e);
std::optional<Finding> slow_callback(const OutsideEvidence& e);
std::optional<Finding> step_time_grows(const OutsideEvidence& e);
std::optional<Finding> epoch_never_ends(const OutsideEvidence& e);
std::optional<Finding> wrong_steps_per_epoch(const OutsideEvidence& e);
std::optional<Finding> batch_too_small(const OutsideEvidence& e);
std::optional<Finding> output_buffered(const OutsideEvidence& e);

// ranks.cpp
std::optional<Finding> rank_lost(const OutsideEvidence& e);
std::optional<Finding> uneven_batches(const OutsideEvidence& e);
std::optional<Finding> waits_for_others(const OutsideEvidence& e);
std::optional<Finding> straggler(const OutsideEvidence& e);
std::optional<Finding> communication_bound(const OutsideEvidence& e);

}  // namespace headway
