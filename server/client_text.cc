#include "server/client_text.h"

namespace respite {

std::string ClientText(Server&, const Session& session) { return "id=" + std::to_string(session.id); }

}  // namespace respite
