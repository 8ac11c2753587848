#include "server/tools/client_session.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/bytes.h"
#include "base/descriptor.h"
#include "protocol/request_text.h"
#include "server/tools/client_prompt.h"

namespace respite {

namespace {

constexpr size_t kClientChunk = 65536;

Descriptor ConnectToSocket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return Descriptor();
  path.copy(address.sun_path, path.size());
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const bool is_there = connect(socket.Get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  return is_there ? std::move(socket) : Descriptor();
}

// Connects to the first address of the host that accepts a connection. If none does, returns a closed descriptor and
// sets errno.
Descriptor ConnectToHost(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) {
    errno = EHOSTUNREACH;  // getaddrinfo may have left 0
    return Descriptor();
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    Descriptor socket(::socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (connect(socket.Get(), one->ai_addr, one->ai_addrlen) == 0) return socket;
  }
  return Descriptor();
}

// Returns true if the reply to the command is a text of several lines for people, as from INFO. Such a text is printed
// unchanged, even if other replies are formatted.
bool RepliesWithLines(const std::vector<std::string>& words) {
  static const std::map<std::string, std::vector<std::string>> kCommands = {
      {"INFO", {}},
      {"LOLWUT", {}},
      {"CLIENT", {"LIST", "INFO"}},
      {"CLUSTER", {"INFO", "NODES"}},
      {"DEBUG", {"HTSTATS", "HTSTATS-KEY", "CLIENT-EVICTION"}},
      {"LATENCY", {"GRAPH", "DOCTOR"}},
      {"MEMORY", {"MALLOC-STATS", "DOCTOR"}}};
  const auto found = kCommands.find(ToUpper(words[0]));
  if (found == kCommands.end()) return false;
  return found->second.empty() || (words.size() > 1 && std::ranges::count(found->second, ToUpper(words[1])) > 0);
}

bool IsCommand(const std::vector<std::string>& words, std::string_view name) {
  return EqualsIgnoreCase(words[0], name);
}

void WriteOut(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

bool IsSubscription(const std::vector<std::string>& words) {
  return IsCommand(words, "SUBSCRIBE") || IsCommand(words, "PSUBSCRIBE") || IsCommand(words, "SSUBSCRIBE");
}

}  // namespace

bool ClientConnection::Send(const std::vector<std::string>& words) {
  std::string request;
  AppendRequest(request, words);
  return stream_.Send(request);
}

std::optional<ReplyTree> ClientConnection::Receive() {
  std::array<char, kClientChunk> chunk;
  while (true) {
    if (auto reply = parser_.Next()) return reply;
    if (parser_.Failed()) return std::nullopt;
    const ssize_t bytes = stream_.Receive(chunk);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return std::nullopt;
    parser_.Feed({chunk.data(), static_cast<size_t>(bytes)});
  }
}

std::string ClientConnection::Error() const {
  return parser_.Failed() ? "Protocol error, " + parser_.Error() : "Server closed the connection";
}

ClientSession::ClientSession(ClientOptions& options, bool reads_lines) : options_(options), reads_lines_(reads_lines) {
  const char* const variable = std::getenv("REDISCLI_AUTH");
  if (variable != nullptr) options_.values.try_emplace("-a", variable);
  database_ = options_.Value("-n", "0");
}

void ClientSession::ConnectTo(const std::string& host, const std::string& port) {
  options_.values["-h"] = host;
  options_.values["-p"] = port;
  options_.values.erase("-s");
  Connect();
}

void ClientSession::DropConnection() {
  connection_.reset();
  is_in_transaction_ = false;
  queued_database_.reset();
}

std::string ClientSession::Address() const {
  const std::string host = options_.Value("-h", "127.0.0.1");
  const std::string shown = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return shown + ":" + options_.Value("-p", "6379");
}

std::string ClientSession::Prompt() const {
  if (!connection_) return "not connected> ";
  const std::string path = options_.Value("-s", "");
  std::string prompt = path.empty() ? Address() : "redis " + path;
  if (database_ != "0") prompt += "[" + database_ + "]";
  return prompt + (is_in_transaction_ ? "(TX)> " : "> ");
}

Result<ClientStream, std::string> ClientSession::ConnectStream() const {
  const std::string host = options_.Value("-h", "127.0.0.1");
  const std::string port = options_.Value("-p", "6379");
  const std::string path = options_.Value("-s", "");
  const std::string failed = "Could not connect to Redis at " + (path.empty() ? host + ":" + port : path) + ": ";
  Descriptor socket = path.empty() ? ConnectToHost(host, port) : ConnectToSocket(path);
  if (socket.Get() < 0) return Failure(failed + std::strerror(errno));
  ClientStream stream(std::move(socket));
  const ClientTls tls{options_.Value("--cacert", ""), options_.Value("--cert", ""), options_.Value("--key", ""),
                      options_.Value("--sni", ""), options_.is_insecure};
  const auto objection = options_.speaks_tls ? stream.Encrypt(tls) : std::nullopt;
  if (objection) return Failure(failed + *objection);
  return stream;
}

bool ClientSession::Connect() {
  DropConnection();
  auto stream = ConnectStream();
  if (!stream.ok()) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s\n", stream.error().c_str());
    return false;
  }
  connection_.emplace(std::move(stream.value()));
  if (SendHandshake()) return true;
  std::fputs("Error: Server closed the connection\n", stderr);
  DropConnection();
  return false;
}

// Sends AUTH, HELLO and SELECT if the options demand them. After an error reply, prints the error and continues with
// the next of them, as redis-cli does.
bool ClientSession::SendHandshake() {
  const std::string password = options_.Value("-a", "");
  const std::string user = options_.Value("--user", "");
  if (!user.empty() && !SendHandshakeCommand({"AUTH", user, password}, "AUTH")) return false;
  if (user.empty() && !password.empty() && !SendHandshakeCommand({"AUTH", password}, "AUTH")) return false;
  if (options_.speaks_resp3 && !SendHandshakeCommand({"HELLO", "3"}, "HELLO 3")) return false;
  return database_ == "0" || SendHandshakeCommand({"SELECT", database_}, "SELECT " + database_);
}

bool ClientSession::SendHandshakeCommand(const std::vector<std::string>& request, const std::string& title) {
  if (!connection_->Send(request)) return false;
  const auto reply = connection_->Receive();
  if (!reply) return false;
  if (!reply->IsError()) return true;
  std::fprintf(stderr, "%s failed: %s\n", title.c_str(), reply->text.c_str());
  if (request[0] == "SELECT") database_ = "0";
  return true;
}

// Waits for the reply to a command, and returns it. Push messages that arrive before are printed, if the options demand
// it, and not returned.
std::optional<ReplyTree> ClientSession::ReceiveReply() {
  while (auto reply = connection_->Receive()) {
    if (reply->kind != ReplyKind::kPush) return reply;
    if (options_.shows_pushes) WriteOut(PushText(*reply, options_.style));
  }
  return std::nullopt;
}

void ClientSession::Print(const ReplyTree& reply, const std::vector<std::string>& words) const {
  if (options_.fails_on_error && reply.IsError() && !reads_lines_) {
    std::fprintf(stderr, "%s\n", reply.text.c_str());
    return;
  }
  const std::string text = RepliesWithLines(words) ? RawReplyText(reply, options_.style.element_delimiter)
                                                   : ReplyText(reply, options_.style);
  WriteOut(text);
  std::fflush(stdout);
}

// Handles a connection that ended before the reply, and returns the exit code. After Ctrl-C, connects again and returns
// 1. After SHUTDOWN, which ends the connection normally, returns 0. Otherwise prints the error and returns 1.
int ClientSession::HandleLostConnection(const std::vector<std::string>& words) {
  const std::string error = connection_->Error();
  DropConnection();
  if (TakeInterrupt()) {
    std::fputs("\n", stdout);
    Connect();
    return 1;
  }
  if (IsCommand(words, "SHUTDOWN")) return 0;
  std::fflush(stdout);
  std::fprintf(stderr, "Error: %s\n", error.c_str());
  return 1;
}

// Prints what the server sends until the connection ends, Ctrl-C is pressed, or an error arrives. Returns the exit
// code.
int ClientSession::PrintUntilInterrupted(const std::vector<std::string>& words) {
  if (IsSubscription(words) && options_.style.format != ReplyFormat::kRaw)
    std::fputs("Reading messages... (press Ctrl-C to quit)\n", stdout);
  std::fflush(stdout);
  while (const auto message = connection_->Receive()) {
    Print(*message, words);
    if (message->IsError()) return options_.fails_on_error ? 1 : 0;  // the command was refused
    if (std::ferror(stdout) != 0) return 1;
  }
  return HandleLostConnection(words);
}

// Remembers the login of an accepted AUTH or HELLO … AUTH. `words`: [user] password.
void ClientSession::RememberLogin(std::span<const std::string> words) {
  if (words.empty()) return;
  options_.values["-a"] = words.back();
  options_.values.erase("--user");
  if (words.size() == 2) options_.values["--user"] = words[0];
}

// Remembers what the prompt shows and a new connection needs: login, protocol, database and transaction.
void ClientSession::RememberState(const std::vector<std::string>& words, const ReplyTree& reply) {
  const bool ends = IsCommand(words, "EXEC") || IsCommand(words, "DISCARD");
  if (ends && is_in_transaction_ && !(reply.IsError() && reply.text.starts_with("ERR "))) {
    if (reply.kind == ReplyKind::kArray && queued_database_) database_ = *queued_database_;
    is_in_transaction_ = false;
    queued_database_.reset();
  }
  if (reply.IsError()) return;
  if (IsCommand(words, "MULTI")) is_in_transaction_ = true;
  if (IsCommand(words, "SELECT") && words.size() == 2) {
    if (is_in_transaction_) {
      queued_database_ = words[1];
    } else {
      database_ = words[1];
    }
  }
  if (IsCommand(words, "AUTH")) RememberLogin(std::span(words).subspan(1));
  if (IsCommand(words, "HELLO") && words.size() > 1) {
    options_.speaks_resp3 = words[1] == "3";
    for (size_t i = 2; i + 2 < words.size(); ++i)
      if (EqualsIgnoreCase(words[i], "AUTH")) RememberLogin(std::span(words).subspan(i + 1, 2));
  }
  if (IsCommand(words, "RESET")) {
    is_in_transaction_ = options_.speaks_resp3 = false;
    queued_database_.reset();
    database_ = "0";
  }
}

int ClientSession::Run(const std::vector<std::string>& words) {
  if (connection_ && connection_->HasEnded()) {
    const bool had_transaction = is_in_transaction_;
    DropConnection();
    if (had_transaction) {  // queued commands are lost: this command must not run alone
      std::fputs("Error: Server closed the connection\n", stderr);
      return 1;
    }
  }
  if (!connection_ && !Connect()) return 1;
  const InterruptibleSocket interruptible(connection_->FileDescriptor());
  if (!connection_->Send(words)) return HandleLostConnection(words);
  const bool listens = IsSubscription(words) || IsCommand(words, "MONITOR");
  if (listens && !is_in_transaction_) return PrintUntilInterrupted(words);
  const auto reply = ReceiveReply();
  if (!reply) return HandleLostConnection(words);
  Print(*reply, words);
  RememberState(words, *reply);
  return options_.fails_on_error && reply->IsError() ? 1 : 0;
}

}  // namespace respite
