#include "headway/io/records/example.h"

#include <gtest/gtest.h>

#include <limits>
#include <protozero/pbf_builder.hpp>
#include <protozero/pbf_writer.hpp>

namespace headway {
namespace {

using protozero::pbf_writer;

std::vector<Tensor> parse(std::vector<FeatureSpec> specs, std::string_view bytes) {
  std::vector<Tensor> out;
  ExampleParser(std::move(specs)).parse(bytes, nullptr, out);
  return out;
}

std::string reason_for(std::vector<FeatureSpec> specs, std::string_view bytes) {
  try {
    parse(std::move(specs), bytes);
  } catch (const SampleError& e) {
    return e.reason();
  }
  return "no error";
}

// An Example with one feature whose Feature message the caller writes.
template <typename WriteFeature>
std::string one_feature(std::string_view name, WriteFeature write_feature) {
  std::string bytes;
  pbf_writer example(bytes);
  pbf_writer features(example, 1);
  pbf_writer entry(features, 1);
  entry.add_bytes(1, name.data(), name.size());
  pbf_writer feature(entry, 2);
  write_feature(feature);
  feature.commit();
  entry.commit();
  features.commit();
  return bytes;
}

TEST(Example, ParsesWhatItWrote) {
  const std::vector<int64_t> ints = {0, -1, 1, std::numeric_limits<int64_t>::min(),
                                     std::numeric_limits<int64_t>::max()};
  const std::vector<float> floats = {0.5f, -3.25f};
  const std::vector<std::string_view> tags = {"red", "", std::string_view("\0\xff", 2)};
  ExampleWriter writer;
  writer.bytes("image", "jpeg bytes").int64("label", -7).float32("weight", 0.25f);
  const std::string bytes(
      writer.int64("ints", ints).float32("floats", floats).bytes("tags", tags).finish());
  const auto out =
      parse({fixed_len("label", DType::kInt64), fixed_len("image", DType::kString),
             fixed_len("weight", DType::kFloat32), fixed_len("ints", DType::kInt64, {5}),
             var_len("floats", DType::kFloat32), fixed_len("tags", DType::kString, {3, 1})},
            bytes);
  EXPECT_EQ(out[0].item<int64_t>(), -7);
  EXPECT_EQ(out[1].bytes(), "jpeg bytes");
  EXPECT_EQ(out[2].item<float>(), 0.25f);
  EXPECT_TRUE(out[3].same(Tensor::vector<int64_t>(ints)));
  EXPECT_TRUE(out[4].same(Tensor::vector<float>(floats)));
  EXPECT_EQ(out[5].shape(), Shape({3, 1}));
  EXPECT_EQ(out[5].values<std::string_view>()[2], tags[2]);
}

TEST(Example, AWriterStartsAnewAfterFinish) {
  ExampleWriter writer;
  const std::string first(writer.int64("a", 1).finish());
  const std::string second(writer.int64("b", 2).finish());
  EXPECT_EQ(parse_all(first, nullptr)[0].name, "a");
  ASSERT_EQ(parse_all(second, nullptr).size(), 1u);
  EXPECT_EQ(parse_all(second, nullptr)[0].name, "b");
  EXPECT_TRUE(parse_all(writer.finish(), nullptr).empty());
}

TEST(Example, StringsAreViewsKeptAliveByTheirOwner) {
  Storage* owner = Storage::allocate(64);
  ExampleWriter writer;
  const std::string_view bytes = writer.bytes("one", "abc").bytes("two", "def").finish();
  std::memcpy(owner->data(), bytes.data(), bytes.size());
  std::vector<Tensor> out;
  const ExampleParser parser({fixed_len("one", DType::kString), var_len("two", DType::kString)});
  parser.parse({static_cast<char*>(owner->data()), bytes.size()}, owner, out);
  owner->drop();
  EXPECT_EQ(out[0].bytes(), "abc");
  EXPECT_EQ(out[0].storage(), owner);
  EXPECT_EQ(out[1].values<std::string_view>()[0], "def");
}

TEST(Example, ReadsNumbersThatAreNotPacked) {
  const std::string ints = one_feature("n", [](pbf_writer& feature) {
    pbf_writer list(feature, 3);
    list.add_int64(1, 5);
    list.add_int64(1, -6);
  });
  EXPECT_TRUE(parse({var_len("n", DType::kInt64)}, ints)[0].same(Tensor::vector<int64_t>({5, -6})));
  const std::string floats = one_feature("x", [](pbf_writer& feature) {
    pbf_writer list(feature, 2);
    list.add_float(1, 1.5f);
    list.add_float(1, 2.5f);
  });
  EXPECT_TRUE(parse({fixed_len("x", DType::kFloat32, {2})}, floats)[0].same(
      Tensor::vector<float>({1.5f, 2.5f})));
}

TEST(Example, TheLastOfSeveralFeaturesOfOneNameCounts) {
  ExampleWriter writer;
  const std::string bytes(writer.int64("a", 1).bytes("b", "x").int64("a", 2).finish());
  EXPECT_EQ(parse({fixed_len("a", DType::kInt64)}, bytes)[0].item<int64_t>(), 2);
  EXPECT_EQ(parse_all(bytes, nullptr).size(), 2u);
}

TEST(Example, TheLastKindWinsAndListsOfItAreJoined) {
  const std::string bytes = one_feature("n", [](pbf_writer& feature) {
    {
      pbf_writer list(feature, 3);
      list.add_int64(1, 1);
    }
    {
      pbf_writer list(feature, 1);
      list.add_bytes(1, "x");
    }
    {
      pbf_writer list(feature, 3);
      list.add_int64(1, 2);
    }
    {
      pbf_writer list(feature, 3);
      list.add_int64(1, 3);
    }
  });
  EXPECT_TRUE(parse({var_len("n", DType::kInt64)}, bytes)[0].same(Tensor::vector<int64_t>({2, 3})));
}

TEST(Example, AMissingFeatureTakesItsDefault) {
  const auto out = parse({fixed_len("n", DType::kInt64, {2, 2}, Tensor::scalar<int64_t>(9)),
                          fixed_len("s", DType::kString, {}, Tensor::string("none")),
                          fixed_len("t", DType::kString, {2}, Tensor::string("z")),
                          fixed_len("x", DType::kFloat32, {2}, Tensor::vector<float>({1, 2})),
                          var_len("r", DType::kFloat32)},
                         "");
  EXPECT_EQ(out[0].shape(), Shape({2, 2}));
  EXPECT_EQ(out[0].values<int64_t>()[3], 9);
  EXPECT_EQ(out[1].bytes(), "none");
  EXPECT_EQ(out[2].values<std::string_view>()[1], "z");
  EXPECT_EQ(out[3].values<float>()[1], 2);
  EXPECT_EQ(out[4].shape(), Shape({0}));
}

TEST(Example, AMissingFeatureWithoutDefaultNamesThosePresent) {
  ExampleWriter writer;
  const std::string bytes(writer.int64("label", 1).bytes("image", "x").finish());
  EXPECT_EQ(reason_for({fixed_len("lable", DType::kInt64)}, bytes),
            "the tf.Example has no feature \"lable\"; it has image (string), label (int64)");
  EXPECT_EQ(reason_for({fixed_len("a", DType::kInt64)}, ""),
            "the tf.Example has no feature \"a\"; it has none");
}

TEST(Example, AnotherKindNamesBoth) {
  ExampleWriter writer;
  const std::string bytes(writer.int64("label", 1).finish());
  EXPECT_EQ(reason_for({fixed_len("label", DType::kString)}, bytes),
            "the tf.Example's feature \"label\" holds int64, but is to be read as string");
}

TEST(Example, AnotherNumberOfValuesNamesBoth) {
  ExampleWriter writer;
  const std::string bytes(writer.int64("n", std::vector<int64_t>{1, 2, 3}).finish());
  for (const Shape& shape : {Shape(), Shape({2}), Shape({2, 2}), Shape({0})}) {
    EXPECT_NE(reason_for({fixed_len("n", DType::kInt64, shape)}, bytes).find("has 3 values"),
              std::string::npos);
  }
}

TEST(Example, EmptyListsKeepTheirKind) {
  ExampleWriter writer;
  const std::string bytes(writer.int64("i", std::span<const int64_t>())
                              .float32("f", std::span<const float>())
                              .bytes("b", std::span<const std::string_view>())
                              .finish());
  const auto all = parse_all(bytes, nullptr);
  EXPECT_EQ(all[0].dtype, DType::kString);
  EXPECT_EQ(all[1].dtype, DType::kFloat32);
  EXPECT_EQ(all[2].dtype, DType::kInt64);
  EXPECT_EQ(all[2].values.shape(), Shape({0}));
}

TEST(Example, EveryCutAndEveryFlippedByteIsAnErrorOrAnExample) {
  ExampleWriter writer;
  const std::string good(writer.bytes("image", "abcdef")
                             .int64("label", -3)
                             .float32("x", std::vector<float>{1, 2})
                             .finish());
  const ExampleParser parser({fixed_len("image", DType::kString), fixed_len("label", DType::kInt64),
                              var_len("x", DType::kFloat32)});
  std::vector<Tensor> out;
  const auto survives = [&](const std::string& bytes) {
    try {
      parser.parse(bytes, nullptr, out);
      parse_all(bytes, nullptr);
    } catch (const SampleError&) {
    }
  };
  for (size_t size = 0; size < good.size(); ++size) survives(good.substr(0, size));
  for (size_t i = 0; i < good.size() * 256; ++i) {
    std::string bad = good;
    bad[i / 256] = static_cast<char>(i % 256);
    survives(bad);
  }
}

TEST(Example, FindsItsWayAmongManyFeatures) {
  ExampleWriter writer;
  std::vector<FeatureSpec> specs;
  for (int i = 0; i < 200; ++i) {
    writer.int64("feature_number_" + std::to_string(i), i);
    specs.push_back(fixed_len("feature_number_" + std::to_string(199 - i), DType::kInt64));
  }
  const auto out = parse(specs, writer.finish());
  for (int i = 0; i < 200; ++i) EXPECT_EQ(out[i].item<int64_t>(), 199 - i);
}

TEST(Example, ASpecThatCannotBeMetIsRefusedAtOnce) {
  EXPECT_THROW(ExampleParser({fixed_len("a", DType::kUInt8)}), Error);
  EXPECT_THROW(ExampleParser({fixed_len("a", DType::kInt64, {-1})}), Error);
  EXPECT_THROW(ExampleParser({var_len("a", DType::kInt64), var_len("a", DType::kInt64)}), Error);
  EXPECT_THROW(ExampleParser({fixed_len("a", DType::kInt64, {}, Tensor::scalar<float>(1))}), Error);
}

}  // namespace
}  // namespace headway
