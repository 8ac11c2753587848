#include "server/clients/replica.h"

#include "persistence/file_system.h"

namespace respite {

Replica::Replica() = default;
Replica::~Replica() = default;

}  // namespace respite
