// The rules by which an execution unit treats expired keys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/dataset/db_view.h"
#include "tests/support/test_client.h"
#include "tests/support/test_server.h"

namespace respite {
namespace {

using testing::Contains;
using testing::IsEmpty;

class ExpiryRuleTest : public testing::Test {
 protected:
  ExpiryRuleTest() {
    client_.Run("SET gone v PX 10");
    server_.clock().AdvanceMs(20);
    journaled_ = server_.journal().Records().size();
  }
  // Whether an execution unit reads an expired key under this rule.
  bool IsRead(ExpiryRule rule) {
    Unit unit(server_->services().data.dataset, server_.clock().WallMs(), rule);
    const bool found = DbView(unit, 0, true).LookUpNoTouch("gone") != nullptr;
    unit.Close();
    return found;
  }
  bool IsThere() { return server_->services().data.dataset.keyspace[0].Find("gone") != nullptr; }
  std::vector<std::string> Journaled() {
    const auto lines = server_.journal().Lines();
    return {lines.begin() + static_cast<std::ptrdiff_t>(journaled_), lines.end()};
  }

  TestServer server_;
  TestClient client_{server_};
  size_t journaled_;
};

TEST_F(ExpiryRuleTest, PurgeRemovesExpiredKeysAndRecordsIt) {
  EXPECT_FALSE(IsRead(ExpiryRule::kPurge));
  EXPECT_FALSE(IsThere());
  EXPECT_THAT(Journaled(), Contains("0: DEL gone"));
}

TEST_F(ExpiryRuleTest, HideKeepsExpiredKeys) {
  EXPECT_FALSE(IsRead(ExpiryRule::kHide));
  EXPECT_TRUE(IsThere());
  EXPECT_THAT(Journaled(), IsEmpty());
}

TEST_F(ExpiryRuleTest, BelieveReadsExpiredKeys) {
  EXPECT_TRUE(IsRead(ExpiryRule::kIgnoreDeadlines));
  EXPECT_TRUE(IsThere());
  EXPECT_THAT(Journaled(), IsEmpty());
}

TEST_F(ExpiryRuleTest, APauseHidesAndItsEndPurges) {
  client_.Run("CLIENT PAUSE 100 WRITE");
  EXPECT_EQ(client_.Run("EXISTS gone").Integer(), 0);
  server_.Cron();
  EXPECT_TRUE(IsThere());
  server_.RunCronFor(200);
  EXPECT_EQ(client_.Run("EXISTS gone").Integer(), 0);
  EXPECT_FALSE(IsThere());
}

}  // namespace
}  // namespace respite
