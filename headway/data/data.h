#pragma once

// Everything of the room `data`: datasets, running pipelines, options.
#include "headway/data/dataset.h"
#include "headway/data/options.h"
#include "headway/data/pipeline.h"
