// A loop that only receives each request and answers +OK. Its cost is the kernel's cost for any server.
//
//   bare_loop --port PORT [anything]
//
// bench/peers.py sends it the same requests as all servers. It counts requests by asterisks before digits, which
// arguments must not contain, and processes all requests that one read returns. As in servers, all replies of a round
// leave after the last request.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::string_view kReply = "+OK\r\n";
constexpr int kMaxEventsPerRound = 128;

struct Answer {
  int socket;
  size_t requests;
};

int Listen(uint16_t port) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  const int on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || listen(listener, 511) != 0) {
    std::perror("bare_loop");
    std::exit(1);
  }
  return listener;
}

size_t CountRequests(std::string_view text) {
  size_t count = 0;
  for (size_t at = text.find('*'); at != text.npos; at = text.find('*', at + 1)) {
    const bool is_last = at + 1 == text.size();
    if (is_last || (text[at + 1] >= '0' && text[at + 1] <= '9')) ++count;
  }
  return count;
}

void Watch(int poller, int socket) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = socket;
  epoll_ctl(poller, EPOLL_CTL_ADD, socket, &event);
}

void Accept(int poller, int listener) {
  const int socket = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK);
  if (socket < 0) return;
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  Watch(poller, socket);
}

[[noreturn]] void Run(int listener) {
  const int poller = epoll_create1(0);
  Watch(poller, listener);
  std::string replies;
  std::vector<char> scratch(64 * 1024);
  std::vector<Answer> answers;
  std::array<epoll_event, kMaxEventsPerRound> events;
  for (;;) {
    const int ready = epoll_wait(poller, events.data(), kMaxEventsPerRound, -1);
    answers.clear();
    for (int i = 0; i < ready; ++i) {
      const int socket = events[static_cast<size_t>(i)].data.fd;
      if (socket == listener) {
        Accept(poller, listener);
        continue;
      }
      const ssize_t received = recv(socket, scratch.data(), scratch.size(), 0);
      if (received <= 0) {
        close(socket);
        continue;
      }
      answers.push_back({socket, CountRequests({scratch.data(), static_cast<size_t>(received)})});
    }
    for (const Answer& answer : answers) {
      while (replies.size() < answer.requests * kReply.size()) replies += kReply;
      if (send(answer.socket, replies.data(), answer.requests * kReply.size(), MSG_NOSIGNAL) < 0) close(answer.socket);
    }
  }
}

}  // namespace

int main(int count, char** words) {
  for (int i = 1; i + 1 < count; ++i) {
    if (std::string_view(words[i]) == "--port") Run(Listen(static_cast<uint16_t>(std::atoi(words[i + 1]))));
  }
  std::fputs("usage: bare_loop --port PORT\n", stderr);
  return 2;
}
