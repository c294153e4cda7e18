import CarabinerPipeline
import Dispatch
import Foundation
import PipelineSamples
import ScriptedServer
import TestTools
import Testing

@Suite("Bad input of delegates and servers", .timeLimit(.minutes(3)))
struct DelegateInputTests {
  @Test("a URL without a host fails, and the retry delegate is asked", .rule("delegate.9"))
  func noHost() async throws {
    let recorder = Recorder()
    recorder.willSend = { $0.url = URL(filePath: "/nowhere") }
    let service = try DelegateService(recorder)
    #expect(await service.fetch().first?.contains("unsupportedURL") == true)
    #expect(recorder.log.entries.contains("retry?") && service.server.connections == 0)
  }

  @Test("a body of 100 MiB is sent whole", .rule("delegate.4"))
  func hugeBody() async throws {
    let recorder = Recorder()
    recorder.willSend = { $0.httpBody = Data(count: 100 << 20) }
    let service = try DelegateService(recorder)
    #expect(await service.fetch() == ["server R2"])
    #expect(service.server.requests.first?.body.count == 100 << 20)
  }

  @Test("a Content-Length that willSend sets does not change what is sent", .rule("delegate.4"))
  func contentLength() async throws {
    let recorder = Recorder()
    recorder.willSend = { $0.setValue("3", forHTTPHeaderField: "Content-Length") }
    let service = try DelegateService(recorder)
    let words = await service.fetch().first ?? ""
    // Either the field is replaced, or it is refused. Nothing is cut.
    #expect(words == "server R2" || words.contains("invalidHeader"), "\(words)")
    if let request = service.server.requests.first { #expect(request.json?["query"] != nil) }
  }

  @Test("a redirect loop ends with an error of sending", .rule("delegate.9"))
  func redirectLoop() async throws {
    let service = try DelegateService { _, peer in try peer.respond("307 Temporary Redirect", headers: "Location: /graphql\r\n") }
    #expect(await service.fetch().first?.contains("redirectRefused") == true)
    #expect(service.recorder.log.entries.filter { $0 == "retry?" }.count == 1)
  }

  @Test("a body that ends early is shown as far as it arrived, with its error", .rule("delegate.6"))
  func earlyEnd() async throws {
    let recorder = Recorder()
    let errors = Log()
    recorder.completed = { _, _, _, error in errors.note((error as? TransportError)?.code.rawValue ?? "none") }
    let service = try DelegateService(recorder) { _, peer in
      try peer.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"data\"")
      peer.close()
    }
    #expect(await service.fetch().first?.contains("connectionLost") == true)
    #expect(errors.entries == ["connectionLost"] && recorder.log.entries.contains("raw 200 7"))
  }

  @Test(
    "a status that is not 200 to 299 is an error, whatever its media type", .rule("delegate.7"),
    arguments: ["101 Switching Protocols", "199 Odd", "300 Choices", "400 Bad", "599 Odd", "600 Odd", "999 Odd"])
  func statuses(_ status: String) async throws {
    let service = try DelegateService { _, peer in
      try peer.respond(
        status, headers: "Content-Type: application/graphql-response+json\r\nConnection: close\r\n", body: heroJSON)
      peer.close()
    }
    let words = await service.fetch()
    #expect(words.count == 1 && !words[0].hasPrefix("server"), "\(words)")
  }

  @Test("a status of 299 is a success", .rule("delegate.7"))
  func oddSuccess() async throws {
    let service = try DelegateService { _, peer in try peer.json(heroJSON, status: "299 Odd") }
    #expect(await service.fetch() == ["server R2"])
  }

  @Test("a head with ten thousand fields is a response or an error, once", .rule("delegate.24"))
  func manyFields() async throws {
    let fields = (0..<10_000).map { "X-Field-\($0): v\r\n" }.joined()
    let service = try DelegateService { _, peer in try peer.json(heroJSON, headers: fields) }
    let words = await service.fetch()
    await service.settle()
    #expect(words.count == 1 && (words[0] == "server R2" || words[0].contains("headTooLarge")), "\(words)")
  }

  @Test("a body over the limit is an error, also one in parts", .rule("delegate.24"))
  func limit() async throws {
    let service = try DelegateService(
      answer: { _, peer in
        try peer.sendParts()
        for _ in 0..<100 { try peer.sendPart(String(repeating: " ", count: 100)) }
      }, make: { HTTPNetworkTransport(url: $0, delegate: $1, maximumBodyBytes: 1000) })
    #expect(await service.fetch().first?.contains("bodyTooLarge") == true)
    #expect(service.recorder.log.entries.contains("retry?"))
  }

  @Test("a deferred response is one outcome with all its parts", .rule("delegate.13"))
  func deferred() async throws {
    let service = try DelegateService { _, peer in
      try peer.sendParts()
      try peer.sendPart(#"{"data":{"hero":{"__typename":"Droid","id":"1","name":"first"}},"hasNext":true}"#)
      try peer.sendPart(#"{"incremental":[{"path":["hero"],"data":{"name":"merged"}}],"hasNext":false}"#)
      try peer.send("\r\n-----\r\n")
      peer.close()
    }
    #expect(await service.fetch() == ["server merged"])
    await service.settle()
    #expect(service.recorder.log.entries.filter { $0 == "result" }.count == 1)
  }

  @Test("a delegate may use its client inside shouldSend, and be removed during a request", .rule("delegate.25"))
  func reentrant() async throws {
    let recorder = Recorder()
    let service = try DelegateService(recorder)
    let (calls, results) = (Counter(), Results<HeroQuery.Data>())
    let (client, transport) = (Kept(service.client), service.transport)
    recorder.shouldSend = { _ in
      guard calls.next() == 1 else { return true }
      let done = DispatchSemaphore(value: 0)
      client.value.fetch(query: HeroQuery(), cachePolicy: .fetchIgnoringCacheData, queue: .global()) { result in
        results.add(result)
        done.signal()
      }
      done.wait()
      transport.delegate = nil
      return true
    }
    #expect(await service.fetch() == ["server R2"])
    #expect(results.outcomes == ["server R2"])
    // The object that answered shouldSend is also asked for willSend, because both belong to one question.
    #expect(recorder.log.entries.filter { $0.hasPrefix("raw") }.count == 1)
  }

  @Test("an answer from another thread before the method has returned counts, and no other", .rule("delegate.11"))
  func answeredMeanwhile() async throws {
    let recorder = Recorder()
    recorder.retry = { _, _, _, answer in
      let (answer, done) = (Kept(answer), DispatchSemaphore(value: 0))
      DispatchQueue.global().async {
        answer.value(true)
        done.signal()
      }
      done.wait()
      answer.value(false)
    }
    let service = try DelegateService(recorder, answers: [("503 Down", "down")])
    #expect(await service.fetch() == ["server R2"])
    await service.settle()
    #expect(service.server.requests.count == 2)
  }

  @Test("eight threads use one transport and one delegate", .rule("delegate.16"))
  func threads() async throws {
    let recorder = Recorder()
    recorder.retry = { _, _, _, answer in
      let answer = Kept(answer)
      DispatchQueue.global().async { answer.value(true) }
    }
    let counter = Counter()
    let service = try DelegateService(recorder) { _, peer in
      if counter.next().isMultiple(of: 3) { return try peer.json("", status: "503 Down") }
      try peer.json(heroJSON)
    }
    let results = Results<HeroQuery.Data>()
    let client = Kept(service.client)
    let queue = service.queue
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for number in 0..<20 {
            let call = client.value.fetch(query: HeroQuery(), cachePolicy: .fetchIgnoringCacheData, queue: queue) {
              results.add($0)
            }
            if number.isMultiple(of: 5) { call.cancel() }
          }
        }
      }
    }
    #expect(await eventually { results.all.count == 160 })
    await service.settle()
    #expect(results.all.count == 160)
  }
}
