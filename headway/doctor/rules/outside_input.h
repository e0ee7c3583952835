#pragma once

#include <string>

#include "headway/doctor/finding.h"
#include "headway/doctor/outside_evidence.h"

namespace headway {

// The rules about input as seen from outside.

// outside_stalls.cpp: the input never delivers, or does not yet.
std::optional<Finding> source_never_yields(const OutsideEvidence& e);
std::optional<Finding> pipeline_never_yields(const OutsideEvidence& e);
std::optional<Finding> thread_never_yields(const OutsideEvidence& e);
std::optional<Finding> worker_deadlock(const OutsideEvidence& e);
std::optional<Finding> shuffle_fill(const OutsideEvidence& e);

// outside_makers.cpp: the user's own code makes the samples.
std::optional<Finding> per_pixel_python(const OutsideEvidence& e);
std::optional<Finding> sequence_on_main_thread(const OutsideEvidence& e);
std::optional<Finding> pipeline_is_heavy(const OutsideEvidence& e);  // array-as-graph-constant
std::optional<Finding> preprocessing_before_fit(const OutsideEvidence& e);

// outside_loading.cpp: loaders, files and disks.
std::optional<Finding> many_small_reads(const OutsideEvidence& e);
std::optional<Finding> dataloader_workers(const OutsideEvidence& e);
std::optional<Finding> storage(const OutsideEvidence& e);
std::optional<Finding> decode_saturated(const OutsideEvidence& e);
std::optional<Finding> input_bound(const OutsideEvidence& e);

// Shared by these rules.
bool made(const SeenStack& stack);  // by code that makes samples, while training
std::string hot_text(const HotLine& hot, const char* of);  // "80% of it is on this line, in resize"
void add_pace(Finding& finding, const OutsideEvidence& e);  // "12 ms per step", if known
// The innermost line of the user's own code; empty: none.
std::string users_place(const SeenProcess& process);

}  // namespace headway
