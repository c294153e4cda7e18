/* Declares libFuzzer's functions for programs with their own main function, because libFuzzer has no header. */
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*test_one_input)(const uint8_t *data, size_t size));
