# What a program outside this repository may include; nothing else is installed. tests/laws/public_headers_test.py keeps the
# lists closed (a public header includes public ones only) and free of macros; tests/install compiles each alone.

# Names here stay, from one minor version to the next. A member may be added to an options struct, with a default.
set(HEADWAY_STABLE_HEADERS
  headway/headway.h
  headway/core/element.h
  headway/core/error.h
  headway/core/log.h
  headway/core/random.h
  headway/core/tensor.h
  headway/data/data.h
  headway/data/dataset.h
  headway/data/image_step.h
  headway/data/options.h
  headway/data/pipeline.h
  headway/image/choices.h
  headway/image/view.h
  headway/io/bytes/compression.h
  headway/io/bytes/output_file.h
  headway/io/bytes/temp_folder.h
  headway/io/images/decode_mode.h
  headway/io/images/jpeg.h
  headway/io/images/png.h
  headway/io/records/example.h
  headway/io/records/safetensors.h
  headway/io/records/tfrecord_index.h
  headway/io/records/tfrecord_writer.h
  headway/observe/watched_feed.h)
set(HEADWAY_STABLE_TRAIN_HEADERS
  headway/train/train.h
  headway/train/torch.h
  headway/train/device/device.h
  headway/train/device/tensor_bridge.h
  headway/train/layers.h
  headway/train/learn/loss.h
  headway/train/learn/metric.h
  headway/train/learn/optimizer.h
  headway/train/learn/schedule.h
  headway/train/loop/callback.h
  headway/train/loop/history.h
  headway/train/model/activation.h
  headway/train/model/applications.h
  headway/train/model/initializer.h
  headway/train/model/layer.h
  headway/train/model/model.h)

# What a trace holds and what the doctor says of it: grows with every cause that is learnt. Cause ids and the names of
# severities stay; members and enumerators are added.
set(HEADWAY_GROWING_HEADERS
  headway/core/clock.h
  headway/core/file_counters.h
  headway/doctor/blocks.h
  headway/doctor/diagnose.h
  headway/doctor/finding.h
  headway/doctor/ledger.h
  headway/doctor/verdict.h
  headway/trace/cause.h
  headway/trace/feed.h
  headway/trace/kinds.h
  headway/trace/numbers.h
  headway/trace/outside.h
  headway/trace/step_counters.h
  headway/trace/system_reader.h
  headway/trace/trace.h
  headway/trace/trace_file.h)

set(HEADWAY_PUBLIC_HEADERS ${HEADWAY_STABLE_HEADERS})
if(HEADWAY_EYES)
  list(APPEND HEADWAY_PUBLIC_HEADERS ${HEADWAY_GROWING_HEADERS})
else()  # watched_feed asks the doctor; pipelines and training steps count into these
  list(REMOVE_ITEM HEADWAY_PUBLIC_HEADERS headway/observe/watched_feed.h)
  list(APPEND HEADWAY_PUBLIC_HEADERS headway/core/clock.h headway/trace/feed.h headway/trace/step_counters.h)
endif()
if(HEADWAY_TRAIN)
  list(APPEND HEADWAY_PUBLIC_HEADERS ${HEADWAY_STABLE_TRAIN_HEADERS})
endif()
