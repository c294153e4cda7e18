import CarabinerConnect
import FoundationEssentials
import ScriptedServer
import SwiftProtobuf
import Synchronization
import TestTools
import Testing

@Suite("Hooks of unary calls", .timeLimit(.minutes(2)))
struct UnaryHookTests {
  @Test(
    "typed and raw hooks of two interceptors run A B A B out and B A B A in, and the figures come last",
    .rule("connect.7", "connect.10"))
  func order() async throws {
    let journal = Journal()
    let service = try Service(["A", "B"].map { name in InterceptorFactory { _ in UnaryStep(name, journal) } })
    #expect(await service.call().word == "world")
    #expect(await eventually { journal.lines.count == 10 })
    #expect(
      journal.lines == [
        "request A", "request B", "raw request A", "raw request B", "raw response B", "raw response A", "response B",
        "response A", "metrics B", "metrics A",
      ])
  }

  @Test("a call makes the interceptors of its kind only, and each call makes its own", .rule("connect.5"))
  func instances() async throws {
    let made = Journal()
    let service = try Service(
      [
        InterceptorFactory { _ in
          made.add("unary")
          return UnaryStep()
        },
        InterceptorFactory { _ in
          made.add("stream")
          return StreamStep()
        },
      ],
      { request, peer in
        if request.header("content-type") == "application/json" { try peer.text("world") } else { try peer.messages([]) }
      })
    _ = await service.call()
    _ = await service.call()
    #expect(made.lines == ["unary", "unary"])
    #expect(try await service.streamed() == ["headers", "complete ok"])
    #expect(made.lines == ["unary", "unary", "stream"])
  }

  @Test(
    "an interceptor that refuses a request stops the later ones, and nothing is sent", .rule("connect.12"),
    arguments: [true, false])
  func refusal(isRaw: Bool) async throws {
    let journal = Journal()
    let service = try Service([
      InterceptorFactory { _ in
        isRaw
          ? UnaryStep(rawRequest: { _, proceed in proceed(.failure(ConnectError(code: .permissionDenied, message: "no"))) })
          : UnaryStep(request: { _, proceed in proceed(.failure(ConnectError(code: .permissionDenied, message: "no"))) })
      }, InterceptorFactory { _ in UnaryStep("B", journal) },
    ])
    let response = await service.call()
    #expect(response.word == "permissionDenied no" && response.code == .permissionDenied)
    #expect(journal.lines == (isRaw ? ["request B"] : []))
    #expect(service.server.connections == 0)
  }

  @Test("the value that a hook passes on is sent and delivered", .rule("connect.11"))
  func changes() async throws {
    let service = try Service([
      InterceptorFactory { _ in
        UnaryStep(
          request: { request, proceed in
            proceed(
              .success(
                HTTPRequest(
                  url: request.url.appending(queryItems: [URLQueryItem(name: "q", value: "1")]),
                  headers: request.headers.merging(["x-hook": ["yes"]]) { $1 }, message: Text("changed"), trailers: nil)))
          },
          response: { response, proceed in
            proceed(ResponseMessage(headers: response.headers, result: .success(Text("other"))))
          })
      }
    ])
    #expect(await service.call().word == "other")
    let request = try #require(service.server.requests.first)
    #expect(request.target == "/test.v1.Test/Call?q=1" && request.header("x-hook") == "yes")
    #expect(String(decoding: request.body, as: UTF8.self) == "\"changed\"")
  }

  @Test("an interceptor that sends again after unauthenticated gives the caller one response", .rule("connect.17"))
  func sentAgain() async throws {
    let outcomes = Journal()
    let service = try Service([
      InterceptorFactory { _ in
        let sendAgain = Shared<(@Sendable () -> Void)?>(nil)
        return UnaryStep(
          request: { request, proceed in
            sendAgain.value = {
              proceed(
                .success(
                  HTTPRequest(url: request.url, headers: ["authorization": ["new"]], message: request.message, trailers: nil)))
            }
            proceed(.success(request))
          },
          response: { response, proceed in
            if response.code == .unauthenticated, let again = sendAgain.exchange(nil) { again() } else { proceed(response) }
          })
      }
    ]) { request, peer in
      if request.header("authorization") == "new" { try peer.text("world") } else { try peer.error("unauthenticated") }
    }
    service.client.unary(path: Service.path, idempotencyLevel: .unknown, request: Text("hello"), headers: [:]) {
      (response: ResponseMessage<Text>) in outcomes.add(response.word)
    }
    #expect(await eventually { !outcomes.lines.isEmpty })
    #expect(await service.call().word == "world")
    #expect(outcomes.lines == ["world"] && service.server.requests.count == 4)
  }

  @Test("an interceptor that sends again and again ends with resourceExhausted after ten attempts", .rule("connect.17"))
  func endlessAttempts() async throws {
    let service = try Service([
      InterceptorFactory { _ in
        let sendAgain = Shared<(@Sendable () -> Void)?>(nil)
        return UnaryStep(
          request: { request, proceed in
            sendAgain.value = { proceed(.success(request)) }
            proceed(.success(request))
          }, response: { _, _ in sendAgain.value?() })
      }
    ])
    let response = await service.call()
    #expect(response.code == .resourceExhausted && service.server.requests.count == 10)
  }

  enum Hook: CaseIterable { case request, rawRequest, rawResponse, response }

  @Test("an interceptor that forgets to proceed gives an error with its name", .rule("connect.20"), arguments: Hook.allCases)
  func forgotten(hook: Hook) async throws {
    let service = try Service([
      InterceptorFactory { _ in
        switch hook {
        case .request: UnaryStep(request: { _, _ in })
        case .rawRequest: UnaryStep(rawRequest: { _, _ in })
        case .rawResponse: UnaryStep(rawResponse: { _, _ in })
        case .response: UnaryStep(response: { _, _ in })
        }
      }
    ])
    let response = await service.call()
    #expect(response.code == .internalError && response.error?.message?.contains("UnaryStep") == true)
  }

  @Test("a request that a hook makes without a method stays a GET", .rule("connect.11"))
  func fourArguments() async throws {
    let service = try Service(
      [
        InterceptorFactory { _ in
          UnaryStep(request: { request, proceed in
            proceed(
              .success(
                HTTPRequest(url: request.url, headers: request.headers, message: request.message, trailers: request.trailers)))
          })
        }
      ], unaryGET: .alwaysEnabled)
    #expect(await service.call(level: .noSideEffects).word == "world")
    #expect(service.server.requests.map(\.method) == ["GET"])
  }

  @Test("a closure that is called after the end does nothing", .rule("connect.21"))
  func lateClosure() async throws {
    let late = Shared<(@Sendable () -> Void)?>(nil)
    let service = try Service([
      InterceptorFactory { _ in
        UnaryStep(request: { request, proceed in
          late.value = { proceed(.success(request)) }
          proceed(.success(request))
        })
      }
    ])
    #expect(await service.call().word == "world")
    late.value?()
    late.value = nil
    #expect(await service.call().word == "world")
    #expect(service.server.requests.count == 2)
  }

  @TaskLocal static var caller = "nobody"

  @Test("hooks and completion see the task-locals of the caller")
  func taskLocals() async throws {
    let seen = Journal()
    let service = try Service([
      InterceptorFactory { _ in
        UnaryStep(
          request: { request, proceed in
            seen.add(Self.caller)
            proceed(.success(request))
          },
          response: { response, proceed in
            seen.add(Self.caller)
            proceed(response)
          })
      }
    ])
    Self.$caller.withValue("caller") {
      _ = service.client.unary(path: Service.path, idempotencyLevel: .unknown, request: Text("hello"), headers: [:]) {
        (_: ResponseMessage<Text>) in seen.add(Self.caller)
      }
    }
    #expect(await eventually { seen.lines.count == 3 })
    #expect(seen.lines == ["caller", "caller", "caller"])
  }
}
