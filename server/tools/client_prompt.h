// The prompt of respite-cli: edits lines with libedit, shows hints, completes commands, keeps a history.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace respite {

// Makes Ctrl-C set a flag instead of ending the process.
void CatchInterrupts();
// Whether Ctrl-C was pressed since the last call of TakeInterrupt.
bool WasInterrupted();
bool TakeInterrupt();

// While it lives, Ctrl-C shuts this socket down, so that no read waits for it any longer.
class InterruptibleSocket {
 public:
  explicit InterruptibleSocket(int number);
  InterruptibleSocket(const InterruptibleSocket&) = delete;
  InterruptibleSocket& operator=(const InterruptibleSocket&) = delete;
  ~InterruptibleSocket();
};

// Whether the words hold a password, so that no history may have them.
bool IsSecretCommand(const std::vector<std::string>& words);

// Where the history is kept: RESPITECLI_HISTFILE or REDISCLI_HISTFILE of the environment, or ~/.respitecli_history.
// Empty: nowhere.
std::string HistoryPath();

class CommandPrompt {
 public:
  // Reads the history. Requires: standard input and output are a terminal.
  explicit CommandPrompt(std::string history_path);
  CommandPrompt(const CommandPrompt&) = delete;
  CommandPrompt& operator=(const CommandPrompt&) = delete;
  ~CommandPrompt();

  // Returns a line without its end, or nothing after Ctrl-C, Ctrl-D or the end of the terminal.
  std::optional<std::string> Read(const std::string& prompt);
  // Adds a line to the history and its file.
  void Remember(const std::string& line);
  void ShowHints(bool wanted);

 private:
  struct Editor;
  std::unique_ptr<Editor> editor_;
};

}  // namespace respite
