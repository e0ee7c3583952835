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

}  // namespace headway::cli
