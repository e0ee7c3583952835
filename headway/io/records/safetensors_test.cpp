#include "headway/io/records/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "headway/io/bytes/temp_folder.h"

namespace headway {
namespace {

Safetensors every_kind() {
  Safetensors all;
  all.tensors = {
      {"conv/kernel", Tensor::vector<float>({1, 2, 3, 4, 5, 6}).reshaped({1, 2, 3})},
      {"nothing", Tensor::empty(DType::kFloat64, {3, 0})},
      {"also nothing", Tensor::empty(DType::kInt32, {0})},
      {"step", Tensor::scalar<int64_t>(-7)},
      {"mask", Tensor::vector<bool>({true, false, true})},
      {"größe", Tensor::vector<double>({0.5, -0.0})},
      {"pixels", Tensor::vector<uint8_t>({0, 255})},
      {"depth", Tensor::vector<uint16_t>({65535})},
      {"ids", Tensor::vector<int32_t>({-1, 1})},
  };
  all.metadata = {{"epoch", "3"}, {"said", "\"headway.xxh3\":\"0000\" \n ü"}};
  return all;
}

Safetensors small() {
  Safetensors all;
  all.tensors = {{"w", Tensor::vector<float>({1, 2})}, {"b", Tensor::vector<bool>({true})}};
  return all;
}

// A file made of a header as given and `data_bytes` zeros.
std::string file_of(std::string header, size_t data_bytes) {
  const uint64_t length = header.size();
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes + header + std::string(data_bytes, '\0');
}

class SafetensorsFile : public ::testing::Test {
 protected:
  std::string written(const Safetensors& content) {
    write_safetensors(path_, content);
    return folder_.read("a.safetensors");
  }
  Safetensors read(std::string_view bytes) {
    folder_.write("a.safetensors", bytes);
    return read_safetensors(path_);
  }
  SampleError refused(std::string_view bytes) {
    try {
      read(bytes);
    } catch (const SampleError& e) {
      EXPECT_EQ(e.origin().file, path_);
      EXPECT_GE(e.origin().offset, 0) << e.what();
      EXPECT_FALSE(e.hint().empty()) << e.what();
      return e;
    }
    ADD_FAILURE() << "accepted";
    return SampleError({}, "accepted");
  }
  std::string reason(const std::string& header, size_t data_bytes = 8) {
    return refused(file_of(header, data_bytes)).reason();
  }

  TempFolder folder_;
  std::string path_ = folder_.path("a.safetensors");
};

void expect_same(const Safetensors& a, const Safetensors& b) {
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  for (size_t i = 0; i < a.tensors.size(); ++i) {
    EXPECT_EQ(a.tensors[i].first, b.tensors[i].first);
    EXPECT_TRUE(a.tensors[i].second.same(b.tensors[i].second)) << a.tensors[i].first;
  }
}

TEST_F(SafetensorsFile, EveryKindComesBackInOrder) {
  const Safetensors all = every_kind();
  write_safetensors(path_, all);
  const Safetensors back = read_safetensors(path_);
  expect_same(all, back);
  for (const auto& [key, value] : all.metadata) EXPECT_EQ(back.metadata.at(key), value);
  EXPECT_EQ(back.metadata.at("headway.xxh3").size(), 32u);
  EXPECT_EQ(read_safetensors_metadata(path_), back.metadata);
}

TEST_F(SafetensorsFile, WhatWasReadIsWrittenAsTheSameBytes) {
  const std::string bytes = written(every_kind());
  EXPECT_EQ(written(read(bytes)), bytes);
}

TEST_F(SafetensorsFile, ValuesBeginAtAMultipleOf64) {
  const std::string bytes = written(small());
  EXPECT_EQ((bytes.size() - 9) % 64, 0u);
}

TEST_F(SafetensorsFile, NothingAtAllIsAFileToo) {
  EXPECT_TRUE(read(written({})).tensors.empty());
  EXPECT_TRUE(read(file_of("{}", 0)).tensors.empty());
}

TEST_F(SafetensorsFile, TensorsLargerThanAPieceComeBack) {
  Safetensors all;
  for (const int64_t count : {65'536, 65'537, 300'000}) {
    Tensor tensor = Tensor::empty(DType::kFloat32, {count});
    for (int64_t i = 0; i < count; ++i) tensor.values<float>()[i] = static_cast<float>(i);
    all.tensors.emplace_back(std::to_string(count), tensor);
  }
  expect_same(all, read(written(all)));
}

TEST_F(SafetensorsFile, EveryLengthButTheRightOneIsRefused) {
  const std::string bytes = written(small());
  for (size_t size = 0; size < bytes.size(); ++size) {
    SCOPED_TRACE(size);
    refused(bytes.substr(0, size));
  }
  refused(bytes + '\0');
}

TEST_F(SafetensorsFile, EveryFlippedBitIsFound) {
  std::string bytes = written(small());
  for (char& byte : bytes) {
    const char right = byte;
    for (int bit = 0; bit < 8; ++bit) {
      byte = static_cast<char>(right ^ (1 << bit));
      EXPECT_THROW(read(bytes), SampleError) << "bit " << bit << " of " << &byte - bytes.data();
    }
    byte = right;
  }
  EXPECT_NO_THROW(read(bytes));
}

TEST_F(SafetensorsFile, HeadersThatLieAreRefusedWithTheReason) {
  const auto entry = [](const std::string& dtype, const std::string& shape,
                        const std::string& offsets) {
    return R"("x":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets +
           "}";
  };
  const auto of = [&](auto... parts) { return reason("{" + entry(parts...) + "}"); };
  const auto has = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  EXPECT_NO_THROW(read(file_of("{" + entry("F32", "[2]", "[0,8]") + "}   ", 8)));
  has(of("BF16", "[4]", "[0,8]"), "tensor 'x' is of type BF16");
  has(of("F16", "[4]", "[0,8]"), "tensor 'x' is of type F16");
  has(of("F32", "[3]", "[0,8]"), "is 3 of float32 but has 8 bytes");
  has(of("F32", "[4611686018427387904,4611686018427387904]", "[0,8]"), "but has 8 bytes");
  has(of("F32", "[0,4611686018427387904,8]", "[0,0]"), "but has 0 bytes");
  has(of("F32", "[-2]", "[0,8]"), "no shape");
  has(of("F32", "[2.0]", "[0,8]"), "no shape");
  has(of("F32", "[1,1,1,1,1,1,2]", "[0,8]"), "7 dimensions");
  has(of("F32", "[2]", "[8,0]"), "no place");
  has(of("F32", "[2]", "[0,8,16]"), "no place");
  has(of("F32", "[4]", "[0,16]"), "ends at byte 16 of the values; the file has 8");
  has(of("F32", "[2]", "[9223372036854775800,9223372036854775808]"), "no place");
  has(of("F32", "[1]", "[4,8]"), "follow a gap");
  has(of("F32", "[1]", "[0,4]"), "belong to no tensor");
  has(reason("{" + entry("F32", "[2]", "[0,8]") + R"(,"y":{"dtype":"U8","shape":[8],)" +
             R"("data_offsets":[0,8]}})"),
      "overlap");
  has(reason("{" + entry("F32", "[2]", "[0,8]") + "," + entry("F32", "[2]", "[0,8]") + "}"),
      "twice");
  has(reason(R"({"x":3})"), "no dtype");
  has(reason("[]"), "not a JSON object");
  has(reason(R"({"x":1e999})"), "number that is too large for 64-bit floating point: '1e999'");
  has(reason(R"({"__metadata__":{"a":1}})"), "metadata 'a' is not a string");
  has(reason(R"({"__metadata__":[]})"), "not a JSON object");
}

TEST_F(SafetensorsFile, AHeaderLongerThanTheFileTakesNoMemory) {
  const std::string reason = refused("\xff\xff\xff\xff\xff\xff\xff\x7f{}").reason();
  EXPECT_NE(reason.find("the header claims 9223372036854775807 bytes, but at most 2 are possible"),
            std::string::npos)
      << reason;
}

TEST_F(SafetensorsFile, ABrokenHeaderIsNamedByItsByte) {
  EXPECT_EQ(refused(file_of(R"({"x":!})", 0)).origin().offset, 8 + 5);
}

TEST_F(SafetensorsFile, AHeaderNestedAMillionTimesIsRefusedWithItsPlace) {
  const size_t depth = 3'000'000;
  const std::string deep = std::string(depth, '[') + std::string(depth, ']');
  EXPECT_NE(refused(file_of(deep, 0)).reason().find("levels"), std::string::npos);
  const SampleError error =
      refused(file_of(R"({"w":{"dtype":"U8","shape":)" + deep + R"(,"data_offsets":[0,0]}})", 0));
  EXPECT_LT(error.origin().offset, 100);
}

TEST_F(SafetensorsFile, OfALaterFormatIsRefused) {
  Safetensors content = small();
  std::string bytes = written(content);
  const std::string format = R"("headway.format":"1")";
  bytes[bytes.find(format) + format.size() - 2] = '2';
  EXPECT_NE(refused(bytes).reason().find("format 2"), std::string::npos);
}

TEST_F(SafetensorsFile, ABoolThatIsNeitherIsRefused) {
  std::string bytes = file_of(R"({"x":{"dtype":"BOOL","shape":[8],"data_offsets":[0,8]}})", 8);
  EXPECT_FALSE(read(bytes)["x"].values<bool>()[7]);
  bytes.back() = 2;
  EXPECT_EQ(refused(bytes).origin().offset, static_cast<int64_t>(bytes.size()) - 1);
}

TEST_F(SafetensorsFile, AMissingNameIsAnsweredWithItsNeighbours) {
  const Safetensors all = every_kind();
  EXPECT_EQ(all.find("conv/kernal"), nullptr);
  try {
    all["conv/kernal"];
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(e.hint().find("nearest: 'conv/kernel'"), std::string::npos) << e.what();
  }
}

TEST_F(SafetensorsFile, WhatTheFormatCannotHoldIsAnErrorAndLeavesNoFile) {
  Safetensors content;
  content.tensors = {{"a", Tensor::string("text")}};
  EXPECT_THROW(write_safetensors(path_, content), Error);
  content.tensors = {{"a", Tensor::scalar(1.f)}, {"a", Tensor::scalar(1.f)}};
  EXPECT_THROW(write_safetensors(path_, content), Error);
  content.tensors = {{"__metadata__", Tensor::scalar(1.f)}};
  EXPECT_THROW(write_safetensors(path_, content), Error);
  content.tensors = {{"\xff", Tensor::scalar(1.f)}};
  EXPECT_THROW(write_safetensors(path_, content), Error);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

}  // namespace
}  // namespace headway
