#include "server/tools/client_tool.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <thread>
#include <vector>

#include "base/bytes.h"
#include "base/number_text.h"
#include "base/result.h"
#include "server/config/usage.h"
#include "server/tools/client_help.h"
#include "server/tools/client_prompt.h"
#include "server/tools/client_session.h"

namespace respite {

namespace {

constexpr auto kSlowCommand = std::chrono::milliseconds(500);
constexpr char kClientUsage[] =
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

// Returns the name under which the value of an option is stored.
std::string MainName(const std::string& option) {
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

// Returns the text with %XX replaced by bytes.
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

// Sets the options from redis://user:password@host:port/database. Returns false if it is not such an address.
bool TakeUri(ClientOptions& options, std::string_view uri) {
  const bool is_tls = uri.starts_with("rediss://");
  if (!is_tls && !uri.starts_with("redis://")) return false;
  options.speaks_tls |= is_tls;
  uri.remove_prefix(uri.find("://") + 3);
  if (const size_t at = uri.rfind('@'); at != std::string_view::npos) {
    const std::string_view login = uri.substr(0, at);
    const size_t colon = login.find(':');
    if (colon != std::string_view::npos && colon != 0) options.values["--user"] = Unescaped(login.substr(0, colon));
    options.values["-a"] = Unescaped(colon == std::string_view::npos ? login : login.substr(colon + 1));
    uri.remove_prefix(at + 1);
  }
  if (const size_t slash = uri.find('/'); slash != std::string_view::npos) {
    if (slash + 1 < uri.size()) options.values["-n"] = uri.substr(slash + 1);
    uri = uri.substr(0, slash);
  }
  const size_t bracket = uri.find(']');
  const size_t colon = uri.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (colon != std::string_view::npos) options.values["-p"] = uri.substr(colon + 1);
  std::string_view host = uri.substr(0, colon);
  if (bracket != std::string_view::npos && host.starts_with('[')) host = host.substr(1, bracket - 1);
  if (!host.empty()) options.values["-h"] = host;
  return true;
}

// Returns false if the option is unknown.
bool TakeFlag(ClientOptions& options, const std::string& option) {
  if (!IsFlag(option)) return false;
  if (option == "-3" || option == "-2") options.speaks_resp3 = option == "-3";
  if (option == "--raw") options.style.format = ReplyFormat::kRaw;
  if (option == "--no-raw") options.style.format = ReplyFormat::kTerminal;
  if (option == "--csv") options.style.format = ReplyFormat::kCsv;
  options.fails_on_error |= option == "-e";
  options.reads_last_argument |= option == "-x";
  options.speaks_tls |= option == "--tls";
  options.is_insecure |= option == "--insecure";
  if (option == "--quoted-input" || option == "--no-auth-warning") options.values[option] = "yes";
  return true;
}

// Returns false if a quoted argument is malformed.
bool TakeQuotedInput(ClientOptions& options) {
  for (std::string& word : options.command) {
    if (!word.starts_with('"') && !word.starts_with('\'')) continue;
    auto words = SplitQuoted(word);
    if (!words || words->size() != 1) return false;
    word = words->front();
  }
  return true;
}

// Returns the options, or the name of an option that is unknown, lacks its value, or has an invalid one.
Result<ClientOptions, std::string> OptionsIn(std::span<const std::string> arguments) {
  ClientOptions options;
  const bool is_terminal = isatty(STDOUT_FILENO) != 0;
  options.style.format = is_terminal ? ReplyFormat::kTerminal : ReplyFormat::kRaw;
  size_t i = 1;
  for (; i < arguments.size() && arguments[i].starts_with('-') && arguments[i].size() > 1; ++i) {
    const std::string option = MainName(arguments[i]);
    if (!TakesValue(option)) {
      if (!TakeFlag(options, option)) return Failure(arguments[i]);
      continue;
    }
    if (++i == arguments.size()) return Failure(arguments[i - 1]);
    options.values[option] = arguments[i];
    if (option == "-u" && !TakeUri(options, arguments[i])) return Failure(option);
  }
  for (; i < arguments.size(); ++i) options.command.push_back(arguments[i]);
  if (options.values.contains("--quoted-input") && !TakeQuotedInput(options))
    return Failure(std::string("--quoted-input"));
  options.style.element_delimiter = options.Value("-d", "\n");
  options.style.reply_delimiter = options.Value("-D", "\n");
  options.shows_pushes = options.Value("--show-pushes", is_terminal ? "yes" : "no") == "yes";
  return options;
}

// How often a command is sent, and the delay between repetitions
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

// Runs lines from the prompt or from standard input.
class LineRunner {
 public:
  LineRunner(ClientSession& session, CommandPrompt* prompt) : session_(session), prompt_(prompt) {}

  // Returns false if it was the last line.
  bool Run(const std::string& line) {
    const auto words = SplitQuoted(line);
    if (prompt_ != nullptr && !TrimSpaces(line).empty() && words && !IsSecretCommand(*words)) prompt_->Remember(line);
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

int Interact(ClientOptions& options) {
  CatchInterrupts();
  ClientSession session(options, true);
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

int RunInput(ClientOptions& options) {
  ClientSession session(options, true);
  LineRunner runner(session, nullptr);
  session.Connect();
  for (std::string line; std::ferror(stdout) == 0 && std::getline(std::cin, line);)
    if (!runner.Run(line)) break;
  return 0;
}

int RunArguments(ClientOptions& options) {
  const auto times = ParseInteger(options.Value("-r", "1"));
  const auto pause = ParseDouble(options.Value("-i", "0"));
  if (!times || !pause || *pause < 0) {
    std::fputs("-r needs a whole number, -i a number of seconds\n", stderr);
    return 1;
  }
  if (options.reads_last_argument)
    options.command.emplace_back(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
  if (EqualsIgnoreCase(options.command[0], "help") || options.command[0] == "?") {
    const bool is_terminal = isatty(STDOUT_FILENO) != 0;
    std::fputs(HelpText(std::span(options.command).subspan(1), is_terminal).c_str(), stdout);
    return 0;
  }
  ClientSession session(options, false);
  return session.Connect() ? RunRepeatedly(session, options.command, {*times, *pause}) : 1;
}

int Converse(ClientOptions& options) {
  if (options.values.contains("-a") && !options.values.contains("--no-auth-warning"))
    std::fputs("Warning: Using a password with '-a' or '-u' option on the command line interface may not be safe.\n",
               stderr);
  if (!options.command.empty() || options.reads_last_argument) return RunArguments(options);
  const bool is_terminal = isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
  return is_terminal ? Interact(options) : RunInput(options);
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
    std::printf(kClientUsage, arguments[0].c_str());
    return std::fflush(stdout) == 0 ? 0 : 1;
  }
  auto options = OptionsIn(arguments);
  if (!options.ok()) {
    std::fprintf(stderr, "Unrecognized option or bad number of args for: '%s'\n", options.error().c_str());
    std::fprintf(stderr, "Usage: %s [OPTIONS] [COMMAND [ARGUMENT...]], see --help\n", arguments[0].c_str());
    return 1;
  }
  std::signal(SIGHUP, SIG_DFL);  // the client ends when its terminal closes
  const int code = Converse(options.value());
  return std::fflush(stdout) == 0 ? code : 1;
}

}  // namespace respite
