import CarabinerPipeline
import Foundation
import PipelineSamples
import Testing

@Suite("The trace of a chain with callbacks", .timeLimit(.minutes(2)))
struct TraceTests {
  private let trace = TraceLog()

  @Test("each interceptor of a request is one event, and the stages of the core and the transfer have theirs")
  func request() async throws {
    let service = try Service()
    let stages = Stages(graphQL: [Noted(name: "g", log: Log())], http: [NotedHTTP(name: "h", log: Log())])
    let transport = RequestChainNetworkTransport(
      interceptorProvider: DefaultInterceptorProvider(store: service.store, stages: stages),
      endpointURL: service.transport.endpointURL)
    transport.tracer = trace
    let results = Results<HeroQuery.Data>()
    _ = transport.send(operation: HeroQuery(), callbackQueue: service.queue) { results.add($0) }
    #expect(await service.words(results, 1) == ["server R2"])
    #expect(
      trace.callbacks.entries == [
        "MaxRetryInterceptor down proceeded", "CacheReadInterceptor down proceeded", "NetworkFetchInterceptor down proceeded",
        "ResponseCodeInterceptor up proceeded", "MultipartResponseParsingInterceptor up proceeded",
        "JSONResponseParsingInterceptor up proceeded", "AutomaticPersistedQueryInterceptor up proceeded",
        "StagesInterceptor down proceeded", "CacheWriteInterceptor up proceeded",
      ])
    let others = Set(trace.others.entries.map { String($0.prefix { $0 != " " }) })
    #expect(others == ["graphql", "http", "transport"])
  }

  @Test("a list without stages has the event of its transfer")
  func transfer() async throws {
    let service = try Service()
    service.transport.tracer = trace
    #expect(await service.fetch() == ["server R2"])
    #expect(trace.others.entries.contains { $0.hasPrefix("transport ") })
  }

  @Test(
    "an event has the first outcome of its interceptor",
    arguments: [
      ("give", ["Step down answered"]), ("drop", ["Step down abandoned!", "ErrorStep down completed"]),
      ("fail", ["Step down failed: failed!", "ErrorStep down completed"]),
      ("proceed twice", ["Step down proceeded", "ValueStep down answered", "ValueStep down answered"]),
    ])
  func outcomes(action: String, events: [String]) async {
    let call = TestCall(
      [
        Step { call in
          switch action {
          case "give": call.give("value")
          case "fail": call.fail(Fault("failed"))
          case "drop": break
          default:
            call.proceed()
            call.proceed()
          }
        }, ValueStep { $0.give("value") },
      ], errors: ErrorStep { error, call in call.completion(.failure(error)) }
    ) { $0.tracer = trace }
    call.start()
    _ = await call.results.words(action == "proceed twice" ? 2 : 1)
    #expect(trace.callbacks.entries == events)
  }
}
