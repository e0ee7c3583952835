#pragma once

#include "headway/check/check_line.h"
#include "headway/check/facts.h"

namespace headway {

// Says of each thing that was found whether it fits. Pure: what is not in the facts is not known.
// In the order of topics; within one, the worst first.
CheckLines judge(const MachineFacts& facts);

// The judges of the topics; a new one is named in judge.cpp.
void judge_gpus(const MachineFacts& facts, CheckLines& lines);
void judge_frameworks(const MachineFacts& facts, CheckLines& lines);
void judge_cuda_libraries(const MachineFacts& facts, CheckLines& lines);
void judge_own_trainer(const MachineFacts& facts, CheckLines& lines);
void judge_cores(const MachineFacts& facts, CheckLines& lines);
void judge_memory(const MachineFacts& facts, CheckLines& lines);
void judge_limits(const MachineFacts& facts, CheckLines& lines);
void judge_disk(const MachineFacts& facts, CheckLines& lines);
void judge_permissions(const MachineFacts& facts, CheckLines& lines);
void judge_script(const MachineFacts& facts, CheckLines& lines);

}  // namespace headway
