#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>

// The one way by which text reaches a terminal or a log. Names of files and classes, command lines
// and errors come from outside, and a terminal obeys what it is sent: characters that steer it are
// shown instead. (The live view has its own: canvas.h.)
namespace headway {

// The next character of UTF-8 and what is left; kNoCharacter for a byte that belongs to none.
inline constexpr char32_t kNoCharacter = 0xFFFFFFFF;
char32_t take_character(std::string_view& text);

// `text` on one line: control characters, marks that turn the direction of writing and broken UTF-8
// as \n, \x1b, \u202e.
std::string visible(std::string_view text);

// The same for a text of several lines: its newlines stay.
std::string visible_lines(std::string_view text);

// Likewise for a message: the lines below the first are indented, so that none can pose as another
// message.
std::string visible_message(std::string_view text);

// The parts of a line, each made visible; what the format itself says goes out as it is.
//
//   print("{} holds {} images\n", folder, count);
template <typename T>
using Shown =
    std::conditional_t<std::is_convertible_v<const T&, std::string_view>, std::string, const T&>;

template <typename T>
Shown<T> shown(const T& value) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    return visible(value);
  } else {
    return value;
  }
}

template <typename... Args>
void print(std::FILE* out, fmt::format_string<Shown<Args>...> format, const Args&... args) {
  fmt::print(out, "{}", fmt::format(format, shown(args)...));
}

template <typename... Args>
void print(fmt::format_string<Shown<Args>...> format, const Args&... args) {
  headway::print(stdout, format, args...);
}

// A text of several lines, made visible.
void print_lines(std::FILE* out, std::string_view text);

}  // namespace headway
