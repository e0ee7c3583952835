#include "headway/probe/source/source_prefetch.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

int64_t line_in(const std::vector<std::string>& lines) {
  return map_behind_prefetch(PythonSource(lines));
}

TEST(SourcePrefetch, AMapBehindItInOneChainIsFound) {
  EXPECT_EQ(line_in({"ds = files.map(load).batch(8).prefetch(2).map(augment)"}), 1);
  EXPECT_EQ(line_in({"ds = (files.map(load)", "      .prefetch(2)", "      .map(augment))"}), 3);
  EXPECT_EQ(line_in({"ds = files.map(load).batch(8).prefetch(2)"}), 0);
}

TEST(SourcePrefetch, AMapOnTheVariableIsFound) {
  EXPECT_EQ(line_in({"ds = ds.prefetch(2)", "ds = ds.map(augment)", "model.fit(ds)"}), 2);
  EXPECT_EQ(line_in({"ds = ds.prefetch(2)", "ds = ds.map(augment)", "ds = ds.prefetch(2)"}), 0);
  EXPECT_EQ(line_in({"ds = ds.map(load)", "ds = ds.prefetch(2)", "other = raw.map(load)"}), 0);
}

TEST(SourcePrefetch, AMapOnWhatAFunctionGivesBackIsFound) {
  EXPECT_EQ(line_in({"def make(paths):", "    ds = read(paths).prefetch(2)", "    return ds",
                     "train = make(paths).map(augment)"}),
            4);
  EXPECT_EQ(line_in({"def make(paths):", "    return read(paths).map(f).prefetch(2)",
                     "train = make(paths)", "names = list(map(str, paths))"}),
            0);
}

int64_t serial_in(const std::vector<std::string>& lines) {
  return serial_map_in(PythonSource(lines));
}

TEST(SerialMap, OneElementAfterTheOtherIsFound) {
  const std::string made = "ds = tf.data.Dataset.from_tensor_slices(paths)";
  EXPECT_EQ(serial_in({made, "ds = ds.map(load).batch(8)"}), 2);
  EXPECT_EQ(serial_in({made, "ds = ds.map(load, num_parallel_calls=4).batch(8)"}), 0);
  EXPECT_EQ(serial_in({made, "ds = ds.map(load, tf.data.AUTOTUNE)"}), 0);
  EXPECT_EQ(serial_in({made, "ds = (ds.map(load, num_parallel_calls=2)", "   .map(augment))"}), 3);
}

TEST(SerialMap, OtherMapsAreNone) {
  EXPECT_EQ(serial_in({"names = frame.name.map(str)"}), 0);
  EXPECT_EQ(serial_in({"ds = tf.data.Dataset.range(9)", "x = list(map(str, y))"}), 0);
}

}  // namespace
}  // namespace headway
