/* All four stages, without faults. */
#include <carabiner.h>
#define ID "org.carabiner.test.good"
#define STAGES (STAGE_GRAPHQL | STAGE_HTTP | STAGE_CACHE | STAGE_PARSER)
#include "../bad/sound.h"
