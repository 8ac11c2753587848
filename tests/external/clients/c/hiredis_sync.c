/* hiredis with blocking connections. */
#include <errno.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

static redisContext* c; /* to the suite's server, which every test finds empty */

/* A command whose reply the next call frees. */
static redisReply* call(const char* format, ...) {
  static redisReply* reply;
  if (reply != NULL) freeReplyObject(reply);
  va_list arguments;
  va_start(arguments, format);
  reply = redisvCommand(c, format, arguments);
  va_end(arguments);
  if (reply == NULL) {
    printf("Bail out! %s: %s\n", format, c->errstr);
    exit(1);
  }
  return reply;
}

static redisReply* next_reply(redisContext* context) {
  void* reply = NULL;
  return redisGetReply(context, &reply) == REDIS_OK ? reply : NULL;
}

static struct timeval milliseconds(long ms) { return (struct timeval){ms / 1000, ms % 1000 * 1000}; }

static void every_type_of_reply(void) {
  CHECK(call("SET name %s", "虎哥")->type == REDIS_REPLY_STATUS);
  CHECK_TEXT(call("SET name %s", "虎哥")->str, "OK");
  CHECK_TEXT(call("GET name")->str, "虎哥");
  CHECK(call("GET none")->type == REDIS_REPLY_NIL);
  redisReply* reply = call("INCR counter");
  CHECK(reply->type == REDIS_REPLY_INTEGER && reply->integer == 1);
  reply = call("INCR name");
  CHECK(reply->type == REDIS_REPLY_ERROR);
  CHECK_TEXT(reply->str, "ERR value is not an integer or out of range");
  reply =
      call("EVAL %s 0", "return {1, 'two', {3, {}}, false, redis.status_reply('FINE'), redis.error_reply('BAD x')}");
  CHECK(reply->type == REDIS_REPLY_ARRAY && reply->elements == 6);
  CHECK(reply->element[2]->element[1]->type == REDIS_REPLY_ARRAY && reply->element[2]->element[1]->elements == 0);
  CHECK(reply->element[3]->type == REDIS_REPLY_NIL);
  CHECK(reply->element[4]->type == REDIS_REPLY_STATUS);
  CHECK(reply->element[5]->type == REDIS_REPLY_ERROR);
  CHECK_TEXT(reply->element[5]->str, "BAD x");
}

static void binary_arguments(void) {
  const char bytes[] = "\0\r\n\xff*1\r\n";
  call("SET %b %b", bytes, sizeof bytes, bytes, sizeof bytes);
  redisReply* reply = call("GET %b", bytes, sizeof bytes);
  CHECK(reply->len == sizeof bytes && memcmp(reply->str, bytes, sizeof bytes) == 0);
  CHECK_NUMBER(call("SET empty %s", "")->type, REDIS_REPLY_STATUS);
  reply = call("GET empty");
  CHECK(reply->type == REDIS_REPLY_STRING && reply->len == 0);
}

static void pipeline_of_20000(void) {
  for (int i = 0; i < 10000; i++) {
    redisAppendCommand(c, "SET k%d %d", i, i);
    redisAppendCommand(c, "GET k%d", i);
  }
  int in_order = 0;
  for (int i = 0; i < 10000; i++) {
    redisReply* ok = next_reply(c);
    redisReply* value = next_reply(c);
    in_order += ok != NULL && value != NULL && value->str != NULL && atoi(value->str) == i;
    freeReplyObject(ok);
    freeReplyObject(value);
  }
  CHECK_NUMBER(in_order, 10000);
}

static void big_replies(void) {
  size_t size = 32u << 20;
  char* big = malloc(size);
  memset(big, 'x', size);
  call("SET big %b", big, size);
  redisReply* reply = call("GET big");
  CHECK(reply->len == size && memcmp(reply->str, big, size) == 0);
  free(big);
  call("EVAL %s 1 list", "for i = 1, 100000 do redis.call('rpush', KEYS[1], i) end");
  reply = call("LRANGE list 0 -1");
  CHECK_NUMBER((long long)reply->elements, 100000);
  CHECK_TEXT(reply->element[99999]->str, "100000");
}

static void transactions(void) {
  CHECK_TEXT(call("MULTI")->str, "OK");
  CHECK_TEXT(call("SET k text")->str, "QUEUED");
  CHECK_TEXT(call("INCR k")->str, "QUEUED");
  CHECK_TEXT(call("LRANGE none 0 -1")->str, "QUEUED");
  redisReply* reply = call("EXEC");
  CHECK_NUMBER((long long)reply->elements, 3);
  CHECK_TEXT(reply->element[1]->str, "ERR value is not an integer or out of range");
  CHECK_TEXT(call("EXEC")->str, "ERR EXEC without MULTI");
  call("MULTI");
  CHECK_TEXT(call("NOSUCH a b")->str, "ERR unknown command 'NOSUCH', with args beginning with: 'a' 'b' ");
  CHECK_TEXT(call("EXEC")->str, "EXECABORT Transaction discarded because of previous errors.");

  redisContext* other = redisConnect(server_host(), server_port());
  call("WATCH balance");
  freeReplyObject(redisCommand(other, "SET balance 1"));
  call("MULTI");
  call("SET balance 2");
  CHECK(call("EXEC")->type == REDIS_REPLY_NIL);
  redisFree(other);
}

static void scripts(void) {
  CHECK_TEXT(call("EVALSHA 0000000000000000000000000000000000000000 0")->str,
             "NOSCRIPT No matching script. Please use EVAL.");
  char sha[41];
  snprintf(sha, sizeof sha, "%s", call("SCRIPT LOAD %s", "return {KEYS[1], ARGV[1] + 1}")->str);
  redisReply* reply = call("EVALSHA %s 1 k 41", sha);
  CHECK_TEXT(reply->element[0]->str, "k");
  CHECK_NUMBER(reply->element[1]->integer, 42);
}

static void subscriptions(void) {
  redisContext* publisher = redisConnect(server_host(), server_port());
  redisReply* reply = call("SUBSCRIBE order_channel");
  CHECK_TEXT(reply->element[0]->str, "subscribe");
  CHECK_NUMBER(reply->element[2]->integer, 1);
  CHECK_TEXT(call("PSUBSCRIBE order.*")->element[0]->str, "psubscribe");
  CHECK_TEXT(call("GET k")->str,
             "ERR Can't execute 'get': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET "
             "are allowed in this context");
  freeReplyObject(redisCommand(publisher, "PUBLISH order_channel %s", "New order: #12345"));
  freeReplyObject(redisCommand(publisher, "PUBLISH order.paid 7"));
  reply = next_reply(c);
  CHECK_TEXT(reply->element[2]->str, "New order: #12345");
  freeReplyObject(reply);
  reply = next_reply(c);
  CHECK_TEXT(reply->element[1]->str, "order.*");
  CHECK_TEXT(reply->element[3]->str, "7");
  freeReplyObject(reply);
  CHECK_TEXT(call("PING alive")->element[1]->str, "alive");
  call("UNSUBSCRIBE");
  CHECK_NUMBER(call("PUNSUBSCRIBE")->element[2]->integer, 0);
  CHECK(call("GET k")->type == REDIS_REPLY_NIL);
  redisFree(publisher);
}

static void monitor(void) {
  redisContext* watcher = redisConnect(server_host(), server_port());
  redisReply* reply = redisCommand(watcher, "MONITOR");
  CHECK_TEXT(reply->str, "OK");
  freeReplyObject(reply);
  call("set qingshan %b", "26\"73\n", (size_t)6);
  reply = next_reply(watcher);
  CHECK(reply->type == REDIS_REPLY_STATUS);
  double when;
  int db, port, rest = 0;
  CHECK(sscanf(reply->str, "%lf [%d 127.0.0.1:%d] %n", &when, &db, &port, &rest) == 3 && db == 0);
  CHECK_TEXT(reply->str + rest, "\"set\" \"qingshan\" \"26\\\"73\\n\"");
  freeReplyObject(reply);
  redisFree(watcher);
}

static void timeouts(void) {
  redisContext* slow = redisConnect(server_host(), server_port());
  CHECK(redisSetTimeout(slow, milliseconds(100)) == REDIS_OK);
  CHECK(redisCommand(slow, "BLPOP empty 0") == NULL);
  CHECK(slow->err == REDIS_ERR_IO && errno == EAGAIN);
  CHECK(redisReconnect(slow) == REDIS_OK);
  redisReply* reply = redisCommand(slow, "BLPOP empty 0.05");
  CHECK(reply != NULL && reply->type == REDIS_REPLY_NIL);
  freeReplyObject(reply);
  redisFree(slow);
}

static void crash_and_reconnect(void) {
  struct server server = server_new();
  redisContext* own = redisConnectWithTimeout("127.0.0.1", server.port, milliseconds(2000));
  freeReplyObject(redisCommand(own, "SET k v"));
  server_kill(&server);
  CHECK(redisCommand(own, "GET k") == NULL);
  CHECK(own->err == REDIS_ERR_EOF || own->err == REDIS_ERR_IO);
  CHECK(redisReconnect(own) == REDIS_ERR);
  CHECK_TEXT(own->errstr, "Connection refused");
  server_start(&server);
  CHECK(redisReconnect(own) == REDIS_OK);
  redisReply* reply = redisCommand(own, "GET k");
  CHECK_TEXT(reply->str, "v");
  freeReplyObject(reply);
  redisFree(own);
  server_end(&server);
}

static void shutdown_closes_without_a_reply(void) {
  struct server server = server_new();
  redisContext* own = redisConnect("127.0.0.1", server.port);
  CHECK(redisCommand(own, "SHUTDOWN NOSAVE") == NULL);
  CHECK(own->err == REDIS_ERR_EOF);
  CHECK_TEXT(own->errstr, "Server closed the connection");
  redisFree(own);
  server_end(&server);
}

static void unix_socket(void) {
  struct server server = server_new();
  redisContext* own = redisConnectUnix(server.socket);
  CHECK_NUMBER(own->err, 0);
  redisReply* reply = redisCommand(own, "CLIENT INFO");
  CHECK(reply != NULL && strstr(reply->str, server.socket) != NULL && strstr(reply->str, " flags=U") != NULL);
  freeReplyObject(reply);
  redisFree(own);
  server_end(&server);
}

static void answers_to_broken_requests(void) {
  static const struct {
    const char *request, *answer;
  } cases[] = {{"*1\r\n$-5\r\n", "ERR Protocol error: invalid bulk length"},
               {"*x\r\n", "ERR Protocol error: invalid multibulk length"},
               {"*1\r\n:1\r\n", "ERR Protocol error: expected '$', got ':'"},
               {"SET k \"open\r\n", "ERR Protocol error: unbalanced quotes in request"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    redisContext* broken = redisConnect(server_host(), server_port());
    redisAppendFormattedCommand(broken, cases[i].request, strlen(cases[i].request));
    redisReply* reply = next_reply(broken);
    CHECK_TEXT(reply ? reply->str : NULL, cases[i].answer);
    freeReplyObject(reply);
    CHECK(next_reply(broken) == NULL && broken->err == REDIS_ERR_EOF);
    redisFree(broken);
  }
}

static void resp3_is_an_error_for_this_reader(void) {
  redisContext* modern = redisConnect(server_host(), server_port());
  CHECK(redisCommand(modern, "HELLO 3") == NULL);
  CHECK(modern->err == REDIS_ERR_PROTOCOL);
  CHECK_TEXT(modern->errstr, "Protocol error, got \"%\" as reply type byte");
  redisFree(modern);
}

static void fed_byte_by_byte(void) {
  char* request;
  int size = redisFormatCommand(&request, "SET %s %s", "qingshan", "2673");
  CHECK_TEXT(request, "*3\r\n$3\r\nSET\r\n$8\r\nqingshan\r\n$4\r\n2673\r\n");
  for (int i = 0; i < size; i++) {
    CHECK(write(c->fd, request + i, 1) == 1);
    if (i % 8 == 0) pause_ms(1);
  }
  redisReply* reply = next_reply(c);
  CHECK_TEXT(reply ? reply->str : NULL, "OK");
  freeReplyObject(reply);
  redisFreeCommand(request);
  CHECK_TEXT(call("GET qingshan")->str, "2673");
}

static void stream_group(void) {
  CHECK_TEXT(call("XGROUP CREATE orders g $ MKSTREAM")->str, "OK");
  CHECK_TEXT(call("XADD orders 1-1 userId 1001")->str, "1-1");
  redisReply* reply = call("XREADGROUP GROUP g c COUNT 1 BLOCK 2000 STREAMS orders >");
  redisReply* entry = reply->element[0]->element[1]->element[0];
  CHECK_TEXT(entry->element[0]->str, "1-1");
  CHECK_TEXT(entry->element[1]->element[1]->str, "1001");
  CHECK_NUMBER(call("XPENDING orders g")->element[0]->integer, 1);
  CHECK_NUMBER(call("XACK orders g 1-1")->integer, 1);
  CHECK(call("XREADGROUP GROUP g c BLOCK 10 STREAMS orders >")->type == REDIS_REPLY_NIL);
}

static void run_on_empty(const char* name, void (*test)(void)) {
  call("FLUSHALL");
  run(name, test);
}

int main(void) {
  c = redisConnect(server_host(), server_port());
  if (c == NULL || c->err) {
    printf("Bail out! no server\n");
    return 1;
  }
  run_on_empty("every type of reply", every_type_of_reply);
  run_on_empty("binary arguments", binary_arguments);
  run_on_empty("a pipeline of 20000 keeps the order", pipeline_of_20000);
  run_on_empty("big replies", big_replies);
  run_on_empty("transactions", transactions);
  run_on_empty("scripts", scripts);
  run_on_empty("subscriptions", subscriptions);
  run_on_empty("MONITOR", monitor);
  run_on_empty("a consumer group", stream_group);
  run_on_empty("timeouts and reconnecting", timeouts);
  run_on_empty("reconnecting after a crash", crash_and_reconnect);
  run_on_empty("SHUTDOWN closes without a reply", shutdown_closes_without_a_reply);
  run_on_empty("a unix socket", unix_socket);
  run_on_empty("answers to broken requests", answers_to_broken_requests);
  run_on_empty("RESP3 is an error for this reader", resp3_is_an_error_for_this_reader);
  run_on_empty("a request byte by byte", fed_byte_by_byte);
  redisFree(c);
  return finish();
}
