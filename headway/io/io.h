#pragma once

// Everything of this room; see README.md.
#include "headway/io/bytes/file.h"
#include "headway/io/bytes/glob.h"
#include "headway/io/bytes/output_file.h"
#include "headway/io/bytes/path_list.h"
#include "headway/io/images/image_format.h"
#include "headway/io/images/jpeg.h"
#include "headway/io/images/png.h"
#include "headway/io/records/example.h"
#include "headway/io/records/safetensors.h"
#include "headway/io/records/text.h"
#include "headway/io/records/tfrecord.h"
#include "headway/io/records/tfrecord_index.h"
#include "headway/io/records/tfrecord_writer.h"
