#include "server/process/client_tool.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "base/bytes.h"
#include "base/descriptor.h"
#include "base/number_text.h"
#include "base/result.h"
#include "protocol/reply_tree.h"
#include "protocol/request_text.h"
#include "server/config/usage.h"
#include "server/net/tls/client_stream.h"
#include "server/process/client_help.h"
#include "server/process/client_prompt.h"
#include "server/process/client_reply_text.h"

namespace respite {

namespace {

constexpr size_t kChunk = 65536;
constexpr auto kSlowCommand = std::chrono::milliseconds(500);
constexpr char kUsage[] =
    "Usage: %s [OPTIONS] [COMMAND [ARGUMENT...]]\n"
    "Sends a command and prints the reply. Without a command: each line of standard input, or at a terminal a prompt.\n"
    "\n"
    "  -h HOST, -p PORT       the server (127.0.0.1, 6379)\n"
    "  -s SOCKET              its Unix socket instead\n"
    "  -u URI                 redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE], or rediss:// for TLS\n"
    "  -a, --pass PASSWORD    the password; better in the environment, as REDISCLI_AUTH\n"
    "  --user NAME            the user that the password belongs to\n"
    "  --no-auth-warning      say nothing about a password among the options\n"
    "  -n NUMBER              the database\n"
    "  -2, -3                 speak RESP2 (default) or RESP3\n"
    "  -r NUMBER              send the command so many times; -1: until Ctrl-C\n"
    "  -i SECONDS             wait so long between them, such as 0.1\n"
    "  -x                     the last argument is standard input\n"
    "  -e                     exit with 1 if the reply is an error, which goes to standard error\n"
    "  --raw, --no-raw        print replies as plain text (default if the output is no terminal), or formatted\n"
    "  --csv                  print each reply as a line of CSV\n"
    "  -d TEXT, -D TEXT       in plain text: what stands between the elements of a reply, and after each reply\n"
    "  --quoted-input         arguments may be in quotes with escapes, such as '\"\\x00\"'\n"
    "  --show-pushes yes|no   print messages of RESP3 that are no reply (default if the output is a terminal)\n"
    "  --tls                  speak TLS, with --cacert FILE, --cert FILE, --key FILE, --sni NAME, --insecure\n"
    "  --help, --version      print this, or the version\n"
    "\n"
    "At the prompt, Tab completes commands, and Ctrl-R searches the history: ~/.respitecli_history, or the file that\n"
    "RESPITECLI_HISTFILE or REDISCLI_HISTFILE names. Type help there.\n";

struct Order {
  std::map<std::string, std::string> values;  // by option
  ReplyStyle style;
  bool shows_pushes = false;
  bool speaks_resp3 = false;
  bool errors_count = false;
  bool reads_last_argument = false;
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
  constexpr std::array kOptions = {"-h", "-p", "-s", "-a",       "--user", "-n",    "-u",    "-r",
                                   "-i", "-d", "-D", "--cacert", "--cert", "--key", "--sni", "--show-pushes"};
  return std::ranges::count(kOptions, option) > 0;
}

bool IsFlag(const std::string& option) {
  constexpr std::array kFlags = {"-2",
                                 "-3",
                                 "-e",
                                 "-x",
                                 "--raw",
                                 "--no-raw",
                                 "--csv",
                                 "--tls",
                                 "--insecure",
                                 "--no-auth-warning",
                                 "--quoted-input"};
  return std::ranges::count(kFlags, option) > 0;
}

// The bytes of a text with %XX in it.
std::string Unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto quoted =
        text[i] == '%' ? SplitQuoted("\"\\x" + std::string(text.substr(i + 1, 2)) + "\"") : std::nullopt;
    const bool is_escape = quoted && quoted->size() == 1 && quoted->front().size() == 1;
    out += is_escape ? quoted->front()[0] : text[i];
    if (is_escape) i += 2;
  }
  return out;
}

// Fills in what redis://user:password@host:port/database says. False: it is no such address.
bool TakeUri(Order& order, std::string_view uri) {
  const bool is_tls = uri.starts_with("rediss://");
  if (!is_tls && !uri.starts_with("redis://")) return false;
  order.speaks_tls |= is_tls;
  uri.remove_prefix(uri.find("://") + 3);
  if (const size_t at = uri.rfind('@'); at != std::string_view::npos) {
    const std::string_view login = uri.substr(0, at);
    const size_t colon = login.find(':');
    if (colon != std::string_view::npos && colon != 0) order.values["--user"] = Unescaped(login.substr(0, colon));
    order.values["-a"] = Unescaped(colon == std::string_view::npos ? login : login.substr(colon + 1));
    uri.remove_prefix(at + 1);
  }
  if (const size_t slash = uri.find('/'); slash != std::string_view::npos) {
    if (slash + 1 < uri.size()) order.values["-n"] = uri.substr(slash + 1);
    uri = uri.substr(0, slash);
  }
  const size_t bracket = uri.find(']');
  const size_t colon = uri.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (colon != std::string_view::npos) order.values["-p"] = uri.substr(colon + 1);
  std::string_view host = uri.substr(0, colon);
  if (bracket != std::string_view::npos && host.starts_with('[')) host = host.substr(1, bracket - 1);
  if (!host.empty()) order.values["-h"] = host;
  return true;
}

// False: the option is unknown.
bool TakeFlag(Order& order, const std::string& option) {
  if (!IsFlag(option)) return false;
  if (option == "-3" || option == "-2") order.speaks_resp3 = option == "-3";
  if (option == "--raw") order.style.format = ReplyFormat::kRaw;
  if (option == "--no-raw") order.style.format = ReplyFormat::kTerminal;
  if (option == "--csv") order.style.format = ReplyFormat::kCsv;
  order.errors_count |= option == "-e";
  order.reads_last_argument |= option == "-x";
  order.speaks_tls |= option == "--tls";
  order.is_insecure |= option == "--insecure";
  if (option == "--quoted-input" || option == "--no-auth-warning") order.values[option] = "yes";
  return true;
}

// False: an argument that is in quotes is not well formed.
bool TakeQuotedInput(Order& order) {
  for (std::string& word : order.command) {
    if (!word.starts_with('"') && !word.starts_with('\'')) continue;
    auto words = SplitQuoted(word);
    if (!words || words->size() != 1) return false;
    word = words->front();
  }
  return true;
}

// Or the option that is unknown, lacks its value, or has a wrong one.
Result<Order, std::string> OrderIn(std::span<const std::string> arguments) {
  Order order;
  const bool is_terminal = isatty(STDOUT_FILENO) != 0;
  order.style.format = is_terminal ? ReplyFormat::kTerminal : ReplyFormat::kRaw;
  size_t i = 1;
  for (; i < arguments.size() && arguments[i].starts_with('-') && arguments[i].size() > 1; ++i) {
    const std::string option = LongName(arguments[i]);
    if (!TakesValue(option)) {
      if (!TakeFlag(order, option)) return Failure(arguments[i]);
      continue;
    }
    if (++i == arguments.size()) return Failure(arguments[i - 1]);
    order.values[option] = arguments[i];
    if (option == "-u" && !TakeUri(order, arguments[i])) return Failure(option);
  }
  for (; i < arguments.size(); ++i) order.command.push_back(arguments[i]);
  if (order.values.contains("--quoted-input") && !TakeQuotedInput(order)) return Failure(std::string("--quoted-input"));
  order.style.element_delimiter = order.Value("-d", "\n");
  order.style.reply_delimiter = order.Value("-D", "\n");
  order.shows_pushes = order.Value("--show-pushes", is_terminal ? "yes" : "no") == "yes";
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

// A connection, and what comes over it.
class Conversation {
 public:
  explicit Conversation(ClientStream stream) : stream_(std::move(stream)) {}

  bool Send(const std::vector<std::string>& words) {
    std::string request;
    AppendRequest(request, words);
    return stream_.Send(request);
  }
  // Nothing: the connection has ended, Ctrl-C was pressed, or what came is no reply (see Error).
  std::optional<ReplyTree> Receive() {
    std::array<char, kChunk> chunk;
    while (true) {
      if (auto reply = parser_.Next()) return reply;
      if (parser_.Failed()) return std::nullopt;
      const ssize_t bytes = stream_.Receive(chunk);
      if (bytes < 0 && errno == EINTR && !WasInterrupted()) continue;
      if (bytes <= 0) return std::nullopt;
      parser_.Feed({chunk.data(), static_cast<size_t>(bytes)});
    }
  }
  // Whether the server has closed the connection while nothing was asked.
  bool HasEnded() const { return stream_.HasEnded(); }
  std::string Error() const {
    return parser_.Failed() ? "Protocol error, " + parser_.Error() : "Server closed the connection";
  }

 private:
  ClientStream stream_;
  ReplyTreeParser parser_;
};

// Commands whose reply is a text for people, printed as it is, also when replies are formatted.
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

bool IsSubscription(const std::vector<std::string>& words) {
  return IsCommand(words, "SUBSCRIBE") || IsCommand(words, "PSUBSCRIBE") || IsCommand(words, "SSUBSCRIBE");
}

// The connection to the server, with the state that a new connection must restore: user, protocol, database.
class ClientSession {
 public:
  ClientSession(Order& order, bool reads_lines) : order_(order), reads_lines_(reads_lines) {
    const char* const variable = std::getenv("REDISCLI_AUTH");
    if (variable != nullptr) order_.values.try_emplace("-a", variable);
    database_ = order_.Value("-n", "0");
  }

  // False: a message was printed.
  bool Connect();
  void ConnectTo(const std::string& host, const std::string& port) {
    order_.values["-h"] = host;
    order_.values["-p"] = port;
    order_.values.erase("-s");
    Connect();
  }
  // Sends the command and prints the reply. Returns the exit code: 0 if there was a reply, also an error.
  int Run(const std::vector<std::string>& words);
  std::string Prompt() const;

 private:
  Result<ClientStream, std::string> Dial() const;
  bool Introduce();
  bool IntroduceWith(const std::vector<std::string>& request, const std::string& title);
  std::string Address() const;
  std::optional<ReplyTree> Answer();
  int Lost(const std::vector<std::string>& words);
  void Print(const ReplyTree& reply, const std::vector<std::string>& words) const;
  int Listen(const std::vector<std::string>& words);
  void Learn(const std::vector<std::string>& words, const ReplyTree& reply);
  void LearnLogin(std::span<const std::string> words);
  void Forget() {
    talk_.reset();
    is_in_transaction_ = false;
    queued_database_.reset();
  }

  Order& order_;
  const bool reads_lines_;
  std::optional<Conversation> talk_;
  std::string database_;
  bool is_in_transaction_ = false;
  std::optional<std::string> queued_database_;  // of a SELECT that waits for EXEC
};

std::string ClientSession::Address() const {
  const std::string host = order_.Value("-h", "127.0.0.1");
  const std::string shown = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return shown + ":" + order_.Value("-p", "6379");
}

std::string ClientSession::Prompt() const {
  if (!talk_) return "not connected> ";
  const std::string path = order_.Value("-s", "");
  std::string prompt = path.empty() ? Address() : "redis " + path;
  if (database_ != "0") prompt += "[" + database_ + "]";
  return prompt + (is_in_transaction_ ? "(TX)> " : "> ");
}

Result<ClientStream, std::string> ClientSession::Dial() const {
  const std::string host = order_.Value("-h", "127.0.0.1");
  const std::string port = order_.Value("-p", "6379");
  const std::string path = order_.Value("-s", "");
  const std::string failed = "Could not connect to Redis at " + (path.empty() ? host + ":" + port : path) + ": ";
  Descriptor socket = path.empty() ? DialHost(host, port) : DialSocket(path);
  if (socket.Get() < 0) return Failure(failed + std::strerror(errno));
  ClientStream stream(std::move(socket));
  const ClientTls tls{order_.Value("--cacert", ""), order_.Value("--cert", ""), order_.Value("--key", ""),
                      order_.Value("--sni", ""), order_.is_insecure};
  const auto objection = order_.speaks_tls ? stream.Encrypt(tls) : std::nullopt;
  if (objection) return Failure(failed + *objection);
  return stream;
}

bool ClientSession::Connect() {
  Forget();
  auto stream = Dial();
  if (!stream.ok()) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s\n", stream.error().c_str());
    return false;
  }
  talk_.emplace(std::move(stream.value()));
  if (Introduce()) return true;
  std::fputs("Error: Server closed the connection\n", stderr);
  Forget();
  return false;
}

// AUTH, HELLO and SELECT. An error is shown, and the command sent all the same, as redis-cli does.
bool ClientSession::Introduce() {
  const std::string password = order_.Value("-a", "");
  const std::string user = order_.Value("--user", "");
  if (!user.empty() && !IntroduceWith({"AUTH", user, password}, "AUTH")) return false;
  if (user.empty() && !password.empty() && !IntroduceWith({"AUTH", password}, "AUTH")) return false;
  if (order_.speaks_resp3 && !IntroduceWith({"HELLO", "3"}, "HELLO 3")) return false;
  return database_ == "0" || IntroduceWith({"SELECT", database_}, "SELECT " + database_);
}

bool ClientSession::IntroduceWith(const std::vector<std::string>& request, const std::string& title) {
  if (!talk_->Send(request)) return false;
  const auto reply = talk_->Receive();
  if (!reply) return false;
  if (!reply->IsError()) return true;
  std::fprintf(stderr, "%s failed: %s\n", title.c_str(), reply->text.c_str());
  if (request[0] == "SELECT") database_ = "0";
  return true;
}

// The reply to a command; pushed messages before it are printed.
std::optional<ReplyTree> ClientSession::Answer() {
  while (auto reply = talk_->Receive()) {
    if (reply->kind != ReplyKind::kPush) return reply;
    if (order_.shows_pushes) std::fputs(ReplyText(*reply, order_.style).c_str(), stdout);
  }
  return std::nullopt;
}

void ClientSession::Print(const ReplyTree& reply, const std::vector<std::string>& words) const {
  if (order_.errors_count && reply.IsError() && !reads_lines_) {
    std::fprintf(stderr, "%s\n", reply.text.c_str());
    return;
  }
  const std::string text =
      RepliesWithLines(words) ? RawReplyText(reply, order_.style.element_delimiter) : ReplyText(reply, order_.style);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

// Called when the connection ended before the reply. SHUTDOWN is answered in this way.
int ClientSession::Lost(const std::vector<std::string>& words) {
  const std::string error = talk_->Error();
  Forget();
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

// Prints what the server sends until the connection ends or Ctrl-C is pressed. Returns the exit code.
int ClientSession::Listen(const std::vector<std::string>& words) {
  if (IsSubscription(words) && order_.style.format != ReplyFormat::kRaw)
    std::fputs("Reading messages... (press Ctrl-C to quit)\n", stdout);
  std::fflush(stdout);
  while (auto message = talk_->Receive()) {
    if (message->kind == ReplyKind::kPush) message->kind = ReplyKind::kArray;
    Print(*message, words);
    if (message->IsError()) return order_.errors_count ? 1 : 0;  // the command was refused
    if (std::ferror(stdout) != 0) return 1;
  }
  return Lost(words);
}

// AUTH of these words was accepted: [user] password.
void ClientSession::LearnLogin(std::span<const std::string> words) {
  if (words.empty()) return;
  order_.values["-a"] = words.back();
  order_.values.erase("--user");
  if (words.size() == 2) order_.values["--user"] = words[0];
}

// Keeps what the prompt shows, and what a new connection needs.
void ClientSession::Learn(const std::vector<std::string>& words, const ReplyTree& reply) {
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
  if (IsCommand(words, "AUTH")) LearnLogin(std::span(words).subspan(1));
  if (IsCommand(words, "HELLO") && words.size() > 1) {
    order_.speaks_resp3 = words[1] == "3";
    for (size_t i = 2; i + 2 < words.size(); ++i)
      if (EqualsIgnoreCase(words[i], "AUTH")) LearnLogin(std::span(words).subspan(i + 1, 2));
  }
  if (IsCommand(words, "RESET")) {
    is_in_transaction_ = order_.speaks_resp3 = false;
    database_ = "0";
  }
}

int ClientSession::Run(const std::vector<std::string>& words) {
  if (talk_ && talk_->HasEnded()) {
    const bool had_transaction = is_in_transaction_;
    Forget();
    if (had_transaction) {  // what was queued is lost: the command must not run alone
      std::fputs("Error: Server closed the connection\n", stderr);
      return 1;
    }
  }
  if (!talk_ && !Connect()) return 1;
  if (!talk_->Send(words)) return Lost(words);
  const bool listens = IsSubscription(words) || IsCommand(words, "MONITOR");
  if (listens && !is_in_transaction_) return Listen(words);
  const auto reply = Answer();
  if (!reply) return Lost(words);
  Print(*reply, words);
  Learn(words, *reply);
  return order_.errors_count && reply->IsError() ? 1 : 0;
}

// How often a command is sent, and how long to wait in between.
struct Repetition {
  int64_t times = 1;  // negative: for ever
  double pause_seconds = 0;
};

int RunRepeatedly(ClientSession& session, const std::vector<std::string>& words, const Repetition& repetition) {
  for (int64_t i = 0; repetition.times < 0 || i < repetition.times; ++i) {
    if (i != 0 && repetition.pause_seconds > 0)
      std::this_thread::sleep_for(std::chrono::duration<double>(repetition.pause_seconds));
    const int code = session.Run(words);
    if (code != 0 || WasInterrupted() || std::ferror(stdout) != 0) return code;
  }
  return 0;
}

// Runs lines that are typed or come from standard input.
class LineRunner {
 public:
  LineRunner(ClientSession& session, CommandPrompt* prompt) : session_(session), prompt_(prompt) {}

  // False: it was the last line.
  bool Run(const std::string& line) {
    const auto words = SplitQuoted(line);
    if (prompt_ != nullptr && !TrimSpaces(line).empty() && !(words && IsSecretCommand(*words))) prompt_->Remember(line);
    if (!words) {
      std::puts("Invalid argument(s)");
    } else if (!words->empty()) {
      return RunWords(*words);
    }
    return true;
  }

 private:
  bool RunWords(const std::vector<std::string>& words) {
    const std::string& first = words[0];
    if (EqualsIgnoreCase(first, "quit") || EqualsIgnoreCase(first, "exit")) return false;
    if (EqualsIgnoreCase(first, "help") || first == "?") {
      std::fputs(HelpText(std::span(words).subspan(1), prompt_ != nullptr).c_str(), stdout);
    } else if (EqualsIgnoreCase(first, "clear") && words.size() == 1) {
      std::fputs("\x1b[H\x1b[2J", stdout);
    } else if (EqualsIgnoreCase(first, "connect") && words.size() == 3) {
      session_.ConnectTo(words[1], words[2]);
    } else if (first == ":set" && words.size() == 2) {
      Prefer(words[1]);
    } else {
      RunCommand(words);
    }
    return true;
  }
  void Prefer(const std::string& preference) {
    if (preference != "hints" && preference != "nohints") std::printf("unknown preference '%s'\n", preference.c_str());
    if (prompt_ != nullptr) prompt_->ShowHints(preference == "hints");
  }
  void RunCommand(std::vector<std::string> words) {
    const auto times = words.size() > 1 ? ParseInteger(words[0]) : std::nullopt;
    if (times && *times <= 0) {
      std::puts("Invalid redis-cli repeat command option value.");
      return;
    }
    if (times) words.erase(words.begin());
    const auto begin = std::chrono::steady_clock::now();
    RunRepeatedly(session_, words, {times.value_or(1), 0});
    const auto elapsed = std::chrono::steady_clock::now() - begin;
    if (prompt_ != nullptr && elapsed >= kSlowCommand)
      std::printf("(%.2fs)\n", std::chrono::duration<double>(elapsed).count());
  }

  ClientSession& session_;
  CommandPrompt* const prompt_;  // null: lines come from standard input
};

int Interact(Order& order) {
  CatchInterrupts();
  ClientSession session(order, true);
  CommandPrompt prompt(HistoryPath());
  LineRunner runner(session, &prompt);
  session.Connect();
  while (auto line = prompt.Read(session.Prompt())) {
    if (!runner.Run(*line)) return 0;
    std::fflush(stdout);
    TakeInterrupt();
  }
  std::puts("");
  return 0;
}

int RunInput(Order& order) {
  ClientSession session(order, true);
  LineRunner runner(session, nullptr);
  session.Connect();
  for (std::string line; std::ferror(stdout) == 0 && std::getline(std::cin, line);)
    if (!runner.Run(line)) break;
  return 0;
}

int RunArguments(Order& order) {
  const auto times = ParseInteger(order.Value("-r", "1"));
  const auto pause = ParseDouble(order.Value("-i", "0"));
  if (!times || !pause || *pause < 0) {
    std::fputs("-r needs a whole number, -i a number of seconds\n", stderr);
    return 1;
  }
  if (order.reads_last_argument)
    order.command.emplace_back(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
  ClientSession session(order, false);
  return session.Connect() ? RunRepeatedly(session, order.command, {*times, *pause}) : 1;
}

int Converse(Order& order) {
  if (order.values.contains("-a") && !order.values.contains("--no-auth-warning"))
    std::fputs("Warning: Using a password with '-a' or '-u' option on the command line interface may not be safe.\n",
               stderr);
  if (!order.command.empty() || order.reads_last_argument) return RunArguments(order);
  const bool is_terminal = isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
  return is_terminal ? Interact(order) : RunInput(order);
}

bool IsOnlyArgument(std::span<const std::string> arguments, std::initializer_list<const char*> names) {
  return arguments.size() == 2 && std::ranges::count(names, arguments[1]) > 0;
}

}  // namespace

int RunClient(std::span<const std::string> arguments) {
  if (IsOnlyArgument(arguments, {"-v", "--version"})) {
    std::printf("redis-cli %s\n", std::string(kRedisVersion).c_str());
    return std::fflush(stdout) == 0 ? 0 : 1;
  }
  if (IsOnlyArgument(arguments, {"-h", "--help"})) {
    std::printf(kUsage, arguments[0].c_str());
    return std::fflush(stdout) == 0 ? 0 : 1;
  }
  auto order = OrderIn(arguments);
  if (!order.ok()) {
    std::fprintf(stderr, "Unrecognized option or bad number of args for: '%s'\n", order.error().c_str());
    std::fprintf(stderr, "Usage: %s [OPTIONS] [COMMAND [ARGUMENT...]], see --help\n", arguments[0].c_str());
    return 1;
  }
  std::signal(SIGHUP, SIG_DFL);  // the end of the terminal ends the client
  const int code = Converse(order.value());
  return std::fflush(stdout) == 0 ? code : 1;
}

}  // namespace respite
