#pragma once

#include <type_traits>

#include "headway/trace/trace.h"

// Inside trace/: the fields of each record of a trace, with their names in the file.
namespace headway {

// Each list of fields is written once, for reading and for writing.
template <typename T, typename F>
void each_field(T& s, F&& f) requires std::is_same_v<std::remove_const_t<T>, SystemReading> {
  f("cpu_s", s.cpu_s);
  f("run_queue_wait_s", s.run_queue_wait_s);
  f("threads", s.threads);
  f("idle_s", s.idle_s);
  f("rss_bytes", s.rss_bytes);
  f("writable_bytes", s.writable_bytes);
  f("swap_bytes", s.swap_bytes);
  f("available_bytes", s.available_bytes);
  f("major_faults", s.major_faults);
  f("read_calls", s.read_calls);
  f("read_bytes", s.read_bytes);
  f("disk_bytes", s.disk_bytes);
  f("cpu_some_s", s.cpu_some_s);
  f("io_some_s", s.io_some_s);
  f("io_full_s", s.io_full_s);
  f("memory_some_s", s.memory_some_s);
  f("memory_full_s", s.memory_full_s);
  f("quota_periods", s.quota_periods);
  f("throttled_count", s.throttled_count);
  f("throttled_s", s.throttled_s);
}

template <typename T, typename F>
void each_field(T& s, F&& f) requires std::is_same_v<std::remove_const_t<T>, StageReading> {
  f("in", s.in);
  f("out", s.out);
  f("dropped", s.dropped);
  f("bytes_out", s.bytes_out);
  f("busy_s", s.busy_s);
  f("input_s", s.input_s);
  f("waits_for_input", s.waits_for_input);
  f("waits_for_room", s.waits_for_room);
  f("queue_fill", s.queue_fill);
  f("queue_capacity", s.queue_capacity);
  f("op_busy_s", s.op_busy_s);
}

template <typename T, typename F>
void each_field(T& s, F&& f) requires std::is_same_v<std::remove_const_t<T>, TraceReading> {
  f("at_s", s.at_s);
  f("phase", s.phase);
  f("phase_s", s.phase_s);
  f("epoch", s.epoch);
  f("step_in_epoch", s.step_in_epoch);
  f("steps", s.steps);
  f("samples", s.samples);
  f("times", s.times);
  f("loss_sum", s.loss_sum);
  f("loss_square_sum", s.loss_square_sum);
  f("losses", s.losses);
  f("bad_losses", s.bad_losses);
  f("first_bad_step", s.first_bad_step);
  f("learning_rate", s.learning_rate);
  f("callback_s", s.callback_s);
  f("batches", s.batches);
  f("feed_threads", s.feed_threads);
  f("skipped", s.skipped);
  f("feed_ram_bytes", s.feed_ram_bytes);
  f("buffer_held", s.buffer_held);
  f("buffer_wanted", s.buffer_wanted);
  f("stages", s.stages);
  f("files", s.files);
  f("system", s.system);
  f("gpu", s.gpu);
}

template <typename T, typename F>
void each_field(T& s, F&& f) requires std::is_same_v<std::remove_const_t<T>, GpuReading> {
  f("busy_s", s.busy_s);
  f("throttled_s", s.throttled_s);
  f("clock_mhz", s.clock_mhz);
  f("full_clock_mhz", s.full_clock_mhz);
  f("memory_bytes", s.memory_bytes);
  f("memory_used", s.memory_used);
}

template <typename T, typename F>
void each_field(T& s, F&& f) requires std::is_same_v<std::remove_const_t<T>, FileReading> {
  f("opens", s.opens);
  f("open_s", s.open_s);
  f("reads", s.reads);
  f("read_s", s.read_s);
  f("bytes", s.bytes);
}

template <typename T, typename F>
void each_field(T& s, F&& f) requires std::is_same_v<std::remove_const_t<T>, WeightFacts> {
  f("name", s.name);
  f("values", s.values);
  f("fan_in", s.fan_in);
  f("kernel", s.kernel);
  f("identical_units", s.identical_units);
}

template <typename T, typename F>
void each_field(T& s, F&& f) requires std::is_same_v<std::remove_const_t<T>, NumbersReading> {
  f("step", s.step);
  f("at_s", s.at_s);
  f("gradients", s.gradients);
  f("weights", s.weights);
  f("updates", s.updates);
  f("dead_units", s.dead_units);
  f("outputs", s.outputs);
  f("input_mean", s.input_mean);
  f("input_std", s.input_std);
}

template <typename T, typename F>
void each_field(T& s, F&& f) requires std::is_same_v<std::remove_const_t<T>, ReplayReading> {
  f("batch_size", s.batch_size);
  f("step_s", s.step_s);
  f("double_step_s", s.double_step_s);
}

template <typename T, typename F>
void each_field(T& s, F&& f) requires std::is_same_v<std::remove_const_t<T>, StageFacts> {
  f("name", s.name);
  f("depth", s.depth);
  f("max_workers", s.max_workers);
  f("ops", s.ops);
}

template <typename T, typename F>
void each_field(T& s, F&& f) requires std::is_same_v<std::remove_const_t<T>, OpFacts> {
  f("name", s.name);
  f("source", s.source);
  f("serial", s.serial);
  f("lists_files", s.lists_files);
  f("reads_files", s.reads_files);
  f("pixels", s.pixels);
  f("fills_first", s.fills_first);
  f("keeps", s.keeps);
}

template <typename T, typename F>
void each_field(T& s, F&& f) requires std::is_same_v<std::remove_const_t<T>, RunFacts> {
  f("program", s.program);
  f("eye", s.eye);
  f("purpose", s.purpose);
  f("device", s.device);
  f("gpu", s.gpu);
  f("cpus", s.cpus);
  f("cpu_source", s.cpu_source);
  f("cpu_quota", s.cpu_quota);
  f("machine_cores", s.machine_cores);
  f("compute_threads", s.compute_threads);
  f("input_threads", s.input_threads);
  f("precision", s.products);
  f("dataset", s.dataset);
  f("operators", s.operators);
  f("model", s.model);
  f("parameters", s.parameters);
  f("optimizer", s.optimizer);
  f("batch_size", s.batch_size);
  f("steps_per_epoch", s.steps_per_epoch);
  f("epochs", s.epochs);
  f("resumed", s.resumed);
  f("callbacks", s.callbacks);
}

template <typename T, typename F>
void each_field(T& s, F&& f) requires std::is_same_v<std::remove_const_t<T>, TracePhase> {
  f("name", s.name);
  f("at_s", s.at_s);
  f("seconds", s.seconds);
}

template <typename T, typename F>
void each_field(T& s, F&& f) requires std::is_same_v<std::remove_const_t<T>, TraceEpoch> {
  f("epoch", s.epoch);
  f("at_s", s.at_s);
  f("steps", s.steps);
  f("logs", s.logs);
  f("validation", s.validation);
}

template <typename T, typename F>
void each_field(T& s, F&& f) requires std::is_same_v<std::remove_const_t<T>, TraceNote> {
  f("note", s.kind);
  f("at_s", s.at_s);
  f("text", s.text);
  f("where", s.where);
  f("stage", s.stage);
  f("cause", s.cause);
}

}  // namespace headway
