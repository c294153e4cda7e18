import CCarabiner
import CarabinerABI
import Foundation
import TestTools
import Testing

/// Compares the tables that host and harness use with those in `carabiner.h`.
@Suite("The contract in Swift and in the header")
struct ContractTests {
  private let lines: [String]

  init() throws {
    let path = Repository.root.appending(path: "Sources/CCarabiner/include/carabiner.h")
    lines = try String(contentsOf: path, encoding: .utf8).components(separatedBy: "\n")
  }

  /// The lines between the first line that contains one text and the next line that contains another.
  private func section(from start: String, to end: String) throws -> [String] {
    let first = try #require(lines.firstIndex { $0.contains(start) })
    let last = try #require(lines[first...].firstIndex { $0.contains(end) })
    return Array(lines[first..<last])
  }

  // MARK: Section 4

  private static let parts: [String: Parts] = [
    "HEADERS": .headers, "BODY": .body, "URL": .url, "METHOD": .method, "DOCUMENT": .document, "VARIABLES": .variables,
    "EXTENSIONS": .extensions, "OPERATION_NAME": .operationName, "JSON": .json, "DATA": .data, "ERRORS": .errors,
    "CHUNK": .chunk,
  ]

  /// The hooks of a column, given its two heading lines.
  private func hooks(_ kind: String, _ hook: String) throws -> [(Hook, StageKind)] {
    switch (kind, hook) {
    case ("graphql", "on_request"): [(.onRequest, .graphQL)]
    case ("graphql", "after"): [(.onResult, .graphQL), (.onError, .graphQL), (.onEnd, .graphQL)]
    case ("cache", ""): [(.onRead, .cache), (.onWrite, .cache)]
    case ("http", "on_request"): [(.onRequest, .http)]
    case ("http", "on_head"): [(.onHead, .http)]
    case ("http", "on_chunk"): [(.onChunk, .http), (.onEnd, .http)]
    case ("http", "on_error"): [(.onError, .http)]
    case ("parser", "all hooks"): [(.onHead, .parsing), (.onChunk, .parsing), (.onError, .parsing), (.onEnd, .parsing)]
    default: throw Unknown(text: "\(kind) \(hook)")
    }
  }

  private struct Unknown: Error {
    let text: String
  }

  private func cut(_ line: String, at starts: [Int]) -> [String] {
    let characters = Array(line.replacing("|", with: " "))
    return starts.indices.map { index in
      let end = index + 1 < starts.count ? starts[index + 1] : characters.count
      guard starts[index] < min(end, characters.count) else { return "" }
      return String(characters[starts[index]..<min(end, characters.count)]).trimmingCharacters(in: .whitespaces)
    }
  }

  @Test("each cell of the matrix of parts and hooks is what host and harness do")
  func parts() throws {
    let matrix = try section(from: "part             | graphql", to: "(1) the response's headers")
    // A column begins at the position of its kind.
    let heading = Array(matrix[0])
    let starts = heading.indices.filter { index in
      index > 20 && heading[index].isLetter && !heading[index - 1].isLetter
    }
    let columns = try zip(cut(matrix[0], at: starts), cut(matrix[1], at: starts)).map { try hooks($0, $1) }
    #expect(columns.count == 8)
    var seen = Parts()
    for row in matrix[3...] where row.contains("|") {
      let names = row.prefix { $0 != "|" }.split { !$0.isLetter && $0 != "_" }.map(String.init)
      for (column, cell) in zip(columns, cut(row, at: starts)) {
        var rights: Contract.Rights = []
        let letters = cell.replacing(/\(\d\)/, with: "").split(separator: " ")
        if letters.contains("r") { rights.insert(.read) }
        if letters.contains("w") { rights.insert(.write) }
        if letters.contains("e") || letters.contains("emit") { rights.insert(.event) }
        #expect(letters.allSatisfy { ["r", "w", "e", "emit", "-"].contains($0) }, "\(cell)")
        for name in names {
          let part = try #require(Self.parts[name])
          seen.insert(part)
          for (hook, kind) in column {
            #expect(Contract.rights(part, in: hook, of: kind) == rights, "\(name) in \(kind.rawValue) \(hook.name)")
            if part == .headers {
              let isOfResponse = Contract.headerSource(in: hook, of: kind) == .response
              #expect(isOfResponse == cell.contains("(1)"), "whose headers in \(kind.rawValue) \(hook.name)")
            }
          }
        }
      }
    }
    #expect(seen == Parts(Self.parts.values))
  }

  // MARK: Section 5

  @Test("each cell of the matrix of verdicts and hooks is what host and harness do")
  func verdicts() throws {
    let matrix = try section(from: "CONTINUE PENDING RESPOND", to: "Any negative verdict")
    let heading = Array(matrix[0])
    let starts = heading.indices.filter { heading[$0].isLetter && !heading[$0 - 1].isLetter }
    let names = cut(matrix[0], at: starts)
    #expect(names == (0..<8).map { Verdict.name($0) })
    var seen: Set<String> = []
    for row in matrix[1...] where row.contains("on_") {
      let words = row.prefix(starts[0]).split(separator: " ").dropFirst().map(String.init)
      let kinds =
        words[0] == "any"
        ? StageKind.allCases
        : StageKind.allCases.filter { $0.rawValue.hasPrefix(words[0].prefix(5)) || words[0] == "parser" && $0 == .parsing }
      let hook = try #require(Hook.allCases.first { $0.name == words[1] })
      #expect(!kinds.isEmpty)
      for kind in kinds {
        seen.insert("\(kind.rawValue) \(hook.name)")
        for (place, start) in starts.enumerated() {
          let end = place + 1 < starts.count ? starts[place + 1] : Int.max
          let isMarked = Array(row).enumerated().contains { $0.offset >= start && $0.offset < end && $0.element == "x" }
          let verdict = crb_verdict(place)
          // The lines below the matrix restrict some of its rows to some stages.
          let isOnlyForSome =
            hook == .onError && kind != .graphQL
            && (verdict == Verdict.recover || verdict == Verdict.drop || verdict == Verdict.retry && kind != .http)
          #expect(
            Contract.allows(verdict, from: hook, of: kind) == (isMarked && !isOnlyForSome),
            "\(Verdict.name(verdict)) from \(kind.rawValue) \(hook.name)")
        }
      }
    }
    #expect(seen.count == 9 + 2 * StageKind.allCases.count)
  }
}
