// A build with assertions ends the process when a command changes a value and does not report it.
#include "server/dataset/change_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/str_cat.h"
#include "datatypes/hash.h"
#include "datatypes/set.h"
#include "datatypes/stream.h"
#include "server/dataset/edit.h"
#include "tests/support/test_client.h"
#include "tests/support/test_server.h"

namespace respite {
namespace {

constexpr char kUntouched[] = "a command changed a key without ReportChange";
constexpr char kUncounted[] = "a command did not count a change";
constexpr char kRefused[] = "a refused command changed a key";

class ChangeCheckDeathTest : public testing::Test {
 protected:
  ChangeCheckDeathTest() {
    for (const char* line : {"SET text abc", "SET number 1", "HSET hash f v", "SADD set a", "HSET timed f v g w",
                             "HPEXPIRE timed 1000 FIELDS 1 f", "XADD stream 1-1 f v", "XGROUP CREATE stream group 0"})
      client_.Run(line);
  }

  // Does what the handler of a command would do.
  void Handle(const std::function<void(DbView&)>& handler) {
    Unit unit(server_->services().data.dataset, server_.clock().WallMs(), ExpiryRule::kPurge);
    DbView db(unit, 0, true);
    handler(db);
    unit.Close();
  }
  // Does what a handler would do that changes a value, and then refuses.
  void Refuse(const std::function<void(DbView&)>& handler) {
    try {
      Handle(handler);
    } catch (const Refusal&) {
      return;
    }
    FAIL() << "the handler did not refuse";
  }

  TestServer server_;
  TestClient client_{server_};
};

TEST_F(ChangeCheckDeathTest, AStringThatIsPut) {
  EXPECT_DEBUG_DEATH(Handle([](DbView& db) { db.Open("text").Put(StringContent::Text("x")); }), kUntouched);
  EXPECT_DEBUG_DEATH(Handle([](DbView& db) { db.Open("new").Put(StringContent::Text("x")); }), kUntouched);
}

TEST_F(ChangeCheckDeathTest, AStringThatIsPutAsItWas) {
  EXPECT_DEBUG_DEATH(Handle([](DbView& db) { db.Open("text").Put(StringContent::Text("abc")); }), kUntouched);
}

TEST_F(ChangeCheckDeathTest, AStringThatIsAssigned) {
  EXPECT_DEBUG_DEATH(Handle([](DbView& db) { db.OpenString("text").Assign(StringContent::Text("x")); }), kUntouched);
}

TEST_F(ChangeCheckDeathTest, AnIntegerThatIsSet) {
  EXPECT_DEBUG_DEATH(Handle([](DbView& db) { db.OpenString("number").SetInteger(2); }), kUntouched);
}

TEST_F(ChangeCheckDeathTest, ATextThatIsWrittenInPlace) {
  EXPECT_DEBUG_DEATH(Handle([](DbView& db) { db.OpenString("text").Grow(3)[1] = 'x'; }), kUntouched);
}

TEST_F(ChangeCheckDeathTest, ATextThatGrows) {
  EXPECT_DEBUG_DEATH(Handle([](DbView& db) { db.OpenString("text").Grow(100'000); }), kUntouched);
}

TEST_F(ChangeCheckDeathTest, AKeyThatIsTaken) {
  EXPECT_DEBUG_DEATH(Handle([](DbView& db) { db.Open("hash").Take(); }), kUntouched);
}

TEST_F(ChangeCheckDeathTest, ADeadlineThatIsSet) {
  EXPECT_DEBUG_DEATH(Handle([](DbView& db) { db.Open("hash").SetDeadline(1'800'000'000'000); }), kUntouched);
}

TEST_F(ChangeCheckDeathTest, AnElementThatChanges) {
  EXPECT_DEBUG_DEATH(Handle([](DbView& db) { db.Open<Hash>("hash")->Set("f", "w"); }), kUntouched);
  EXPECT_DEBUG_DEATH(Handle([](DbView& db) { db.OpenOrCreate<Hash>("new")->Set("f", "w"); }), kUntouched);
  EXPECT_DEBUG_DEATH(Handle([](DbView& db) { db.Open<Set>("set")->Remove("a"); }), kUntouched);
}

TEST_F(ChangeCheckDeathTest, TheDeadlineOfAField) {
  const int64_t deadline_ms = server_.clock().WallMs() + 5000;
  EXPECT_DEBUG_DEATH(Handle([&](DbView& db) { db.Open<Hash>("timed")->SetDeadline("f", deadline_ms); }), kUntouched);
}

TEST_F(ChangeCheckDeathTest, AnElementOfALargeCollection) {
  for (int i = 0; i < 1000; ++i) client_.Run(StrCat("SADD large member", i));
  EXPECT_DEBUG_DEATH(Handle([](DbView& db) { db.Open<Set>("large")->Remove("member1"); }), kUntouched);
}

TEST_F(ChangeCheckDeathTest, AnEntryOfAStream) {
  const Bytes words[] = {"f", "v"};
  EXPECT_DEBUG_DEATH(Handle([&](DbView& db) {
                       Edit<Stream> stream = db.Open<Stream>("stream");
                       stream->Log().Add({2, 1}, words, stream->Limits());
                       stream.CountChanges(1);
                     }),
                     kUntouched);
}

TEST_F(ChangeCheckDeathTest, AGroupThatIsNotCounted) {
  EXPECT_DEBUG_DEATH(Handle([](DbView& db) { db.Open<Stream>("stream")->Log().CreateGroup("g", {}, 0); }), kUncounted);
  EXPECT_DEBUG_DEATH(Handle([](DbView& db) {
                       db.Open<Stream>("stream")->Log().FindGroup("group")->last_id = {1, 1};
                     }),
                     kUncounted);
}

TEST_F(ChangeCheckDeathTest, AChangeThatIsNotCounted) {
  EXPECT_DEBUG_DEATH(Handle([](DbView& db) {
                       KeyEdit text = db.Open("text");
                       text.Put(StringContent::Text("x"));
                       text.ReportChangeUncounted("set");
                     }),
                     kUncounted);
}

TEST_F(ChangeCheckDeathTest, ARefusalAfterAChange) {
  EXPECT_DEBUG_DEATH(Refuse([](DbView& db) {
                       Edit<Hash> hash = db.Open<Hash>("hash");
                       hash->Set("f", "w");
                       hash.ReportChange("hset");
                       throw Refusal{refusals::kSyntax};
                     }),
                     kRefused);
  EXPECT_DEBUG_DEATH(Refuse([](DbView& db) {
                       const Edit<Hash> hash = db.OpenOrCreate<Hash>("new");  // listeners know of the new key
                       throw Refusal{refusals::kSyntax};
                     }),
                     kRefused);
}

TEST_F(ChangeCheckDeathTest, WhatIsReportedPasses) {
  Handle([](DbView& db) {
    KeyEdit text = db.Open("text");
    text.Put(StringContent::Text("x"));
    text.ReportChange("set");
  });
  Handle([](DbView& db) {
    Edit<Stream> stream = db.Open<Stream>("stream");
    stream->Log().CreateGroup("g", {}, 0);
    stream.CountChanges(1);
  });
  Handle([](DbView& db) {
    KeyEdit text = db.Open("quiet");
    text.Put(StringContent::Text("x"));
    text.DisableChangeCheck();
  });
  EXPECT_EQ(client_.Run("GET text").Text(), "x");
}

TEST_F(ChangeCheckDeathTest, WhatStaysAsItWasPasses) {
  Handle([](DbView& db) { db.Open<Set>("set")->Add("a"); });
  Handle([](DbView& db) { db.Open<Hash>("hash")->Set("f", "v"); });
  Handle([](DbView& db) { db.OpenString("text").Grow(3); });
  Handle([](DbView& db) { db.OpenOrCreate<Set>("new"); });
  Refuse([](DbView& db) {
    const KeyEdit text = db.OpenString("text");
    throw Refusal{refusals::kSyntax};
  });
  EXPECT_EQ(client_.Run("EXISTS new").Integer(), 0);
}

}  // namespace
}  // namespace respite
