// CommandTask: what a command keeps for itself between its steps, if it continues in later turns of the event loop.
#pragma once

namespace respite {

struct CommandTask {  // the base class of the states of commands; Session::command_task
  CommandTask() = default;
  CommandTask(const CommandTask&) = delete;
  CommandTask& operator=(const CommandTask&) = delete;
  virtual ~CommandTask() = default;
};

}  // namespace respite
