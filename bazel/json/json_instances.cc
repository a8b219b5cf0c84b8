#include "lockstep_json_instances.h"

LOCKSTEP_JSON_INSTANCES()
