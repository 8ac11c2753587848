// Arguments for a container that runs an image of this project. Converts the arguments of `docker run IMAGE …`, and the
// environment variables of the images `redis` and `redislabs/client-libs-test`, to arguments of respite-server.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "server/config/directive.h"

namespace respite {

// A function that returns the value of an environment variable, or an empty text if the variable is not set.
using Variables = std::function<std::string(const char* name)>;

struct ContainerPlan {                           // what the container does: creates certificates, then runs a program
  std::vector<std::string> arguments;            // the program to run, then its arguments
  std::string certificate_folder;                // folder in which certificates are created; empty: none are
  std::vector<std::string> client_common_names;  // clients' common names; each also gets a certificate
};

bool IsContainerEntry(const std::string& program);  // true: a program named docker-entrypoint

// Decides what the entry point of the container starts. `arguments` are the entry point's own: its name, then the
// program to start with its arguments. If nothing follows the name, or if an option or a configuration file follows,
// the server is started. Options from the environment come first, so that the options in `arguments` override them.
ContainerPlan PlanContainer(ConfigWords arguments, const Variables& variables);  // decides what the container starts

bool StartsServer(const ContainerPlan& plan);  // true: the program is the server, not a tool

}  // namespace respite
