import CarabinerWire
import TestTools
import Testing

@Suite("Deferred and streamed parts become whole responses")
struct IncrementalResponseTests {
  /// Merges parts and returns each result.
  private func results(_ parts: [String]) throws -> [IncrementalUpdate] {
    var response = IncrementalResponse()
    let updates = try parts.compactMap { try response.merge(Array($0.utf8)) }
    try response.finish()
    return updates
  }

  private func texts(_ parts: [String]) throws -> [String] {
    try results(parts).map { String(decoding: $0.response.text, as: UTF8.self) }
  }

  private func failure(_ parts: [String]) throws -> IncrementalError.Code? {
    do {
      _ = try results(parts)
      return nil
    } catch let error as IncrementalError {
      return error.code
    }
  }

  @Test(
    "patches of the format of 2022-08-24, two in one part, and a last part that says only that it is the last",
    .rule("multipart.4"))
  func olderFormat() throws {
    let parts = [
      #"{"data":{"hero":{"name":"R2","friends":[{"id":"1"},{"id":"2"}]}},"hasNext":true}"#,
      #"{"incremental":[{"path":["hero","friends",1],"label":"F","data":{"name":"Leia"}},{"path":["hero"],"data":{"age":1.50}}],"hasNext":true}"#,
      #"{"incremental":[{"path":[],"data":{"villain":null}}],"hasNext":true}"#, #"{"hasNext":false}"#,
    ]
    #expect(
      try texts(parts) == [
        #"{"data":{"hero":{"name":"R2","friends":[{"id":"1"},{"id":"2"}]}}}"#,
        #"{"data":{"hero":{"name":"R2","friends":[{"id":"1"},{"id":"2","name":"Leia"}],"age":1.50}}}"#,
        #"{"data":{"hero":{"name":"R2","friends":[{"id":"1"},{"id":"2","name":"Leia"}],"age":1.50},"villain":null}}"#,
      ])
    let updates = try results(parts)
    #expect(updates.map(\.hasNext) == [true, true, true])
    #expect(updates[0].patches.isEmpty)
    #expect(updates[1].patches.map(\.label) == ["F", nil])
    #expect(updates[1].patches.map(\.path.description) == [#"["hero","friends",1]"#, #"["hero"]"#])
  }

  @Test("the total size of parts is limited; heartbeats do not count")
  func maximumBytes() throws {
    let first = #"{"data":{"list":[]},"hasNext":true}"#
    let items = #"{"incremental":[{"path":["list",0],"items":[0,0,0,0,0,0,0,0,0,0]}],"hasNext":true}"#
    let maximum = first.utf8.count + items.utf8.count
    var response = IncrementalResponse(maximumBytes: maximum)
    #expect(try response.merge(Array(first.utf8)) != nil)
    for _ in 0..<100 { #expect(try response.merge(Array(#"{"hasNext":true}"#.utf8)) == nil) }
    #expect(try response.merge(Array(items.utf8)) != nil)
    let error = #expect(throws: IncrementalError.self) { try response.merge(Array(#"{"hasNext":true,"extensions":{}}"#.utf8)) }
    #expect(error?.code == .tooLarge)
  }

  @Test("a part is refused before it is read if it has more bytes than are left")
  func hugePart() throws {
    var response = IncrementalResponse(maximumBytes: 1000)
    let error = #expect(throws: IncrementalError.self) { try response.merge([UInt8](repeating: 0x5B, count: 1001)) }
    #expect(error?.code == .tooLarge)
  }

  @Test(
    "an item without a path is an error, and never merged into the root", .rule("detail.12"),
    arguments: [
      #"{"incremental":[{"data":{"s":1}}],"hasNext":true}"#, #"{"incremental":[{"path":null,"data":{"s":1}}],"hasNext":true}"#,
      #"{"incremental":[{"items":[1]}],"hasNext":true}"#, #"{"pending":[{"id":"9"}],"hasNext":true}"#,
    ])
  func withoutPath(part: String) throws {
    #expect(try failure([Self.initial, part]) == .malformedPart)
  }

  @Test("patches of the later format, with pending, id, subPath and completed", .rule("multipart.4"))
  func laterFormat() throws {
    let parts = [
      #"{"data":{"hero":{"ship":{"id":"7"}},"list":[1]},"pending":[{"id":"0","path":["hero"],"label":"H"},{"id":"1","path":["list"]}],"hasNext":true}"#,
      #"{"incremental":[{"id":"0","subPath":["ship"],"data":{"name":"Falcon"}},{"id":"1","items":[2,3]}],"completed":[{"id":"0"}],"hasNext":true}"#,
      #"{"pending":[{"id":"2","path":[]}],"incremental":[{"id":"1","items":[4]},{"id":"2","data":{"last":true}}],"completed":[{"id":"1"},{"id":"2"}],"hasNext":false}"#,
    ]
    #expect(
      try texts(parts).last
        == #"{"data":{"hero":{"ship":{"id":"7","name":"Falcon"}},"list":[1,2,3,4],"last":true}}"#)
    let updates = try results(parts)
    #expect(updates.map(\.hasNext) == [true, true, false])
    #expect(updates[1].patches.map(\.path.description) == [#"["hero","ship"]"#, #"["list"]"#])
    #expect(updates[1].patches.map(\.label) == ["H", nil])
  }

  @Test("ids may be numbers, and members that a server has no value for may be null", .rule("multipart.4"))
  func looseLaterFormat() throws {
    #expect(
      try texts([
        #"{"data":{"hero":{}},"pending":[{"id":0,"path":["hero"],"label":null}],"errors":null,"hasNext":true}"#,
        #"{"incremental":[{"id":"0","subPath":null,"data":{"name":"R2"},"errors":null}],"hasNext":true}"#,
        #"{"incremental":[{"id":null,"path":["hero"],"data":{"age":7}}],"completed":[{"id":0,"errors":null}],"hasNext":false}"#,
      ]) == [
        #"{"data":{"hero":{}}}"#, #"{"data":{"hero":{"name":"R2"}}}"#, #"{"data":{"hero":{"name":"R2","age":7}}}"#,
      ])
  }

  @Test("parts that have only hasNext or empty lists add nothing, wherever they come", .rule("multipart.4"))
  func heartbeats() throws {
    let empty = #"{"incremental":[],"pending":[],"completed":[],"errors":[],"hasNext":true}"#
    #expect(
      try texts([
        #"{"hasNext":true}"#, empty, #"{"data":{"a":1},"incremental":[],"hasNext":true}"#, #"{"incremental":[],"hasNext":true}"#,
        empty,
        #"{"incremental":[{"path":[],"data":{"b":2}}]}"#, #"{"incremental":[],"hasNext":false}"#, #"{"hasNext":false}"#,
        #"{"incremental":[],"hasNext":false}"#,
      ]) == [#"{"data":{"a":1}}"#, #"{"data":{"a":1,"b":2}}"#])
  }

  @Test("streamed items are appended", .rule("multipart.4"))
  func streamedItems() throws {
    #expect(
      try texts([
        #"{"data":{"a":{"list":[{"n":0}]}},"hasNext":true}"#,
        #"{"incremental":[{"path":["a","list",1],"items":[{"n":1},{"n":2}]}],"hasNext":true}"#,
        #"{"incremental":[{"path":["a","list",3],"items":[{"n":3}]},{"path":["a","list",4],"items":[]}],"hasNext":false}"#,
      ]).last == #"{"data":{"a":{"list":[{"n":0},{"n":1},{"n":2},{"n":3}]}}}"#)
  }

  @Test("fields that both have are merged, lists by index; a scalar is replaced", .rule("multipart.4"))
  func deepMerge() throws {
    #expect(
      try texts([
        #"{"data":{"a":{"x":{"p":1},"l":[{"i":1},{"i":2}],"s":1,"n":null}},"hasNext":true}"#,
        #"{"incremental":[{"path":["a"],"data":{"x":{"q":2},"l":[{"j":1},{"j":2},{"j":3}],"s":2,"n":{}}}],"hasNext":false}"#,
      ]).last == #"{"data":{"a":{"x":{"p":1,"q":2},"l":[{"i":1,"j":1},{"i":2,"j":2},{"j":3}],"s":2,"n":{}}}}"#)
  }

  @Test("errors are appended and extensions merged, of parts, patches and completed entries", .rule("multipart.4"))
  func errorsAndExtensions() throws {
    let parts = [
      #"{"data":{"a":{}},"errors":[{"message":"1"}],"extensions":{"x":{"a":1}},"pending":[{"id":"0","path":["a"]}],"hasNext":true}"#,
      #"{"incremental":[{"path":["a"],"data":null,"errors":[{"message":"2"}],"extensions":{"x":{"b":2}}}],"errors":[{"message":"3"}],"hasNext":true}"#,
      #"{"completed":[{"id":"0","errors":[{"message":"4"}]}],"extensions":{"y":1},"hasNext":false}"#,
    ]
    #expect(
      try texts(parts).last
        == #"{"data":{"a":{}},"errors":[{"message":"1"},{"message":"2"},{"message":"3"},{"message":"4"}],"extensions":{"x":{"a":1,"b":2},"y":1}}"#
    )
    let last = try #require(try results(parts).last).response
    let members = try JSONMembers(locating: last.text.span)
    let ranges = last.write { _ in }
    #expect(ranges.data == members.range(of: "data"))
    #expect(ranges.errors == members.range(of: "errors"))
    #expect(ranges.extensions == members.range(of: "extensions"))
  }

  @Test("a large response is written in pieces that are small if its values are")
  func pieces() throws {
    let list = JSONValue.array((0..<20_000).map { ["text": .string("\"\($0)\""), "list": [[], [:], true, nil]] })
    let response = try #require(
      try results(["{\"data\":{\"list\":\(String(decoding: list.serialized(), as: UTF8.self))}}"]).first
    ).response
    var (sizes, end) = ([Int](), 0)
    let ranges = response.write { piece in
      sizes.append(piece.count)
      end += piece.count
    }
    #expect(sizes.count > 10 && sizes.allSatisfy { $0 < 70_000 })
    #expect(ranges.data?.upperBound == end - 1)
    #expect(try JSONValue(parsing: response.text).object?["data"]?.object?["list"] == list)
  }

  @Test("a fragment or items that failed leave what is there as it is", .rule("multipart.4"))
  func failedFragments() throws {
    #expect(
      try texts([
        #"{"data":{"a":{"l":[1]}},"hasNext":true}"#,
        #"{"incremental":[{"path":["a"],"data":null,"errors":[{"message":"no"}]},{"path":["a","l",1],"items":null}],"hasNext":false}"#,
      ]).last == #"{"data":{"a":{"l":[1]}},"errors":[{"message":"no"}]}"#)
  }

  static let initial = #"{"data":{"a":{"l":[1],"s":"x"},"n":null},"pending":[{"id":"0","path":["a"]}],"hasNext":true}"#

  @Test(
    "a patch that does not fit is refused with the reason", .rule("multipart.4"),
    arguments: [
      (#"{"incremental":[{"path":["b"],"data":{}}],"hasNext":true}"#, IncrementalError.Code.unknownPath),
      (#"{"incremental":[{"path":["n"],"data":{}}],"hasNext":true}"#, .unknownPath),
      (#"{"incremental":[{"path":["a","s"],"data":{}}],"hasNext":true}"#, .unknownPath),
      (#"{"incremental":[{"path":["a","l",9],"data":{}}],"hasNext":true}"#, .unknownPath),
      (#"{"incremental":[{"path":["a",0],"data":{}}],"hasNext":true}"#, .unknownPath),
      (#"{"incremental":[{"path":["a","l","x"],"data":{}}],"hasNext":true}"#, .unknownPath),
      (#"{"incremental":[{"path":["a","s",0],"items":[]}],"hasNext":true}"#, .unknownPath),
      (#"{"incremental":[{"path":["a","l",2],"items":[3]}],"hasNext":true}"#, .unknownPath),
      (#"{"incremental":[{"path":["a","l",0],"items":[1]}],"hasNext":true}"#, .duplicate),
      (
        #"{"incremental":[{"path":["a"],"label":"L","data":{}},{"path":["a"],"label":"L","data":{}}],"hasNext":true}"#, .duplicate
      ),
      (#"{"incremental":[{"path":["a","l"],"items":[1]}],"hasNext":true}"#, .malformedPart),
      (#"{"incremental":[{"path":"a","data":{}}],"hasNext":true}"#, .malformedPart),
      (#"{"incremental":[{"path":[-1],"data":{}}],"hasNext":true}"#, .malformedPart),
      (#"{"incremental":[{"path":[true],"data":{}}],"hasNext":true}"#, .malformedPart),
      (#"{"incremental":[{"path":["a"],"data":[]}],"hasNext":true}"#, .malformedPart),
      (#"{"incremental":[{"path":["a"]}],"hasNext":true}"#, .malformedPart),
      (#"{"incremental":{},"hasNext":true}"#, .malformedPart), (#"{"incremental":[1],"hasNext":true}"#, .malformedPart),
      (#"{"errors":{},"hasNext":true}"#, .malformedPart), ("[]", .malformedPart),
      (#"{"incremental":[{"id":"9","data":{}}],"hasNext":true}"#, .unknownID),
      (#"{"incremental":[{"id":9,"data":{}}],"hasNext":true}"#, .unknownID),
      (#"{"incremental":[{"id":true,"data":{}}],"hasNext":true}"#, .malformedPart),
      (#"{"incremental":[{"id":"0","subPath":["zz"],"data":{}}],"hasNext":true}"#, .unknownPath),
      (#"{"completed":[{"id":"9"}],"hasNext":true}"#, .unknownID),
      (#"{"completed":[{"id":"0"},{"id":"0"}],"hasNext":true}"#, .duplicate),
      (#"{"pending":[{"id":"0","path":[]}],"hasNext":true}"#, .duplicate),
      (#"{"hasNext":true}"#, .incomplete), (#"{"incremental":[]}"#, .incomplete),
    ])
  func refusals(part: String, code: IncrementalError.Code) throws {
    #expect(try failure([Self.initial, part]) == code)
  }

  @Test("an id is refused once it is completed", .rule("multipart.4"))
  func idAfterCompletion() throws {
    let completed = #"{"completed":[{"id":"0"}],"hasNext":true}"#
    #expect(try failure([Self.initial, completed, #"{"incremental":[{"id":"0","data":{}}],"hasNext":false}"#]) == .duplicate)
    #expect(try failure([Self.initial, completed, #"{"pending":[{"id":"0","path":[]}],"hasNext":false}"#]) == .duplicate)
  }

  @Test("the first part must be a response, and none may follow the last", .rule("multipart.4"))
  func order() throws {
    #expect(try failure([]) == .incomplete)
    #expect(try failure(["{}"]) == .malformedPart)
    #expect(try failure([#"{"hasNext":false}"#]) == .malformedPart)
    #expect(try failure([#"{"data":{}}"#, #"{"incremental":[{"path":[],"data":{}}]}"#]) == .afterEnd)
    #expect(try failure([#"{"data":{}}"#]) == nil)
    #expect(try failure([#"{"data":{}}"#, #"{"hasNext":false}"#]) == nil)
    #expect(throws: JSONError.self) { try results([#"{"data":"#]) }
  }

  @Test("members that are strings of digits are names and not indices", .rule("multipart.4"))
  func digits() throws {
    #expect(
      try texts([
        #"{"data":{"0":{"1":[{}]}},"hasNext":true}"#, #"{"incremental":[{"path":["0","1",0],"data":{"x":1}}],"hasNext":false}"#,
      ])
      .last == #"{"data":{"0":{"1":[{"x":1}]}}}"#)
    #expect(
      try failure([#"{"data":{"0":{}},"hasNext":true}"#, #"{"incremental":[{"path":[0],"data":{}}],"hasNext":false}"#])
        == .unknownPath)
  }

  @Test(
    "4,000 mutated conversations never trap, and give the same result twice", .rule("multipart.4"), arguments: [1, 2] as [UInt64])
  func mutations(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let alphabet = Array(#"{}[]",:01ade-"#.utf8)
    let parts = [
      Self.initial,
      #"{"incremental":[{"id":"0","data":{"z":[{}]}},{"path":["a","l",1],"items":[2]}],"errors":[{"message":"m"}],"hasNext":true}"#,
      #"{"incremental":[{"path":["a"],"label":"L","data":{"l":[3]}}],"completed":[{"id":"0"}],"hasNext":false}"#,
    ]
    var merged = 0
    for _ in 0..<2000 {
      let changed = parts.map { generator.chance(2) ? generator.mutate(Array($0.utf8), alphabet: alphabet) : Array($0.utf8) }
      let one = Result { try results(changed.map { String(decoding: $0, as: UTF8.self) }) }
      let two = Result { try results(changed.map { String(decoding: $0, as: UTF8.self) }) }
      switch (one, two) {
      case (.success(let one), .success(let two)):
        merged += 1
        #expect(one == two)
        for update in one { #expect((try? JSONValue(parsing: update.response.text)) != nil) }
      case (.failure(let one), .failure(let two)): #expect("\(one)" == "\(two)")
      default: Issue.record("the same parts gave two results")
      }
    }
    #expect(merged > 50)
  }
}
