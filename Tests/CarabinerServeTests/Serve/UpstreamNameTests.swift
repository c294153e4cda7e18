import CommandTools
import Foundation
import ScriptedServer
import TestTools
import Testing

@Suite("carabiner serve: names of upstreams")
struct UpstreamNameTests {
  /// Whether a program can get a file of names of its own: root, in a mount namespace.
  private static let canMount = geteuid() == 0 && FileManager.default.isExecutableFile(atPath: "/usr/bin/unshare")

  private func upstream(host: UInt8, port: Int) throws -> ScriptedServer {
    try ScriptedServer(
      host: host, port: port,
      ScriptedServer.answering { _, peer in
        try peer.respond(headers: "Content-Type: application/json\r\n", body: #"{"data":{"a":\#(host)}}"#)
      })
  }

  @Test(
    "requests go on while a DNS server answers nothing, and reach the new address when it answers",
    .rule("gateway.2", "convention.3"),
    .enabled(if: canMount, "needs root, to give the gateway another /etc/resolv.conf"))
  func slowServer() async throws {
    let (first, second) = try ScriptedServer.pair(upstream)
    let names = try NameServer(host: 1)
    let folder = try StoreFolder()
    _ = try folder.write("nameserver \(names.address)\noptions timeout:30 attempts:1\n", to: "resolv.conf")
    _ = try folder.write("hosts: dns\n", to: "nsswitch.conf")
    _ = try folder.write(
      """
      carabiner: 1
      upstreams: {main: {endpoints: ["http://upstream.test:\(first.port)/"], resolve: 100ms}}
      """, to: "chain.yaml")
    let files = ["resolv.conf", "nsswitch.conf"].map { "mount --bind \(folder.file($0)) /etc/\($0)" }.joined(separator: " && ")
    let gateway = try ServeProcess(
      folder, endpoint: nil, through: ["/usr/bin/unshare", "--mount", "sh", "-c", "\(files) && exec \"$@\"", "sh"])
    try await wait(for: "the first address") { try gateway.query("{ a }").text.contains("1") }
    names.hold()
    let asked = names.queries
    try await wait(for: "a lookup without an answer") { names.queries > asked }
    // The lookup does not end before these requests have ended.
    for _ in 0..<50 { #expect(try gateway.query("{ a }").text.contains(#""a":1"#)) }
    #expect(second.requests.isEmpty)
    names.release(host: 2)
    try await wait(for: "the second address") {
      let answer = try gateway.query("{ a }")
      #expect(answer.status == 200)
      return answer.text.contains(#""a":2"#)
    }
    #expect(second.requests.first?.header("Host") == "upstream.test:\(first.port)")
  }

  private func wait(for what: String, _ condition: () throws -> Bool) async throws {
    #expect(await eventually(condition), "waited for \(what)")
  }
}
