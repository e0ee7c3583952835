#include "headway/probe/native/call_frames.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "headway/core/clock.h"
#include "headway/probe/native/code_map.h"
#include "headway/probe/native/function_names.h"

namespace headway {
namespace {

std::shared_ptr<const ElfImage> image_of(const std::string& path) {
  auto file = TargetFile::open(::getpid(), *file_user_of(::getpid()), path, TargetFile::Owner::kAny,
                               uint64_t{4} << 30);
  auto image = file ? ElfImage::open(std::move(*file)) : std::nullopt;
  return image ? std::make_shared<const ElfImage>(std::move(*image)) : nullptr;
}

// The address of a function of this program in its file.
uint64_t address_in_file(const ElfImage& image, const void* function) {
  const auto place = reinterpret_cast<uint64_t>(function);
  const CodeMap map = CodeMap::of(::getpid());
  const CodeMap::Piece* piece = map.at(place);
  return *image.address_of(place - piece->begin + piece->offset);
}

TEST(CallFrames, AFunctionBeginsWithItsReturnAddressOnTop) {
  const auto image = image_of(std::filesystem::read_symlink("/proc/self/exe"));
  const auto frames = image ? CallFrames::of(image) : nullptr;
  if (!frames) GTEST_SKIP() << "this program has no table of call frames";
  const uint64_t address = address_in_file(*image, reinterpret_cast<const void*>(&image_of));
  const FrameRule* rule = frames->at(address);
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule->function, address);
  EXPECT_EQ(rule->base, kStackPointer);
  EXPECT_EQ(rule->offset, 8);
  EXPECT_EQ(rule->registers[kReturnAddress].how, FrameRule::How::kInMemory);
  EXPECT_EQ(rule->registers[kReturnAddress].number, -8);
}

TEST(CallFrames, WhereNoFunctionIsNothingIsSaid) {
  const auto image = image_of(std::filesystem::read_symlink("/proc/self/exe"));
  const auto frames = image ? CallFrames::of(image) : nullptr;
  if (!frames) GTEST_SKIP() << "this program has no table of call frames";
  EXPECT_FALSE(frames->at(0));
  EXPECT_FALSE(frames->at(~uint64_t{0}));
}

TEST(FunctionNames, FindsTheFunctionAroundAnAddressAndNoOther) {
  const auto image = image_of(std::filesystem::read_symlink("/proc/self/exe"));
  ASSERT_TRUE(image);
  FunctionNames names(image);
  while (!names.prepare(now_ns() + 1'000'000'000)) continue;
  const uint64_t address = address_in_file(*image, reinterpret_cast<const void*>(&image_of));
  EXPECT_NE(names.at(address + 1).find("image_of"), std::string::npos);
  EXPECT_EQ(names.at(1), "");
}

TEST(ElfImage, ABuildHasANameOfItsOwn) {
  const auto image = image_of(std::filesystem::read_symlink("/proc/self/exe"));
  ASSERT_TRUE(image);
  const std::string id = image->build_id();
  if (id.empty()) GTEST_SKIP() << "the linker gives none here";
  EXPECT_EQ(id.size(), 40u);
  EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos);
}

TEST(FunctionNames, AreNotThereBeforeTheyAreRead) {
  const auto image = image_of(std::filesystem::read_symlink("/proc/self/exe"));
  ASSERT_TRUE(image);
  FunctionNames names(image);
  EXPECT_FALSE(names.prepare(0));
  EXPECT_EQ(names.at(address_in_file(*image, reinterpret_cast<const void*>(&image_of))), "");
}

TEST(FunctionNames, AreMadeReadable) {
  EXPECT_EQ(readable_name("_ZN4gloo9allreduceEi"), "gloo::allreduce");
  EXPECT_EQ(readable_name("_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE"),
            "std::condition_variable::wait");
  EXPECT_EQ(readable_name("_ZN3tsl12_GLOBAL__N_17PThread8ThreadFnEPv"), "tsl::PThread::ThreadFn");
  EXPECT_EQ(readable_name("_Z6Col2imIfEvPKT_"), "Col2im");
  EXPECT_EQ(readable_name("decode_mcu"), "decode_mcu");
  EXPECT_EQ(readable_name("_ZTV"), "_ZTV");
  EXPECT_EQ(readable_name("_ZN9999999xE"), "_ZN9999999xE");
}

// A small program with bytes changed at random, most of them in its call frames.
TEST(CallFrames, LiesAreSurvived) {
  std::ifstream in("/bin/true", std::ios::binary);
  const std::string honest{std::istreambuf_iterator<char>(in), {}};
  const auto image = image_of("/bin/true");
  ASSERT_TRUE(image) << "no 64-bit program there";
  ASSERT_TRUE(CallFrames::of(image)) << "there is nothing to lie about";
  uint64_t frames_at = 0, frames_bytes = honest.size() / 2;
  for (const Elf64_Phdr& segment : image->segments())
    if (segment.p_type == PT_GNU_EH_FRAME) frames_at = segment.p_offset, frames_bytes = 6000;
  const auto path =
      std::filesystem::temp_directory_path() / fmt::format("headway_lies_{}", ::getpid());
  std::mt19937_64 random(3);
  for (int i = 0; i < 300; ++i) {
    std::string bytes = honest;
    for (int n = 0; n < 40; ++n) {
      const uint64_t value = random() % 2 ? ~uint64_t{0} >> random() % 64 : random() % 256;
      const size_t at = n < 2 ? random() % 512 : frames_at + random() % frames_bytes;
      std::memcpy(bytes.data() + at % (bytes.size() - 8), &value, size_t{1} << random() % 4);
    }
    std::ofstream(path, std::ios::binary) << bytes;
    const auto lies = image_of(path);
    const auto frames = lies ? CallFrames::of(lies) : nullptr;
    if (lies) {
      FunctionNames names(lies);
      names.prepare(now_ns() + 10'000'000);
      names.at(random() % bytes.size());
    }
    for (uint64_t at = 0; frames && at < bytes.size(); at += 97) frames->at(at);
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace headway
