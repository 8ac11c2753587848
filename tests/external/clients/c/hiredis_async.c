/* hiredis with callbacks, driven by libevent. */
#include <event2/event.h>
#include <hiredis/adapters/libevent.h>
#include <hiredis/async.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

static struct event_base* base;

/* What the callbacks of one test have seen. */
static struct {
  int replies, in_order, nulls, connected, disconnected, disconnect_status;
  char text[2000]; /* replies, flattened, one after the other */
} seen;

static void on_connect(const redisAsyncContext* ac, int status) {
  (void)ac;
  seen.connected = status == REDIS_OK;
}

static void on_disconnect(const redisAsyncContext* ac, int status) {
  (void)ac;
  seen.disconnected = 1;
  seen.disconnect_status = status;
}

static redisAsyncContext* connect_to(int port) {
  redisAsyncContext* ac = redisAsyncConnect("127.0.0.1", port);
  redisLibeventAttach(ac, base);
  redisAsyncSetConnectCallback(ac, on_connect);
  redisAsyncSetDisconnectCallback(ac, on_disconnect);
  return ac;
}

/* Lets events happen until the condition holds, ten seconds at most. */
#define UNTIL(condition)                                                \
  do {                                                                  \
    for (int turns = 0; turns < 10000 && !(condition); turns++) turn(); \
    CHECK(condition);                                                   \
  } while (0)

static void turn(void) {
  event_base_loop(base, EVLOOP_NONBLOCK);
  pause_ms(1);
}

static void append(const redisReply* reply) {
  char* end = seen.text + strlen(seen.text);
  size_t room = sizeof seen.text - strlen(seen.text);
  if (reply->type == REDIS_REPLY_ARRAY) {
    for (size_t i = 0; i < reply->elements; i++) append(reply->element[i]);
  } else if (reply->type == REDIS_REPLY_INTEGER) {
    snprintf(end, room, "%lld ", reply->integer);
  } else {
    snprintf(end, room, "%s ", reply->type == REDIS_REPLY_NIL ? "(nil)" : reply->str);
  }
}

static void collect(redisAsyncContext* ac, void* reply, void* privdata) {
  (void)ac;
  (void)privdata;
  seen.replies++;
  if (reply == NULL) {
    seen.nulls++;
  } else {
    append(reply);
  }
}

static void count_in_order(redisAsyncContext* ac, void* reply, void* privdata) {
  (void)ac;
  seen.in_order += reply != NULL && ((redisReply*)reply)->integer == *(int*)privdata;
  seen.replies++;
}

static void replies_in_order(void) {
  static int expected[5000];
  redisAsyncContext* ac = connect_to(server_port());
  redisAsyncCommand(ac, NULL, NULL, "DEL n");
  for (int i = 0; i < 5000; i++) {
    expected[i] = i + 1;
    redisAsyncCommand(ac, count_in_order, &expected[i], "INCR n");
  }
  UNTIL(seen.replies == 5000);
  CHECK_NUMBER(seen.in_order, 5000);
  CHECK(seen.connected);
  redisAsyncDisconnect(ac);
  UNTIL(seen.disconnected);
  CHECK_NUMBER(seen.disconnect_status, REDIS_OK);
}

static void disconnect_waits_for_replies(void) {
  redisAsyncContext* ac = connect_to(server_port());
  redisAsyncCommand(ac, collect, NULL, "ECHO one");
  redisAsyncCommand(ac, collect, NULL, "ECHO two");
  UNTIL(seen.connected);
  redisAsyncCommand(ac, collect, NULL, "ECHO three");
  redisAsyncDisconnect(ac);
  UNTIL(seen.disconnected);
  CHECK_TEXT(seen.text, "one two three ");
}

static void subscribe_and_back(void) {
  redisAsyncContext* ac = connect_to(server_port());
  redisAsyncContext* publisher = connect_to(server_port());
  redisAsyncCommand(ac, collect, NULL, "SUBSCRIBE news");
  redisAsyncCommand(ac, collect, NULL, "PSUBSCRIBE order.*");
  UNTIL(seen.replies == 2);
  CHECK_TEXT(seen.text, "subscribe news 1 psubscribe order.* 2 ");
  seen.text[0] = '\0';
  redisAsyncCommand(publisher, NULL, NULL, "PUBLISH news hello");
  redisAsyncCommand(publisher, NULL, NULL, "PUBLISH order.paid 7");
  UNTIL(seen.replies == 4);
  CHECK_TEXT(seen.text, "message news hello pmessage order.* order.paid 7 ");
  seen.text[0] = '\0';
  redisAsyncCommand(ac, NULL, NULL, "UNSUBSCRIBE news");
  redisAsyncCommand(ac, NULL, NULL, "PUNSUBSCRIBE order.*");
  UNTIL(seen.replies == 6);
  CHECK_TEXT(seen.text, "unsubscribe news 1 punsubscribe order.* 0 ");
  seen.text[0] = '\0';
  redisAsyncCommand(ac, collect, NULL, "ECHO commands-again");
  UNTIL(seen.replies == 7);
  CHECK_TEXT(seen.text, "commands-again ");
  redisAsyncFree(ac);
  redisAsyncFree(publisher);
}

static void blocked_pop_is_woken(void) {
  redisAsyncContext* waiter = connect_to(server_port());
  redisAsyncContext* pusher = connect_to(server_port());
  redisAsyncCommand(pusher, NULL, NULL, "DEL queue");
  redisAsyncCommand(waiter, collect, NULL, "BRPOP queue 0");
  redisAsyncCommand(waiter, collect, NULL, "ECHO after");
  for (int i = 0; i < 50; i++) turn();
  CHECK_NUMBER(seen.replies, 0);
  redisAsyncCommand(pusher, NULL, NULL, "LPUSH queue job");
  UNTIL(seen.replies == 2);
  CHECK_TEXT(seen.text, "queue job after ");
  redisAsyncFree(waiter);
  redisAsyncFree(pusher);
}

static void transaction(void) {
  redisAsyncContext* ac = connect_to(server_port());
  redisAsyncCommand(ac, collect, NULL, "MULTI");
  redisAsyncCommand(ac, collect, NULL, "SET balance 10");
  redisAsyncCommand(ac, collect, NULL, "DECRBY balance 3");
  redisAsyncCommand(ac, collect, NULL, "EXEC");
  UNTIL(seen.replies == 4);
  CHECK_TEXT(seen.text, "OK QUEUED QUEUED OK 7 ");
  redisAsyncFree(ac);
}

static void monitor(void) {
  redisAsyncContext* ac = connect_to(server_port());
  redisAsyncContext* other = connect_to(server_port());
  redisAsyncCommand(ac, collect, NULL, "MONITOR");
  UNTIL(seen.replies == 1);
  redisAsyncCommand(other, NULL, NULL, "SET qingshan 2673");
  UNTIL(strstr(seen.text, "\"SET\" \"qingshan\" \"2673\"") != NULL);
  redisAsyncFree(ac);
  redisAsyncFree(other);
}

static void a_crash_ends_pending_callbacks(void) {
  struct server server = server_new();
  redisAsyncContext* ac = connect_to(server.port);
  redisAsyncCommand(ac, collect, NULL, "BLPOP empty 0");
  redisAsyncCommand(ac, collect, NULL, "PING");
  for (int i = 0; i < 50; i++) turn();
  CHECK(seen.connected);
  server_kill(&server);
  UNTIL(seen.disconnected);
  CHECK_NUMBER(seen.nulls, 2);
  CHECK_NUMBER(seen.disconnect_status, REDIS_ERR);
  server_end(&server);
}

static void client_kill(void) {
  redisAsyncContext* victim = connect_to(server_port());
  redisAsyncContext* killer = connect_to(server_port());
  redisAsyncCommand(victim, collect, NULL, "CLIENT ID");
  UNTIL(seen.replies == 1);
  redisAsyncCommand(killer, collect, NULL, "CLIENT KILL ID %lld", strtoll(seen.text, NULL, 10));
  UNTIL(seen.disconnected);
  redisAsyncFree(killer);
}

static void fresh(const char* name, void (*test)(void)) {
  memset(&seen, 0, sizeof seen);
  run(name, test);
}

int main(void) {
  signal(SIGPIPE, SIG_IGN);
  base = event_base_new();
  fresh("5000 replies come in order", replies_in_order);
  fresh("disconnecting waits for the replies", disconnect_waits_for_replies);
  fresh("subscribing, and back to commands", subscribe_and_back);
  fresh("a blocked pop is woken", blocked_pop_is_woken);
  fresh("a transaction", transaction);
  fresh("MONITOR", monitor);
  fresh("a crash ends pending callbacks", a_crash_ends_pending_callbacks);
  fresh("CLIENT KILL disconnects", client_kill);
  event_base_free(base);
  return finish();
}
