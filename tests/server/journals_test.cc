// The list of journals: an attached journal gets every propagated command in order, whichever others are attached or
// detached.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/dataset/journal.h"
#include "tests/support/test_client.h"
#include "tests/support/test_server.h"

namespace respite {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(JournalsTest, AttachedJournalsGetEveryEffect) {
  TestServer server;
  TestClient client(server);
  RecordingJournal early, late;
  Journals& journals = server->services().data.dataset.journals;
  journals.Attach(early);
  client.Run("SET a 1");
  journals.Attach(late);
  client.Run("INCR a");
  journals.Detach(early);
  client.Run("DEL a");
  journals.Detach(late);
  client.Run("SET b 1");
  EXPECT_THAT(early.Lines(), ElementsAre("0: SET a 1", "0: INCR a"));
  EXPECT_THAT(late.Lines(), ElementsAre("0: INCR a", "0: DEL a"));
  EXPECT_THAT(server.journal().Lines(), ElementsAre("0: SET a 1", "0: INCR a", "0: DEL a", "0: SET b 1"));
}

TEST(JournalsTest, WithoutAJournalNothingIsRecorded) {
  TestServer server;
  TestClient client(server);
  server->services().data.dataset.journals.Detach(server.journal());
  EXPECT_FALSE(server->services().data.dataset.journals.IsRecording());
  client.Run("SADD s a b");
  client.Run("SPOP s");
  EXPECT_EQ(server->services().data.dataset.propagated_commands.Count(), 0u);
}

TEST(JournalsTest, SilenceStopsAllJournals) {
  TestServer server;
  TestClient client(server);
  Journals& journals = server->services().data.dataset.journals;
  {
    const Journals::Mute silence(journals);
    const Journals::Mute another(journals);
    EXPECT_FALSE(journals.IsRecording());
    client.Run("SET a 1");
  }
  EXPECT_TRUE(journals.IsRecording());
  EXPECT_THAT(server.journal().Lines(), IsEmpty());
}

TEST(JournalsTest, TheAppendOnlyFileIsAttachedAndDetached) {
  TestServer server;
  TestClient client(server);
  client.Run("CONFIG SET appendonly yes");
  server.RunCronFor(1000);
  client.Run("SET a 1");
  client.Run("CONFIG SET appendonly no");
  client.Run("SET b 1");
  EXPECT_THAT(server.journal().Lines(), ElementsAre("0: SET a 1", "0: SET b 1"));
}

}  // namespace
}  // namespace respite
