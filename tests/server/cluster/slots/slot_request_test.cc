// CLUSTER MIGRATION: a node asks another one for slots.
#include "tests/server/cluster/slots/slot_migration_fixture.h"

namespace respite {
namespace {

using testing::HasSubstr;

class SlotRequestTest : public SlotMigrationTest {};

std::string OneSlot(Bytes key) { return StrCat(KeySlot(key), " ", KeySlot(key)); }

// Returns a field of the task with this ID.
TestReply TaskField(ReplicationMember& member, Bytes id, Bytes field) {
  const TestReply task = member.Run(StrCat("CLUSTER MIGRATION STATUS ID ", id))[0];
  size_t at = 0;
  while (at + 1 < task.Size() && task[at].Text() != field) at += 2;
  return task[at + 1];
}

std::string TaskText(ReplicationMember& member, Bytes id, Bytes field) { return TaskField(member, id, field).Text(); }

TEST_F(SlotRequestTest, TheTargetRequestsSlots) {
  const auto [source, target] = FormPair();
  for (int i = 0; i < 50; ++i) source.Run(StrCat("SET {t}", i, " value"));
  const std::string id = target.Run("CLUSTER MIGRATION IMPORT " + OneSlot("{t}")).Text();
  EXPECT_EQ(id.size(), 40u);
  EXPECT_EQ(target.Run("CLUSTER MIGRATION IMPORT " + OneSlot("{t}")).Text(),
            StrCat("ERR overlapping import exists for slot range: ", KeySlot("t"), "-", KeySlot("t")));
  StepUntil(target, "success");
  StepUntil(source, "success");
  EXPECT_EQ(KeysAt(target), 50u);
  EXPECT_EQ(TaskText(target, id, "state"), "completed");
  EXPECT_EQ(TaskText(target, id, "operation"), "import");
  EXPECT_EQ(TaskText(source, id, "operation"), "migrate");
  EXPECT_EQ(TaskText(source, id, "source"), Id(source));
  EXPECT_EQ(TaskText(source, id, "dest"), Id(target));
  EXPECT_EQ(TaskText(target, id, "last_error"), "");
  EXPECT_GT(TaskField(target, id, "end_time").Integer(), 0);
  EXPECT_EQ(target.Run("CLUSTER MIGRATION STATUS ALL").Size(), 1u);
  EXPECT_EQ(target.Run("CLUSTER MIGRATION CANCEL ALL").Integer(), 0);
}

TEST_F(SlotRequestTest, RequestsAreRetriedUntilTheyAreCancelled) {
  const auto [source, target] = FormPair();
  source.Run(StrCat("CLUSTER SETSLOT ", KeySlot("{t}"), " MIGRATING ", Id(target)));
  const std::string id = target.Run("CLUSTER MIGRATION IMPORT " + OneSlot("{t}")).Text();
  StepUntil(target, "failed");
  EXPECT_THAT(TaskText(target, id, "last_error"), HasSubstr("all slot states must be STABLE"));
  Step(3500);
  EXPECT_EQ(TaskField(target, id, "retries").Integer(), 3);
  EXPECT_EQ(target.Run("CLUSTER MIGRATION IMPORT 1 1").Text().substr(0, 4), "ERR ");
  source.Run(StrCat("CLUSTER SETSLOT ", KeySlot("{t}"), " STABLE"));
  StepUntil(target, "success");
  EXPECT_EQ(TaskText(target, id, "last_error"), "");
}

TEST_F(SlotRequestTest, ACancelledRequestLeavesTheSlotsAtTheSource) {
  const auto [source, target] = FormPair();
  for (int i = 0; i < 50; ++i) source.Run(StrCat("SET {t}", i, " value"));
  const std::string id = target.Run("CLUSTER MIGRATION IMPORT " + OneSlot("{t}")).Text();
  for (int i = 0; i < 5000 && State(target) != "waiting-for-ack"; ++i) world_.network().RunOnce();
  ASSERT_EQ(State(target), "waiting-for-ack");
  EXPECT_EQ(target.Run("CLUSTER MIGRATION CANCEL ID " + id).Integer(), 1);
  EXPECT_EQ(TaskText(target, id, "state"), "canceled");
  Step(5000);
  EXPECT_EQ(TaskText(source, id, "state"), "failed");
  EXPECT_EQ(source.Run("GET {t}1").Text(), "value");
  EXPECT_EQ(target.Run(StrCat("CLUSTER COUNTKEYSINSLOT ", KeySlot("t"))).Integer(), 0);
}

// The source cannot log in at the target, so its export fails before the import has begun. With a log of no jobs, the
// failed attempt is kept because the request will be tried again.
TEST_F(SlotRequestTest, ARequestWhoseExportFailsEarlyIsRepeated) {
  const auto [source, target] = FormPair({"cluster-slot-migration-log-max-len 0"});
  source.Run("SET {t}a value");
  TestClient operator_client(target.server());
  EXPECT_THAT(operator_client.Run("CONFIG SET requirepass secret"), Ok());
  const std::string id = operator_client.Run("CLUSTER MIGRATION IMPORT " + OneSlot("{t}")).Text();
  Step(5000);
  EXPECT_FALSE(Owns(target, "{t}"));
  EXPECT_THAT(source.Run("CONFIG SET masterauth secret"), Ok());
  for (int i = 0; i < 300 && !Owns(target, "{t}"); ++i) Step(100);
  EXPECT_TRUE(Owns(target, "{t}")) << source.Log() << target.Log();
  Step(1000);
  EXPECT_THAT(operator_client.Run("CLUSTER MIGRATION CANCEL ALL"), Int(0));
}

TEST_F(SlotRequestTest, ErrorsOfMigration) {
  const auto [source, target] = FormPair();
  const auto expect = [&target = target](Bytes arguments, const std::string& error) {
    EXPECT_EQ(target.Run(StrCat("CLUSTER MIGRATION ", arguments)).Text(), error) << arguments;
  };
  const std::string arity = "ERR wrong number of arguments for 'cluster|migration' command";
  expect("IMPORT 1", arity);
  expect("IMPORT 0 5 9", arity);
  expect("IMPORT 1 x", "ERR Invalid or out of range slot");
  expect("IMPORT 2 1", "ERR start slot number 2 is greater than end slot number 1");
  expect("IMPORT 1 3 3 4", "ERR Slot 3 specified multiple times");
  expect("IMPORT 0 16383", "ERR slots belong to different source nodes");
  expect("IMPORT " + (Owns(target, "{a}") ? OneSlot("{a}") : OneSlot("{b}")),
         "ERR this node is already the owner of the slot range");
  expect("STATUS WHAT", "ERR unknown argument");
  expect("STATUS ALL x", arity);
  expect("CANCEL WHAT", "ERR unknown argument");
  expect("WHAT x", "ERR unknown argument");
}

}  // namespace
}  // namespace respite
