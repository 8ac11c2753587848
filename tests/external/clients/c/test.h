/* The little that the C tests share: results as TAP, and servers of their own. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* Notes a failed condition; the test goes on, and is not ok in the end. */
#define CHECK(condition) check((condition) ? 1 : 0, #condition, __FILE__, __LINE__)
/* The same for two C strings, showing both. */
#define CHECK_TEXT(got, want) check_text((got), (want), __FILE__, __LINE__)
/* The same for two integers. */
#define CHECK_NUMBER(got, want) check_number((got), (want), __FILE__, __LINE__)

void check(int passed, const char* condition, const char* file, int line);
void check_text(const char* got, const char* want, const char* file, int line);
void check_number(long long got, long long want, const char* file, int line);

/* Runs one test and prints its TAP line. A signal or a hang ends the program, which the missing plan tells. */
void run(const char* name, void (*test)(void));

/* Prints the plan; the program's exit code. */
int finish(void);

/* The server that runs for the suite. */
const char* server_host(void);
int server_port(void);

/* A server of a test's own: its folder (with a unix socket "socket" in it) stays over kill and start. */
struct server {
  pid_t pid;
  int port;
  char folder[64];
  char socket[80];
};

struct server server_new(void);
void server_start(struct server* server);
void server_kill(struct server* server);
void server_end(struct server* server);

/* Sleeps for some milliseconds, between two looks at something. */
void pause_ms(long ms);
