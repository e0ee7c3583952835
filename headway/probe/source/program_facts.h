#pragma once

#include <vector>

#include "headway/probe/process/surroundings.h"
#include "headway/probe/process/target.h"
#include "headway/trace/outside.h"

namespace headway {

// What the user's own files and variables say about a program; written to `out`.
void note_source(Target& target, const PythonThread& thread, Outside& out);
// A difference of tensors in a running function that has more values than either operand.
void note_shape_clash(Target& target, const PythonThread& thread, Outside& out);
// What sets the number of compute threads, in the files that the training thread runs.
void note_thread_settings(Target& target, const PythonThread& thread, Outside& out);
// Its libraries, files and devices, and settings in its environment.
void note_surroundings(const Surroundings& around, pid_t main, Outside& out);
// How many pieces of compiled code the process holds at this moment and step.
void note_compiled(int64_t pieces, double at_s, int64_t steps, Outside& out);
// `main`: the process against whose working folder relative paths are resolved.
void note_values(const std::vector<SeenValue>& values, pid_t main, Outside& out);

}  // namespace headway
