/* Has a variable that is one for the whole process. */
#include <carabiner.h>

__asm__(".pushsection .data\n"
        ".globl org_carabiner_unique\n"
        ".type org_carabiner_unique, @gnu_unique_object\n"
        "org_carabiner_unique: .quad 0\n"
        ".size org_carabiner_unique, 8\n"
        ".popsection");
#include "sound.h"
