// The prompt of respite-cli: edits lines with libedit, shows hints, completes commands, keeps a history.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace respite {

void CatchInterrupts();  // Ctrl-C sets a flag instead of ending the process
bool WasInterrupted();   // Ctrl-C was pressed since the last TakeInterrupt
bool TakeInterrupt();    // returns the same, and resets it

// During its lifetime, Ctrl-C shuts this socket down, so that a blocked read returns.
class InterruptibleSocket {
 public:
  explicit InterruptibleSocket(int number);
  InterruptibleSocket(const InterruptibleSocket&) = delete;
  InterruptibleSocket& operator=(const InterruptibleSocket&) = delete;
  ~InterruptibleSocket();
};

bool IsSecretCommand(const std::vector<std::string>& words);  // contains a password, so no history may store it

// Returns the path of the history: RESPITECLI_HISTFILE or REDISCLI_HISTFILE of the environment, or
// ~/.respitecli_history. An empty path means no history.
std::string HistoryPath();

class CommandPrompt {
 public:
  // Reads the history. Requires: standard input and output are a terminal.
  explicit CommandPrompt(std::string history_path);
  CommandPrompt(const CommandPrompt&) = delete;
  CommandPrompt& operator=(const CommandPrompt&) = delete;
  ~CommandPrompt();

  // Returns a line without its end, or nullopt after Ctrl-C, Ctrl-D or the end of the terminal.
  std::optional<std::string> Read(const std::string& prompt);
  void Remember(const std::string& line);  // adds it to the history and its file
  void ShowHints(bool wanted);             // of missing arguments, while typing

 private:
  struct Editor;
  std::unique_ptr<Editor> editor_;  // libedit
};

}  // namespace respite
