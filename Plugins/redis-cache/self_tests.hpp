// Tests that `carabiner conform` runs: the parts that need no server, with hostile input.
#ifndef REDIS_CACHE_SELF_TESTS_HPP
#define REDIS_CACHE_SELF_TESTS_HPP

namespace self_tests {

// Each throws crb::Failure with what was found.

void answers_in_pieces();
void hostile_answers();
void keys();
void entries();
void cache_control();
void urls();

}  // namespace self_tests

#endif
