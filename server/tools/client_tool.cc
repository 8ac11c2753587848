#include "server/tools/client_tool.h"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <thread>
#include <vector>

#include "base/bytes.h"
#include "base/number_text.h"
#include "server/tools/client_help.h"
#include "server/tools/client_options.h"
#include "server/tools/client_prompt.h"
#include "server/tools/client_session.h"

namespace respite {

namespace {

constexpr auto kSlowCommand = std::chrono::milliseconds(500);

// How many times a command is sent, and the pause between two times.
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

// Runs command lines from the prompt or from standard input.
class LineRunner {
 public:
  LineRunner(ClientSession& session, CommandPrompt* prompt) : session_(session), prompt_(prompt) {}

  // Runs one line. Returns false if the program must read no further line.
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
  if (options.Has("-a") && !options.Has("--no-auth-warning"))
    std::fputs("Warning: Using a password with '-a' or '-u' option on the command line interface may not be safe.\n",
               stderr);
  if (!options.command.empty() || options.reads_last_argument) return RunArguments(options);
  const bool is_terminal = isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
  return is_terminal ? Interact(options) : RunInput(options);
}

}  // namespace

int RunClient(std::span<const std::string> arguments) {
  auto options = ReadClientOptions(arguments);
  if (!options.ok()) {
    const ClientExit& end = options.error();
    std::fputs(end.text.c_str(), end.output);
    return std::fflush(end.output) == 0 ? end.code : 1;
  }
  std::signal(SIGHUP, SIG_DFL);  // the client ends when its terminal closes
  const int code = Converse(options.value());
  return std::fflush(stdout) == 0 ? code : 1;
}

}  // namespace respite
