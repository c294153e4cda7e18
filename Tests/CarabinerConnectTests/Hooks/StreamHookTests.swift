import CarabinerConnect
import FoundationEssentials
import ScriptedServer
import SwiftProtobuf
import TestTools
import Testing

@Suite("Hooks of streams", .timeLimit(.minutes(2)))
struct StreamHookTests {
  @Test("the hooks of a stream run in order for headers, two messages and the end", .rule("connect.8"))
  func order() async throws {
    let journal = Journal()
    let service = try Service(["A", "B"].map { name in InterceptorFactory { _ in StreamStep(name, journal) } }) { _, peer in
      try peer.messages(["1", "2"])
    }
    #expect(try await service.streamed() == ["headers", "1", "2", "complete ok"])
    #expect(await eventually { journal.lines.count == 24 })
    let results = ["headers", "message", "message", "complete"].flatMap { ["raw \($0) B", "raw \($0) A", "\($0) B", "\($0) A"] }
    #expect(
      journal.lines == [
        "start A", "start B", "input hello A", "input hello B", "raw input \"hello\" A", "raw input \"hello\" B",
      ] + results + ["metrics B", "metrics A"])
  }

  @Test("a refused stream completes once with the error's code, though nothing was sent", .rule("connect.12"))
  func refusal() async throws {
    let journal = Journal()
    let service = try Service([
      InterceptorFactory { _ in
        StreamStep(start: { _, proceed in
          proceed(.failure(ConnectError(code: .permissionDenied, message: "no", metadata: ["why": ["so"]])))
        })
      }, InterceptorFactory { _ in StreamStep("B", journal) },
    ])
    let stream: any ServerOnlyAsyncStreamInterface<Text, Text> = service.client.serverOnlyStream(path: Service.path, headers: [:])
    var results: [StreamResult<Text>] = []
    for await result in stream.results() { results.append(result) }
    #expect(results.count == 1 && journal.lines.isEmpty && service.server.connections == 0)
    guard case .complete(.permissionDenied, let error?, let trailers) = results.first else { return #expect(Bool(false)) }
    #expect((error as? ConnectError)?.message == "no" && trailers == ["why": ["so"]])
  }

  @Test(
    "headers that are held while two messages arrive come first", .rule("connect.16", "connect.54"), arguments: [true, false])
  func heldHeaders(isRaw: Bool) async throws {
    let service = try Service([InterceptorFactory { _ in Self.holdingHeaders(isRaw: isRaw) }]) { _, peer in
      try peer.messages(["1", "2"])
    }
    #expect(try await service.streamed() == ["headers", "1", "2", "complete ok"])
  }

  /// An interceptor that passes headers on after the second message.
  private static func holdingHeaders(isRaw: Bool) -> StreamStep {
    let held = Shared<(@Sendable () -> Void)?>(nil)
    let messages = Shared(0)
    let passOn: @Sendable (String, @escaping @Sendable () -> Void) -> Void = { kind, proceed in
      guard kind != "headers" else {
        held.value = proceed
        return
      }
      proceed()
      guard kind == "message",
        messages.change({
          $0 += 1
          return $0
        }) == 2
      else { return }
      held.exchange(nil)?()
    }
    return isRaw
      ? StreamStep(rawResult: { result, proceed in passOn(result.kind) { proceed(result) } })
      : StreamStep(result: { result, proceed in passOn(result.kind) { proceed(result) } })
  }

  @Test("a hook that resumes in reverse order changes nothing in the order", .rule("connect.16"))
  func reverseOrder() async throws {
    let service = try Service([
      InterceptorFactory { _ in
        let held = Shared<[@Sendable () -> Void]>([])
        return StreamStep(result: { result, proceed in
          held.change { $0.append { proceed(result) } }
          guard result.kind == "complete" else { return }
          for resume in held.exchange([]).reversed() { resume() }
        })
      }
    ]) { _, peer in try peer.messages(["1", "2", "3"]) }
    #expect(try await service.streamed() == ["headers", "1", "2", "3", "complete ok"])
  }

  @Test("a hook merges three messages into one", .rule("connect.18"))
  func merge() async throws {
    let service = try Service([
      InterceptorFactory { _ in
        let texts = Shared<[String]>([])
        return StreamStep(result: { result, proceed in
          guard let text = result.messageValue?.value else { return proceed(result) }
          let all = texts.change { texts in
            texts.append(text)
            return texts
          }
          if all.count == 3 { proceed(.message(Text(all.joined(separator: "+")))) }
        })
      }
    ]) { _, peer in try peer.messages(["1", "2", "3"]) }
    #expect(try await service.streamed() == ["headers", "1+2+3", "complete ok"])
  }

  @Test("a hook makes two messages of one", .rule("connect.17"))
  func split() async throws {
    let service = try Service([
      InterceptorFactory { _ in
        StreamStep(result: { result, proceed in
          proceed(result)
          if case .message = result { proceed(result) }
        })
      }
    ]) { _, peer in try peer.messages(["1", "2"]) }
    #expect(try await service.streamed() == ["headers", "1", "1", "2", "2", "complete ok"])
  }

  @Test(
    "a hook that swallows the end, or the start, gives an error with its name", .rule("connect.20"), arguments: [true, false])
  func swallowed(isStart: Bool) async throws {
    let service = try Service([
      InterceptorFactory { _ in
        isStart
          ? StreamStep(start: { _, _ in })
          : StreamStep(result: { result, proceed in if result.kind != "complete" { proceed(result) } })
      }
    ]) { _, peer in try peer.messages(["1"]) }
    var last: StreamResult<Text>?
    for await result in try service.stream().results() { last = result }
    guard case .complete(.internalError, let error?, _)? = last else { return #expect(last == nil) }
    #expect((error as? ConnectError)?.message?.contains("StreamStep") == true)
  }

  @Test("input waits until all start hooks have let the stream go, and keeps its order", .rule("connect.9"))
  func inputWaits() async throws {
    let (journal, held) = (Journal(), Shared<(@Sendable () -> Void)?>(nil))
    let service = try Service([
      InterceptorFactory { _ in StreamStep("A", journal) },
      InterceptorFactory { _ in
        StreamStep(start: { request, proceed in held.value = { proceed(.success(request)) } })
      },
    ]) { request, peer in try peer.messages(messages(in: request.body).map { $0.replacing("\"", with: "") }) }
    let stream: any BidirectionalAsyncStreamInterface<Text, Text> = service.client.bidirectionalStream(
      path: Service.path, headers: [:])
    try stream.send(Text("1")).send(Text("2"))
    stream.close()
    #expect(await eventually { held.value != nil })
    #expect(journal.lines == ["start A"] && service.server.connections == 0)
    held.exchange(nil)?()
    var words: [String] = []
    for await result in stream.results() { words.append(result.word) }
    #expect(words == ["headers", "1", "2", "complete ok"])
    #expect(journal.lines.filter { $0.hasPrefix("input") } == ["input 1 A", "input 2 A"])
  }

  @Test("while a hook holds as many values as it may, no more are handed to it", .rule("connect.15"), .timeLimit(.minutes(1)))
  func heldValues() async throws {
    let (entered, held) = (Shared(0), Shared<[@Sendable () -> Void]>([]))
    let service = try Service([
      InterceptorFactory { _ in
        StreamStep(result: { result, proceed in
          entered.change { $0 += 1 }
          held.change { $0.append { proceed(result) } }
        })
      }
    ]) { _, peer in try peer.messages((1...100).map { "\($0)" }) }
    let stream = try service.stream()
    #expect(await eventually { entered.value == 32 })
    // An exchange later it is the same number.
    _ = await service.call()
    #expect(entered.value == 32)
    let reading = Task {
      var count = 0
      for await _ in stream.results() { count += 1 }
      return count
    }
    #expect(
      await eventually {
        for resume in held.exchange([]) { resume() }
        return entered.value == 102
      })
    for resume in held.exchange([]) { resume() }
    #expect(await reading.value == 102)
  }
}
