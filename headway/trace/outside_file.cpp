#include "headway/trace/outside_file.h"

#include <nlohmann/json.hpp>

namespace headway {

// The library's own way to name the fields once for both directions.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(SeenFrame, file, function, line, users, text, loops)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(SeenStack, process, thread, activity, wait,
                                                training, frames, samples, recent, with_gil, places,
                                                top_place)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(SeenProcess, pid, role, name, state, ending, at_s,
                                                threads, rss_bytes, cpu_s, cores, still_s, wait,
                                                stack, python)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(SeenThreads, name, count, cpu_s, cores, busiest)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(SeenProgress, source, epoch, epochs, step,
                                                steps_per_epoch, steps, first_step_s, last_step_s,
                                                step_s, loss, losses, bad_losses, first_loss)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(SeenOutput, watched, bytes, lines, last_s,
                                                shuffle_fill, shuffle_size, shuffle_first_s,
                                                shuffle_last_s, shuffle_first, shuffle_filled,
                                                retracings, remarks, exception, raised_at,
                                                traceback)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(SeenGpu, name, memory_bytes, memory_used,
                                                memory_own, utilisation, recent, power_w,
                                                power_limit_w, clock_mhz, full_clock_mhz, used,
                                                throttled)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(SeenValue, function, name, value, users)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(
    Outside, seen, at_s, pid, command, framework, launched, since_start_s, training_since_s,
    samples, torn, processes, stacks, threads, values, gpus, progress, output, main_still_s,
    quiet_s, cores, wanted_cores, read_rate, ready_share, endless_generators, cpus_allowed, endless,
    decodes_at, missing_files, network_files, shm_free_bytes, shm_bytes, cuda_libraries,
    cuda_problem, exit, exit_status, blind)

std::string outside_line(const Outside& outside) {
  nlohmann::json line = outside;
  line["kind"] = "outside";
  return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Outside parse_outside(const std::string& line) {
  return nlohmann::json::parse(line).get<Outside>();
}

}  // namespace headway
