#include "server/dataset/history.h"

#include <gtest/gtest.h>

namespace respite {
namespace {

std::string Id(char c) { return std::string(History::kIdLength, c); }

TEST(HistoryTest, ANewOneCoversItselfOnly) {
  History history;
  EXPECT_EQ(history.id.size(), History::kIdLength);
  EXPECT_EQ(history.former_id, Id('0'));
  EXPECT_TRUE(history.SharesHistoryBefore(history.id, 1));
  EXPECT_FALSE(history.SharesHistoryBefore(Id('0'), 1)) << "the id that means none";
  EXPECT_FALSE(history.SharesHistoryBefore(Id('0'), -1));
  EXPECT_FALSE(history.SharesHistoryBefore("", 0));
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
  EXPECT_TRUE(history.SharesHistoryBefore(Id('a'), 1));
  EXPECT_TRUE(history.SharesHistoryBefore(Id('a'), 101)) << "who has all 100 bytes asks for the 101st";
  EXPECT_FALSE(history.SharesHistoryBefore(Id('a'), 102));
  EXPECT_TRUE(history.SharesHistoryBefore(Id('b'), 5000));
}

TEST(HistoryTest, ASecondForkForgetsTheFirst) {
  History history;
  history.id = Id('a');
  history.ShiftReplicationId(Id('b'));
  history.offset = 7;
  history.ShiftReplicationId(Id('c'));
  EXPECT_FALSE(history.SharesHistoryBefore(Id('a'), 1));
  EXPECT_TRUE(history.SharesHistoryBefore(Id('b'), 8));
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
  EXPECT_FALSE(history.SharesHistoryBefore(Id('a'), 1));
}

}  // namespace
}  // namespace respite
