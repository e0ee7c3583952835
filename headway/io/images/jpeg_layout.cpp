#include "headway/io/images/jpeg_layout.h"

#include <algorithm>
#include <csetjmp>
#include <span>
#include <utility>
#include <vector>

#include "headway/io/images/jpeg.h"

namespace headway {
namespace {

using Slot = void (*)();
constexpr size_t kSlots = sizeof(EntropyMethods) / sizeof(Slot);
constexpr size_t kDecodeMcu = 1;
constexpr int kBlocks = 5;
constexpr int kGray = 128, kDctScale = 8;

std::array<int, kSlots> calls{};  // of the one trial

// Stands in every slot but one. Whatever it is called for, it takes no arguments and says yes.
template <size_t kSlot>
boolean note_call() {
  ++calls[kSlot];
  return TRUE;
}

// The first block one level above gray, the next one two, and so on.
boolean decode_mcu(j_decompress_ptr, JBLOCKROW* mcu) {
  (*mcu[0])[0] = JCOEF(kDctScale * ++calls[kDecodeMcu]);
  return TRUE;
}

template <size_t... kSlot>
std::array<Slot, kSlots> all_slots(std::index_sequence<kSlot...>) {
  std::array<Slot, kSlots> slots = {reinterpret_cast<Slot>(note_call<kSlot>)...};
  slots[kDecodeMcu] = reinterpret_cast<Slot>(decode_mcu);
  return slots;
}

struct Trial {
  jpeg_error_mgr errors{};
  std::jmp_buf jump;
  EntropyMethods own;
  std::array<Slot, kSlots> slots = all_slots(std::make_index_sequence<kSlots>());
  std::array<uint8_t, kBlocks * DCTSIZE> row{};
};

// Reads the file's rows with our slots in the place of libjpeg's reader; `row` is the last one.
bool read_rows(Trial& trial, std::span<const uint8_t> file) {
  jpeg_decompress_struct info{};
  info.err = jpeg_std_error(&trial.errors);
  info.client_data = &trial;
  trial.errors.error_exit = [](j_common_ptr common) {
    std::longjmp(static_cast<Trial*>(common->client_data)->jump, 1);
  };
  if (setjmp(trial.jump)) {
    jpeg_destroy_decompress(&info);
    return false;
  }
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, file.data(), file.size());
  jpeg_read_header(&info, TRUE);
  jpeg_start_decompress(&info);
  const auto& reader = *reinterpret_cast<const EntropyMethods*>(info.entropy);
  trial.own = {.start_pass = reader.start_pass, .decode_mcu = reader.decode_mcu};
  info.entropy = reinterpret_cast<jpeg_entropy_decoder*>(&trial.slots);
  JSAMPROW row = trial.row.data();
  while (info.output_scanline < info.output_height) jpeg_read_scanlines(&info, &row, 1);
  jpeg_destroy_decompress(&info);
  return true;
}

std::optional<EntropyMethods> try_out() {
  const std::vector<uint8_t> gray(size_t{kBlocks} * DCTSIZE2, kGray);
  const auto file =
      encode_jpeg(gray.data(), DCTSIZE, kBlocks * DCTSIZE, 1, kBlocks * DCTSIZE, {.quality = 100});
  Trial trial;
  calls.fill(0);
  if (!read_rows(trial, file)) return std::nullopt;
  std::array<int, kSlots> expected_calls{};
  expected_calls[kDecodeMcu] = kBlocks;
  std::array<uint8_t, kBlocks * DCTSIZE> expected_row{};
  for (size_t x = 0; x < expected_row.size(); ++x)
    expected_row[x] = uint8_t(kGray + 1 + x / DCTSIZE);
  if (calls != expected_calls || trial.row != expected_row) return std::nullopt;
  return trial.own;
}

}  // namespace

const std::optional<EntropyMethods>& sequential_methods() {
  static const std::optional<EntropyMethods> methods = try_out();
  return methods;
}

}  // namespace headway
