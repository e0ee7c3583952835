#include "headway/io/images/jpeg_entropy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "headway/io/images/jpeg_layout.h"

namespace headway {
namespace {

constexpr int kLookBits = 11;
constexpr int kLongestCode = 16;
constexpr int kLastCoefficient = 63;
// What one MCU may read at most: ten blocks of 64 codes of 16 bits with 15 behind them.
constexpr size_t kPadBytes = 4096;

// From the zigzag; a run beyond the end falls onto the last one, as in libjpeg.
constexpr std::array<uint8_t, 64 + 16> kNatural = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33,
    40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36,
    29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54,
    47, 55, 62, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63};

// The number that `size` bits stand for, the first of which are the highest of `bits`.
int extended(uint64_t bits, int size) {
  if (size == 0) return 0;
  const auto value = static_cast<int>(bits >> (64 - size));
  return bits >> 63 ? value : value - ((1 << size) - 1);
}

// One Huffman table. What the next kLookBits bits mean:
//   code and value lie within them:  length of both | run << 8 | value << 16
//   only the code does:              length         | symbol << 8
//   not even the code:               0
// The value of an AC coefficient is never 0, so that is how the first is told from the others.
struct HuffmanTable {
  std::array<uint32_t, 1 << kLookBits> look;
  std::array<int, kLongestCode + 1> last_code;    // of that length; -1: there is none
  std::array<int, kLongestCode + 1> value_start;  // symbol of code c: symbols[value_start + c]
  std::array<uint8_t, 17> counts{};
  std::array<uint8_t, 256> symbols{};
  bool built = false, with_runs = false;

  // Files of one camera share their tables: most often nothing is to be done.
  void build(const JHUFF_TBL& from, bool runs) {
    if (built && with_runs == runs && std::memcmp(counts.data(), from.bits, counts.size()) == 0 &&
        std::memcmp(symbols.data(), from.huffval, symbols.size()) == 0)
      return;
    std::memcpy(counts.data(), from.bits, counts.size());
    std::memcpy(symbols.data(), from.huffval, symbols.size());
    with_runs = runs;
    built = true;
    look.fill(0);
    int code = 0, symbol = 0;
    for (int length = 1; length <= kLongestCode; ++length, code <<= 1) {
      value_start[length] = symbol - code;
      for (int i = 0; i < counts[length]; ++i) add(code++, length, symbols[symbol++]);
      last_code[length] = counts[length] > 0 ? code - 1 : -1;
    }
  }

 private:
  void add(int code, int length, int symbol) {
    if (length > kLookBits) return;
    const int free = kLookBits - length, size = with_runs ? symbol & 15 : symbol;
    const int run = with_runs ? symbol >> 4 : 0;
    uint32_t* const entries = look.data() + (size_t(code) << free);
    for (uint32_t rest = 0; rest < 1u << free; ++rest) {
      if (size == 0 || size > free) {
        entries[rest] = uint32_t(length | symbol << 8);
        continue;
      }
      const int value = extended(uint64_t{rest} << (64 - free), size);
      entries[rest] = uint32_t(length + size) | uint32_t(run) << 8 | uint32_t(value) << 16;
    }
  }
};

// The bits of the scan, the next one on top of `bits`; at least 56 of them after refill().
struct BitWindow {
  uint64_t bits = 0;
  int count = 0;
  const uint8_t* next = nullptr;

  void refill() {
    uint64_t bytes;
    std::memcpy(&bytes, next, sizeof bytes);
    if constexpr (std::endian::native == std::endian::little) bytes = __builtin_bswap64(bytes);
    bits |= bytes >> count;
    next += (63 - count) >> 3;
    count |= 56;
  }
  void skip(int length) {
    bits <<= length;
    count -= length;
  }
  // The symbol of the code that comes next, where the table's entry for it has no value; -1: there
  // is no such code.
  int take_symbol(uint32_t entry, const HuffmanTable& table) {
    if ((entry & 255) != 0) {
      skip(int(entry & 255));
      return int(entry >> 8 & 255);
    }
    for (int length = kLookBits + 1; length <= kLongestCode; ++length) {
      const auto code = static_cast<int>(bits >> (64 - length));
      if (code > table.last_code[size_t(length)]) continue;
      skip(length);
      return table.symbols[size_t(table.value_start[size_t(length)] + code) & 255];
    }
    return -1;
  }
};

}  // namespace

// Stands where libjpeg's own reader would: what libjpeg calls comes first.
struct JpegEntropy::Reader {
  EntropyMethods methods;

  struct Block {
    const HuffmanTable* dc;
    const HuffmanTable* ac;
    int component;
    bool needed;
  };
  std::array<HuffmanTable, NUM_HUFF_TBLS> dc_tables, ac_tables;
  std::array<Block, D_MAX_BLOCKS_IN_MCU> blocks;
  int block_count = 0;
  std::array<unsigned, MAX_COMPS_IN_SCAN> last_dc{};  // wraps around in damaged files
  // Without stuffed bytes and restart markers, with zeros behind. The parts between restarts follow
  // one another; these are their ends.
  std::vector<uint8_t> scan;
  std::vector<size_t> part_ends;
  size_t part = 0;
  unsigned restart_interval = 0, mcus_to_restart = 0;
  bool ends_with_file = false, gave_up = false;
  BitWindow window;
  unsigned column = 0, columns = 0, first_column = 0, last_column = 0;

  void unstuff(const uint8_t* at, const uint8_t* end);
  bool restart();
  const uint8_t* part_end() const { return scan.data() + part_ends[part]; }
  bool decode(j_decompress_ptr info, JBLOCKROW* mcu);
  template <bool kStore>
  bool decode_block(const Block& block, JCOEF* out);
  void give_up(j_decompress_ptr info, int warning);
};

// Copies the scan up to the next marker. A byte 0xFF in it is followed by a 0.
void JpegEntropy::Reader::unstuff(const uint8_t* at, const uint8_t* end) {
  constexpr int kFirstRestart = 0xD0, kRestarts = 8;
  const size_t most = size_t(end - at) + kPadBytes;
  if (scan.size() < most) scan.resize(most + most / 4);
  part_ends.clear();
  ends_with_file = true;
  uint8_t* out = scan.data();
  while (at < end) {
    const auto* const mark = static_cast<const uint8_t*>(std::memchr(at, 0xFF, size_t(end - at)));
    const uint8_t* const stop = mark ? mark : end;
    std::memcpy(out, at, size_t(stop - at));
    out += stop - at;
    at = stop;
    while (at < end && *at == 0xFF) ++at;  // there may be more of them before a marker
    if (at == end) break;
    if (*at == 0) {
      *out++ = 0xFF;
    } else if (restart_interval != 0 && *at == kFirstRestart + part_ends.size() % kRestarts) {
      part_ends.push_back(size_t(out - scan.data()));
    } else {
      ends_with_file = false;
      break;
    }
    ++at;
  }
  part_ends.push_back(size_t(out - scan.data()));
  std::memset(out, 0, kPadBytes);
}

bool JpegEntropy::Reader::restart() {
  if (part + 1 >= part_ends.size()) return false;
  window = {.next = scan.data() + part_ends[part++]};
  last_dc.fill(0);
  mcus_to_restart = restart_interval;
  return true;
}

template <bool kStore>
bool JpegEntropy::Reader::decode_block(const Block& block, JCOEF* out) {
  BitWindow w = window;
  w.refill();
  const uint32_t first = block.dc->look[w.bits >> (64 - kLookBits)];
  int difference = static_cast<int>(first) >> 16;
  if (difference != 0) {
    w.skip(int(first & 63));
  } else {
    const int size = w.take_symbol(first, *block.dc);
    if (size < 0) return false;
    difference = extended(w.bits, size & 15);
    w.skip(size & 15);
  }
  unsigned& last = last_dc[size_t(block.component)];
  last += unsigned(difference);
  if (kStore) out[0] = static_cast<JCOEF>(last);

  const uint32_t* const look = block.ac->look.data();
  for (int k = 0; k < kLastCoefficient;) {
    w.refill();
    // Two short codes leave more than the 31 bits that the longest one may need.
    for (int i = 0; i < 3 && k < kLastCoefficient; ++i) {
      const uint32_t entry = look[w.bits >> (64 - kLookBits)];
      int value = static_cast<int>(entry) >> 16;
      int run = int(entry >> 8 & 255);
      if (value != 0) [[likely]] {
        w.skip(int(entry & 63));
      } else {
        const int symbol = w.take_symbol(entry, *block.ac);
        if (symbol < 0) return false;
        run = symbol >> 4;
        const int size = symbol & 15;
        value = extended(w.bits, size);
        w.skip(size);
        if (size == 0) {
          k = run == 15 ? k + 16 : kLastCoefficient;
          break;
        }
        i = 3;
      }
      k += run + 1;
      if (kStore) out[kNatural[size_t(k)]] = static_cast<JCOEF>(value);
    }
  }
  window = w;
  return true;
}

bool JpegEntropy::Reader::decode(j_decompress_ptr info, JBLOCKROW* mcu) {
  if (gave_up) return true;
  if (restart_interval != 0 && mcus_to_restart-- == 0) {
    if (!restart()) {
      give_up(info, ends_with_file ? JWRN_JPEG_EOF : JWRN_MUST_RESYNC);
      return true;
    }
    --mcus_to_restart;
  }
  const bool wanted = mcu && column >= first_column && column <= last_column;
  if (++column == columns) column = 0;
  for (int i = 0; i < block_count; ++i) {
    const Block& block = blocks[size_t(i)];
    const bool stored = wanted && block.needed;
    if (stored ? !decode_block<true>(block, *mcu[i]) : !decode_block<false>(block, nullptr)) {
      give_up(info, JWRN_HUFF_BAD_CODE);
      return true;
    }
  }
  if (window.next - window.count / 8 > part_end()) {
    const bool last = part + 1 == part_ends.size();
    give_up(info, last && ends_with_file ? JWRN_JPEG_EOF : JWRN_HIT_MARKER);
  }
  return true;
}

// Leaves libjpeg's source near the fault, for the message that follows.
void JpegEntropy::Reader::give_up(j_decompress_ptr info, int warning) {
  gave_up = true;
  int64_t left = std::min(window.next - window.count / 8, part_end()) - scan.data();
  jpeg_source_mgr& source = *info->src;
  const uint8_t* at = source.next_input_byte;
  const uint8_t* const end = at + source.bytes_in_buffer;
  while (left > 0 && at < end) {
    const bool pair = at[0] == 0xFF && at + 1 < end;
    if (!pair || at[1] == 0) --left;
    at += pair ? 2 : 1;
  }
  source.bytes_in_buffer = size_t(end - at);
  source.next_input_byte = at;
  info->err->msg_code = warning;
  info->err->emit_message(reinterpret_cast<j_common_ptr>(info), -1);
}

JpegEntropy::JpegEntropy() : reader_(std::make_unique<Reader>()) {}
JpegEntropy::~JpegEntropy() = default;

namespace {

// libjpeg has chosen the reader whose place we know how to take: not that for progressive,
// arithmetic or lossless files.
bool reads_sequentially(const jpeg_decompress_struct& info) {
  const auto& known = sequential_methods();
  const auto& own = *reinterpret_cast<const EntropyMethods*>(info.entropy);
  return known && own.start_pass == known->start_pass && own.decode_mcu == known->decode_mcu;
}

bool has_tables(const jpeg_decompress_struct& info) {
  for (int i = 0; i < info.comps_in_scan; ++i) {
    const int dc = info.cur_comp_info[i]->dc_tbl_no, ac = info.cur_comp_info[i]->ac_tbl_no;
    if (dc < 0 || dc >= NUM_HUFF_TBLS || !info.dc_huff_tbl_ptrs[dc]) return false;
    if (ac < 0 || ac >= NUM_HUFF_TBLS || !info.ac_huff_tbl_ptrs[ac]) return false;
  }
  return true;
}

}  // namespace

bool JpegEntropy::take_over(jpeg_decompress_struct& info) {
  if (info.data_precision != BITS_IN_JSAMPLE || jpeg_has_multiple_scans(&info) ||
      !reads_sequentially(info) || !has_tables(info))
    return false;
  Reader& me = *reader_;
  me.block_count = info.blocks_in_MCU;
  for (int i = 0; i < info.blocks_in_MCU; ++i) {
    const int component = info.MCU_membership[i];
    const jpeg_component_info& about = *info.cur_comp_info[component];
    HuffmanTable& dc = me.dc_tables[size_t(about.dc_tbl_no)];
    HuffmanTable& ac = me.ac_tables[size_t(about.ac_tbl_no)];
    dc.build(*info.dc_huff_tbl_ptrs[about.dc_tbl_no], false);
    ac.build(*info.ac_huff_tbl_ptrs[about.ac_tbl_no], true);
    me.blocks[size_t(i)] = {&dc, &ac, component, bool(about.component_needed)};
  }
  me.last_dc.fill(0);
  me.part = 0;
  me.restart_interval = me.mcus_to_restart = info.restart_interval;
  me.unstuff(info.src->next_input_byte, info.src->next_input_byte + info.src->bytes_in_buffer);
  me.window = {.next = me.scan.data()};
  me.gave_up = false;
  me.columns = info.MCUs_per_row;
  me.column = me.first_column = 0;
  me.last_column = me.columns;
  me.methods.decode_mcu = [](j_decompress_ptr self, JBLOCKROW* mcu) -> boolean {
    return reinterpret_cast<Reader*>(self->entropy)->decode(self, mcu);
  };
  info.entropy = reinterpret_cast<jpeg_entropy_decoder*>(&me);
  return true;
}

void JpegEntropy::narrow(const jpeg_decompress_struct& info, unsigned x, unsigned width) {
  const bool single = info.comps_in_scan == 1 && info.num_components == 1;
  const auto wide = unsigned(block_side(info) * (single ? 1 : info.max_h_samp_factor));
  reader_->first_column = x / wide;
  reader_->last_column = (x + width + wide - 1) / wide - 1;
}

}  // namespace headway
