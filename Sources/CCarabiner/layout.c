#include "carabiner.h"
