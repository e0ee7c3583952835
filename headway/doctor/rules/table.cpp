// Which cause has which rule, what it brings about, and what causes have in common: all lists of
// causes are here.
#include <algorithm>

#include "headway/doctor/rules/counters.h"
#include "headway/doctor/rules/observed.h"
#include "headway/doctor/rules/outside.h"
#include "headway/doctor/rules/outside_input.h"
#include "headway/doctor/rules/rules.h"

namespace headway {
namespace {

constexpr Cause kOfQuota[] = {Cause::kDecodeSaturated, Cause::kInputBound, Cause::kSerialMap,
                              Cause::kThreadOversubscription, Cause::kNeighboursTakeCores};
constexpr Cause kOfThreads[] = {Cause::kInputBound, Cause::kDecodeSaturated};
constexpr Cause kOfNeighbours[] = {Cause::kStepTimeGrows, Cause::kInputBound,
                                   Cause::kDecodeSaturated, Cause::kThreadOversubscription};
constexpr Cause kOfLeak[] = {Cause::kHostMemoryPressure, Cause::kMemoryLimit};
constexpr Cause kOfRetracing[] = {Cause::kHostMemoryLeak, Cause::kStepTimeGrows};
constexpr Cause kOfSharedMemory[] = {Cause::kLimitsOrDiskFull, Cause::kWorkerDied};
constexpr Cause kOfLimit[] = {Cause::kHostMemoryPressure};
constexpr Cause kOfPressure[] = {Cause::kInputBound, Cause::kSlowStorage, Cause::kManySmallFiles,
                                 Cause::kStepTimeGrows};
constexpr Cause kOfRate[] = {Cause::kNanLoss, Cause::kLossFrozen};
constexpr Cause kOfExploding[] = {Cause::kNanLoss, Cause::kLearningRate};
constexpr Cause kOfWeights[] = {Cause::kExplodingGradients, Cause::kVanishingGradients,
                                Cause::kLossFrozen,         Cause::kWeightsNotUpdated,
                                Cause::kDeadRelu,           Cause::kLearningRate};
constexpr Cause kOfVanishing[] = {Cause::kLossFrozen, Cause::kLearningRate};
constexpr Cause kOfInput[] = {Cause::kExplodingGradients, Cause::kDeadRelu, Cause::kLearningRate,
                              Cause::kNanLoss, Cause::kLossFrozen};
constexpr Cause kOfNoPath[] = {Cause::kWeightsNotUpdated, Cause::kLossFrozen};
constexpr Cause kOfNoUpdate[] = {Cause::kLossFrozen};
constexpr Cause kOfRanks[] = {Cause::kWorkerDeadlock, Cause::kWaitsForServer};
constexpr Cause kOfLostRank[] = {Cause::kWorkerDeadlock, Cause::kWaitsForServer, Cause::kWorkerDied,
                                 Cause::kMismatchedCollective, Cause::kRendezvousWaits};
constexpr Cause kOfUneven[] = {Cause::kWorkerDeadlock, Cause::kMismatchedCollective,
                               Cause::kRendezvousWaits, Cause::kWaitsForServer};
constexpr Cause kOfLatePrefetch[] = {Cause::kSerialMap, Cause::kNoPrefetch, Cause::kPythonGenerator,
                                     Cause::kInputBound};
constexpr Cause kOfHeavyPipeline[] = {Cause::kInputBound,     Cause::kHotLine,
                                      Cause::kNoPrefetch,     Cause::kSerialMap,
                                      Cause::kHostMemoryLeak, Cause::kPreprocessingBeforeFit};
constexpr Cause kOfExchange[] = {Cause::kHotLine, Cause::kWaitsForServer};
constexpr Cause kOfFilling[] = {Cause::kHostMemoryLeak, Cause::kDataloaderWorkers,
                                Cause::kPythonGenerator, Cause::kInputBound};
constexpr Cause kOfGrowth[] = {Cause::kSlowCallback};

constexpr Effect kWrong = Effect::kWrong, kSlow = Effect::kSlow, kRefused = Effect::kRefused;

// Rules that can find several causes.
constexpr Rule kMemory = by_looks<out_of_memory>;
constexpr Rule kStorage = by_looks<storage>;
constexpr Rule kOthers = by_looks<waits_for_others>;
constexpr Rule kFiles = by_counters<slow_storage>;
constexpr Rule kStill = weights_stand_still;
constexpr Rule kCompiles = compiles_again;

constexpr CauseRule kRules[] = {
    // The program refused to run, or died.
    {Cause::kSharedMemoryTooSmall, by_looks<shared_memory>, kSlow, kOfSharedMemory},
    {Cause::kLimitsOrDiskFull, first_of<by_counters<disk_full>, by_looks<limits_or_disk_full>>,
     kRefused},
    {Cause::kWorkerDied, first_of<by_looks<worker_died>, producer_is_gone>},
    {Cause::kLoaderNotPicklable, by_looks<not_picklable>, kRefused},
    {Cause::kGpuOutOfMemory, only<Cause::kGpuOutOfMemory, kMemory>, kRefused},
    {Cause::kModelTooLarge, only<Cause::kModelTooLarge, kMemory>, kRefused},
    {Cause::kCudaVersionMismatch, by_looks<cuda_mismatch>},
    {Cause::kLossOutputMismatch,
     first_of<only<Cause::kLossOutputMismatch, by_counters<refused>>, by_looks<loss_broadcasts>,
              told_negative, explained<Cause::kLossOutputMismatch>>,
     kRefused},
    // The machine and its limits.
    {Cause::kGpuNotUsed,
     first_of<by_counters<gpu_not_used>, by_looks<gpu_not_used>, gpu_hardly_used>},
    {Cause::kCpuQuota, cpu_quota, kSlow, kOfQuota},
    {Cause::kNeighboursTakeCores, neighbours_take_cores, kSlow, kOfNeighbours},
    {Cause::kThreadOversubscription,
     first_of<by_counters<thread_oversubscription>, by_looks<thread_oversubscription>>, kSlow,
     kOfThreads},
    {Cause::kSingleCoreAffinity,
     first_of<by_counters<single_core>, by_looks<single_core>, one_thread_by_setting>},
    {Cause::kGpuThrottledOrShared, by_counters<gpu_throttled>},
    {Cause::kMemoryLimit, by_kernel<memory_limit>, kWrong, kOfLimit},
    {Cause::kHostMemoryPressure, by_kernel<pressure>, kSlow, kOfPressure},
    {Cause::kHostMemoryLeak, first_of<by_counters<leak>, by_looks<memory_grows>, gpu_memory_grows>,
     kWrong, kOfLeak},
    // Nothing moves.
    {Cause::kRankLost, by_looks<rank_lost>, kSlow, kOfLostRank},
    {Cause::kUnevenBatches, by_looks<uneven_batches>, kSlow, kOfUneven},
    {Cause::kRendezvousWaits, only<Cause::kRendezvousWaits, kOthers>, kSlow, kOfRanks},
    {Cause::kMismatchedCollective, only<Cause::kMismatchedCollective, kOthers>, kSlow, kOfRanks},
    {Cause::kWaitsForTerminal, waits_for_terminal},
    {Cause::kWaitsForFileLock, waits_for_file_lock},
    {Cause::kLockOrder, lock_order},
    {Cause::kWorkerDeadlock,
     first_of<by_counters<worker_deadlock>, by_looks<worker_deadlock>, lock_never_released>},
    {Cause::kSourceNeverYields,
     first_of<by_counters<source_never_yields>,
              by_looks<source_never_yields, pipeline_never_yields, thread_never_yields>>},
    {Cause::kShuffleFill, first_of<by_counters<shuffle_fill>, by_looks<shuffle_fill>>, kSlow,
     kOfFilling},
    {Cause::kWaitsForServer, waits_for_server},
    {Cause::kWaitsForPipe, waits_for_pipe},
    {Cause::kLoopNeverEnds, first_of<loop_never_ends, asks_in_vain>},
    // The training loop.
    {Cause::kRetracing, only<Cause::kRetracing, kCompiles>, kSlow, kOfRetracing},
    {Cause::kAutotuneVaryingShapes, only<Cause::kAutotuneVaryingShapes, kCompiles>, kSlow,
     kOfRetracing},
    {Cause::kFirstStepCompiling, first_of<by_counters<first_step>, by_looks<first_step_compiling>>},
    {Cause::kStraggler, by_looks<straggler>, kSlow, kOfExchange},
    {Cause::kCommunicationBound, by_looks<communication_bound>, kSlow, kOfExchange},
    {Cause::kStepTimeGrows,
     first_of<by_counters<step_time_grows>, live_hooks, by_looks<step_time_grows>>, kSlow,
     kOfGrowth},
    {Cause::kEpochNeverEnds, first_of<by_counters<epoch_never_ends>, by_looks<epoch_never_ends>>},
    {Cause::kWrongStepsPerEpoch, by_looks<wrong_steps_per_epoch>, kWrong},
    {Cause::kHiddenValidation, hidden_validation},
    // What is learnt.
    {Cause::kGradientNotConnected,
     first_of<by_counters<not_connected>, by_looks<gradient_not_connected>,
              explained<Cause::kGradientNotConnected>, only<Cause::kGradientNotConnected, kStill>>,
     kWrong, kOfNoPath},
    {Cause::kWeightsNotUpdated,
     first_of<by_counters<not_updated, rate_is_zero>, explained<Cause::kWeightsNotUpdated>,
              only<Cause::kWeightsNotUpdated, kStill>, weights_left_out>,
     kWrong, kOfNoUpdate},
    {Cause::kBadInitialWeights,
     first_of<by_counters<bad_start>, live_bad_start, explained<Cause::kBadInitialWeights>>, kWrong,
     kOfWeights},
    {Cause::kInputNotScaled,
     first_of<by_counters<input_not_scaled>, live_input, explained<Cause::kInputNotScaled>>, kWrong,
     kOfInput},
    {Cause::kExplodingGradients, by_counters<exploding>, kWrong, kOfExploding},
    {Cause::kVanishingGradients,
     first_of<by_counters<vanishing>, live_vanishing, explained<Cause::kVanishingGradients>>,
     kWrong, kOfVanishing},
    {Cause::kDeadRelu, first_of<by_counters<dead_relu>, live_dead>, kWrong, kOfVanishing},
    {Cause::kLearningRate,
     first_of<by_counters<rate_too_high, rate_too_low>, told_growing, told_thrown, told_too_low,
              told_vanished_rate, explained<Cause::kLearningRate>,
              only<Cause::kLearningRate, kStill>, live_rate>,
     kWrong, kOfRate},
    {Cause::kNanLoss, first_of<by_counters<not_a_number>, told_nan>, kWrong},
    {Cause::kLossOscillates, told_oscillating, kWrong},
    {Cause::kLossFrozen, first_of<by_counters<loss_frozen>, told_frozen>, kWrong},
    // Data arrive too slowly.
    {Cause::kWorkAfterPrefetch, work_after_prefetch, kSlow, kOfLatePrefetch},
    {Cause::kPerPixelPython, by_looks<per_pixel_python>},
    {Cause::kSequenceOnMainThread, by_looks<sequence_on_main_thread>},
    {Cause::kNetworkStorage, only<Cause::kNetworkStorage, kStorage>},
    {Cause::kManySmallFiles,
     first_of<only<Cause::kManySmallFiles, kFiles>, only<Cause::kManySmallFiles, kStorage>,
              by_looks<many_small_reads>>},
    {Cause::kPythonGenerator, python_generator},
    {Cause::kSerialMap, first_of<by_counters<serial_map>, serial_mapped_python, native_serial_map>},
    {Cause::kDataloaderWorkers, first_of<by_counters<few_workers>, by_looks<dataloader_workers>>},
    {Cause::kSlowStorage,
     first_of<only<Cause::kSlowStorage, kFiles>, only<Cause::kSlowStorage, kStorage>>},
    {Cause::kDecodeSaturated,
     first_of<by_counters<decode_saturated>, native_decode_saturated, by_looks<decode_saturated>>},
    {Cause::kArrayAsGraphConstant, by_looks<pipeline_is_heavy>, kSlow, kOfHeavyPipeline},
    {Cause::kPreprocessingBeforeFit, by_looks<preprocessing_before_fit>},
    {Cause::kNoPrefetch, own_code_feeds},
    {Cause::kUploadBound, first_of<by_counters<upload_bound>, gpu_waits_for_uploads>},
    // Other than data.
    {Cause::kSlowCallback,
     first_of<by_counters<stuck_callback, slow_callback>, by_looks<slow_callback>>},
    {Cause::kGarbageCollection, garbage_collection},
    {Cause::kBatchTooSmall, first_of<by_counters<measured_small_batch, batch_too_small>,
                                     by_looks<batch_too_small>, gpu_has_small_batches>},
    {Cause::kSyncEveryStep, gpu_waits_for_reads},
    {Cause::kLaunchBound, first_of<by_counters<launch_bound>, gpu_waits_for_orders>},
    {Cause::kReferenceBlas, reference_blas},
    {Cause::kNoMixedPrecision, first_of<by_counters<float32_on_a_gpu>, gpu_computes_in_float32>},
    {Cause::kOutputBuffered, by_looks<output_buffered>},
    // General causes, if nothing above knows more.
    {Cause::kInputBound, first_of<by_counters<slow_first_batch, input_bound>, by_looks<input_bound>,
                                  native_input_bound>},
    {Cause::kHotLine, hot_line},
};

// These only say where the time goes, not why.
constexpr Cause kGeneral[] = {Cause::kInputBound, Cause::kHotLine};

// These take time, but do not explain why data are late or a line takes long.
constexpr Cause kExplainsNothingElse[] = {Cause::kDecodeSaturated, Cause::kBatchTooSmall,
                                          Cause::kStepTimeGrows, Cause::kNeighboursTakeCores};

// These delay the host, but not a GPU that has work.
constexpr Cause kOfTheHost[] = {Cause::kInputBound,           Cause::kSerialMap,
                                Cause::kNoPrefetch,           Cause::kWorkAfterPrefetch,
                                Cause::kDecodeSaturated,      Cause::kSlowStorage,
                                Cause::kManySmallFiles,       Cause::kNetworkStorage,
                                Cause::kPythonGenerator,      Cause::kPerPixelPython,
                                Cause::kSequenceOnMainThread, Cause::kDataloaderWorkers,
                                Cause::kUploadBound,          Cause::kLaunchBound,
                                Cause::kSlowCallback,         Cause::kHotLine,
                                Cause::kGarbageCollection,    Cause::kThreadOversubscription,
                                Cause::kNeighboursTakeCores,  Cause::kSingleCoreAffinity,
                                Cause::kReferenceBlas,        Cause::kWaitsForServer};

bool is_one_of(Cause cause, std::span<const Cause> causes) {
  return std::find(causes.begin(), causes.end(), cause) != causes.end();
}

}  // namespace

bool is_general(Cause cause) { return is_one_of(cause, kGeneral); }

bool explains_where_time_goes(Cause cause) {
  const CauseRule* rule = rule_of(cause);
  return rule && rule->effect == Effect::kSlow && !is_general(cause) &&
         !is_one_of(cause, kExplainsNothingElse);
}

bool is_of_the_host(Cause cause) { return is_one_of(cause, kOfTheHost); }

bool works_without_result(Cause cause, bool stepped) {
  return cause == Cause::kLoopNeverEnds || (cause == Cause::kSourceNeverYields && !stepped);
}

std::span<const CauseRule> all_rules() { return kRules; }

const CauseRule* rule_of(Cause cause) {
  const auto* found = std::find_if(std::begin(kRules), std::end(kRules),
                                   [&](const CauseRule& rule) { return rule.cause == cause; });
  return found == std::end(kRules) ? nullptr : found;
}

}  // namespace headway
