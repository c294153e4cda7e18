// carabiner.hpp - the contract of carabiner.h in C++17: headers and nothing to link.
//
// Write a class with the hooks you want, and export it:
//
//     struct Hello {
//       static constexpr crb::Identity identity{"org.example.hello", "1.0.0"};
//       static constexpr crb::Parts graphql{0, CRB_PART_HEADERS};  // what the stage reads, what it changes
//       explicit Hello(const crb::Setup &) {}
//       crb::Verdict on_request(crb::graphql::Call &call) {
//         call.set_header("X-Hello", "world");
//         return crb::Verdict::Continue;
//       }
//     };
//     CARABINER_PLUGIN(Hello);
//
// Build:  c++ -std=c++17 -fPIC -shared -fvisibility=hidden -fvisibility-inlines-hidden -fno-gnu-unique -o hello.so hello.cpp
//
// The hooks, each optional but the first of a stage; the type of the call says which stage a hook belongs to:
//
//     crb::graphql   on_request(Call &)   on_result(Call &, const crb::Result &)   on_error  on_end  on_cancel
//     crb::http      on_request(Call &)   on_head(Call &, const crb::Head &)       on_chunk(Call &, const crb::Chunk &)
//                                                                                  on_error  on_end  on_cancel
//     crb::cache     on_read(Call &)      on_write(Call &, const crb::Result &)    on_cancel
//     crb::parser    on_head(Call &, const crb::Head &)   on_chunk(Call &, const crb::Chunk &)   on_error  on_end  on_cancel
//     any stage      on_error(Call &, const crb::Error &)   on_end(Call &)   on_cancel(Cancelled &)
//
// A hook answers a crb::Verdict, or nothing, which is Continue. An exception that leaves it becomes CRB_FAIL with its what();
// none crosses the boundary. A hook that is not written leaves its slot NULL, and the host does not call it.
// What an instance has learnt may outlive a reload, and a plugin may bring its own tests: see carabiner/extensions.hpp.
// Beside the hooks: static void validate(const crb::Config &) says whether a configuration is good, without any effect;
// static constexpr const char *accept = "application/cbor" adds what a parser reads to the Accept header of requests.
// To wait: return call.after(delay, work), call.fetch(request, work) or call.later(start); see carabiner/later.hpp.
// The destructor runs on a thread of the host, when all work of the instance has ended; see carabiner/tasks.hpp.
#ifndef CARABINER_HPP
#define CARABINER_HPP

#include "carabiner/call.hpp"
#include "carabiner/config.hpp"
#include "carabiner/events.hpp"
#include "carabiner/export.hpp"
#include "carabiner/extensions.hpp"
#include "carabiner/failure.hpp"
#include "carabiner/host.hpp"
#include "carabiner/later.hpp"
#include "carabiner/plugin.hpp"
#include "carabiner/stages.hpp"
#include "carabiner/tasks.hpp"
#include "carabiner/timer.hpp"
#include "carabiner/values.hpp"

#endif
