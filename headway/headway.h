#pragma once

// All of Headway that a program needs.
#include "headway/core/element.h"
#include "headway/core/error.h"
#include "headway/core/log.h"
#include "headway/core/tensor.h"
#include "headway/data/data.h"
