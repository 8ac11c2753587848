package clients.jedis;

import static clients.support.Await.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.OwnServer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.StreamEntryID;
import redis.clients.jedis.params.XAddParams;
import redis.clients.jedis.params.XAutoClaimParams;
import redis.clients.jedis.params.XClaimParams;
import redis.clients.jedis.params.XPendingParams;
import redis.clients.jedis.params.XReadGroupParams;
import redis.clients.jedis.params.XReadParams;
import redis.clients.jedis.params.XTrimParams;
import redis.clients.jedis.resps.StreamConsumerInfo;
import redis.clients.jedis.resps.StreamEntry;
import redis.clients.jedis.resps.StreamGroupInfo;
import redis.clients.jedis.resps.StreamPendingEntry;

/** Streams as a message queue: groups, pending lists, takeover, trimming. */
class StreamTest extends OnSuiteServer {
  private static final StreamEntryID NEW = StreamEntryID.XREADGROUP_UNDELIVERED_ENTRY;
  private static final StreamEntryID START = new StreamEntryID(0, 0);

  private static StreamEntryID add(Jedis client, String stream, String id, String value) {
    return client.xadd(stream, XAddParams.xAddParams().id(id), Map.of("value", value));
  }

  /** Returns the ids that the consumer gets; null if the server has no entries. */
  private static List<String> read(Jedis client, String consumer, XReadGroupParams how, StreamEntryID from) {
    var reply = client.xreadGroup("group", consumer, how, Map.of("stream", from));
    return reply == null ? null : ids(reply.get(0).getValue());
  }

  private static List<String> ids(List<StreamEntry> entries) {
    return entries.stream().map(entry -> entry.getID().toString()).toList();
  }

  private static XReadGroupParams count(int count) {
    return XReadGroupParams.xReadGroupParams().count(count);
  }

  @Test
  void idsGrow() {
    StreamEntryID first = jedis.xadd("stream", StreamEntryID.NEW_ENTRY, Map.of("name", "John"));
    StreamEntryID second = jedis.xadd("stream", StreamEntryID.NEW_ENTRY, Map.of("name", "Jane"));
    assertTrue(first.compareTo(second) < 0);
    assertEquals(
        "ERR The ID specified in XADD is equal or smaller than the target stream top item",
        errorOf(() -> add(jedis, "stream", "1-1", "x")));
    assertEquals(
        "ERR The ID specified in XADD must be greater than 0-0", errorOf(() -> add(jedis, "stream", "0-0", "x")));
    assertEquals("99999999999999-0", add(jedis, "stream", "99999999999999-*", "x").toString());
    assertEquals("99999999999999-1", add(jedis, "stream", "*", "x").toString());
  }

  @Test
  void rangesForthAndBack() {
    for (int i = 1; i <= 5; i++) {
      add(jedis, "stream", i + "-0", "v" + i);
    }
    assertEquals(List.of("2-0", "3-0", "4-0"), ids(jedis.xrange("stream", "2", "4")));
    assertEquals(List.of("3-0", "4-0"), ids(jedis.xrange("stream", "(2-0", "4")));
    assertEquals(List.of("5-0", "4-0"), ids(jedis.xrevrange("stream", "+", "-", 2)));
    assertEquals(5, jedis.xlen("stream"));
  }

  @Test
  void readOfSeveralStreamsNamesThoseThatHaveSomething() {
    add(jedis, "one", "1519073278252-0", "value_1");
    add(jedis, "one", "1519073279157-0", "value_2");
    var read = jedis.xread(XReadParams.xReadParams().count(2), Map.of("one", START, "two", START));
    assertEquals(1, read.size());
    assertEquals("one", read.get(0).getKey());
    assertEquals(List.of("1519073278252-0", "1519073279157-0"), ids(read.get(0).getValue()));
  }

  @Test
  void dollarMissesWhatCameBetweenTwoReads() {
    add(jedis, "stream", "1-0", "before");
    assertNull(jedis.xread(XReadParams.xReadParams().block(10), Map.of("stream", StreamEntryID.XREAD_NEW_ENTRY)));
    for (int i = 2; i <= 4; i++) {
      add(jedis, "stream", i + "-0", "while busy");
    }
    assertNull(jedis.xread(XReadParams.xReadParams().block(10), Map.of("stream", StreamEntryID.XREAD_NEW_ENTRY)));
    var fromLastId = jedis.xread(XReadParams.xReadParams(), Map.of("stream", new StreamEntryID("1-0")));
    assertEquals(List.of("2-0", "3-0", "4-0"), ids(fromLastId.get(0).getValue()));
  }

  @Test
  void blockedReadWakesWithTheNewEntry() throws Exception {
    List<String> seen = new ArrayList<>();
    Thread reader = new Thread(() -> {
      try (Jedis client = another()) {
        client.clientSetname("reader");
        var read =
            client.xread(XReadParams.xReadParams().block(10_000), Map.of("stream", StreamEntryID.XREAD_NEW_ENTRY));
        seen.addAll(ids(read.get(0).getValue()));
      }
    });
    reader.start();
    await("the reader waits", () -> jedis.clientList().matches("(?s).*name=reader [^\n]*flags=b.*"));
    add(jedis, "stream", "7-7", "x");
    reader.join(5000);
    assertEquals(List.of("7-7"), seen);
  }

  @Test
  void groupsAreMadeOnce() {
    assertEquals(
        "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM "
            + "option to create an empty stream automatically.",
        errorOf(() -> jedis.xgroupCreate("stream", "group", START, false)));
    assertEquals("OK", jedis.xgroupCreate("stream", "group", START, true));
    assertEquals(
        "BUSYGROUP Consumer Group name already exists",
        errorOf(() -> jedis.xgroupCreate("stream", "group", START, true)));
    assertEquals(true, jedis.xgroupCreateConsumer("stream", "group", "c1"));
    assertEquals(false, jedis.xgroupCreateConsumer("stream", "group", "c1"));
    assertEquals(0, jedis.xgroupDelConsumer("stream", "group", "c1"));
    assertEquals(1, jedis.xgroupDestroy("stream", "group"));
    assertEquals(0, jedis.xgroupDestroy("stream", "group"));
    assertEquals(
        "NOGROUP No such key 'stream' or consumer group 'group' in XREADGROUP with GROUP option",
        errorOf(() -> read(jedis, "c1", count(1), NEW)));
  }

  @Test
  void pendingMessageComesBackUntilAcknowledged() {
    jedis.xgroupCreate("stream", "group", START, true);
    add(jedis, "stream", "1-0", "order");
    assertEquals(List.of("1-0"), read(jedis, "c1", count(1), NEW));
    assertNull(read(jedis, "c1", count(1).block(10), NEW));

    assertEquals(List.of("1-0"), read(jedis, "c1", count(1), START));
    assertEquals(0, jedis.xack("s1", "group", new StreamEntryID("1-0")));
    assertEquals(List.of("1-0"), read(jedis, "c1", count(1), START));

    assertEquals(1, jedis.xack("stream", "group", new StreamEntryID("1-0")));
    assertEquals(0, jedis.xack("stream", "group", new StreamEntryID("1-0")));
    assertEquals(List.of(), read(jedis, "c1", count(1), START));
  }

  @Test
  void deletedEntryStaysPendingWithoutFields() {
    jedis.xgroupCreate("stream", "group", START, true);
    add(jedis, "stream", "1-0", "order");
    read(jedis, "c1", count(1), NEW);
    assertEquals(1, jedis.xdel("stream", new StreamEntryID("1-0")));
    var again = jedis.xreadGroup("group", "c1", count(1), Map.of("stream", START));
    assertEquals("1-0", again.get(0).getValue().get(0).getID().toString());
    assertNull(again.get(0).getValue().get(0).getFields());
  }

  @Test
  void pendingListTellsWhoHasWhatAndHowOften() {
    jedis.xgroupCreate("stream", "group", START, true);
    assertEquals(0, jedis.xpending("stream", "group").getTotal());
    for (int i = 1; i <= 3; i++) {
      add(jedis, "stream", i + "-0", "v");
    }
    read(jedis, "c1", count(2), NEW);
    read(jedis, "c2", count(2), NEW);
    var summary = jedis.xpending("stream", "group");
    assertEquals(3, summary.getTotal());
    assertEquals("1-0", summary.getMinId().toString());
    assertEquals("3-0", summary.getMaxId().toString());
    assertEquals(Map.of("c1", 2L, "c2", 1L), summary.getConsumerMessageCount());

    List<StreamPendingEntry> rows = jedis.xpending("stream", "group", XPendingParams.xPendingParams("-", "+", 10));
    assertEquals(3, rows.size());
    assertEquals("c1", rows.get(0).getConsumerName());
    assertEquals(1, rows.get(0).getDeliveredTimes());
    assertEquals(
        List.of(),
        jedis.xpending("stream", "group", XPendingParams.xPendingParams("-", "+", 10).idle(3_600_000)));
  }

  @Test
  void anotherConsumerTakesOverWhatWaitsLongEnough() {
    jedis.xgroupCreate("stream", "group", START, true);
    for (int i = 1; i <= 3; i++) {
      add(jedis, "stream", i + "-0", "v");
    }
    read(jedis, "c1", count(3), NEW);

    StreamEntryID first = new StreamEntryID("1-0");
    assertEquals(List.of(), jedis.xclaim("stream", "group", "c2", 3_600_000, XClaimParams.xClaimParams(), first));
    assertEquals(
        List.of("1-0"), ids(jedis.xclaim("stream", "group", "c2", 0, XClaimParams.xClaimParams(), first)));
    StreamPendingEntry taken =
        jedis.xpending("stream", "group", XPendingParams.xPendingParams("-", "+", 1)).get(0);
    assertEquals("c2", taken.getConsumerName());
    assertEquals(2, taken.getDeliveredTimes());

    var rest = jedis.xautoclaim("stream", "group", "c3", 0, new StreamEntryID("2-0"), new XAutoClaimParams());
    assertEquals("0-0", rest.getKey().toString());
    assertEquals(List.of("2-0", "3-0"), ids(rest.getValue()));
  }

  @Test
  void groupsAndConsumersAreDescribed() {
    jedis.xgroupCreate("stream", "group", START, true);
    add(jedis, "stream", "1-0", "v");
    add(jedis, "stream", "2-0", "v");
    read(jedis, "c1", count(1), NEW);
    StreamGroupInfo group = jedis.xinfoGroups("stream").get(0);
    assertEquals("group", group.getName());
    assertEquals(1, group.getConsumers());
    assertEquals(1, group.getPending());
    assertEquals("1-0", group.getLastDeliveredId().toString());
    assertEquals(1L, group.getGroupInfo().get("entries-read"));
    assertEquals(1L, group.getGroupInfo().get("lag"));
    StreamConsumerInfo consumer = jedis.xinfoConsumers2("stream", "group").get(0);
    assertEquals("c1", consumer.getName());
    assertEquals(1, consumer.getPending());
    assertTrue(consumer.getIdle() < 5000);
    assertEquals(2, jedis.xinfoStream("stream").getLength());
    assertEquals(1, jedis.xinfoStreamFull("stream").getGroups().get(0).getPending().size());
  }

  @Test
  void independentGroupsEachGetEverything() {
    jedis.xgroupCreate("stream", "group", START, true);
    add(jedis, "stream", "1-0", "v");
    jedis.xgroupCreate("stream", "later", StreamEntryID.XGROUP_LAST_ENTRY, false);
    add(jedis, "stream", "2-0", "v");
    assertEquals(List.of("1-0", "2-0"), read(jedis, "c1", count(10), NEW));
    var later = jedis.xreadGroup("later", "c1", count(10), Map.of("stream", NEW));
    assertEquals(List.of("2-0"), ids(later.get(0).getValue()));
  }

  @Test
  void readWithoutAcknowledgementLeavesNothingPending() {
    jedis.xgroupCreate("stream", "group", START, true);
    add(jedis, "stream", "1-0", "v");
    assertEquals(List.of("1-0"), read(jedis, "c1", count(1).noAck(), NEW));
    assertEquals(0, jedis.xpending("stream", "group").getTotal());
  }

  @Test
  void trimmedByLengthAndById() {
    for (int i = 1; i <= 20; i++) {
      jedis.xadd("stream", XAddParams.xAddParams().id(i + "-0").maxLen(10).exactTrimming(), Map.of("f", "v"));
    }
    assertEquals(10, jedis.xlen("stream"));
    assertEquals(4, jedis.xtrim("stream", XTrimParams.xTrimParams().minId("15-0").exactTrimming()));
    assertEquals(3, jedis.xtrim("stream", 3, false));
    assertEquals(List.of("18-0", "19-0", "20-0"), ids(jedis.xrange("stream", "-", "+")));
  }

  /** Blocked consumers are served in the order in which they came: of eight messages three consumers get 3, 3 and 2. */
  @Test
  void waitingConsumersTakeTurns() throws Exception {
    jedis.xgroupCreate("stream", "group", START, true);
    List<String> names = List.of("c1", "c2", "c3");
    Map<String, List<String>> got = new ConcurrentHashMap<>();
    List<Thread> threads = new ArrayList<>();
    for (String name : names) {
      got.put(name, Collections.synchronizedList(new ArrayList<>()));
      threads.add(new Thread(() -> consumeUntilStop(name, got.get(name))));
      threads.get(threads.size() - 1).start();
      await(name + " waits", () -> waiting() == threads.size());
    }
    for (int i = 1; i <= 8; i++) {
      add(jedis, "stream", i + "-0", "order");
      int taken = i;
      await("all wait again", () -> got.values().stream().mapToInt(List::size).sum() == taken && waiting() == 3);
    }
    for (int i = 0; i < names.size(); i++) {
      add(jedis, "stream", "*", "stop");
    }
    for (Thread thread : threads) {
      thread.join(5000);
    }
    assertEquals(
        Map.of("c1", List.of("1-0", "4-0", "7-0"), "c2", List.of("2-0", "5-0", "8-0"), "c3", List.of("3-0", "6-0")),
        got);
  }

  private static void consumeUntilStop(String consumer, List<String> seen) {
    try (Jedis client = another()) {
      while (true) {
        var reply = client.xreadGroup("group", consumer, count(1).block(20_000), Map.of("stream", NEW));
        StreamEntry entry = reply.get(0).getValue().get(0);
        if (entry.getFields().containsValue("stop")) {
          return;
        }
        seen.add(entry.getID().toString());
      }
    }
  }

  private long waiting() {
    return jedis.clientList().lines()
        .filter(line -> line.contains("cmd=xreadgroup") && line.contains("flags=b"))
        .count();
  }

  @Test
  void groupsAndPendingListsSurviveKillAndRestart() {
    try (OwnServer server = OwnServer.start("--appendonly", "yes", "--appendfsync", "always")) {
      try (Jedis client = new Jedis(server.host(), server.port())) {
        client.xgroupCreate("stream", "group", START, true);
        for (int i = 1; i <= 3; i++) {
          add(client, "stream", i + "-0", "v");
        }
        read(client, "c1", count(2), NEW);
        client.xack("stream", "group", new StreamEntryID("1-0"));
      }
      server.kill();
      server.restart();
      try (Jedis client = new Jedis(server.host(), server.port())) {
        assertEquals(Map.of("c1", 1L), client.xpending("stream", "group").getConsumerMessageCount());
        assertEquals(List.of("2-0"), read(client, "c1", count(5), START));
        assertEquals(List.of("3-0"), read(client, "c1", count(5), NEW));
        assertEquals("2-0", ids(client.xclaim("stream", "group", "c2", 0, XClaimParams.xClaimParams(),
            new StreamEntryID("2-0"))).get(0));
      }
    }
  }
}
