#pragma once

#include "headway/probe/source/python_source.h"

namespace headway {

// The line of a tf.data map() that comes after the last prefetch(): in the same chain, on the
// variable that holds the chain, or on the result of a function in the source; 0: none.
int64_t map_behind_prefetch(const PythonSource& source);

// The line of the first map() of tf.data that is not told to run on several elements at once; 0:
// none, or the source does not use tf.data.
int64_t serial_map_in(const PythonSource& source);

}  // namespace headway
