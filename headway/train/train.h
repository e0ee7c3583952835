#pragma once

// Keras' words in C++: all of the room that a program needs, without libtorch's headers. A program
// that works with libtorch's own tensors and modules includes torch.h beside it.
#include "headway/headway.h"
#include "headway/train/device/device.h"
#include "headway/train/layers.h"
#include "headway/train/learn/loss.h"
#include "headway/train/learn/metric.h"
#include "headway/train/learn/optimizer.h"
#include "headway/train/learn/schedule.h"
#include "headway/train/loop/callback.h"
#include "headway/train/loop/history.h"
#include "headway/train/model/applications.h"
#include "headway/train/model/model.h"
