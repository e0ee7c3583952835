#include "headway/core/element.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

TEST(Element, KeepsItsFieldsInOrder) {
  Element e;
  e.set("b", Tensor::scalar<int64_t>(1));
  e.set("a", Tensor::scalar<int64_t>(2));
  e.set("b", Tensor::scalar<int64_t>(3));
  EXPECT_EQ(e.str(), "{b: 3, a: 2}");
  e.rename("b", "c");
  e.remove("a");
  EXPECT_EQ(e.str(), "{c: 3}");
}

TEST(Element, AMissingFieldIsNamedWithThoseThereAre) {
  Element e;
  e.set("image", Tensor::scalar<int64_t>(1));
  e.set("label", Tensor::scalar<int64_t>(1));
  try {
    e["lable"];
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.problem(), "the element has no field 'lable', only [image, label]");
  }
  EXPECT_THROW(e.only(), Error);
}

TEST(Error, TellsProblemAndRemedy) {
  const Error e("too big", "make it smaller");
  EXPECT_STREQ(e.what(), "too big\n  ---> make it smaller");
  EXPECT_STREQ(e.within("batch").what(), "batch: too big\n  ---> make it smaller");
}

TEST(Error, OfASampleNamesFileAndByte) {
  const SampleError e({"a.tfrecord", 12}, "wrong CRC");
  EXPECT_STREQ(e.what(), "a.tfrecord at byte 12: wrong CRC");
  const auto outer = with_context(std::make_exception_ptr(e), "parse");
  EXPECT_EQ(message_of(outer), "a.tfrecord at byte 12: parse: wrong CRC");
  EXPECT_EQ(message_of(with_context(std::make_exception_ptr(5), "map")),
            "map: an exception that is no std::exception");
}

}  // namespace
}  // namespace headway
