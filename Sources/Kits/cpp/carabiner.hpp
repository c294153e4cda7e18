// carabiner.hpp - the contract of carabiner.h in C++17. Header-only: there is nothing to link.
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
// The hooks. All are optional except the first one of a stage. The type of the call selects the stage of a hook:
//
//     crb::graphql   on_request(Call &)   on_result(Call &, const crb::Result &)   on_error  on_end  on_cancel
//     crb::http      on_request(Call &)   on_head(Call &, const crb::Head &)       on_chunk(Call &, const crb::Chunk &)
//                                                                                  on_error  on_end  on_cancel
//     crb::cache     on_read(Call &)      on_write(Call &, const crb::Result &)    on_cancel
//     crb::parser    on_head(Call &, const crb::Head &)   on_chunk(Call &, const crb::Chunk &)   on_error  on_end  on_cancel
//     any stage      on_error(Call &, const crb::Error &)   on_end(Call &)   on_cancel(Cancelled &)
//
// A hook returns a crb::Verdict or nothing, which means Continue. An exception that leaves a hook becomes CRB_FAIL with its what();
// exceptions never cross the boundary. The slot of a missing hook stays NULL, and the host does not call it.
// State can outlive a reload, and a plugin can contain its own tests: see carabiner/extensions.hpp.
// Also: static void validate(const crb::Config &) checks a configuration without any effect;
// static constexpr const char *accept = "application/cbor" adds a parser's media types to the Accept header of requests.
// To wait: return call.after(delay, work), call.fetch(request, work) or call.later(start); see carabiner/later.hpp.
// The destructor runs on a host thread after all work of the instance has ended; see carabiner/tasks.hpp.
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
