import Carabiner
import CarabinerConnect
import CarabinerCurl
import ConnectSamples
import Foundation
import ScriptedServer
import SwiftProtobuf
import TestTools
import Testing

@Suite("Code for Connect-Swift", .timeLimit(.minutes(2)))
struct SampleTests {
  @Test("1: a login interceptor and client compile unchanged, and the token reaches the server")
  func login() async throws {
    let server = try ScriptedServer(
      ScriptedServer.answering { request, peer in
        try peer.respond(headers: "Content-Type: application/proto\r\n", body: String(decoding: request.body, as: UTF8.self))
      })
    let login = Login(host: "127.0.0.1", tokens: ["/sample.v1.Greeting/Greet": "secret"])
    let client = loginClient(host: server.origin, login: login)
    #expect(await GreetingClient(client: client).greet(request: Text("hello")).message == Text("hello"))
    #expect(server.requests.map { $0.header("authorization") } == ["Bearer secret"])
    let refused: ResponseMessage<Text> = await client.unary(
      path: "sample.v1.Greeting/Other", idempotencyLevel: .unknown, request: Text("hello"), headers: [:])
    #expect(refused.word == "unknown no token for this path" && server.requests.count == 1)
  }

  @Test("renewing a token and counting a stream work over the stages of a provider")
  func stages() async throws {
    let server = try ScriptedServer(
      ScriptedServer.answering { request, peer in
        if request.header("content-type") != "application/connect+json" {
          if request.header("authorization") == "Bearer renewed" {
            try peer.text("hello")
          } else {
            try peer.error("unauthenticated")
          }
        } else {
          try peer.messages(["1", "2"])
        }
      })
    let (stages, counter) = (NamingStages(), Counter())
    let greeting = GreetingClient(
      client: client(
        of: server.origin, stages: stages, transport: try CurlTransport(),
        interceptors: [
          InterceptorFactory { _ in CountingInterceptor(counter: counter) }, InterceptorFactory { _ in RenewingInterceptor() },
        ]))
    #expect(await greeting.greet(request: Text("hi")).message?.value == "hello")
    #expect(try await count(greeting, to: "2") == ["1", "2"])
    #expect(counter.value == 2 && server.requests.last?.header("x-program") == "sample")
    #expect(
      stages.journal.lines == [
        "mutation sample.v1.Greeting/Greet", "mutation sample.v1.Greeting/Greet", "subscription sample.v1.Greeting/Count",
      ])
  }

  @Test("the listings of the guide are parts of samples that are compiled")
  func listings() throws {
    func lines(_ text: some StringProtocol) -> String {
      text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
    }
    let page = try String(
      contentsOf: Repository.root.appending(path: "Sources/Carabiner/Documentation.docc/MigratingConnect.md"), encoding: .utf8)
    let folder = Repository.root.appending(path: "Tests/ConnectSamples")
    let samples = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .map { lines(try String(contentsOf: $0, encoding: .utf8)) }
    let listings = page.components(separatedBy: "```swift\n").dropFirst().map { lines($0.components(separatedBy: "```")[0]) }
    #expect(listings.count == 6)
    for listing in listings {
      #expect(samples.contains { $0.contains(listing) }, "\(listing)")
    }
  }
}

/// Stages that write down the operation of each call.
private final class NamingStages: InterceptorProvider {
  let journal = Journal()

  func httpInterceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any HTTPInterceptor] {
    journal.add("\(operation.operationType) \(operation.operationName ?? "none")")
    return []
  }
}
