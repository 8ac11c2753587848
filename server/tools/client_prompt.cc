#include "server/tools/client_prompt.h"

#include <fcntl.h>
#include <histedit.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termcap.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <fstream>
#include <utility>

#include "base/bytes.h"
#include "base/descriptor.h"
#include "base/str_cat.h"
#include "server/tools/client_help.h"

namespace respite {

namespace {

constexpr int kHistoryLines = 1000;

// The description of a terminal that understands ANSI sequences, in the format of the environment variable TERMINFO
// that ncurses reads. It is used on systems without terminal descriptions, such as containers.
constexpr char kAnsiTerminal[] =
    "hex:1A01120005000300A5007500726573706974652D616E73697C616E7369000001000001005000FFFF1800FFFF00000200FFFFFFFF"
    "04000C001000FFFFFFFFFFFF14001600FFFF1A00FFFFFFFF1C00FFFF2000FFFF2400FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF"
    "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF"
    "2800FFFF2D00FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF3100FFFFFFFF3500FFFFFFFFFFFF3900FFFFFFFF"
    "FFFF3D00FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF4100FFFF4400FFFFFFFF4D00FFFFFFFF56005F00"
    "FFFF6800FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF"
    "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF710007000D00"
    "1B5B481B5B324A001B5B4B001B5B4A000A001B5B480008001B5B43001B5B41001B5B50001B5B337E001B5B42001B5B48001B5B44001B"
    "5B43001B5B41000D0A001B5B257031256450001B5B257031256440001B5B257031256444001B5B257031256443001B5B257031256441"
    "001B5B4600";
constexpr char kAnsiTerminalName[] = "respite-ansi";

volatile std::sig_atomic_t prompt_interrupted = 0;
volatile std::sig_atomic_t interruptible_socket = -1;
volatile std::sig_atomic_t screen_changed = 0;  // the window has another size, or the process continues after Ctrl-Z

void OnInterrupt(int) {
  prompt_interrupted = 1;
  if (interruptible_socket >= 0) shutdown(interruptible_socket, SHUT_RDWR);
}

// Blocks SIGINT, SIGCONT and SIGWINCH while this object exists, except during WaitForKey. So no signal comes unnoticed
// between two waits.
class SignalsAtPrompt {
 public:
  SignalsAtPrompt() {
    sigset_t signals;
    sigemptyset(&signals);
    for (int signal : {SIGINT, SIGCONT, SIGWINCH}) sigaddset(&signals, signal);
    sigprocmask(SIG_BLOCK, &signals, &outside_);
  }
  SignalsAtPrompt(const SignalsAtPrompt&) = delete;
  SignalsAtPrompt& operator=(const SignalsAtPrompt&) = delete;
  ~SignalsAtPrompt() { sigprocmask(SIG_SETMASK, &outside_, nullptr); }

  static void NoteChangesOfScreen() {
    struct sigaction action {};
    action.sa_handler = [](int) { screen_changed = 1; };
    action.sa_flags = SA_RESTART;
    sigaction(SIGCONT, &action, nullptr);
    sigaction(SIGWINCH, &action, nullptr);
  }
  // Waits for a key, and receives signals meanwhile. Returns false if a signal came first.
  bool WaitForKey() const {
    pollfd terminal{STDIN_FILENO, POLLIN, 0};
    return !WasInterrupted() && screen_changed == 0 && ppoll(&terminal, 1, nullptr, &outside_) > 0;
  }

 private:
  sigset_t outside_;
};

void UseUtf8() {
  std::setlocale(LC_CTYPE, "");
  if (MB_CUR_MAX == 1) std::setlocale(LC_CTYPE, "C.UTF-8");
}

// Chooses a terminal description. Returns true if the terminal can move the cursor, which hints require.
bool ChooseTerminal() {
  const char* const name = std::getenv("TERM");
  if (name == nullptr || *name == '\0' || std::string_view(name) == "dumb") return false;
  std::array<char, 4096> description;
  if (tgetent(description.data(), name) == 1) return true;
  setenv("TERM", kAnsiTerminalName, 1);
  setenv("TERMINFO", kAnsiTerminal, 1);
  return true;
}

size_t TerminalColumns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

size_t DisplayWidth(const wchar_t* from, const wchar_t* to) {
  size_t columns = 0;
  for (; from != to; ++from) columns += static_cast<size_t>(std::max(wcwidth(*from), 0));
  return columns;
}

void WriteToTerminal(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

std::string CommonStart(const std::vector<std::string>& texts) {
  std::string start = texts[0];
  for (const std::string& text : texts) {
    const auto [end, other] = std::ranges::mismatch(start, text);
    start.erase(end, start.end());
  }
  return start;
}

// Prints the texts in columns, as ls prints names.
void PrintInColumns(const std::vector<std::string>& texts) {
  size_t width = 0;
  for (const std::string& text : texts) width = std::max(width, text.size() + 2);
  const size_t columns = std::max<size_t>(TerminalColumns() / width, 1);
  const size_t rows = (texts.size() + columns - 1) / columns;
  std::string out = "\n";
  for (size_t row = 0; row < rows; ++row) {
    for (size_t i = row; i < texts.size(); i += rows)
      out += texts[i] + (i + rows < texts.size() ? std::string(width - texts[i].size(), ' ') : "");
    out += '\n';
  }
  WriteToTerminal(out);
}

}  // namespace

void CatchInterrupts() {
  struct sigaction action {};
  action.sa_handler = OnInterrupt;
  sigaction(SIGINT, &action, nullptr);
}

bool WasInterrupted() { return prompt_interrupted != 0; }

bool TakeInterrupt() {
  const bool was = WasInterrupted();
  prompt_interrupted = 0;
  return was;
}

InterruptibleSocket::InterruptibleSocket(int number) { interruptible_socket = number; }
InterruptibleSocket::~InterruptibleSocket() { interruptible_socket = -1; }

bool IsSecretCommand(const std::vector<std::string>& words) {
  const auto is = [&](size_t i, std::string_view name) { return i < words.size() && EqualsIgnoreCase(words[i], name); };
  const auto has_word = [&](auto&& matches) {
    return std::any_of(words.begin() + 1, words.end(), [&](const std::string& word) { return matches(ToLower(word)); });
  };
  const auto names_secret = [](const std::string& word) {
    return word.find("auth") != std::string::npos || word.find("pass") != std::string::npos;
  };
  if (words.empty()) return false;
  const bool is_repeated = words.size() > 2 && words[0].find_first_of("0123456789") != std::string::npos &&
                           words[0].find_first_not_of("+-0123456789") == std::string::npos;
  if (is_repeated) return IsSecretCommand({words.begin() + 1, words.end()});
  // Looks for AUTH, AUTH2 and SETUSER at any position, because HELLO, MIGRATE, ACL DRYRUN, COMMAND GETKEYS and help
  // contain other commands or options.
  if (is(0, "AUTH") ||
      has_word([](const std::string& word) { return word == "auth" || word == "auth2" || word == "setuser"; }))
    return true;
  if (is(0, "CONFIG") || is(0, "SENTINEL")) return (is(1, "SET") || is(1, "CONFIG")) && has_word(names_secret);
  return false;
}

std::string HistoryPath() {
  for (const char* name : {"RESPITECLI_HISTFILE", "REDISCLI_HISTFILE"})
    if (const char* const path = std::getenv(name)) return std::string(path) == "/dev/null" ? "" : path;
  const char* const home = std::getenv("HOME");
  return home == nullptr || *home == '\0' ? "" : std::string(home) + "/.respitecli_history";
}

struct CommandPrompt::Editor {
  explicit Editor(std::string path);
  ~Editor() {
    el_end(line);
    history_end(history);
  }

  static Editor& Of(EditLine* line);
  static char* Prompt(EditLine* line) { return Of(line).prompt.data(); }
  static int ReadCharacter(EditLine* line, wchar_t* character);
  static unsigned char Complete(EditLine* line, int key);

  void Enter(const std::string& text) {
    HistEvent event;
    ::history(history, &event, H_ENTER, text.c_str());
  }
  void LoadHistory();
  void Append(const std::string& text) const;
  void Write(const std::vector<std::string>& lines) const;
  void DrawAgain() const;
  // Draws the hint after the cursor and returns the hint's width in columns; 0: no hint.
  size_t ShowHint();

  std::string history_path;
  std::string prompt;
  const bool can_show_hints = ChooseTerminal();
  bool shows_hints = can_show_hints;
  std::string last_listed;  // the line whose completions the last Tab could not extend
  History* history = history_init();
  EditLine* line = el_init("respite-cli", stdin, stdout, stderr);
};

CommandPrompt::Editor::Editor(std::string path) : history_path(std::move(path)) {
  HistEvent event;
  ::history(history, &event, H_SETSIZE, kHistoryLines);
  ::history(history, &event, H_SETUNIQUE, 1);
  el_set(line, EL_CLIENTDATA, this);
  el_set(line, EL_PROMPT, &Editor::Prompt);
  el_set(line, EL_EDITOR, "emacs");
  el_set(line, EL_SIGNAL, 0);
  SignalsAtPrompt::NoteChangesOfScreen();
  el_set(line, EL_HIST, ::history, history);
  el_set(line, EL_GETCFN, &Editor::ReadCharacter);
  el_set(line, EL_ADDFN, "respite-complete", "Completes the name of a command", &Editor::Complete);
  el_set(line, EL_BIND, "^I", "respite-complete", nullptr);
  el_set(line, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  el_set(line, EL_BIND, "\\e[3~", "ed-delete-next-char", nullptr);
  el_source(line, nullptr);  // ~/.editrc
  LoadHistory();
}

CommandPrompt::Editor& CommandPrompt::Editor::Of(EditLine* line) {
  void* data = nullptr;
  el_get(line, EL_CLIENTDATA, &data);
  return *static_cast<Editor*>(data);
}

// Reads the next key. libedit calls this function after it has drawn the line. Until a key is pressed, shows a hint
// after the cursor.
int CommandPrompt::Editor::ReadCharacter(EditLine* line, wchar_t* character) {
  const SignalsAtPrompt signals;
  size_t shown = Of(line).ShowHint();
  const auto hide = [&shown] {
    if (shown > 0) WriteToTerminal("\x1b[K");
    shown = 0;
  };
  std::mbstate_t state{};
  while (true) {
    const bool has_key = signals.WaitForKey();
    if (!has_key && !WasInterrupted()) {
      hide();
      Of(line).DrawAgain();
      shown = Of(line).ShowHint();
      continue;
    }
    char byte = 0;
    const ssize_t got = has_key ? read(STDIN_FILENO, &byte, 1) : 0;
    const size_t used = got == 1 ? std::mbrtowc(character, &byte, 1, &state) : 0;
    if (used == static_cast<size_t>(-2)) continue;  // more bytes of this character follow
    if (used == static_cast<size_t>(-1)) {
      state = {};  // not a character of this locale
      continue;
    }
    hide();
    return got == 1 ? 1 : 0;
  }
}

// Restores the terminal modes, which the shell may have changed while this process was stopped (Ctrl-Z), and draws the
// line again.
void CommandPrompt::Editor::DrawAgain() const {
  screen_changed = 0;
  el_set(line, EL_PREP_TERM, 0);
  el_set(line, EL_PREP_TERM, 1);
  el_resize(line);
  el_set(line, EL_REFRESH);
}

size_t CommandPrompt::Editor::ShowHint() {
  if (!shows_hints) return 0;
  const LineInfoW* const wide = el_wline(line);
  if (wide->cursor != wide->lastchar || wide->cursor == wide->buffer) return 0;
  const size_t columns = TerminalColumns();
  const size_t at = (prompt.size() + DisplayWidth(wide->buffer, wide->cursor)) % columns;
  const LineInfo* const info = el_line(line);
  const std::string typed(info->buffer, static_cast<size_t>(info->lastchar - info->buffer));
  if (at == 0 || typed.find('\n') != std::string::npos) return 0;  // a new row; a search in the history
  std::string hint = CommandHint(typed);
  if (hint.empty()) return 0;
  if (typed.back() != ' ') hint.insert(0, " ");
  const size_t room = columns - at - 1;
  if (hint.size() > room) hint.resize(room);
  if (hint.empty()) return 0;
  WriteToTerminal(StrCat("\x1b[0;90m", hint, "\x1b[0m\x1b[", hint.size(), "D"));
  return hint.size();
}

// Completes the typed text with the letters that all candidates have in common. If that adds nothing, a second Tab
// lists the candidates.
unsigned char CommandPrompt::Editor::Complete(EditLine* line, int) {
  Editor& self = Of(line);
  const LineInfo* const info = el_line(line);
  const std::string typed(info->buffer, static_cast<size_t>(info->cursor - info->buffer));
  const std::vector<std::string> candidates = CommandCompletions(typed);
  if (info->cursor != info->lastchar || candidates.empty()) return CC_REFRESH_BEEP;
  const std::string start = CommonStart(candidates) + (candidates.size() == 1 ? " " : "");
  if (start.size() > typed.size() || candidates.size() == 1) {
    el_deletestr(line, static_cast<int>(info->cursor - info->buffer));
    el_insertstr(line, start.c_str());
    return CC_REFRESH;
  }
  if (std::exchange(self.last_listed, typed) != typed) return CC_REFRESH_BEEP;
  self.last_listed.clear();
  PrintInColumns(candidates);
  return CC_REDISPLAY;
}

void CommandPrompt::Editor::LoadHistory() {
  if (history_path.empty()) return;
  std::vector<std::string> lines;
  std::ifstream file(history_path);
  for (std::string text; std::getline(file, text);) lines.push_back(text);
  if (lines.size() > kHistoryLines) {
    lines.erase(lines.begin(), lines.end() - kHistoryLines);
    Write(lines);
  }
  for (const std::string& text : lines) Enter(text);
}

void CommandPrompt::Editor::Append(const std::string& text) const {
  if (history_path.empty()) return;
  const Descriptor file(open(history_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR));
  const std::string row = text + "\n";
  if (file.Get() >= 0 && fchmod(file.Get(), S_IRUSR | S_IWUSR) == 0) [[maybe_unused]]
    const ssize_t written = write(file.Get(), row.data(), row.size());
}

void CommandPrompt::Editor::Write(const std::vector<std::string>& lines) const {
  std::string all;
  for (const std::string& text : lines) all += text + "\n";
  const std::string fresh = history_path + ".new";
  const Descriptor file(open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (file.Get() >= 0 && write(file.Get(), all.data(), all.size()) == static_cast<ssize_t>(all.size()))
    std::rename(fresh.c_str(), history_path.c_str());
}

CommandPrompt::CommandPrompt(std::string history_path) {
  UseUtf8();
  editor_ = std::make_unique<Editor>(std::move(history_path));
}

CommandPrompt::~CommandPrompt() = default;

std::optional<std::string> CommandPrompt::Read(const std::string& prompt) {
  editor_->prompt = prompt;
  int size = 0;
  const char* const text = el_gets(editor_->line, &size);
  if (text == nullptr || size <= 0 || WasInterrupted()) return std::nullopt;
  std::string line(text, static_cast<size_t>(size));
  if (line.ends_with('\n')) line.pop_back();
  return line;
}

void CommandPrompt::Remember(const std::string& line) {
  HistEvent event;
  if (::history(editor_->history, &event, H_FIRST) == 0 && line == event.str) return;
  editor_->Enter(line);
  editor_->Append(line);
}

void CommandPrompt::ShowHints(bool wanted) { editor_->shows_hints = wanted && editor_->can_show_hints; }

}  // namespace respite
