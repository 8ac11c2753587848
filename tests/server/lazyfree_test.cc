// The lazyfree directives: large values leave through the background thread when they say so, and at once otherwise.

#include <string>
#include <thread>

#include "tests/support/command_test.h"

namespace respite {

namespace {

class LazyFree : public CommandTest {
 protected:
  // Objects that went through the background thread since the start.
  uint64_t HandedOver() { return server().server().reclaimer().Pending() + server().server().reclaimer().Freed(); }
  const std::string large_ = std::string(100'000, 'v');
};
INSTANTIATE_TEST_SUITE_P(Resp, LazyFree, BothVersions(), VersionName);

TEST_P(LazyFree, OverwrittenValues) {
  Run({"SET", "k", large_});
  Run("SET k small");
  EXPECT_EQ(HandedOver(), 0u);
  Run("CONFIG SET lazyfree-lazy-server-del yes");
  Run({"SET", "k", large_});
  Run("SET k small");
  EXPECT_EQ(HandedOver(), 1u);
  EXPECT_THAT(Run("GET k"), Bulk("small"));
}

TEST_P(LazyFree, ExpiredValues) {
  Run("CONFIG SET lazyfree-lazy-expire yes");
  Run({"SET", "k", large_, "PX", "10"});
  clock().AdvanceMs(20);
  EXPECT_THAT(Run("GET k"), Nil());
  EXPECT_EQ(HandedOver(), 1u);
  EXPECT_THAT(Run("DBSIZE"), Int(0));
}

TEST_P(LazyFree, SmallValuesAreNotWorthTheWay) {
  Run("CONFIG SET lazyfree-lazy-server-del yes lazyfree-lazy-expire yes");
  Run("SET k small");
  Run("SET k smaller");
  Run("UNLINK k");
  EXPECT_EQ(HandedOver(), 0u);
}

}  // namespace

}  // namespace respite
