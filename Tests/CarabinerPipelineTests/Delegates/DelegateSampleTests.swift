import CarabinerPipeline
import Foundation
import PipelineSamples
import ScriptedServer
import TestTools
import Testing

@Suite("Code of the generation with delegates", .timeLimit(.minutes(2)))
struct DelegateSampleTests {
  @Test("a client that is its own delegate renews its login after a 401 and sends again", .rule("delegate.10"))
  func login() async throws {
    let server = try ScriptedServer(
      ScriptedServer.answering { request, peer in
        guard request.header("Authorization") == "Bearer renewed-1" else {
          return try peer.json("no", status: "401 Unauthorized")
        }
        try peer.json(heroJSON)
      })
    let service = AuthorizedClient(url: try #require(URL(string: server.origin + "/graphql")), session: UserSession(token: "old"))
    let results = Results<HeroQuery.Data>()
    service.client.fetch(query: HeroQuery(), queue: .global()) { results.add($0) }
    #expect(await eventually { results.outcomes == ["server R2"] })
    #expect(
      service.journal.entries == [
        "send to /graphql", "status 401", "body Optional(\"no\")", "send to /graphql", "status 200",
        "body \(String(describing: Optional(heroJSON)))",
      ])
    service.close()
  }

  @Test("a client without a user sends nothing", .rule("delegate.3"))
  func loggedOut() async throws {
    let server = try ScriptedServer(ScriptedServer.answering { _, peer in try peer.json(heroJSON) })
    let service = AuthorizedClient(url: try #require(URL(string: server.origin)), session: UserSession(token: nil))
    let results = Results<HeroQuery.Data>()
    service.client.fetch(query: HeroQuery(), queue: .global()) { results.add($0) }
    #expect(await eventually { results.all.count == 1 })
    #expect(throws: GraphQLHTTPRequestError.cancelledByDelegate) { try results.all[0].get() }
    #expect(server.connections == 0)
    service.close()
  }

  @Test("a client with all options sends queries by GET, with the fields of its session", .rule("delegate.18"))
  func configured() async throws {
    let server = try ScriptedServer(ScriptedServer.answering { _, peer in try peer.json(heroJSON) })
    let url = try #require(URL(string: server.origin))
    for client in [configuredClient(url: url, delegate: nil), plainClient(url: url)] {
      let results = Results<HeroQuery.Data>()
      client.fetch(query: HeroQuery(), queue: .global()) { results.add($0) }
      #expect(await eventually { results.outcomes == ["server R2"] })
    }
    #expect(server.requests.map(\.method) == ["GET", "POST"])
    #expect(server.requests.first?.header("X-App") == "sample")
  }

  @Test("the listings of the guide are parts of the sample that is compiled")
  func listings() throws {
    func lines(_ text: some StringProtocol) -> String {
      text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
        // Only files that import the core too write the name of the module.
        .replacingOccurrences(of: "CarabinerPipeline.", with: "")
    }
    let page = try String(
      contentsOf: Repository.root.appending(path: "Sources/Carabiner/Documentation.docc/MigratingDelegates.md"), encoding: .utf8)
    let sample = lines(
      try String(
        contentsOf: Repository.root.appending(path: "Tests/PipelineSamples/DelegateLogin.swift"), encoding: .utf8))
    let listings = page.components(separatedBy: "```swift\n").dropFirst().map { lines($0.components(separatedBy: "```")[0]) }
    #expect(listings.count == 5)
    for listing in listings { #expect(sample.contains(listing), "\(listing)") }
  }
}
