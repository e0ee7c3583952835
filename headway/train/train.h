#pragma once

// Keras' words in C++: all of the room that a program needs, without libtorch's headers. A program
// that works with libtorch's own tensors and modules includes torch.h beside it.
#include "headway/headway.h"
#include "headway/train/applications.h"
#include "headway/train/callback.h"
#include "headway/train/device.h"
#include "headway/train/history.h"
#include "headway/train/layers.h"
#include "headway/train/loss.h"
#include "headway/train/metric.h"
#include "headway/train/model.h"
#include "headway/train/optimizer.h"
#include "headway/train/schedule.h"
