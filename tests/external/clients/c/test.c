#include "test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int tests, failed_tests, failures_of_this_test;

void check(int passed, const char* condition, const char* file, int line) {
  if (passed) return;
  failures_of_this_test++;
  printf("# %s:%d: not so: %s\n", file, line, condition);
}

void check_text(const char* got, const char* want, const char* file, int line) {
  if (got != NULL && strcmp(got, want) == 0) return;
  failures_of_this_test++;
  printf("# %s:%d: got  %s\n# want %s\n", file, line, got ? got : "(null)", want);
}

void check_number(long long got, long long want, const char* file, int line) {
  if (got == want) return;
  failures_of_this_test++;
  printf("# %s:%d: got %lld, want %lld\n", file, line, got, want);
}

void run(const char* name, void (*test)(void)) {
  failures_of_this_test = 0;
  alarm(60);
  test();
  tests++;
  if (failures_of_this_test > 0) failed_tests++;
  printf("%sok %d - %s\n", failures_of_this_test > 0 ? "not " : "", tests, name);
  fflush(stdout);
}

int finish(void) {
  printf("1..%d\n", tests);
  return failed_tests > 0 ? 1 : 0;
}

static const char* environment(const char* name) {
  const char* value = getenv(name);
  if (value == NULL) {
    printf("Bail out! %s is not set\n", name);
    exit(1);
  }
  return value;
}

const char* server_host(void) { return environment("REDIS_HOST"); }

int server_port(void) { return atoi(environment("REDIS_PORT")); }

void pause_ms(long ms) {
  struct timespec span = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&span, NULL);
}

static struct sockaddr_in loopback(int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

static int free_port(void) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (bind(fd, (struct sockaddr*)&address, size) != 0 || getsockname(fd, (struct sockaddr*)&address, &size) != 0) {
    perror("Bail out! no free port");
    exit(1);
  }
  close(fd);
  return ntohs(address.sin_port);
}

/* Does it answer PING? While it loads its data, it says LOADING instead. */
static int answers(int port) {
  char answer = 0;
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = loopback(port);
  int connected = connect(fd, (struct sockaddr*)&address, sizeof address) == 0;
  if (connected && write(fd, "PING\r\n", 6) == 6 && read(fd, &answer, 1) != 1) answer = 0;
  close(fd);
  return answer == '+';
}

struct server server_new(void) {
  struct server server = {.port = free_port(), .folder = "/tmp/clients-c-XXXXXX"};
  if (mkdtemp(server.folder) == NULL) {
    perror("Bail out! no folder");
    exit(1);
  }
  snprintf(server.socket, sizeof server.socket, "%s/socket", server.folder);
  server_start(&server);
  return server;
}

void server_start(struct server* server) {
  char port[8];
  snprintf(port, sizeof port, "%d", server->port);
  const char* program = environment("REDIS_SERVER");
  fflush(stdout);
  server->pid = fork();
  if (server->pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* no server outlives its test */
    if (freopen("/dev/null", "w", stdout) == NULL) _exit(126);
    execl(program, program, "--port", port, "--bind", "127.0.0.1", "--unixsocket", server->socket, "--save", "",
          "--dir", server->folder, "--appendonly", "yes", "--appendfsync", "always", (char*)NULL);
    _exit(127);
  }
  for (int i = 0; i < 1000 && !answers(server->port); i++) pause_ms(10);
}

void server_kill(struct server* server) {
  if (server->pid <= 0) return;
  kill(server->pid, SIGKILL);
  waitpid(server->pid, NULL, 0);
  server->pid = 0;
}

void server_end(struct server* server) {
  server_kill(server);
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", server->folder);
  if (system(command) != 0) printf("# %s is left\n", server->folder);
}
