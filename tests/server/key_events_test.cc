// The events of each command, at their source; `new` is for keys that did not exist before.
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "tests/support/command_test.h"

namespace respite {
namespace {

class EventRecorder final : public ChangeListener {
 public:
  void OnChange(int, Bytes) override {}
  void OnEvent(int, Bytes key, const KeyEvent& event) override {
    if (event.Kind() != kNotifyKeyMiss) events_.push_back(std::string(event.Name()) + " " + std::string(key));
  }
  bool WantsSubkeys() const override { return false; }
  void OnSubkeys(int, Bytes, const KeyEvent&, const Subkeys&) override {}
  void OnWake(int, Bytes) override {}
  void OnFlush(std::span<const int>) override {}
  void OnSwap(int, int) override {}
  std::vector<std::string> Take() { return std::exchange(events_, {}); }

 private:
  std::vector<std::string> events_;
};

struct EventRow {
  const char* line;
  std::vector<std::string> events;
};

enum class Destination : uint8_t { kFree, kTaken };

std::vector<std::string> EventsOf(const char* line, Destination destination) {
  TestServer server;
  TestClient client(server);
  for (const char* setup : {"SADD s a b", "ZADD z 1 a 2 b", "GEOADD g 0 0 m", "RPUSH l 3 1 2"}) client.Run(setup);
  if (destination == Destination::kTaken) client.Run("SET d x");
  EventRecorder recorder;
  server->services().data.dataset.listener = &recorder;
  client.Run(line);
  server->services().data.dataset.listener = nullptr;
  return recorder.Take();
}

TEST(KeyEvents, AStoredResultIsNewOnlyWhereThereWasNoKey) {
  const std::vector<EventRow> rows = {
      {"SUNIONSTORE d s", {"sunionstore d"}},
      {"ZUNIONSTORE d 1 z", {"zunionstore d"}},
      {"ZRANGESTORE d z 0 -1", {"zrangestore d"}},
      {"GEOSEARCHSTORE d g FROMLONLAT 0 0 BYRADIUS 100 km", {"geosearchstore d"}},
      {"GEORADIUS g 0 0 100 km STORE d", {"georadiusstore d"}},
      {"SORT l STORE d", {"sortstore d"}},
  };
  for (const EventRow& row : rows) {
    EXPECT_EQ(EventsOf(row.line, Destination::kTaken),
              (std::vector<std::string>{"overwritten d", "type_changed d", row.events[0]}))
        << row.line;
    EXPECT_EQ(EventsOf(row.line, Destination::kFree), (std::vector<std::string>{"new d", row.events[0]})) << row.line;
  }
}

TEST(KeyEvents, AnEmptyResultDeletesAKey) {
  for (const char* line : {"SINTERSTORE d s none", "ZINTERSTORE d 1 none", "ZRANGESTORE d none 0 -1",
                           "SORT none STORE d", "GEORADIUS g 80 0 1 km STORE d"}) {
    EXPECT_EQ(EventsOf(line, Destination::kTaken), std::vector<std::string>{"del d"}) << line;
    EXPECT_TRUE(EventsOf(line, Destination::kFree).empty()) << line;
  }
}

TEST(KeyEvents, ReplacingByDeletionMakesANewKey) {
  EXPECT_EQ(EventsOf("RENAME s d", Destination::kTaken),
            (std::vector<std::string>{"new d", "rename_from s", "rename_to d", "overwritten d", "type_changed d"}));
  EXPECT_EQ(EventsOf("COPY s d REPLACE", Destination::kTaken),
            (std::vector<std::string>{"new d", "copy_to d", "overwritten d", "type_changed d"}));
}

// The events of Redis 8.6.3.
TEST(KeyEvents, AValueThatReplacesAnotherOverwritesIt) {
  const std::vector<EventRow> rows = {
      {"SET d y", {"overwritten d", "set d"}},
      {"SET d y KEEPTTL", {"overwritten d", "set d"}},
      {"SET d y EX 100", {"overwritten d", "set d", "expire d"}},
      {"SET d y NX", {}},
      {"GETSET d y", {"overwritten d", "set d"}},
      {"MSET d y e z", {"overwritten d", "set d", "new e", "set e"}},
      {"SET s y", {"overwritten s", "type_changed s", "set s"}},
      {"BITOP NOT d d", {"overwritten d", "set d"}},
      {"APPEND d y", {"append d"}},
      {"SETRANGE d 0 y", {"setrange d"}},
      {"SETBIT d 0 1", {"setbit d"}},
      {"SDIFFSTORE s s none", {"overwritten s", "sdiffstore s"}},
      {"SORT l STORE l", {"overwritten l", "sortstore l"}},
  };
  for (const EventRow& row : rows) EXPECT_EQ(EventsOf(row.line, Destination::kTaken), row.events) << row.line;
}

// Commands in sequence, with the events of Redis 7.2.6.
TEST(KeyEvents, StreamsHaveEventsForEntriesAndGroups) {
  const std::vector<EventRow> rows = {
      {"XADD s 1 f v", {"new s", "xadd s"}},
      {"XADD s 2 f v", {"xadd s"}},
      {"XADD s MAXLEN 1 3 f v", {"xadd s", "xtrim s"}},
      {"XADD s MAXLEN 10 4 f v", {"xadd s"}},
      {"XTRIM s MAXLEN 1", {"xtrim s"}},
      {"XTRIM s MAXLEN 1", {}},
      {"XADD s 5 f v", {"xadd s"}},
      {"XDEL s 5 4 9", {"xdel s"}},
      {"XDEL s 9", {}},
      {"XSETID s 9", {"xsetid s"}},
      {"XGROUP CREATE s g 0", {"xgroup-create s"}},
      {"XGROUP CREATE t g 0 MKSTREAM", {"new t", "xgroup-create t"}},
      {"XGROUP SETID s g 0", {"xgroup-setid s"}},
      {"XGROUP CREATECONSUMER s g c", {"xgroup-createconsumer s"}},
      {"XGROUP CREATECONSUMER s g c", {}},
      {"XADD s 11 f v", {"xadd s"}},
      {"XREADGROUP GROUP g d STREAMS s >", {"xgroup-createconsumer s"}},
      {"XREADGROUP GROUP g d STREAMS s >", {}},
      {"XREADGROUP GROUP g d STREAMS s 0", {}},
      {"XCLAIM s g e 0 11", {"xgroup-createconsumer s"}},
      {"XAUTOCLAIM s g h 0 0", {"xgroup-createconsumer s"}},
      {"XACK s g 11", {}},
      {"XGROUP DELCONSUMER s g c", {"xgroup-delconsumer s"}},
      {"XGROUP DELCONSUMER s g c", {}},
      {"XGROUP DESTROY s g", {"xgroup-destroy s"}},
      {"XTRIM s MAXLEN 0", {"xtrim s"}},
  };
  TestServer server;
  TestClient client(server);
  EventRecorder recorder;
  server->services().data.dataset.listener = &recorder;
  for (const EventRow& row : rows) {
    client.Run(row.line);
    EXPECT_EQ(recorder.Take(), row.events) << row.line;
  }
  server->services().data.dataset.listener = nullptr;
}

}  // namespace
}  // namespace respite
