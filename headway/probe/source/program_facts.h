#pragma once

#include <vector>

#include "headway/probe/process/surroundings.h"
#include "headway/probe/process/target.h"
#include "headway/trace/outside.h"

namespace headway {

// What the user's own files and variables tell about a program, put into `out`.
void note_source(Target& target, const PythonThread& thread, Outside& out);
// A difference of tensors, in a function that runs now, that has more values than either.
void note_shape_clash(Target& target, const PythonThread& thread, Outside& out);
// Of the files that the training thread passes through: what sets how many threads compute.
void note_thread_settings(Target& target, const PythonThread& thread, Outside& out);
// What it stands on, and what its environment says.
void note_surroundings(const Surroundings& around, pid_t main, Outside& out);
// How many pieces of compiled code the process holds, at this moment and step.
void note_compiled(int64_t pieces, double at_s, int64_t steps, Outside& out);
// `main`: the process in whose folder paths begin.
void note_values(const std::vector<SeenValue>& values, pid_t main, Outside& out);

}  // namespace headway
