#pragma once

// libjpeg's headers, in the order they want: jpeglib.h needs FILE and size_t to be declared,
// jerror.h needs jpeglib.h.
// clang-format off
#include <cstddef>
#include <cstdio>
#include <jpeglib.h>
#include <jerror.h>
// clang-format on
