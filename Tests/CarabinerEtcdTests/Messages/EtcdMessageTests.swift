import CarabinerEtcd
import CarabinerWire
import TestTools
import Testing

@Suite("Messages of etcd")
struct EtcdMessageTests {
  private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  private func body(_ request: EtcdRequest) throws -> JSONValue { try JSONValue(parsing: request.bytes) }

  @Test("keys and values are base64, and numbers are strings", .rule("fleet.2"))
  func requests() throws {
    #expect(try body(.range(.init(.one("a/b")))) == ["key": "YS9i"])
    #expect(
      try body(.range(.init(.all(prefix: "a/"), isLocal: true))) == ["key": "YS8=", "range_end": "YTA=", "serializable": true])
    #expect(try body(.range(.init(.all(prefix: "")), limit: 7)) == ["key": "AA==", "range_end": "AA==", "limit": "7"])
    #expect(
      try body(.ranges([.init(.one("a"), isWithoutValues: true), .init(.one("b"), oldestChange: 9)])) == [
        "success": [
          ["request_range": ["key": "YQ==", "keys_only": true]],
          ["request_range": ["key": "Yg==", "min_mod_revision": "9"]],
        ]
      ])
    #expect(
      EtcdRequest.watch(.all(prefix: "a/"), from: 9_007_199_254_740_993)
        == bytes(#"{"create_request":{"key":"YS8=","range_end":"YTA=","start_revision":"9007199254740993"}}"#))
    #expect(
      EtcdRequest.watch(.range("b", before: "c"), from: 1)
        == bytes(#"{"create_request":{"key":"Yg==","range_end":"Yw==","start_revision":"1"}}"#))
    #expect(
      try body(
        .transaction(
          if: [.changed("k", at: 0), .version("v", equals: 3), .value("w", equals: [1])],
          then: [.put("k", [1], lease: 5), .delete(.one("x")), .delete(.all(prefix: "t/"))])) == [
          "compare": [
            ["key": "aw==", "result": "EQUAL", "target": "MOD", "mod_revision": "0"],
            ["key": "dg==", "result": "EQUAL", "target": "VERSION", "version": "3"],
            ["key": "dw==", "result": "EQUAL", "target": "VALUE", "value": "AQ=="],
          ],
          "success": [
            ["request_put": ["key": "aw==", "value": "AQ==", "lease": "5"]], ["request_delete_range": ["key": "eA=="]],
            ["request_delete_range": ["key": "dC8=", "range_end": "dDA="]],
          ],
          "failure": [
            ["request_range": ["key": "aw=="]], ["request_range": ["key": "dg=="]], ["request_range": ["key": "dw=="]],
          ],
        ])
  }

  @Test("0 and the empty value are left out of answers, and the type of a put too", .rule("fleet.2"))
  func emptyMembers() throws {
    let range = try EtcdRange(bytes(#"{"header":{"revision":"5"},"kvs":[{"key":"YQ==","mod_revision":"4"}]}"#))
    #expect(range.revision == 5 && !range.hasMore)
    #expect(range.values == [EtcdValue(key: "a", value: [], changed: 4)])
    #expect(try EtcdRange(bytes("{}")).values.isEmpty)
    let line = try EtcdWatchLine(
      bytes(
        #"{"result":{"header":{"revision":"6"},"events":[{"kv":{"key":"YQ==","value":"Yg=="}},{"type":"DELETE","kv":{"key":"Yw=="}}]}}"#
      ))
    #expect(line.events == [.put(EtcdValue(key: "a", value: [98])), .delete("c")])
    #expect(line.failure == nil)
  }

  @Test("each error has its code, in answers and in streams", .rule("fleet.2", "fleet.3", "fleet.4"))
  func errors() {
    let answers: [(String, EtcdError.Code)] = [
      (#"{"error":"etcdserver: invalid auth token","code":16}"#, .unauthenticated),
      (#"{"error":"etcdserver: revision of auth store is old","code":3}"#, .unauthenticated),
      (#"{"error":"etcdserver: permission denied","code":7}"#, .denied),
      (#"{"error":{"grpc_code":14,"message":"no leader"}}"#, .unavailable),
      (#"{"error":"etcdserver: mvcc: required revision has been compacted","code":11}"#, .compacted),
      (#"{"error":"request is too large"}"#, .refused), ("[]", .malformed), ("{", .malformed), ("", .malformed),
      (#"{"kvs":3}"#, .malformed), (#"{"header":3}"#, .malformed),
      (#"{"header":{"revision":"x"}}"#, .malformed), (#"{"header":{"revision":"9223372036854775808"}}"#, .malformed),
    ]
    for (text, code) in answers {
      let error = #expect(throws: EtcdError.self, "\(text)") { try EtcdRange(bytes(text)) }
      #expect(error?.code == code, "\(text)")
    }
  }

  @Test("a base64 error, levels without end and members without end count as malformed")
  func malformed() {
    let texts = [
      #"{"kvs":[{"key":"*"}]}"#, #"{"kvs":[{"key":"YQ==","value":"YQ="}]}"#, #"{"kvs":[{"key":5}]}"#,
      #"{"kvs":"# + String(repeating: "[", count: 100_000),
      #"{"kvs":[{}"# + String(repeating: ",{}", count: 1 << 20) + "]}",
    ]
    for text in texts {
      let error = #expect(throws: EtcdError.self, "\(text.prefix(40))") { try EtcdRange(bytes(text)) }
      #expect(error?.code == .malformed, "\(text.prefix(40))")
    }
  }

  @Test("texts of the server are cut off in messages, and have no control characters")
  func texts() {
    let text = #"{"error":"\u001b[31m\#(String(repeating: "x", count: 10_000))","code":2}"#
    let error = #expect(throws: EtcdError.self) { try EtcdRange(bytes(text)) }
    #expect((error?.message.count ?? 0) < 400)
    #expect(error?.message.unicodeScalars.contains { $0.value < 0x20 } == false)
  }

  @Test("lines are found in pieces of any size", .rule("fleet.4"), arguments: [1, 2, 3, 100])
  func lines(size: Int) throws {
    let text = bytes("{}\n{\"a\":1}\n\nrest")
    var (lines, found): (EtcdLines, [String]) = (EtcdLines(), [])
    for start in stride(from: 0, to: text.count, by: size) {
      lines.add(text[start..<min(start + size, text.count)])
      while let line = try lines.next() { found.append(String(decoding: line, as: UTF8.self)) }
    }
    #expect(found == ["{}", "{\"a\":1}", ""])
  }

  @Test("a line above the limit ends the stream, complete or not")
  func longLines() {
    for text in ["12345678901", "12345678901\n"] {
      var lines = EtcdLines(maximumBytes: 10)
      lines.add(bytes(text))
      let error = #expect(throws: EtcdError.self) { try lines.next() }
      #expect(error?.code == .malformed)
    }
    var lines = EtcdLines(maximumBytes: 10)
    lines.add(bytes("1234567890\n"))
    #expect(throws: Never.self) { try lines.next() }
    #expect(EtcdLines.defaultMaximumBytes == 4 << 20)
  }
}
