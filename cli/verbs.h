#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace headway::cli {

// What the chosen verb will do; runs once the whole line has been understood.
using Task = std::function<void()>;

// Each adds its word and its options to `app`; when it is the one chosen it sets `task`.
void add_make_data(CLI::App& app, Task& task);
void add_inspect(CLI::App& app, Task& task);
void add_convert(CLI::App& app, Task& task);
void add_bench(CLI::App& app, Task& task);
void add_doctor(CLI::App& app, Task& task, int& status);  // the task sets the exit status
void add_run(CLI::App& app, Task& task, int& status);
void add_attach(CLI::App& app, Task& task, int& status);
void add_check(CLI::App& app, Task& task, int& status);

// `train` is a program of its own, headway-train, so that the other verbs start without libtorch.
void add_train(CLI::App& app);         // the word alone, for the list of verbs
int run_train(int argc, char** argv);  // becomes that program

}  // namespace headway::cli
