#pragma once

// Everything of this room; see README.md.
#include "headway/io/example.h"
#include "headway/io/file.h"
#include "headway/io/glob.h"
#include "headway/io/image_format.h"
#include "headway/io/jpeg.h"
#include "headway/io/output_file.h"
#include "headway/io/path_list.h"
#include "headway/io/png.h"
#include "headway/io/safetensors.h"
#include "headway/io/text.h"
#include "headway/io/tfrecord.h"
#include "headway/io/tfrecord_index.h"
#include "headway/io/tfrecord_writer.h"
