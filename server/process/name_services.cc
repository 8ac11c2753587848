#include "server/process/name_services.h"

#ifdef RESPITE_STATIC
#include <nss.h>
#endif

namespace respite {

void UseBuiltInNameServices() {
#ifdef RESPITE_STATIC
  __nss_configure_lookup("hosts", "files dns");
#endif
}

}  // namespace respite
