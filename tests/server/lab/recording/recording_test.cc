#include "server/lab/recording/recording.h"

#include <gmock/gmock.h>

#include "base/random.h"

namespace respite {
namespace {

using EventKind = RecordedEvent::Kind;

const RecordingStart kStart = {.began_us = 1'700'000'000'000'000, .seed = UINT64_MAX, .emulated = "redis:6.2"};

std::string RecordingText(const std::vector<RecordedEvent>& events) {
  std::string text = RecordingHeader(kStart);
  for (const RecordedEvent& event : events) {
    AppendEventHeader(text, event.at_us, event.connection, event.kind, event.bytes.size());
    if (event.kind == EventKind::kIn || event.kind == EventKind::kOut) text.append(event.bytes) += kEventEnd;
  }
  return text;
}

const std::vector<RecordedEvent> kSession = {{0, 1, EventKind::kOpen},
                                             {10, 1, EventKind::kIn, "*1\r\n$4\r\nPING\r\n"},
                                             {20, 2, EventKind::kOpen},
                                             {30, 1, EventKind::kOut, "+PONG\r\n"},
                                             {40, 2, EventKind::kIn, std::string("\0\n\n 7 1 open\n", 13)},
                                             {50, 1, EventKind::kEnd},
                                             {60, 1, EventKind::kClose}};

std::string ObjectionTo(const std::string& text) {
  const auto recording = ParseRecording(text);
  return recording.ok() ? "none" : recording.error();
}

TEST(RecordingTest, IsReadAsItWasWritten) {
  const auto recording = ParseRecording(RecordingText(kSession));
  ASSERT_TRUE(recording.ok()) << recording.error();
  EXPECT_EQ(recording.value().start.began_us, kStart.began_us);
  EXPECT_EQ(recording.value().start.seed, kStart.seed);
  EXPECT_EQ(recording.value().start.emulated, kStart.emulated);
  EXPECT_EQ(recording.value().events, kSession);
}

TEST(RecordingTest, WhatIsTornOffIsMissing) {
  const std::string text = RecordingText(kSession);
  for (size_t size = RecordingHeader(kStart).size(); size < text.size(); ++size) {
    const auto recording = ParseRecording(Bytes(text).substr(0, size));
    ASSERT_TRUE(recording.ok()) << size << ": " << recording.error();
    const auto& events = recording.value().events;
    ASSERT_LT(events.size(), kSession.size());
    EXPECT_TRUE(std::equal(events.begin(), events.end(), kSession.begin())) << size;
  }
}

TEST(RecordingTest, WhatIsNoRecordingIsRefused) {
  EXPECT_EQ(ObjectionTo(""), "is no recording");
  EXPECT_EQ(ObjectionTo("REDIS0011\n"), "is no recording");
  EXPECT_EQ(ObjectionTo("respite-recording 2 0\n"), "is a recording of version 2, which is unknown here");
  EXPECT_EQ(ObjectionTo("respite-recording 1 now\n"), "has no time in its first line");
  EXPECT_EQ(ObjectionTo("respite-recording 1 0\n"), "none");
  EXPECT_EQ(ObjectionTo("respite-recording 1 0 seed\n"), "has a seed in its first line that is none");
  const std::string head = RecordingHeader({});
  EXPECT_EQ(ObjectionTo(head + "1 1 opened\n"), "line 2: '1 1 opened' is no event");
  EXPECT_EQ(ObjectionTo(head + "1 1 in\n"), "line 2: '1 1 in' is no event");
  EXPECT_EQ(ObjectionTo(head + "1 -1 open\n"), "line 2: '1 -1 open' has a number that cannot be");
  const std::string opened = head + "1 1 open\n";
  EXPECT_EQ(ObjectionTo(opened + "2 1 in 3\na\nb\n1 1 end\n"), "line 6: '1 1 end' has a number that cannot be");
  EXPECT_EQ(ObjectionTo(opened + "2 1 in -3\nabc\n"), "line 3: '2 1 in -3' has a number that cannot be");
  EXPECT_EQ(ObjectionTo(opened + "2 1 in 2\nabc\n"), "line 3: no line ends behind the bytes of this event");
  EXPECT_EQ(ObjectionTo(opened + "2 1 in 9223372036854775807\nabc\n"), "none");  // cut off
}

TEST(RecordingTest, AConnectionIsOpenedOnceAndClosedLast) {
  const std::string head = RecordingHeader({});
  EXPECT_EQ(ObjectionTo(head + "1 1 end\n"), "line 2: '1 1 end' cannot happen to this connection now");
  EXPECT_EQ(ObjectionTo(head + "1 1 open\n1 1 open\n"), "line 3: '1 1 open' cannot happen to this connection now");
  EXPECT_EQ(ObjectionTo(head + "1 1 open\n1 1 close\n1 1 close\n"),
            "line 4: '1 1 close' cannot happen to this connection now");
  EXPECT_EQ(ObjectionTo(head + "1 1 open\n1 1 close\n1 1 open\n"),
            "line 4: '1 1 open' cannot happen to this connection now");
}

TEST(RecordingTest, AnyBytesAreReadWithoutHarm) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(seed);
  Random random(seed);
  const std::string text = RecordingText(kSession);
  for (int round = 0; round < 20'000; ++round) {
    std::string changed = text;
    for (uint64_t i = 0; i <= random.Below(3); ++i) {
      changed[random.Below(changed.size())] = static_cast<char>(random.Below(256));
    }
    [[maybe_unused]] const auto ignored = ParseRecording(changed);
  }
}

}  // namespace
}  // namespace respite
