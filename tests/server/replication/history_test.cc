#include "server/dataset/history.h"

#include <gtest/gtest.h>

namespace respite {
namespace {

std::string Id(char c) { return std::string(History::kIdLength, c); }

TEST(HistoryTest, ANewOneCoversItselfOnly) {
  History history;
  EXPECT_EQ(history.id.size(), History::kIdLength);
  EXPECT_EQ(history.former_id, Id('0'));
  EXPECT_EQ(history.FindContinuation(history.id, 1), 0);
  EXPECT_EQ(history.FindContinuation(Id('0'), 1), std::nullopt) << "the id that means none";
  EXPECT_EQ(history.FindContinuation(Id('0'), -1), std::nullopt);
  EXPECT_EQ(history.FindContinuation("", 0), std::nullopt);
}

TEST(HistoryTest, AForkCoversTheFormerOneUpToItsEnd) {
  History history;
  history.id = Id('a');
  history.offset = 100;
  history.ShiftReplicationId(Id('b'));
  EXPECT_EQ(history.id, Id('b'));
  EXPECT_EQ(history.former_id, Id('a'));
  EXPECT_EQ(history.former_end, 101);
  EXPECT_EQ(history.offset, 100);
  EXPECT_EQ(history.FindContinuation(Id('a'), 1), 0);
  EXPECT_EQ(history.FindContinuation(Id('a'), 101), 100) << "who has all 100 bytes asks for the 101st";
  EXPECT_EQ(history.FindContinuation(Id('a'), 102), std::nullopt);
  EXPECT_EQ(history.FindContinuation(Id('b'), 5000), 4999);
}

TEST(HistoryTest, ASecondForkForgetsTheFirst) {
  History history;
  history.id = Id('a');
  history.ShiftReplicationId(Id('b'));
  history.offset = 7;
  history.ShiftReplicationId(Id('c'));
  EXPECT_EQ(history.FindContinuation(Id('a'), 1), std::nullopt);
  EXPECT_EQ(history.FindContinuation(Id('b'), 8), 7);
}

TEST(HistoryTest, ForksHaveNewNames) {
  History history;
  const std::string first = history.id;
  history.ShiftReplicationId();
  EXPECT_NE(history.id, first);
  EXPECT_EQ(history.id.size(), History::kIdLength);
}

TEST(HistoryTest, AdoptTakesEverythingOver) {
  History history;
  history.id = Id('a');
  history.offset = 10;
  history.ShiftReplicationId();
  history.ReplaceWith(Id('z'), 5);
  EXPECT_EQ(history.id, Id('z'));
  EXPECT_EQ(history.offset, 5);
  EXPECT_EQ(history.former_id, Id('0'));
  EXPECT_EQ(history.former_end, -1);
  EXPECT_EQ(history.FindContinuation(Id('a'), 1), std::nullopt);
}

// A primary that has crashed does not know how long the former history was.
TEST(HistoryTest, OnlyAReplicaAtTheEndOfTheFormerOneContinuesAfterLeftOutOffsets) {
  History history;
  history.id = Id('a');
  history.offset = 100;
  history.ShiftReplicationId(Id('b'));
  history.LeaveOutOffsetsBefore(5000);
  EXPECT_EQ(history.offset, 5000);
  EXPECT_EQ(history.former_end, 101);
  EXPECT_EQ(history.FindContinuation(Id('a'), 100), std::nullopt);
  EXPECT_EQ(history.FindContinuation(Id('a'), 101), 5000);
  EXPECT_EQ(history.FindContinuation(Id('a'), 102), std::nullopt);
  EXPECT_EQ(history.FindContinuation(Id('b'), 5001), 5000);
  history.LeaveOutOffsetsBefore(100);
  EXPECT_EQ(history.FindContinuation(Id('a'), 100), 99) << "they were taken back";
  history.LeaveOutOffsetsBefore(5000);
  history.ShiftReplicationId(Id('c'));
  EXPECT_EQ(history.FindContinuation(Id('b'), 50), 49) << "the next history follows immediately";
}

}  // namespace
}  // namespace respite
