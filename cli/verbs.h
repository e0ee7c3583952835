#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "cli/verb_help.h"

namespace headway::cli {

// What the chosen verb will do; runs once the whole line has been understood.
using Task = std::function<void()>;

// Each adds its word and its options to `app`; when it is the one chosen it sets `task`.
void add_make_data(CLI::App& app, Task& task);
void add_inspect(CLI::App& app, Task& task);
void add_convert(CLI::App& app, Task& task);
void add_bench(CLI::App& app, Task& task);
void add_compare(CLI::App& app, Task& task, int& status);
void add_doctor(CLI::App& app, Task& task, int& status);  // the task sets the exit status
void add_run(CLI::App& app, Task& task, int& status);
void add_attach(CLI::App& app, Task& task, int& status);
void add_check(CLI::App& app, Task& task, int& status);
void add_completion(CLI::App& app, Task& task);  // of all verbs, also those added later
void add_man(CLI::App& app, Task& task);         // likewise

// `train` is a program of its own, headway-train, so that the other verbs start without libtorch.
void add_train(CLI::App& app);         // its word and options, for the help of all verbs
int run_train(int argc, char** argv);  // becomes that program

}  // namespace headway::cli
