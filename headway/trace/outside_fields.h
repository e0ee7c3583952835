#pragma once

#include <type_traits>

#include "headway/trace/outside.h"

// The fields of what was seen from outside, listed once for reading and writing.
namespace headway {

template <typename T, typename F>
void each_field(T& s, F&& f) requires std::is_same_v<std::remove_const_t<T>, SeenFrame> {
  f("file", s.file);
  f("function", s.function);
  f("line", s.line);
  f("users", s.users);
  f("text", s.text);
  f("loops", s.loops);
  f("in_while", s.in_while);
  f("asks_for_lock", s.asks_for_lock);
  f("takes_lock", s.takes_lock);
  f("array_call", s.array_call);
  f("slow_call", s.slow_call);
  f("one_element", s.one_element);
  f("validates", s.validates);
  f("feeds", s.feeds);
}

template <typename T, typename F>
void each_field(T& s, F&& f) requires std::is_same_v<std::remove_const_t<T>, SeenStack> {
  f("process", s.process);
  f("main_thread", s.main_thread);
  f("activity", s.activity);
  f("maker", s.maker);
  f("wait", s.wait);
  f("account", s.account);
  f("training", s.training);
  f("frames", s.frames);
  f("samples", s.samples);
  f("recent", s.recent);
  f("with_gil", s.with_gil);
  f("places", s.places);
  f("top_place", s.top_place);
}

template <typename T, typename F>
void each_field(T& s, F&& f) requires std::is_same_v<std::remove_const_t<T>, SeenProcess> {
  f("pid", s.pid);
  f("role", s.role);
  f("name", s.name);
  f("state", s.state);
  f("ending", s.ending);
  f("at_s", s.at_s);
  f("threads", s.threads);
  f("rss_bytes", s.rss_bytes);
  f("cpu_s", s.cpu_s);
  f("cores", s.cores);
  f("wanting", s.wanting);
  f("still_s", s.still_s);
  f("wait", s.wait);
  f("waits_for", s.waits_for);
  f("stack", s.stack);
  f("waits_for_task", s.waits_for_task);
  f("waits_for_worker", s.waits_for_worker);
  f("looks", s.looks);
  f("waits_for_ranks", s.waits_for_ranks);
  f("python", s.python);
}

template <typename T, typename F>
void each_field(T& s, F&& f) requires std::is_same_v<std::remove_const_t<T>, SeenThreads> {
  f("name", s.name);
  f("main", s.main);
  f("model", s.model);
  f("count", s.count);
  f("cpu_s", s.cpu_s);
  f("cores", s.cores);
  f("busiest", s.busiest);
}

template <typename T, typename F>
void each_field(T& s, F&& f) requires std::is_same_v<std::remove_const_t<T>, SeenProgress> {
  f("source", s.source);
  f("epoch", s.epoch);
  f("epochs", s.epochs);
  f("step", s.step);
  f("steps_per_epoch", s.steps_per_epoch);
  f("steps", s.steps);
  f("first_step_s", s.first_step_s);
  f("last_step_s", s.last_step_s);
  f("step_s", s.step_s);
  f("loss", s.loss);
  f("losses", s.losses);
  f("bad_losses", s.bad_losses);
  f("several_losses", s.several_losses);
  f("rewards", s.rewards);
  f("first_loss", s.first_loss);
  f("rates", s.rates);
  f("rate", s.rate);
  f("highest_rate", s.highest_rate);
  f("vanished_rates", s.vanished_rates);
}

template <typename T, typename F>
void each_field(T& s, F&& f) requires std::is_same_v<std::remove_const_t<T>, SeenModel> {
  f("looks", s.looks);
  f("steps", s.steps);
  f("weights", s.weights);
  f("held", s.held);
  f("held_in_model", s.held_in_model);
  f("moved", s.moved);
  f("hides_gradients", s.hides_gradients);
  f("with_gradient", s.with_gradient);
  f("left_out", s.left_out);
  f("not_finite", s.not_finite);
  f("arrays", s.arrays);
  f("replaced", s.replaced);
  f("optimizer", s.optimizer);
  f("rate", s.rate);
  f("highest_rate", s.highest_rate);
  f("plain_steps", s.plain_steps);
  f("tiny_rates", s.tiny_rates);
  f("hooks", s.hooks);
  f("first_hooks", s.first_hooks);
  f("hooks_grew", s.hooks_grew);
  f("array_size", s.array_size);
  f("array_name", s.array_name);
}

template <typename T, typename F>
void each_field(T& s, F&& f) requires std::is_same_v<std::remove_const_t<T>, SeenLoss> {
  f("at_s", s.at_s);
  f("step", s.step);
  f("value", s.value);
}

template <typename T, typename F>
void each_field(T& s, F&& f) requires std::is_same_v<std::remove_const_t<T>, SeenRemark> {
  f("kind", s.kind);
  f("text", s.text);
}

template <typename T, typename F>
void each_field(T& s, F&& f) requires std::is_same_v<std::remove_const_t<T>, SeenNeighbour> {
  f("pid", s.pid);
  f("name", s.name);
  f("cores", s.cores);
}

template <typename T, typename F>
void each_field(T& s, F&& f) requires std::is_same_v<std::remove_const_t<T>, SeenThreadSetting> {
  f("text", s.text);
  f("at", s.at);
  f("threads", s.threads);
}

template <typename T, typename F>
void each_field(T& s, F&& f) requires std::is_same_v<std::remove_const_t<T>, SeenHint> {
  f("kind", s.kind);
  f("at", s.at);
}

template <typename T, typename F>
void each_field(T& s, F&& f) requires std::is_same_v<std::remove_const_t<T>, LedgerEntry> {
  f("account", s.account);
  f("device", s.device);
  f("looks", s.looks);
  f("seconds", s.seconds);
}

template <typename T, typename F>
void each_field(T& s, F&& f) requires std::is_same_v<std::remove_const_t<T>, LedgerBlock> {
  f("at_s", s.at_s);
  f("seconds", s.seconds);
  f("steps", s.steps);
  f("training", s.training);
  f("entries", s.entries);
  f("cpu_s", s.cpu_s);
  f("ready_s", s.ready_s);
  f("main_cpu_s", s.main_cpu_s);
  f("main_ready_s", s.main_ready_s);
  f("model_s", s.model_s);
  f("throttled_s", s.throttled_s);
  f("neighbours_s", s.neighbours_s);
  f("idle_s", s.idle_s);
}

template <typename T, typename F>
void each_field(T& s, F&& f) requires std::is_same_v<std::remove_const_t<T>, SeenOutput> {
  f("watched", s.watched);
  f("bytes", s.bytes);
  f("lines", s.lines);
  f("last_s", s.last_s);
  f("shuffle_fill", s.shuffle_fill);
  f("shuffle_size", s.shuffle_size);
  f("shuffle_first_s", s.shuffle_first_s);
  f("shuffle_last_s", s.shuffle_last_s);
  f("shuffle_first", s.shuffle_first);
  f("shuffle_filled", s.shuffle_filled);
  f("retracings", s.retracings);
  f("remarks", s.remarks);
  f("exception", s.exception);
  f("exception_kind", s.exception_kind);
  f("raised_at", s.raised_at);
  f("traceback", s.traceback);
}

template <typename T, typename F>
void each_field(T& s, F&& f) requires std::is_same_v<std::remove_const_t<T>, GpuWork> {
  f("seconds", s.seconds);
  f("busy", s.busy);
  f("sms", s.sms);
  f("warps", s.warps);
  f("tensor", s.tensor);
  f("fp32", s.fp32);
  f("fp64", s.fp64);
  f("memory_traffic", s.memory_traffic);
  f("received_bps", s.received_bps);
  f("sent_bps", s.sent_bps);
}

template <typename T, typename F>
void each_field(T& s, F&& f) requires std::is_same_v<std::remove_const_t<T>, SeenGpu> {
  f("name", s.name);
  f("memory_bytes", s.memory_bytes);
  f("memory_used", s.memory_used);
  f("memory_own", s.memory_own);
  f("utilisation", s.utilisation);
  f("recent", s.recent);
  f("power_w", s.power_w);
  f("power_limit_w", s.power_limit_w);
  f("clock_mhz", s.clock_mhz);
  f("full_clock_mhz", s.full_clock_mhz);
  f("used", s.used);
  f("throttled", s.throttled);
  f("work", s.work);
}

template <typename T, typename F>
void each_field(T& s, F&& f) requires std::is_same_v<std::remove_const_t<T>, SeenValue> {
  f("function", s.function);
  f("name", s.name);
  f("value", s.value);
  f("users", s.users);
}

template <typename T, typename F>
void each_field(T& s, F&& f) requires std::is_same_v<std::remove_const_t<T>, SeenFunction> {
  f("library", s.library);
  f("function", s.function);
  f("kind", s.kind);
  f("main_thread", s.main_thread);
  f("input", s.input);
  f("samples", s.samples);
}

template <typename T, typename F>
void each_field(T& s, F&& f) requires std::is_same_v<std::remove_const_t<T>, SeenNative> {
  f("why_not", s.why_not);
  f("takers_since_s", s.takers_since_s);
  f("samples", s.samples);
  f("whole", s.whole);
  f("lost", s.lost);
  f("input_samples", s.input_samples);
  f("decode_samples", s.decode_samples);
  f("main_samples", s.main_samples);
  f("main_waits", s.main_waits);
  f("main_uploads", s.main_uploads);
  f("functions", s.functions);
}

template <typename T, typename F>
void each_field(T& s, F&& f) requires std::is_same_v<std::remove_const_t<T>, SeenCompiled> {
  f("at_s", s.at_s);
  f("steps", s.steps);
  f("pieces", s.pieces);
}

template <typename T, typename F>
void each_field(T& s, F&& f) requires std::is_same_v<std::remove_const_t<T>, Outside> {
  f("seen", s.seen);
  f("at_s", s.at_s);
  f("pid", s.pid);
  f("command", s.command);
  f("framework", s.framework);
  f("launched", s.launched);
  f("since_start_s", s.since_start_s);
  f("training_since_s", s.training_since_s);
  f("samples", s.samples);
  f("torn", s.torn);
  f("python_threads", s.python_threads);
  f("python_threads_read", s.python_threads_read);
  f("processes", s.processes);
  f("stacks", s.stacks);
  f("threads", s.threads);
  f("values", s.values);
  f("gpus", s.gpus);
  f("progress", s.progress);
  f("model", s.model);
  f("output", s.output);
  f("ledger", s.ledger);
  f("losses", s.losses);
  f("neighbours", s.neighbours);
  f("settings", s.settings);
  f("native", s.native);
  f("compiled", s.compiled);
  f("batch_size", s.batch_size);
  f("batch_is_empty", s.batch_is_empty);
  f("reference_blas", s.reference_blas);
  f("open_files", s.open_files);
  f("open_files_limit", s.open_files_limit);
  f("main_still_s", s.main_still_s);
  f("quiet_s", s.quiet_s);
  f("cores", s.cores);
  f("wanted_cores", s.wanted_cores);
  f("read_rate", s.read_rate);
  f("model_threads", s.model_threads);
  f("ready_share", s.ready_share);
  f("endless_generators", s.endless_generators);
  f("fits", s.fits);
  f("cpus_allowed", s.cpus_allowed);
  f("endless", s.endless);
  f("decodes_at", s.decodes_at);
  f("positive_loss_at", s.positive_loss_at);
  f("learning_rate_at", s.learning_rate_at);
  f("crossentropy_at", s.crossentropy_at);
  f("keeps_at", s.keeps_at);
  f("hints", s.hints);
  f("schedule_at", s.schedule_at);
  f("hooks_at", s.hooks_at);
  f("shuffles_at", s.shuffles_at);
  f("after_prefetch_at", s.after_prefetch_at);
  f("serial_map_at", s.serial_map_at);
  f("learning_rate", s.learning_rate);
  f("batch_size_at", s.batch_size_at);
  f("written_batch_size", s.written_batch_size);
  f("missing_files", s.missing_files);
  f("network_files", s.network_files);
  f("shm_free_bytes", s.shm_free_bytes);
  f("shm_bytes", s.shm_bytes);
  f("cuda_libraries", s.cuda_libraries);
  f("cuda_problem", s.cuda_problem);
  f("exit", s.exit);
  f("exit_status", s.exit_status);
  f("gone", s.gone);
  f("unwatched", s.unwatched);
  f("blind", s.blind);
}

}  // namespace headway
