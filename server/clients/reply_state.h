// ReplyState: whether and which replies of a client are sent (CLIENT REPLY).
#pragma once

#include <cstdint>

namespace respite {

class ReplyState {
 public:
  bool IsOn() const { return mode_ == Mode::kOn; }
  // Until CLIENT REPLY ON.
  bool IsOff() const { return mode_ == Mode::kOff; }
  // What is written now is not sent.
  bool IsSilent() const { return mode_ == Mode::kOff || mode_ == Mode::kSkip; }

  // CLIENT REPLY ON, OFF and SKIP.
  void TurnOn() {
    if (mode_ != Mode::kSkipNext) mode_ = Mode::kOn;  // Redis: an earlier SKIP in the transaction stays
  }
  void TurnOff() { mode_ = Mode::kOff; }
  void SkipNext() {
    if (mode_ != Mode::kOff) mode_ = Mode::kSkipNext;
  }
  // RESET. Redis: one after CLIENT REPLY SKIP has no reply.
  void Reset() {
    if (mode_ != Mode::kSkip) mode_ = Mode::kOn;
  }

  enum class Fate : uint8_t { kSent, kDropped };
  // A command is over: what becomes of its reply.
  Fate EndCommand();

 private:
  enum class Mode : uint8_t {
    kOn,
    kOff,
    kSkipNext,  // the running command was CLIENT REPLY SKIP: the next is silent
    kSkip,      // this command is silent
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
