#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace headway::cli {

// `headway --version`. libtorch belongs to headway-train, which is asked: this program starts
// without it.
void print_version(bool json);

// The program headway-train, beside this one.
std::string train_program();

}  // namespace headway::cli
