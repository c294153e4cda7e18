import Carabiner
import CarabinerWire
import Foundation
import NIOCore
import TestTools
import Testing

@testable import CarabinerGateway

@Suite("Deferred results in parts")
struct DeferredPartsTests {
  /// The parts that a client gets for the payloads of an upstream.
  private func parts(
    _ payloads: [String], usesIDs: Bool = false,
    changed: (GraphQLResponse<DynamicOperation>) throws -> GraphQLResponse<DynamicOperation> = { $0 }
  ) throws -> [JSONValue] {
    var merging = ResultPayloads<DynamicOperation>(.query, limits: ResponseLimits())
    var writer = DeferredParts(usesIDs: usesIDs)
    return try payloads.compactMap { try merging.response(Data($0.utf8)) }.map { response, _ in
      try JSONValue(parsing: writer.part(try changed(response), hasNext: response.hasNext))
    }
  }

  private func values(_ texts: [String]) throws -> [JSONValue] { try texts.map { try JSONValue(parsing: Array($0.utf8)) } }

  @Test(
    "parts are those of the upstream",
    arguments: [
      [
        #"{"data":{"a":{"id":1}},"hasNext":true}"#,
        #"{"incremental":[{"data":{"b":2},"path":["a"],"label":"B"}],"hasNext":true}"#,
        #"{"incremental":[{"data":{"c":{"d":[1,2]}},"path":["a"],"label":"C"}],"hasNext":true}"#,
        #"{"incremental":[{"data":{"e":3},"path":[]}],"hasNext":false}"#,
      ],
      // Two fragments in one part, for the same path and for others.
      [
        #"{"data":{"l":[{"i":1},{"i":2}]},"hasNext":true}"#,
        #"{"incremental":[{"data":{"x":1},"path":["l",0],"label":"X"},{"data":{"x":2,"y":{"z":3}},"path":["l",1],"label":"Y"},{"data":{"n":null},"path":[],"label":"N"}],"hasNext":false}"#,
      ],
      // Errors are sent with their fragment, and not repeated.
      [
        #"{"data":{"a":{}},"errors":[{"message":"0"}],"hasNext":true}"#,
        #"{"incremental":[{"data":{"b":1},"path":["a"],"label":"B","errors":[{"message":"1"}]},{"data":null,"path":["a"],"label":"C","errors":[{"message":"2"},{"message":"3"}]}],"hasNext":true}"#,
        #"{"incremental":[{"data":{"d":1},"path":["a"],"label":"D"}],"hasNext":false}"#,
      ],
      // Streamed items.
      [
        #"{"data":{"l":[1]},"hasNext":true}"#, #"{"incremental":[{"items":[2,3],"path":["l",1],"label":"S"}],"hasNext":true}"#,
        #"{"incremental":[{"items":[{"a":4}],"path":["l",3],"label":"S"}],"hasNext":false}"#,
      ],
      // New extensions.
      [
        #"{"data":{"a":1},"extensions":{"x":1},"hasNext":true}"#,
        #"{"incremental":[{"data":{"b":1},"path":[]}],"hasNext":true}"#,
        #"{"incremental":[{"data":{"c":1},"path":[]}],"extensions":{"x":2},"hasNext":false}"#,
      ],
    ])
  func faithful(_ payloads: [String]) throws {
    #expect(try parts(payloads) == values(payloads))
  }

  @Test("a part with a patch for each element of a long list is that part again")
  func manyPatches() throws {
    let count = 4_000
    let list = Array(repeating: "{}", count: count).joined(separator: ",")
    let patches = (0..<count).map { #"{"data":{"a":\#($0)},"path":["l",\#($0)]}"# }.joined(separator: ",")
    let payloads = [#"{"data":{"l":[\#(list)]},"hasNext":true}"#, #"{"incremental":[\#(patches)],"hasNext":false}"#]
    #expect(try parts(payloads) == values(payloads))
  }

  @Test("the events of a deferred response are its parts, and those of a subscription are whole results")
  func events() throws {
    let payloads = [
      #"{"data":{"a":{"id":1}},"hasNext":true}"#, #"{"incremental":[{"data":{"b":2},"path":["a"],"label":"B"}],"hasNext":true}"#,
      #"{"incremental":[{"data":{"c":3},"path":["a"],"label":"C"}],"hasNext":false}"#,
    ]
    func events(isDeferred: Bool) throws -> [JSONValue] {
      var merging = ResultPayloads<DynamicOperation>(.query, limits: ResponseLimits())
      var writer = PieceWriter(.events, isDeferred: isDeferred)
      return try payloads.compactMap { try merging.response(Data($0.utf8)) }.map { response, _ in
        let event = String(buffer: writer.piece(response, isLast: false))
        return try JSONValue(parsing: Array(#require(event.wholeMatch(of: /event: next\ndata: (.*)\n\n/)?.1).utf8))
      }
    }
    #expect(try events(isDeferred: true) == values(payloads))
    #expect(
      try events(isDeferred: false)
        == values([#"{"data":{"a":{"id":1}}}"#, #"{"data":{"a":{"id":1,"b":2}}}"#, #"{"data":{"a":{"id":1,"b":2,"c":3}}}"#]))
  }

  @Test("a deferred response that breaks off ends with an event without further ones", arguments: [true, false])
  func brokenOff(isDeferred: Bool) {
    let event = PieceWriter(.events, isDeferred: isDeferred).failure(Array(#"{"errors":[]}"#.utf8))
    let json = isDeferred ? #"{"errors":[],"hasNext":false}"# : #"{"errors":[]}"#
    #expect(String(decoding: event, as: UTF8.self) == "event: next\ndata: \(json)\n\n")
  }

  @Test("patches of the later format become those of the older")
  func laterFormat() throws {
    let parts = try parts([
      #"{"data":{"a":{"s":{}},"l":[1]},"pending":[{"id":"0","path":["a"],"label":"A"},{"id":"1","path":["l"],"label":"L"}],"hasNext":true}"#,
      #"{"incremental":[{"id":"0","subPath":["s"],"data":{"b":1}},{"id":"1","items":[2]}],"hasNext":true}"#,
      #"{"incremental":[{"id":"1","items":[3]}],"completed":[{"id":"0","errors":[{"message":"no"}]},{"id":"1"}],"hasNext":false}"#,
    ])
    #expect(
      try parts
        == values([
          #"{"data":{"a":{"s":{}},"l":[1]},"hasNext":true}"#,
          #"{"incremental":[{"data":{"b":1},"path":["a","s"],"label":"A"},{"items":[2],"path":["l",1],"label":"L"}],"hasNext":true}"#,
          #"{"incremental":[{"items":[3],"path":["l",2],"label":"L"},{"data":null,"path":["a"],"label":"A","errors":[{"message":"no"}]}],"hasNext":false}"#,
        ]))
  }

  @Test(
    "clients of the later format get pending fragments with ids: a fragment is completed at once, a list with the last part",
    arguments: [
      (
        [
          #"{"data":{"a":{},"l":[1]},"hasNext":true}"#,
          #"{"incremental":[{"data":{"b":1},"path":["a"],"label":"B"},{"items":[2],"path":["l",1],"label":"L"}],"hasNext":true}"#,
          #"{"incremental":[{"items":[3],"path":["l",2],"label":"L"},{"data":null,"path":["a"],"label":"C","errors":[{"message":"no"}]}],"hasNext":false}"#,
        ],
        [
          #"{"data":{"a":{},"l":[1]},"hasNext":true}"#,
          #"{"pending":[{"id":"0","path":["a"],"label":"B"},{"id":"1","path":["l"],"label":"L"}],"incremental":[{"id":"0","data":{"b":1}},{"id":"1","items":[2]}],"completed":[{"id":"0"}],"hasNext":true}"#,
          #"{"pending":[{"id":"2","path":["a"],"label":"C"}],"incremental":[{"id":"1","items":[3]}],"completed":[{"id":"2","errors":[{"message":"no"}]},{"id":"1"}],"hasNext":false}"#,
        ]
      ),
      // A list whose next items failed, and errors of data that arrived.
      (
        [
          #"{"data":{"l":[1]},"hasNext":true}"#, #"{"incremental":[{"items":[2],"path":["l",1]}],"hasNext":true}"#,
          #"{"incremental":[{"data":{"b":null},"path":[],"errors":[{"message":"b"}]}],"extensions":{"x":1},"hasNext":false}"#,
        ],
        [
          #"{"data":{"l":[1]},"hasNext":true}"#,
          #"{"pending":[{"id":"0","path":["l"]}],"incremental":[{"id":"0","items":[2]}],"hasNext":true}"#,
          #"{"pending":[{"id":"1","path":[]}],"incremental":[{"id":"1","data":{"b":null},"errors":[{"message":"b"}]}],"completed":[{"id":"1"},{"id":"0"}],"extensions":{"x":1},"hasNext":false}"#,
        ]
      ),
    ])
  func ids(_ payloads: [String], _ expected: [String]) throws {
    let parts = try parts(payloads, usesIDs: true)
    for (part, expected) in try zip(parts, values(expected)) { #expect(part == expected) }
    #expect(parts.count == expected.count)
    // A reader of the later format finds the same response.
    func merged(_ parts: [JSONValue]) throws -> [UInt8]? {
      var response = IncrementalResponse()
      let texts = try parts.compactMap { try response.merge($0.serialized())?.response.text }
      try response.finish()
      return texts.last
    }
    #expect(try merged(parts) == merged(values(payloads)))
  }

  @Test("a response whose last result announced more is ended by a part of its own", arguments: [false, true])
  func ending(usesIDs: Bool) throws {
    var merging = ResultPayloads<DynamicOperation>(.query, limits: ResponseLimits())
    var writer = PieceWriter(usesIDs ? .multipartIncremental : .multipartDeferred, isDeferred: true)
    var written = ""
    for payload in [#"{"data":{"l":[]},"hasNext":true}"#, #"{"incremental":[{"items":[1],"path":["l",0]}],"hasNext":true}"#] {
      let (response, _) = try #require(try merging.response(Data(payload.utf8)))
      written = String(buffer: writer.piece(response, isLast: false))
    }
    #expect(written.contains(#""hasNext":true}"#))
    let ending = String(decoding: writer.ending(), as: UTF8.self)
    #expect(ending.contains(usesIDs ? #"{"completed":[{"id":"0"}],"hasNext":false}"# : #"{"hasNext":false}"#))
    #expect(writer.ending().isEmpty)
    #expect(writer.contentType.hasSuffix(usesIDs ? "incrementalSpec=v0.2" : "deferSpec=20220824"))
  }

  @Test("each part is as long as its fragment, however much came before")
  func size() throws {
    let first = #"{"data":{"l":[\#((0..<2000).map { #"{"id":\#($0)}"# }.joined(separator: ","))]},"hasNext":true}"#
    let patches = (0..<200).map {
      #"{"incremental":[{"data":{"name":"n"},"path":["l",\#($0)],"label":"N"}],"hasNext":\#($0 < 199)}"#
    }
    let parts = try parts([first] + patches)
    #expect(parts.count == 201)
    #expect(parts.dropFirst().allSatisfy { $0.description.utf8.count < 100 })
  }

  @Test("a part contains the changes of a plugin")
  func changed() throws {
    let payloads = [
      #"{"data":{"a":{"id":1}},"hasNext":true}"#,
      #"{"incremental":[{"data":{"secret":"s","other":{"secret":"t"},"list":["s"]},"path":["a"],"label":"S"}],"hasNext":false}"#,
    ]
    let parts = try parts(payloads) { response in
      let text = String(decoding: response.body.bytes, as: UTF8.self)
      var changed = try GraphQLResponse<DynamicOperation>(
        json: JSONValue(parsing: Array(text.replacing(#""s""#, with: #""***""#).replacing(#""secret":"t","#, with: "").utf8)))
      changed.delivery = response.delivery
      return changed
    }
    #expect(
      try parts.last?["incremental"]?[0]
        == JSONValue(
          parsing: Array(#"{"data":{"secret":"***","other":{"secret":"t"},"list":["***"]},"path":["a"],"label":"S"}"#.utf8)))
  }

  @Test("the server's first result after a cached one that lacks fragments is sent as a whole", .rule("detail.10"))
  func afterCachedResult() throws {
    var parts = DeferredParts()
    var cached = try GraphQLResponse<DynamicOperation>(json: ["data": ["a": ["id": 1]]], source: .cache)
    cached.delivery = ResultDelivery(hasNext: true, pending: [PendingFragment(label: "L", path: ["a"])])
    #expect(String(decoding: parts.part(cached, hasNext: true), as: UTF8.self) == #"{"data":{"a":{"id":1}},"hasNext":true}"#)
    var first = try GraphQLResponse<DynamicOperation>(json: ["data": ["a": ["id": 1, "name": "n"]]], source: .server)
    first.delivery = ResultDelivery(hasNext: false)
    #expect(
      String(decoding: parts.part(first, hasNext: false), as: UTF8.self)
        == #"{"incremental":[{"data":{"a":{"id":1,"name":"n"}},"path":[]}],"hasNext":false}"#)
  }
}
