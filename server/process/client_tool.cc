#include "server/process/client_tool.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/descriptor.h"
#include "base/number_text.h"
#include "base/result.h"
#include "protocol/reply_tree.h"
#include "protocol/request_text.h"
#include "server/config/usage.h"
#include "server/net/tls/client_stream.h"

namespace respite {

namespace {

constexpr size_t kChunk = 65536;
constexpr char kUsage[] =
    "Usage: %s [OPTIONS] COMMAND [WORD...]\n"
    "Sends a command, or without one each line of standard input, and prints the replies.\n"
    "  -h HOST (127.0.0.1), -p PORT (6379), or -s SOCKET\n"
    "  -a, --pass PASSWORD and --user NAME; or REDISCLI_AUTH in the environment has the password\n"
    "  -n NUMBER of the database, -3 for RESP3, -e: exit with 1 if the reply is an error\n"
    "  --tls, with --cacert FILE, --cert FILE, --key FILE, --sni NAME, --insecure\n";

struct Order {
  std::map<std::string, std::string> values;  // by option
  bool speaks_resp3 = false;
  bool errors_count = false;
  bool speaks_tls = false;
  bool is_insecure = false;
  std::vector<std::string> command;

  std::string Value(const char* option, const char* otherwise) const {
    const auto found = values.find(option);
    return found == values.end() ? otherwise : found->second;
  }
};

std::string LongName(const std::string& option) {
  static const std::map<std::string, std::string> kNames = {{"--pass", "-a"}};
  const auto found = kNames.find(option);
  return found == kNames.end() ? option : found->second;
}

bool TakesValue(const std::string& option) {
  constexpr std::array kOptions = {"-h", "-p", "-s", "-a", "--user", "-n", "--cacert", "--cert", "--key", "--sni"};
  return std::ranges::count(kOptions, option) > 0;
}

bool IsFlag(const std::string& option) {
  constexpr std::array kFlags = {"-2", "-3", "-e", "--raw", "--no-raw", "--no-auth-warning", "--tls", "--insecure"};
  return std::ranges::count(kFlags, option) > 0;
}

// Nothing: an option is unknown, or lacks its value.
std::optional<Order> OrderIn(std::span<const std::string> arguments) {
  Order order;
  size_t i = 1;
  for (; i < arguments.size() && arguments[i].starts_with('-'); ++i) {
    const std::string option = LongName(arguments[i]);
    if (TakesValue(option)) {
      if (++i == arguments.size()) return std::nullopt;
      order.values[option] = arguments[i];
    } else if (!IsFlag(option)) {
      return std::nullopt;
    }
    order.speaks_resp3 |= option == "-3";
    order.errors_count |= option == "-e";
    order.speaks_tls |= option == "--tls";
    order.is_insecure |= option == "--insecure";
  }
  for (; i < arguments.size(); ++i) order.command.push_back(arguments[i]);
  return order;
}

Descriptor DialSocket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return Descriptor();
  path.copy(address.sun_path, path.size());
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const bool is_there = connect(socket.Get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  return is_there ? std::move(socket) : Descriptor();
}

// Tries all addresses of the host. A closed descriptor, with errno: none answers.
Descriptor DialHost(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  errno = EHOSTUNREACH;
  if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return Descriptor();
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    Descriptor socket(::socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (connect(socket.Get(), one->ai_addr, one->ai_addrlen) == 0) return socket;
  }
  return Descriptor();
}

// A connection on which each request waits for its reply.
class Conversation {
 public:
  explicit Conversation(ClientStream stream) : stream_(std::move(stream)) {}

  // Nothing: the connection ended, or the reply is none.
  std::optional<ReplyTree> Ask(const std::vector<std::string>& words) {
    std::string request;
    AppendRequest(request, words);
    if (!stream_.Send(request)) return std::nullopt;
    std::array<char, kChunk> chunk;
    while (true) {
      if (auto reply = parser_.Next()) return reply;
      const ssize_t octets = stream_.Receive(chunk);
      if (octets <= 0 || parser_.Failed()) return std::nullopt;
      parser_.Feed({chunk.data(), static_cast<size_t>(octets)});
    }
  }

 private:
  ClientStream stream_;
  ReplyTreeParser parser_;
};

// The text of a reply that is none of several.
std::string PlainText(const ReplyTree& reply) {
  switch (reply.kind) {
    case ReplyKind::kInteger:
      return std::to_string(reply.integer);
    case ReplyKind::kBool:
      return reply.integer != 0 ? "true" : "false";
    case ReplyKind::kDouble:
      return DoubleText(reply.number);
    default:
      return reply.text;
  }
}

// Lines as redis-cli prints them: of a map a line for each key and each value.
void Print(const ReplyTree& reply) {
  const bool is_aggregate = !reply.children.empty() || reply.kind == ReplyKind::kArray ||
                            reply.kind == ReplyKind::kMap || reply.kind == ReplyKind::kSet;
  if (!is_aggregate) {
    const std::string text = PlainText(reply);
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
  if (!is_aggregate || reply.children.empty()) std::fputc('\n', stdout);
  for (const ReplyTree& child : reply.children) Print(child);
}

// AUTH, HELLO and SELECT; an error of them is shown, and the command sent all the same, as redis-cli does.
bool Introduce(Conversation& talk, const Order& order) {
  std::vector<std::vector<std::string>> requests;
  const char* const variable = std::getenv("REDISCLI_AUTH");
  const std::string password = order.Value("-a", variable == nullptr ? "" : variable);
  const std::string user = order.Value("--user", "");
  if (!user.empty()) requests.push_back({"AUTH", user, password});
  if (user.empty() && !password.empty()) requests.push_back({"AUTH", password});
  if (order.speaks_resp3) requests.push_back({"HELLO", "3"});
  if (order.values.contains("-n")) requests.push_back({"SELECT", order.Value("-n", "0")});
  for (const auto& request : requests) {
    const auto reply = talk.Ask(request);
    if (!reply) return false;
    if (reply->IsError()) std::fprintf(stderr, "%s failed: %s\n", request[0].c_str(), reply->text.c_str());
  }
  return true;
}

// Returns the exit code.
int Run(Conversation& talk, const Order& order, const std::vector<std::string>& command) {
  const auto reply = talk.Ask(command);
  if (!reply) {
    std::fputs("Error: Server closed the connection\n", stderr);
    return 1;
  }
  Print(*reply);
  return order.errors_count && reply->IsError() ? 1 : 0;
}

int RunLines(Conversation& talk, const Order& order) {
  for (std::string line; std::getline(std::cin, line);) {
    const auto words = SplitQuoted(line);
    if (!words) std::puts("Invalid argument(s)");
    if (!words || words->empty()) continue;
    if (const int code = Run(talk, order, *words); code != 0) return code;
  }
  return 0;
}

Result<ClientStream, std::string> Connect(const Order& order) {
  const std::string host = order.Value("-h", "127.0.0.1");
  const std::string port = order.Value("-p", "6379");
  const std::string path = order.Value("-s", "");
  const std::string failed = "Could not connect to Redis at " + (path.empty() ? host + ":" + port : path) + ": ";
  Descriptor socket = path.empty() ? DialHost(host, port) : DialSocket(path);
  if (socket.Get() < 0) return Failure(failed + std::strerror(errno));
  ClientStream stream(std::move(socket));
  const ClientTls tls{order.Value("--cacert", ""), order.Value("--cert", ""), order.Value("--key", ""),
                      order.Value("--sni", ""), order.is_insecure};
  const auto objection = order.speaks_tls ? stream.Encrypt(tls) : std::nullopt;
  if (objection) return Failure(failed + *objection);
  return stream;
}

int Converse(const Order& order) {
  auto stream = Connect(order);
  if (!stream.ok()) {
    std::fprintf(stderr, "%s\n", stream.error().c_str());
    return 1;
  }
  Conversation talk(std::move(stream.value()));
  if (!Introduce(talk, order)) {
    std::fputs("Error: Server closed the connection\n", stderr);
    return 1;
  }
  return order.command.empty() ? RunLines(talk, order) : Run(talk, order, order.command);
}

}  // namespace

int RunClient(std::span<const std::string> arguments) {
  if (arguments.size() == 2 && (arguments[1] == "-v" || arguments[1] == "--version")) {
    std::printf("redis-cli %s\n", std::string(kRedisVersion).c_str());
    return 0;
  }
  const auto order = OrderIn(arguments);
  if (!order) {
    std::fprintf(stderr, kUsage, arguments[0].c_str());
    return 1;
  }
  const int code = Converse(*order);
  return std::fflush(stdout) == 0 ? code : 1;
}

}  // namespace respite
