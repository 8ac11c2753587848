#include "server/tools/client_options.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "server/config/usage.h"

namespace respite {

namespace {

constexpr char kClientUsage[] =
    " [OPTIONS] [COMMAND [ARGUMENT...]]\n"
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

struct ClientOption {
  enum class Kind : uint8_t { kFlag, kTakesValue };

  std::string_view name;
  Kind kind;
  std::string_view key = name;  // of its value in ClientOptions
};

constexpr auto kFlag = ClientOption::Kind::kFlag;
constexpr auto kTakesValue = ClientOption::Kind::kTakesValue;
constexpr char kFormat[] = "format";  // the last of its options counts

// The options of respite-cli. As in redis-cli, an option is a whole word. getopt_long is not used, because it would
// also accept abbreviations (--use), values in the same word (-p6379, --user=name), several flags in one word (-ex) and
// the end of the options (--).
constexpr std::array kOptions = {
    ClientOption{"-h", kTakesValue},
    ClientOption{"-p", kTakesValue},
    ClientOption{"-s", kTakesValue},
    ClientOption{"-u", kTakesValue},
    ClientOption{"-a", kTakesValue},
    ClientOption{"--pass", kTakesValue, "-a"},
    ClientOption{"--user", kTakesValue},
    ClientOption{"--no-auth-warning", kFlag},
    ClientOption{"-n", kTakesValue},
    ClientOption{"-2", kFlag},
    ClientOption{"-3", kFlag},
    ClientOption{"-r", kTakesValue},
    ClientOption{"-i", kTakesValue},
    ClientOption{"-x", kFlag},
    ClientOption{"-e", kFlag},
    ClientOption{"--raw", kFlag, kFormat},
    ClientOption{"--no-raw", kFlag, kFormat},
    ClientOption{"--csv", kFlag, kFormat},
    ClientOption{"-d", kTakesValue},
    ClientOption{"-D", kTakesValue},
    ClientOption{"--quoted-input", kFlag},
    ClientOption{"--show-pushes", kTakesValue},
    ClientOption{"--tls", kFlag},
    ClientOption{"--cacert", kTakesValue},
    ClientOption{"--cert", kTakesValue},
    ClientOption{"--key", kTakesValue},
    ClientOption{"--sni", kTakesValue},
    ClientOption{"--insecure", kFlag},
};

// Returns the text with each %XX (hexadecimal digits) replaced by the byte that it stands for.
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

// Sets the options from an address redis://user:password@host:port/database. The scheme rediss:// turns on TLS. Returns
// false if `uri` has another scheme.
bool TakeUri(ClientOptions& options, std::string_view uri) {
  const std::string scheme = ToLower(uri.substr(0, uri.find("://")));
  const bool is_tls = scheme == "rediss";
  if ((!is_tls && scheme != "redis") || scheme.size() == uri.size()) return false;
  if (is_tls) options.values["--tls"] = uri;
  uri.remove_prefix(scheme.size() + 3);
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

// Replaces each quoted argument by its text without quotes. Returns false if such an argument is malformed.
bool Unquote(std::vector<std::string>& command) {
  for (std::string& word : command) {
    if (!word.starts_with('"') && !word.starts_with('\'')) continue;
    auto words = SplitQuoted(word);
    if (!words || words->size() != 1) return false;
    word = words->front();
  }
  return true;
}

ReplyFormat FormatOf(const ClientOptions& options, bool is_terminal) {
  const std::string format = options.Value(kFormat, is_terminal ? "--no-raw" : "--raw");
  if (format == "--csv") return ReplyFormat::kCsv;
  return format == "--raw" ? ReplyFormat::kRaw : ReplyFormat::kTerminal;
}

// Returns true if push messages are printed (--show-pushes). As in redis-cli, the first letter of the option's value
// decides. If it is another letter than y or n, the option is reported and has no effect.
bool ShowsPushes(const ClientOptions& options, bool is_terminal) {
  const std::string value = options.Value("--show-pushes", is_terminal ? "yes" : "no");
  const char letter = value.empty() ? '\0' : LowerChar(value[0]);
  if (letter == 'y' || letter == 'n') return letter == 'y';
  std::fprintf(stderr, "Unknown --show-pushes value '%s' (valid: '[y]es', '[n]o')\n", value.c_str());
  return is_terminal;
}

void ApplyOptions(ClientOptions& options) {
  const bool is_terminal = isatty(STDOUT_FILENO) != 0;
  options.style.format = FormatOf(options, is_terminal);
  options.style.element_delimiter = options.Value("-d", "\n");
  options.style.reply_delimiter = options.Value("-D", "\n");
  options.shows_pushes = ShowsPushes(options, is_terminal);
  options.speaks_resp3 = options.Has("-3");
  options.fails_on_error = options.Has("-e");
  options.reads_last_argument = options.Has("-x");
  options.speaks_tls = options.Has("--tls");
  options.is_insecure = options.Has("--insecure");
}

ClientExit Error(std::string text) { return {1, stderr, std::move(text)}; }

// Removes the options from the front of `words` and stores them. If an option is invalid or ends the program (--help),
// returns how the program ends.
std::optional<ClientExit> TakeOptions(ClientOptions& options, const std::string& program,
                                      std::span<const std::string>& words) {
  for (; !words.empty() && words[0].starts_with('-'); words = words.subspan(1)) {
    const std::string& word = words[0];
    if (word == "--help" || (word == "-h" && words.size() == 1))
      return ClientExit{0, stdout, "Usage: " + program + kClientUsage};
    if (word == "-v" || word == "--version")
      return ClientExit{0, stdout, "redis-cli " + std::string(kRedisVersion) + "\n"};
    const auto* const option = std::ranges::find(kOptions, word, &ClientOption::name);
    const bool takes_value = option != kOptions.end() && option->kind == kTakesValue;
    if (option == kOptions.end() || (takes_value && words.size() == 1))
      return Error("Unrecognized option or bad number of args for: '" + word + "'\n");
    if (takes_value) words = words.subspan(1);
    options.values[std::string(option->key)] = words[0];
    if (word == "-u" && !TakeUri(options, words[0])) return Error("Invalid URI scheme\n");
    if (options.Has("-2") && options.Has("-3")) return Error("Options -2 and -3 are mutually exclusive.\n");
  }
  return std::nullopt;
}

}  // namespace

Result<ClientOptions, ClientExit> ReadClientOptions(std::span<const std::string> arguments) {
  ClientOptions options;
  std::span<const std::string> words = arguments.subspan(1);
  if (auto end = TakeOptions(options, arguments[0], words)) return Failure(*std::move(end));
  options.command.assign(words.begin(), words.end());
  if (options.Has("--quoted-input") && !Unquote(options.command))
    return Failure(ClientExit{1, stdout, "Invalid quoted string\n"});
  ApplyOptions(options);
  return options;
}

}  // namespace respite
