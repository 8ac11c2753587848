// CLIENT MAINT_NOTIFICATIONS with the directive test-maint-notifications, and TEST PUSH to the clients that sent it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/reply_matchers.h"
#include "tests/support/test_client.h"
#include "tests/support/test_server.h"

namespace respite {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kUnknown[] = "ERR unknown subcommand 'MAINT_NOTIFICATIONS'. Try CLIENT HELP.";
constexpr char kOn[] = "CLIENT MAINT_NOTIFICATIONS ON moving-endpoint-type internal-ip";

class MaintNotifications : public testing::Test {
 protected:
  void Enable() { EXPECT_THAT(admin_.Run("CONFIG SET test-maint-notifications yes"), Ok()); }
  int64_t PushToSubscribed() { return admin_.Run("TEST PUSH * SUBSCRIBED MIGRATED 1 1").Integer(); }

  TestServer server_{{.directives = {"test-commands yes"}}};
  TestClient admin_{server_};
  TestClient client_{server_, RespVersion::kResp3};
};

TEST_F(MaintNotifications, AreUnknownByDefaultAlsoToATestServer) {
  for (const char* request : {kOn, "CLIENT MAINT_NOTIFICATIONS", "CLIENT MAINT_NOTIFICATIONS OFF 1 2 3 4"})
    EXPECT_THAT(client_.Run(request), Error(kUnknown)) << request;
  EXPECT_THAT(admin_.Run("TEST MISSING").Size(), 1u);
}

TEST_F(MaintNotifications, AreNotListedAndNotCountedInEitherCase) {
  const int64_t count = client_.Run("COMMAND COUNT").Integer();
  const std::string unlisted = client_.Raw(EncodeRequest({"COMMAND", "LIST"}));
  Enable();
  EXPECT_THAT(client_.Run(kOn), Ok());
  EXPECT_EQ(client_.Run("COMMAND COUNT").Integer(), count);
  EXPECT_EQ(client_.Raw(EncodeRequest({"COMMAND", "LIST"})), unlisted);
  EXPECT_THAT(client_.Run("CONFIG GET test-*").Size(), 0u);
  EXPECT_THAT(client_.Run("INFO commandstats").Text(), Not(HasSubstr("maint")));
}

TEST_F(MaintNotifications, TakeTheEndpointTypesOfTheClients) {
  Enable();
  for (const std::string type : {"internal-ip", "internal-fqdn", "external-ip", "external-fqdn", "none", "NONE"})
    EXPECT_THAT(client_.Run("CLIENT MAINT_NOTIFICATIONS ON moving-endpoint-type " + type), Ok()) << type;
  EXPECT_THAT(client_.Run("client maint_notifications on"), Ok());
  EXPECT_THAT(client_.Run("CLIENT MAINT_NOTIFICATIONS OFF"), Ok());
  EXPECT_THAT(client_.Run("CLIENT MAINT_NOTIFICATIONS"),
              Error("ERR wrong number of arguments for 'client|maint_notifications' command"));
  EXPECT_THAT(client_.Run("CLIENT MAINT_NOTIFICATIONS maybe"), Error("ERR syntax error"));
  EXPECT_THAT(client_.Run("CLIENT MAINT_NOTIFICATIONS ON moving-endpoint-type"), Error("ERR syntax error"));
  EXPECT_THAT(client_.Run(std::string(kOn) + " x"), Error("ERR syntax error"));
  EXPECT_THAT(client_.Run("CLIENT MAINT_NOTIFICATIONS OFF moving-endpoint-type none"), Error("ERR syntax error"));
  EXPECT_THAT(client_.Run("CLIENT MAINT_NOTIFICATIONS ON moving-endpoint-type ip"),
              Error("ERR moving-endpoint-type must be internal-ip, internal-fqdn, external-ip, external-fqdn or none"));
}

TEST_F(MaintNotifications, NeedResp3BecauseTheyArePushes) {
  Enable();
  EXPECT_THAT(admin_.Run(kOn), Error("ERR CLIENT MAINT_NOTIFICATIONS ON requires RESP3"));
  EXPECT_THAT(admin_.Run("CLIENT MAINT_NOTIFICATIONS OFF"), Ok());
  EXPECT_EQ(PushToSubscribed(), 0);
}

TEST_F(MaintNotifications, LastUntilOffResetOrTheEndOfTheConnection) {
  Enable();
  EXPECT_EQ(PushToSubscribed(), 0);
  EXPECT_THAT(client_.Run(kOn), Ok());
  EXPECT_EQ(PushToSubscribed(), 1);
  EXPECT_THAT(client_.Read(), PushOf({Bulk("MIGRATED"), Int(1), Bulk("1")}));
  EXPECT_THAT(client_.Run("CLIENT MAINT_NOTIFICATIONS OFF"), Ok());
  EXPECT_EQ(PushToSubscribed(), 0);
  EXPECT_THAT(client_.Run(kOn), Ok());
  EXPECT_THAT(client_.Run("RESET"), Simple("RESET"));
  client_.Run("HELLO 3");
  EXPECT_EQ(PushToSubscribed(), 0);
  {
    TestClient other(server_, RespVersion::kResp3);
    EXPECT_THAT(other.Run(kOn), Ok());
    EXPECT_EQ(PushToSubscribed(), 1);
  }
  EXPECT_EQ(PushToSubscribed(), 0);
  EXPECT_THAT(admin_.Run("TEST PUSH * MIGRATED 1 1"), Int(1));  // without SUBSCRIBED, each client with RESP3
}

TEST_F(MaintNotifications, TestResetTurnsTheDirectiveOff) {
  Enable();
  EXPECT_THAT(client_.Run(kOn), Ok());
  EXPECT_THAT(admin_.Run("TEST RESET CONFIG"), Ok());
  EXPECT_THAT(client_.Run(kOn), Error(kUnknown));
}

TEST_F(MaintNotifications, AreRefusedInScripts) {
  Enable();
  EXPECT_THAT(client_.Run({"EVAL", "return redis.call('CLIENT', 'MAINT_NOTIFICATIONS', 'OFF')", "0"}),
              ErrorStartsWith("ERR This Redis command is not allowed from script"));
}

TEST_F(MaintNotifications, FollowTheRulesOfUsers) {
  Enable();
  for (const std::string rules : {"+@all -debug", "-@all +client", "-@all +@connection"}) {
    EXPECT_THAT(admin_.Run("ACL SETUSER ann on nopass resetkeys " + rules), Ok());
    EXPECT_THAT(client_.Run("AUTH ann x"), Ok());
    EXPECT_THAT(client_.Run(kOn), Ok()) << rules;
  }
  EXPECT_THAT(admin_.Run("ACL SETUSER ann -client"), Ok());
  EXPECT_THAT(client_.Run(kOn),
              Error("NOPERM User ann has no permissions to run the 'client|maint_notifications' command"));
}

TEST_F(MaintNotifications, OfMovedSlotsNameSourceTargetAndSlots) {
  client_.Run("CLIENT SETNAME app");
  EXPECT_THAT(admin_.Run("TEST PUSH app SMIGRATING 3 1,5-9"), Int(1));
  EXPECT_THAT(client_.Read(), PushOf({Bulk("SMIGRATING"), Int(3), Bulk("1,5-9")}));
  EXPECT_THAT(admin_.Run("TEST PUSH app smigrated 4 a:1 b:2 1,5-9 a:1 c:3 7"), Int(1));
  EXPECT_THAT(client_.Read(), PushOf({Bulk("SMIGRATED"), Int(4),
                                      ArrayOf({ArrayOf({Bulk("a:1"), Bulk("b:2"), Bulk("1,5-9")}),
                                               ArrayOf({Bulk("a:1"), Bulk("c:3"), Bulk("7")})})}));
  for (const std::string wrong : {"SMIGRATED", "SMIGRATED x a b 1", "SMIGRATED 1", "SMIGRATED 1 a:1 b:2",
                                  "SMIGRATED 1 a:1 b:2 1 c:3", "SMIGRATING 1", "SMIGRATING 1 2 3", "SUBSCRIBED"})
    EXPECT_THAT(admin_.Run("TEST PUSH app " + wrong), ErrorStartsWith("ERR ")) << wrong;
}

}  // namespace
}  // namespace respite
