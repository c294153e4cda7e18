import CarabinerDigest
import CarabinerWire
import CommandTools
import Foundation
import ScriptedServer
import Synchronization
import TestTools
import Testing

/// Files that clients send through the gateway.
@Suite("carabiner serve: uploads")
struct UploadTests {
  private func gateway(_ endpoint: String, _ arguments: [String] = [], manifest: String = "carabiner: 1\n") throws -> ServeProcess
  {
    let folder = try StoreFolder()
    _ = try folder.write(manifest, to: "chain.yaml")
    return try ServeProcess(folder, endpoint: endpoint, arguments)
  }

  private static func sha256(_ text: String) -> String {
    Digest.sha256(Array(text.utf8)).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  @Test("a file reaches a GraphQL server, and the connection serves the next request")
  func file() async throws {
    let server = try await StrawberryServer()
    let gateway = try gateway(server.endpoint)
    let client = try ClientSocket(port: gateway.port)
    for content in ["hello", "", "--\(UploadText.boundary)x\r\n\u{0}\u{1}\r\n"] {
      client.send(UploadText.request(UploadText.opening + content + UploadText.end))
      let answer = client.read { $0.contains("sha256") || $0.contains("errors") }
      let expected = #"{"data":{"upload":{"name":"a.txt","size":\#(content.utf8.count).0,"sha256":"\#(Self.sha256(content))"}}}"#
      let json = answer.text.components(separatedBy: "\r\n\r\n").last ?? ""
      #expect(try JSONValue(parsing: json) == JSONValue(parsing: expected), "\(answer.text)")
      #expect(!answer.text.contains("Connection: close") && !answer.isClosed)
    }
  }

  @Test("several files reach their variables, also over HTTP/2", arguments: [false, true])
  func files(overHTTP2: Bool) async throws {
    let server = try await StrawberryServer()
    let gateway = try gateway(server.endpoint, ["--http2"])
    let query =
      "mutation($files: [Upload!]!, $folder: Folder) { uploadAll(files: $files, folder: $folder) { variable name size sha256 } }"
    let variables = #"{"files":[null,null],"folder":{"name":"box","cover":null}}"#
    let big = String(repeating: "0123456789abcdef", count: 40_000)
    let bigFile = try gateway.folder.write(big, to: "big.txt")
    let run = try await ToolRun(
      URL(filePath: "/usr/bin/curl"),
      (overHTTP2 ? ["--http2-prior-knowledge"] : []) + [
        "-sS", gateway.endpoint, "-H", "Apollo-Require-Preflight: true",
        "-F", #"operations={"query":"\#(query)","variables":\#(variables)}"#,
        "-F", #"map={"a":["variables.files.0"],"b":["variables.files.1"],"c":["variables.folder.cover"]}"#,
        "-F", "a=@\(bigFile);filename=big.txt", "-F", "b=second;filename=b.txt", "-F", "c=cover;filename=c.png;type=image/png",
      ])
    let received = try JSONValue(parsing: run.output)["data"]?["uploadAll"]?.array ?? []
    #expect(received.map { $0["variable"]?.string } == ["files.0", "files.1", "folder box"], "\(run.output) \(run.errors)")
    #expect(received.map { $0["sha256"]?.string } == [big, "second", "cover"].map(Self.sha256))
    #expect(received.map { $0["name"]?.string } == ["big.txt", "b.txt", "c.png"])
  }

  @Test("stages of HTTP and the upstream get a form in chunks, with the operation first and the header against forgery")
  func upstreamRequest() throws {
    let upstream = try ScriptedServer(
      ScriptedServer.answering { _, peer in
        try peer.respond(headers: "Content-Type: application/json\r\n", body: #"{"data":{"upload":null}}"#)
      })
    let gateway = try gateway("\(upstream.origin)/graphql", manifest: "carabiner: 1\nheaders: {X-Stage: seen}\n")
    let client = try ClientSocket(port: gateway.port)
    client.send(UploadText.request(UploadText.opening + "content" + UploadText.end))
    #expect(client.read { $0.contains("upload") }.text.hasPrefix("HTTP/1.1 200"))
    let request = try #require(upstream.requests.first)
    #expect(request.header("Transfer-Encoding") == "chunked" && request.header("X-Stage") == "seen")
    #expect(request.header("Apollo-Require-Preflight") == "true")
    let type = try #require(request.header("Content-Type"))
    let boundary = try MultipartBoundary(contentType: try #require(MediaType(type)))
    #expect(type.hasPrefix("multipart/form-data") && boundary.description != UploadText.boundary)
    var reader = MultipartReader(boundary: boundary)
    reader.append(request.body)
    reader.finish()
    var parts: [MultipartPart] = []
    while let part = try reader.next() { parts.append(part) }
    #expect(
      parts.map { $0.header("content-disposition") } == [
        #"form-data; name="operations""#, #"form-data; name="map""#, #"form-data; name="0"; filename="a.txt""#,
      ])
    #expect(try JSONValue(parsing: parts[0].body)["variables"] == ["file": .null])
    #expect(String(decoding: parts[1].body, as: UTF8.self) == UploadText.map)
    #expect(String(decoding: parts[2].body, as: UTF8.self) == "content")
  }

  @Test("the upstream gets the first bytes of a file before the client has sent the last ones")
  func streaming() async throws {
    let arrived = Mutex(false)
    let upstream = try ScriptedServer { peer in
      guard try peer.head() != nil else { return }
      var body: [UInt8] = []
      while let chunk = peer.chunk(), !chunk.isEmpty {
        body += chunk
        if String(decoding: body, as: UTF8.self).contains("first half") { arrived.withLock { $0 = true } }
      }
      try peer.respond(headers: "Content-Type: application/json\r\n", body: #"{"data":{"upload":null}}"#)
    }
    let gateway = try gateway("\(upstream.origin)/graphql")
    let client = try ClientSocket(port: gateway.port)
    let form = UploadText.opening + "first half" + "second half" + UploadText.end
    client.send(UploadText.head(length: form.utf8.count) + UploadText.opening + "first half")
    client.send("sec")
    #expect(await eventually { arrived.withLock(\.self) })
    client.send("ond half" + UploadText.end)
    #expect(client.read { $0.contains("upload") }.text.hasPrefix("HTTP/1.1 200"))
  }

  @Test("200 MB through the gateway need little memory, with an upstream that is slower than the client")
  func memory() throws {
    let megabytes = 200
    let received = Mutex(0)
    let upstream = try ScriptedServer { peer in
      guard try peer.head() != nil else { return }
      while let bytes = peer.chunk(), !bytes.isEmpty { received.withLock { $0 += bytes.count } }
      try peer.respond(headers: "Content-Type: application/json\r\n", body: #"{"data":{"upload":null}}"#)
    }
    let gateway = try gateway("\(upstream.origin)/graphql", ["--maximum-file", "300MiB", "--maximum-upload", "300MiB"])
    _ = try gateway.query("{ a }")
    let before = try gateway.residentBytes()
    let client = try ClientSocket(port: gateway.port)
    client.send(UploadText.head(length: nil))
    client.sendChunk(Array(UploadText.opening.utf8))
    let chunk = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
    var most = 0
    for _ in 0..<megabytes {
      #expect(client.sendChunk(chunk))
      most = max(most, try gateway.residentBytes())
    }
    client.sendChunk(Array(UploadText.end.utf8))
    client.send("0\r\n\r\n")
    let answer = client.read(patience: 60_000) { $0.contains("upload") }.text
    #expect(answer.hasPrefix("HTTP/1.1 200"), "\(answer)")
    #expect(received.withLock(\.self) > megabytes << 20)
    #expect(most - before < 48 << 20, "the memory grew by \((most - before) >> 20) MiB")
  }
}
