import Foundation
import TestTools
import Testing

@testable import Carabiner

@Suite("The pieces of a body that is passed on")
struct PassedBodyPiecesTests {
  /// Reads a body to its end.
  private func pieces(_ body: PassedBody) async throws -> [String] {
    var pieces: [String] = []
    while true {
      switch try await body.next() {
      case .element(let piece): pieces.append(String(decoding: piece, as: UTF8.self))
      case .last(let piece): return pieces + [String(decoding: piece, as: UTF8.self)]
      case .end: return pieces
      }
    }
  }

  private func body(_ texts: [String], length: Int? = nil) throws -> PassedBody {
    var rest = texts.dropFirst().map { Data($0.utf8) }[...]
    // Chunks whose last one does not say that it is the last, as on a connection that ends later.
    let next = Queue(rest: rest)
    rest = []
    return try PassedBody(
      Data(texts[0].utf8), followedBy: PullStream { next.pop().map { .element($0) } ?? .end }, length: length,
      limits: ResponseLimits())
  }

  private final class Queue: @unchecked Sendable {
    var rest: ArraySlice<Data>
    init(rest: ArraySlice<Data>) { self.rest = rest }
    func pop() -> Data? { rest.popFirst() }
  }

  @Test("all pieces of a response are passed on, and its errors are noticed", .rule("gateway.32"))
  func whole() async throws {
    let body = try body([#"{"data":{"a":"#, "1}", #","errors":[{"message":"x"}]}"#], length: 43)
    #expect(!body.hasErrors)
    try await #expect(pieces(body).joined() == #"{"data":{"a":1},"errors":[{"message":"x"}]}"#)
    #expect(body.hasErrors)
  }

  @Test(
    "the last byte is kept back if the body is not whole, or longer or shorter than its length", .rule("gateway.33"),
    arguments: [
      ([#"{"data":{"#, "}"], nil), ([#"{"data":{"#, "}"], 10), ([#"{"data":{"#, "}}"], 12), ([#"{"data":{"#, "}}"], 10),
      ([#"{"x":{"#, "}}"], nil), ([#"{"x":{"#, "}}"], 8),
    ] as [([String], Int?)])
  func broken(_ texts: [String], _ length: Int?) async throws {
    let body = try body(texts, length: length)
    var received = ""
    await #expect(throws: ResponseParsingError.self) {
      while true {
        guard case .element(let piece) = try await body.next() else { return }
        received += String(decoding: piece, as: UTF8.self)
      }
    }
    // With a known length, the client would take the last byte for the end of a whole body.
    if let length { #expect(received.utf8.count < length) }
  }

  @Test("a body that does not begin as a response is refused at once", .rule("gateway.33"))
  func refused() {
    #expect(throws: ResponseParsingError.self) { try body(["<html>", "</html>"]) }
    #expect(throws: ResponseParsingError.self) { try body([#"{"data":[1"#, "]}"]) }
  }
}
