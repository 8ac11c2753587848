// Which events a command tells, seen where they come from; `new` is told of keys that were not there before.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/command_test.h"

namespace respite {
namespace {

class EventRecorder final : public ChangeListener {
 public:
  void OnChange(int, Bytes) override {}
  void OnEvent(int, Bytes key, KeyEvent event) override {
    if (event.Kind() != kNotifyKeyMiss) events_.push_back(std::string(event.Name()) + " " + std::string(key));
  }
  void OnFlush(std::span<const int>) override {}
  void OnSwap(int, int) override {}
  std::vector<std::string> Take() { return std::exchange(events_, {}); }

 private:
  std::vector<std::string> events_;
};

struct Row {
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
  server->data().listener = &recorder;
  client.Run(line);
  server->data().listener = nullptr;
  return recorder.Take();
}

TEST(KeyEvents, AStoredResultIsNewOnlyWhereThereWasNoKey) {
  const std::vector<Row> rows = {
      {"SUNIONSTORE d s", {"sunionstore d"}},
      {"ZUNIONSTORE d 1 z", {"zunionstore d"}},
      {"ZRANGESTORE d z 0 -1", {"zrangestore d"}},
      {"GEOSEARCHSTORE d g FROMLONLAT 0 0 BYRADIUS 100 km", {"geosearchstore d"}},
      {"GEORADIUS g 0 0 100 km STORE d", {"georadiusstore d"}},
      {"SORT l STORE d", {"sortstore d"}},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(EventsOf(row.line, Destination::kTaken), row.events) << row.line;
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

TEST(KeyEvents, WhatDeletesAKeyFirstMakesANewOne) {
  EXPECT_EQ(EventsOf("RENAME s d", Destination::kTaken),
            (std::vector<std::string>{"new d", "rename_from s", "rename_to d"}));
  EXPECT_EQ(EventsOf("COPY s d REPLACE", Destination::kTaken), (std::vector<std::string>{"new d", "copy_to d"}));
}

}  // namespace
}  // namespace respite
