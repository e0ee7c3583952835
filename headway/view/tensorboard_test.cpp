#include "headway/view/tensorboard.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <protozero/pbf_reader.hpp>

#include "headway/core/error.h"
#include "headway/doctor/simulate.h"
#include "headway/io/bytes/temp_folder.h"
#include "headway/io/records/tfrecord.h"

namespace headway {
namespace {

struct Scalar {
  std::string tag{};
  int64_t step = 0;
  float value = 0;
  double wall_time_s = 0;

  bool operator==(const Scalar&) const = default;
};

Scalar scalar_in(std::string_view bytes) {
  Scalar out;
  protozero::pbf_reader event(bytes.data(), bytes.size());
  while (event.next()) {
    if (event.tag() == 1) {
      out.wall_time_s = event.get_double();
    } else if (event.tag() == 2) {
      out.step = event.get_int64();
    } else if (event.tag() == 5) {
      protozero::pbf_reader summary = event.get_message();
      summary.next(1);
      protozero::pbf_reader value = summary.get_message();
      while (value.next()) {
        if (value.tag() == 1) out.tag = value.get_string();
        if (value.tag() == 2) out.value = value.get_float();
      }
    } else {
      event.skip();
    }
  }
  return out;
}

std::vector<Scalar> scalars_in(const std::string& path) {
  TFRecordReader reader(path);
  Record record;
  std::vector<Scalar> out;
  EXPECT_TRUE(reader.next(record));  // the version
  EXPECT_NE(std::string_view(record.bytes).find("brain.Event:2"), std::string_view::npos);
  while (reader.next(record)) out.push_back(scalar_in(record.bytes));
  return out;
}

TEST(EventWriter, WhatWasFlushedCanBeRead) {
  const TempFolder folder;
  EventWriter events(folder.path("logs/run"));
  events.scalar("loss/training", 3, 0.25, 1e9 + 0.5);
  events.scalar("loss/training", -1, 1e300, 1e9);  // more than a float holds
  events.flush();
  const std::vector<Scalar> want{{"loss/training", 3, 0.25f, 1e9 + 0.5},
                                 {"loss/training", -1, INFINITY, 1e9}};
  EXPECT_EQ(scalars_in(events.path()), want);
}

TEST(EventWriter, TwoInOneFolderHaveTheirOwnFiles) {
  const TempFolder folder;
  EXPECT_NE(EventWriter(folder.path()).path(), EventWriter(folder.path()).path());
}

TEST(EventWriter, SaysWhichFolderCannotBeMade) {
  const TempFolder folder;
  const std::string file = folder.write("file", "x");
  EXPECT_THROW(EventWriter(file + "/logs"), Error);
}

TEST(Events, OfATraceHoldLossSpeedAndShares) {
  const TempFolder folder;
  EventWriter events(folder.path());
  write_events(events, testing::simulate({.own_ms = 20, .op_ms = 100}), 1000);
  events.close();
  std::map<std::string, Scalar> last;
  for (const Scalar& s : scalars_in(events.path())) last[s.tag] = s;
  ASSERT_TRUE(last.count("loss/training"));
  EXPECT_EQ(last["loss/training"].wall_time_s, 1030);
  EXPECT_EQ(last["loss/training"].step, 600);
  EXPECT_NEAR(last["share_of_step/waiting_for_data"].value, 0.6, 0.01);
  EXPECT_NEAR(last["step_time/step"].value, 0.05, 1e-4);
  EXPECT_TRUE(last.count("learning_rate/learning_rate"));
  EXPECT_TRUE(last.count("cores/used"));
}

}  // namespace
}  // namespace headway
