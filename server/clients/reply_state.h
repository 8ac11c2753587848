// ReplyState: whether the replies of a client are sent (CLIENT REPLY).
#pragma once

#include <cstdint>

namespace respite {

class ReplyState {
 public:
  bool IsOn() const { return mode_ == Mode::kOn; }
  // Returns whether no replies are sent until CLIENT REPLY ON.
  bool IsOff() const { return mode_ == Mode::kOff; }
  // Returns whether the current reply is not sent.
  bool IsSilent() const { return mode_ == Mode::kOff || mode_ == Mode::kSkip; }

  void TurnOn() {
    if (mode_ != Mode::kSkipNext) mode_ = Mode::kOn;  // Redis: an earlier SKIP in the transaction stays
  }
  void TurnOff() { mode_ = Mode::kOff; }
  void SkipNext() {
    if (mode_ != Mode::kOff) mode_ = Mode::kSkipNext;
  }
  // RESET. Redis: a RESET directly after CLIENT REPLY SKIP has no reply.
  void Reset() {
    if (mode_ != Mode::kSkip) mode_ = Mode::kOn;
  }

  enum class Fate : uint8_t { kSent, kDropped };
  // Ends a command, and returns whether its reply is sent.
  Fate EndCommand();

 private:
  enum class Mode : uint8_t {
    kOn,
    kOff,
    kSkipNext,  // the running command is CLIENT REPLY SKIP: the next command has no reply
    kSkip,      // the running command has no reply
  };

  Mode mode_ = Mode::kOn;
};

inline ReplyState::Fate ReplyState::EndCommand() {
  const Fate fate = IsSilent() ? Fate::kDropped : Fate::kSent;
  if (mode_ == Mode::kSkip) {
    mode_ = Mode::kOn;
  } else if (mode_ == Mode::kSkipNext) {
    mode_ = Mode::kSkip;
  }
  return fate;
}

}  // namespace respite
