#include "headway/probe/python/python_attributes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "headway/probe/python/started_python.h"

namespace headway {
namespace {

// A program that holds objects and waits; their names as its main function has them.
class Holding {
 public:
  explicit Holding(const std::string& made)
      : python_(
            "import time\n"
            "class Base:\n"
            "    pass\n"
            "class Thing(Base):\n"
            "    def __init__(self):\n"
            "        self.size = 12\n"
            "        self.rate = 0.25\n"
            "def main():\n" +
            made +
            "    print('ready', flush=True)\n"
            "    time.sleep(100)\n"
            "main()\n") {
    const auto runtime = python_.ready() ? find_python(python_.pid()) : std::nullopt;
    if (!runtime) return;
    stacks_ = std::make_unique<PythonStacks>(python_.pid(), *runtime);
    attributes_ = std::make_unique<PythonAttributes>(*stacks_);
    const PythonThreads threads = stacks_->read(0.1);
    for (const PythonThread& thread : threads.read)
      for (const PythonFrame& frame : thread.frames)
        if (frame.code->function == "main") variables_ = attributes_->variables_of(frame);
  }
  bool is_there() const { return attributes_ != nullptr; }
  PythonAttributes& attributes() { return *attributes_; }
  uint64_t operator[](const std::string& name) const {
    for (const auto& [known, object] : variables_)
      if (known == name) return object;
    return 0;
  }

 private:
  StartedPython python_;
  std::unique_ptr<PythonStacks> stacks_;
  std::unique_ptr<PythonAttributes> attributes_;
  PythonAttributes::Named variables_;
};

double number_of(Holding& held, const std::string& object, const std::string& attribute) {
  const auto value = held.attributes().get(held[object], attribute);
  return value ? held.attributes().number(*value).value_or(-1) : -2;
}

TEST(PythonAttributes, AListInAWrapperIsReadOnceAndNotInCircles) {
  Holding held(
      "    class ListWrapper: pass\n"
      "    wrapped, circle = ListWrapper(), ListWrapper()\n"
      "    wrapped._storage = [True, False]\n"
      "    circle._storage = circle\n");
  if (!held.is_there()) GTEST_SKIP() << "no Python here, or not to be read";
  const auto items = held.attributes().items_of(held["wrapped"], 10);
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(held.attributes().number(items[0]), 1);
  EXPECT_EQ(held.attributes().number(items[1]), 0);
  EXPECT_TRUE(held.attributes().items_of(held["circle"], 10).empty());
}

TEST(PythonAttributes, AreReadWithoutADictionary) {
  Holding held("    thing = Thing()\n");
  if (!held.is_there()) GTEST_SKIP() << "no Python here, or not to be read";
  EXPECT_EQ(number_of(held, "thing", "size"), 12);
  EXPECT_EQ(number_of(held, "thing", "rate"), 0.25);
  EXPECT_FALSE(held.attributes().get(held["thing"], "colour"));
}

TEST(PythonAttributes, AreReadFromADictionaryThatWasMade) {
  Holding held(
      "    thing = Thing()\n"
      "    thing.__dict__['late'] = 7\n"
      "    for i in range(60): setattr(thing, f'more_{i}', i)\n");
  if (!held.is_there()) GTEST_SKIP() << "no Python here, or not to be read";
  EXPECT_EQ(number_of(held, "thing", "size"), 12);
  EXPECT_EQ(number_of(held, "thing", "late"), 7);
  EXPECT_EQ(number_of(held, "thing", "more_59"), 59);
}

TEST(PythonAttributes, AClassIsKnownByThoseItIsDerivedFrom) {
  Holding held("    thing = Thing()\n    count = 5\n");
  if (!held.is_there()) GTEST_SKIP() << "no Python here, or not to be read";
  const uint64_t type = held.attributes().type_of(held["thing"]);
  EXPECT_TRUE(held.attributes().is_a(type, "Thing"));
  EXPECT_TRUE(held.attributes().is_a(type, "Base"));
  EXPECT_FALSE(held.attributes().is_a(type, "Other"));
  EXPECT_FALSE(held.attributes().is_a(held.attributes().type_of(held["count"]), "Base"));
}

TEST(PythonAttributes, ListsTuplesAndDictsShowWhatIsInThem) {
  Holding held("    items = [1, 2, 3]\n    pair = (4, 5)\n    named = {'a': 6, 'b': 7}\n");
  if (!held.is_there()) GTEST_SKIP() << "no Python here, or not to be read";
  EXPECT_EQ(held.attributes().items_of(held["items"], 10).size(), 3u);
  EXPECT_TRUE(held.attributes().items_of(held["items"], 2).empty()) << "more than was asked for";
  const auto pair = held.attributes().items_of(held["pair"], 10);
  ASSERT_EQ(pair.size(), 2u);
  EXPECT_EQ(held.attributes().number(pair[1]), 5);
  EXPECT_EQ(held.attributes().number(held.attributes().entry(held["named"], "b").value_or(0)), 7);
}

TEST(PythonAttributes, WhatIsNoObjectShowsNothing) {
  Holding held("    thing = Thing()\n");
  if (!held.is_there()) GTEST_SKIP() << "no Python here, or not to be read";
  for (const uint64_t address : {uint64_t{0}, uint64_t{1}, uint64_t{0x7fffffffffff}}) {
    EXPECT_TRUE(held.attributes().all_of(address).empty());
    EXPECT_TRUE(held.attributes().items_of(address, 10).empty());
    EXPECT_FALSE(held.attributes().number(address));
  }
}

}  // namespace
}  // namespace headway
