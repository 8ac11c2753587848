// The arguments of a container that runs the image: what `docker run IMAGE …` says, and the environment that the images
// `redis` and `redislabs/client-libs-test` understand, as arguments of respite-server.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "server/config/directive.h"

namespace respite {

// The value of an environment variable; empty if there is none.
using Variables = std::function<std::string(const char* name)>;

struct ContainerPlan {
  std::vector<std::string> arguments;        // with the name of the program
  std::string certificates;                  // the folder for certificates to be made; empty: none
  std::vector<std::string> certificates_of;  // more clients that get one: the common names
};

// Whether the program was started under the name of an image's entry point.
bool IsContainerEntry(const std::string& program);

// `arguments` are those of the entry point. If the first one is an option or a configuration file, the server is meant.
// What the environment asks for stands before other options, which therefore win.
ContainerPlan PlanContainer(ConfigWords arguments, const Variables& variables);

// Whether the plan starts a server, not a tool.
bool StartsServer(const ContainerPlan& plan);

}  // namespace respite
