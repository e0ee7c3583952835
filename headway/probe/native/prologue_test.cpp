#include "headway/probe/native/prologue.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

std::string_view bytes(const char* text, size_t size) { return {text, size}; }

TEST(Prologue, PushesAndRoomAreCounted) {
  // push rbp; mov rbp,rsp; push r15; push rbx; sub rsp,0x28; nop
  const auto code = bytes("\x55\x48\x89\xe5\x41\x57\x53\x48\x83\xec\x28\x90", 12);
  EXPECT_EQ(below_frame_pointer(code, 11), 16u + 0x28u);
  EXPECT_EQ(below_frame_pointer(code, 200), 16u + 0x28u);
  EXPECT_FALSE(below_frame_pointer(code, 6)) << "it is still being built";
  EXPECT_TRUE(below_frame_pointer(code, 11, 2));
  EXPECT_FALSE(below_frame_pointer(code, 11, 3)) << "one is kept in a way that is not understood";
}

TEST(Prologue, MuchRoomAndBranchTargets) {
  // endbr64; push rbp; mov rbp,rsp; sub rsp,0x1000
  const auto code = bytes("\xf3\x0f\x1e\xfa\x55\x48\x89\xe5\x48\x81\xec\x00\x10\x00\x00\x90", 16);
  EXPECT_EQ(below_frame_pointer(code, 15), 0x1000u);
}

TEST(Prologue, WhatDependsOnTheStackItselfIsNotKnown) {
  // push rbp; mov rbp,rsp; and rsp,-32
  EXPECT_FALSE(below_frame_pointer(bytes("\x55\x48\x89\xe5\x48\x83\xe4\xe0", 8), 100));
  // sub rsp,0x18: no frame pointer
  EXPECT_FALSE(below_frame_pointer(bytes("\x48\x83\xec\x18", 4), 100));
  EXPECT_FALSE(below_frame_pointer("", 100));
}

TEST(Prologue, CallsAreToldFromOtherCode) {
  EXPECT_TRUE(ends_in_call(bytes("\xe8\x01\x02\x03\x04", 5)));  // call place
  EXPECT_EQ(called_place(bytes("\xe8\xfb\xff\xff\xff", 5), 0x1000), 0x1000u - 5);
  EXPECT_TRUE(ends_in_call(bytes("\x90\xff\xd0", 3)));                      // call rax
  EXPECT_TRUE(ends_in_call(bytes("\xff\x50\x18", 3)));                      // call [rax+0x18]
  EXPECT_TRUE(ends_in_call(bytes("\xff\x15\x00\x00\x10\x00", 6)));          // call [rip+...]
  EXPECT_TRUE(ends_in_call(bytes("\x41\xff\x94\x24\xb0\x00\x00\x00", 8)));  // call [r12+0xb0]
  EXPECT_FALSE(ends_in_call(bytes("\x90\x90\x90\x90\x90\x90\x90\x90", 8)));
  EXPECT_FALSE(ends_in_call(bytes("\xff\xe0", 2)));  // jmp rax
  EXPECT_FALSE(ends_in_call(""));
}

}  // namespace
}  // namespace headway
