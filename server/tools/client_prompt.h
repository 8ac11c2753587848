// The prompt of respite-cli: edits lines with libedit, shows hints, completes commands, keeps a history.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace respite {

void CatchInterrupts();  // from now on Ctrl-C sets a flag (WasInterrupted), and does not end the process
bool WasInterrupted();   // true: Ctrl-C was pressed since the last TakeInterrupt
bool TakeInterrupt();    // true: Ctrl-C was pressed since the last call

// Makes a caught Ctrl-C shut the socket down while this object exists, so that a blocked read returns. Requires:
// CatchInterrupts was called.
class InterruptibleSocket {  // while it exists, a caught Ctrl-C shuts the socket down
 public:
  explicit InterruptibleSocket(int number);  // `number`: the file descriptor
  InterruptibleSocket(const InterruptibleSocket&) = delete;
  InterruptibleSocket& operator=(const InterruptibleSocket&) = delete;
  ~InterruptibleSocket();
};

bool IsSecretCommand(const std::vector<std::string>& words);  // true: may contain a password, so the history omits it

// Returns the path of the history file: RESPITECLI_HISTFILE or REDISCLI_HISTFILE of the environment, by default
// ~/.respitecli_history. An empty path means no history.
std::string HistoryPath();  // path of the file with earlier lines; empty: no history

class CommandPrompt {  // reads command lines from a terminal, with editing and history
 public:
  // Reads the history. Requires: standard input and standard output are a terminal.
  explicit CommandPrompt(std::string history_path);
  CommandPrompt(const CommandPrompt&) = delete;
  CommandPrompt& operator=(const CommandPrompt&) = delete;
  ~CommandPrompt();

  // Shows `prompt` and waits for a line. Returns the line without its end.
  std::optional<std::string> Read(const std::string& prompt);  // reads a line; nullopt: Ctrl-C or end
  void Remember(const std::string& line);  // adds the line to history and file, unless it repeats the last one
  void ShowHints(bool wanted);             // turns hints about missing arguments on or off

 private:
  struct Editor;                    // the state of libedit
  std::unique_ptr<Editor> editor_;  // the state of libedit: line, history, completion
};

}  // namespace respite
