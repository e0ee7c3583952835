#include <fmt/format.h>

#include "headway/check/judge/judge.h"
#include "headway/check/judge/say.h"
#include "headway/core/text.h"

namespace headway {
namespace {

constexpr int64_t kMB = 1'000'000;
constexpr int64_t kFull = 100 * kMB;  // less than a checkpoint
constexpr int64_t kNearlyFull = 2000 * kMB;
constexpr int64_t kFewInodes = 10'000;
constexpr double kSlowLarge = 100e6;  // bytes per second: about 900 photographs of 110 KB
constexpr double kSlowSmall = 200;    // reads per second of one reader: 5 ms each

void judge_room(const DiskFacts& disk, Say& say) {
  const std::string found =
      fmt::format("{} on {}: {} of {} free", disk.path, disk.file_system,
                  size_text(double(disk.free_bytes)), size_text(double(disk.total_bytes)));
  const bool no_inodes = disk.free_inodes && *disk.free_inodes < kFewInodes;
  if (disk.free_bytes >= kNearlyFull && !no_inodes) return say.good("disk-space", found);
  const bool full = disk.free_bytes < kFull || (disk.free_inodes && *disk.free_inodes == 0);
  say.add(
      "disk-space", full ? Fit::kWrong : Fit::kDoubtful,
      no_inodes ? fmt::format("{}, {} more files", found, with_commas(*disk.free_inodes)) : found,
      {"checkpoints, caches and logs are written here or beside it; a full disk ends a run, or "
       "leaves a checkpoint of 0 bytes",
       fmt::format("see what fills it: du -xh {} | sort -h | tail; remove old checkpoints, or "
                   "use another disk",
                   disk.path),
       "limits-or-disk-full"});
}

void judge_network(const DiskFacts& disk, Say& say) {
  if (!disk.network) return;
  // FUSE serves local file systems, too.
  const char* kind = disk.file_system == "fuse"
                         ? "a file system in user space, often over a network"
                         : "a file system over a network";
  say.doubtful("network-disk", fmt::format("{} lies on {}, {}", disk.path, disk.file_system, kind),
               {"each read waits for an answer from far away: small files one by one are slow",
                "copy the data to a local disk first, as one archive or as shards (headway convert "
                "SRC DST), or read many files at once",
                "network-storage"});
}

std::string cache_remark(const DiskSpeed& speed) {
  return speed.past_cache ? ""
                          : " (through the page cache, which could not be avoided: the disk "
                            "itself may be slower)";
}

// Reads from the page cache are fast whatever the disk is.
void say_fast(const char* id, const std::string& found, const DiskSpeed& speed, Say& say) {
  if (speed.past_cache) return say.good(id, found);
  say.not_seen(id, found,
               {"how fast the disk is remains unknown",
                "measure a folder on the disk itself: headway check --data DIR"});
}

void judge_large(const DiskFacts& disk, const DiskSpeed& speed, Say& say) {
  if (speed.large_bytes_per_s <= 0) return;
  const std::string found = fmt::format("long reads: {} per second{}",
                                        size_text(speed.large_bytes_per_s), cache_remark(speed));
  if (speed.large_bytes_per_s >= kSlowLarge) return say_fast("disk-large-reads", found, speed, say);
  say.doubtful("disk-large-reads", found,
               {"about as many photographs per second as this is times 110 KB: less than a GPU "
                "takes, and less than a few cores decode",
                disk.network ? "copy the data to a local disk"
                             : "use a faster disk (local NVMe), "
                               "or smaller files: headway "
                               "convert SRC DST --resize",
                "slow-storage"});
}

void judge_small(const DiskFacts& disk, const DiskSpeed& speed, Say& say) {
  if (speed.small_reads_per_s <= 0) return;
  const std::string found = fmt::format("short reads of {} by one reader: {:.0f} per second{}",
                                        size_text(double(speed.small_bytes)),
                                        speed.small_reads_per_s, cache_remark(speed));
  if (speed.small_reads_per_s >= kSlowSmall) return say_fast("disk-small-reads", found, speed, say);
  say.doubtful("disk-small-reads", found,
               {"a folder of images is read in such pieces: one reader gets no more images than "
                "that",
                "pack the files into shards (headway convert SRC DST), or read with more workers "
                "than cores",
                disk.network ? "network-storage" : "many-small-files"});
}

}  // namespace

void judge_disk(const MachineFacts& facts, CheckLines& lines) {
  const DiskFacts& disk = facts.disk;
  Say say(CheckTopic::kDisk, lines);
  if (!disk.there)
    return say.wrong(
        "data", fmt::format("'{}' does not exist", disk.path),
        {"the training finds no data: it fails, or repeats the same error for ever",
         "name the folder of your data: headway check --data DIR; is the disk mounted?",
         "source-never-yields"});
  if (!disk.trouble.empty())
    return say.not_seen(
        "data", fmt::format("'{}': {}", disk.path, disk.trouble),
        {"nothing is known of its disk", fmt::format("see who may read it: ls -ld {}", disk.path)});
  judge_room(disk, say);
  judge_network(disk, say);
  if (!facts.speed) return;
  if (!facts.speed->trouble.empty()) {
    if (disk.in_memory) return say.good("disk-speed", facts.speed->trouble);
    return say.not_seen(
        "disk-speed", "the disk was not measured: " + facts.speed->trouble,
        {"how fast it is remains unknown",
         "measure a folder that can be read and written: headway check --data DIR"});
  }
  judge_large(disk, *facts.speed, say);
  judge_small(disk, *facts.speed, say);
}

}  // namespace headway
