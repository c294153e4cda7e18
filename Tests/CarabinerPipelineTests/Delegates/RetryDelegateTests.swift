import CarabinerPipeline
import Dispatch
import Foundation
import PipelineSamples
import ScriptedServer
import Synchronization
import TestTools
import Testing

@Suite("Delegates and their decisions about errors", .timeLimit(.minutes(3)))
struct RetryDelegateTests {
  private static let unauthorized = (status: "401 Unauthorized", body: "no")

  @Test("a 401 leads to another login, and the second attempt is asked about again and has the new token", .rule("delegate.10"))
  func login() async throws {
    let recorder = Recorder()
    let renewed = Counter()
    recorder.willSend = { $0.setValue("Bearer \(renewed.value)", forHTTPHeaderField: "Authorization") }
    recorder.retry = { _, _, response, answer in
      let answer = Kept(answer)
      DispatchQueue.global().async {
        renewed.next()
        answer.value(response?.statusCode == 401)
      }
    }
    let service = try DelegateService(recorder, answers: [Self.unauthorized])
    #expect(await service.fetch() == ["server R2"])
    #expect(service.server.requests.map { $0.header("Authorization") } == ["Bearer 0", "Bearer 1"])
    #expect(
      recorder.log.entries == [
        "shouldSend", "willSend", "raw 401 2", "retry?", "shouldSend", "willSend", "raw 200 \(heroJSON.utf8.count)", "result",
      ])
  }

  @Test("the continue handler fails with another error, and answers instead of the retry handler", .rule("delegate.10"))
  func otherError() async throws {
    let service = try DelegateService(
      answers: [Self.unauthorized], make: { url, _ in HTTPNetworkTransport(url: url, delegate: Renaming1()) })
    #expect(await service.fetch() == ["log in again"])
  }

  @Test("answering twice sends once", .rule("delegate.11"))
  func twice() async throws {
    let recorder = Recorder()
    recorder.retry = { _, _, _, answer in
      answer(true)
      answer(true)
      answer(false)
    }
    let service = try DelegateService(recorder, answers: [Self.unauthorized])
    #expect(await service.fetch() == ["server R2"])
    await service.settle()
    #expect(service.server.requests.count == 2)
  }

  @Test("an answer that cannot come because its closure was released is a no", .rule("delegate.11"))
  func dropped() async throws {
    let recorder = Recorder()
    recorder.retry = { _, _, _, _ in }
    let service = try DelegateService(recorder, answers: [Self.unauthorized])
    #expect(await service.fetch() == ["Received error response (401 Unauthorized): no"])
  }

  @Test("an answer that an object gives when it is released counts", .rule("delegate.11"))
  func fromDeinit() async throws {
    let recorder = Recorder()
    recorder.retry = { _, _, _, answer in _ = AnswersLast(answer) }
    let service = try DelegateService(recorder, answers: [Self.unauthorized])
    #expect(await service.fetch() == ["server R2"])
  }

  @Test("ten attempts and no more, and the message names the last error", .rule("delegate.12"))
  func limit() async throws {
    let recorder = Recorder()
    recorder.retry = { _, _, _, answer in answer(true) }
    let service = try DelegateService(recorder) { _, peer in try peer.json("down", status: "503 Down") }
    let words = await service.fetch().first ?? ""
    #expect(words.contains("started 10 times") && words.contains("the last error was: Received error response (503"))
    #expect(words.contains("retryLimit") && service.server.requests.count == 10)
  }

  @Test("a thousand retries need no more stack than one", .rule("delegate.12"))
  func thousand() async throws {
    let recorder = Recorder()
    recorder.retry = { _, _, _, answer in answer(true) }
    let answers = Array(repeating: Self.unauthorized, count: 1000)
    let service = try DelegateService(
      recorder, answers: answers,
      make: { url, delegate in HTTPNetworkTransport(url: url, delegate: delegate, maximumAttempts: 1001) })
    #expect(await service.fetch() == ["server R2"])
    #expect(service.server.requests.count == 1001)
  }

  @Test("cancelling during the decision sends nothing more, and a late answer is ignored", .rule("delegate.14"))
  func cancelledDecision() async throws {
    let recorder = Recorder()
    let answer = Mutex<(@Sendable (Bool) -> Void)?>(nil)
    recorder.retry = { _, _, _, handler in
      let kept = Kept(handler)
      answer.withLock { $0 = { kept.value($0) } }
    }
    let service = try DelegateService(recorder, answers: [Self.unauthorized])
    let results = Results<HeroQuery.Data>()
    let call = service.client.fetch(query: HeroQuery(), cachePolicy: .fetchIgnoringCacheData, queue: service.queue) {
      results.add($0)
    }
    #expect(await eventually { answer.withLock { $0 != nil } })
    call.cancel()
    call.cancel()
    answer.withLock { $0 }?(true)
    #expect(await eventually { results.all.count == 1 })
    await service.settle()
    #expect(results.all.count == 1)
    #expect(throws: CancellationError.self) { try results.all[0].get() }
    #expect(service.server.requests.count == 1)
  }

  @Test("cancelling in the second attempt aborts that attempt and asks about no retry", .rule("delegate.9", "delegate.14"))
  func cancelledAttempt() async throws {
    let recorder = Recorder()
    recorder.retry = { _, _, _, answer in answer(true) }
    let errors = Log()
    recorder.completed = { _, _, _, error in errors.note(error.map { "\(type(of: $0))" } ?? "none") }
    let counter = Counter()
    let service = try DelegateService(recorder) { _, peer in
      guard counter.next() > 1 else { return try peer.json("no", status: "401 Unauthorized") }
      peer.waitForHangUp()
    }
    let results = Results<HeroQuery.Data>()
    let call = service.client.fetch(query: HeroQuery(), cachePolicy: .fetchIgnoringCacheData, queue: service.queue) {
      results.add($0)
    }
    #expect(await eventually { service.server.requests.count == 2 })
    call.cancel()
    #expect(await eventually { service.server.hangUps == 1 && results.all.count == 1 && errors.entries.count == 2 })
    await service.settle()
    #expect(throws: CancellationError.self) { try results.all[0].get() }
    #expect(errors.entries == ["none", "CancellationError"])
    #expect(recorder.log.entries.filter { $0 == "retry?" }.count == 1 && results.all.count == 1)
  }

  @Test("an upload that is sent again has its files again", .rule("delegate.10"))
  func upload() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "a.txt")
    try Data("the whole file".utf8).write(to: file)
    let recorder = Recorder()
    recorder.retry = { _, _, _, answer in answer(true) }
    let service = try DelegateService(recorder, answers: [("503 Down", "")])
    let results = Results<JSONValue>()
    service.client.upload(
      operation: Upload(), files: [try GraphQLFile(fieldName: "file", originalName: "a", fileURL: file)], queue: service.queue
    ) { results.add($0) }
    #expect(await eventually { results.all.count == 1 })
    let bodies = service.server.requests.map { String(decoding: $0.body, as: UTF8.self) }
    #expect(bodies.count == 2 && bodies.allSatisfy { $0.contains("\r\n\r\nthe whole file\r\n") })
  }

  @Test("a file that cannot be read is its own error, and the retry delegate is not asked", .rule("delegate.9", "delegate.21"))
  func missingFile() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try Data("gone".utf8).write(to: folder)
    let file = try GraphQLFile(fieldName: "file", originalName: "a", fileURL: folder)
    try FileManager.default.removeItem(at: folder)
    let service = try DelegateService()
    let results = Results<JSONValue>()
    service.client.upload(operation: Upload(), files: [file], queue: service.queue) { results.add($0) }
    #expect(await results.words(1).first?.contains("there is no file") == true)
    #expect(service.recorder.log.entries.isEmpty)
  }

  @Test("GraphQL errors are a success, and their delegate can ask for another attempt", .rule("delegate.8"))
  func graphQLErrors() async throws {
    let errors = (status: "200 OK", body: #"{"data":null,"errors":[{"message":"busy"}]}"#)
    let plain = try DelegateService(answers: [errors])
    #expect(await plain.fetch() == ["server nil"])
    #expect(!plain.recorder.log.entries.contains("retry?"))
    let recorder = ErrorRecorder()
    recorder.again = { $0.first?.message == "busy" }
    let asking = try DelegateService(recorder, answers: [errors, ("200 OK", #"{"data":null,"errors":[{"message":"bad"}]}"#)])
    #expect(await asking.fetch() == ["server nil"])
    #expect(asking.server.requests.count == 2)
    #expect(recorder.log.entries.filter { $0 == "errors?" }.count == 2)
    #expect(await asking.fetch() == ["server R2"])
    #expect(recorder.log.entries.filter { $0 == "errors?" }.count == 2)
  }

  @Test(
    "persisted queries send hash and document, through preflight both times, and ask no delegate about the protocol",
    .rule("delegate.20"))
  func persisted() async throws {
    let recorder = ErrorRecorder()
    let service = try DelegateService(
      recorder, answers: [("200 OK", #"{"errors":[{"message":"PersistedQueryNotFound"}]}"#)],
      make: { url, delegate in HTTPNetworkTransport(url: url, enableAutoPersistedQueries: true, delegate: delegate) })
    #expect(await service.fetch() == ["server R2"])
    let bodies = service.server.requests.compactMap(\.json)
    #expect(bodies.map { $0["query"] != nil } == [false, true])
    #expect(bodies.allSatisfy { $0["extensions"]?["persistedQuery"]?["sha256Hash"] != nil })
    #expect(recorder.log.entries.filter { $0 == "willSend" }.count == 2 && !recorder.log.entries.contains("errors?"))
  }

  @Test("a retry of the delegate in the middle of persisted queries sends what the server asked for", .rule("delegate.20"))
  func persistedRetry() async throws {
    let recorder = Recorder()
    recorder.retry = { _, _, _, answer in answer(true) }
    let service = try DelegateService(
      recorder,
      answers: [
        ("503 Down", ""), ("200 OK", #"{"errors":[{"message":"PersistedQueryNotFound"}]}"#), ("503 Down", ""),
      ],
      make: { url, delegate in HTTPNetworkTransport(url: url, enableAutoPersistedQueries: true, delegate: delegate) })
    #expect(await service.fetch() == ["server R2"])
    #expect(service.server.requests.compactMap(\.json).map { $0["query"] != nil } == [false, false, true, true])
  }
}

/// Answers when it is released.
private final class AnswersLast {
  private let answer: (Bool) -> Void

  init(_ answer: @escaping (Bool) -> Void) { self.answer = answer }

  deinit { answer(true) }
}

/// A delegate with the later form of the question.
private final class Renaming1: HTTPNetworkTransportRetryDelegate {
  func networkTransport(
    _ networkTransport: HTTPNetworkTransport, receivedError error: any Error, for request: URLRequest, response: URLResponse?,
    retryHandler: @escaping (Bool) -> Void
  ) { retryHandler(true) }

  func networkTransport(
    _ networkTransport: HTTPNetworkTransport, receivedError error: any Error, for request: URLRequest, response: URLResponse?,
    continueHandler: @escaping (HTTPNetworkTransport.ContinueAction) -> Void
  ) { continueHandler(.fail(Fault("log in again"))) }
}
