import Carabiner
import FoundationEssentials
import Synchronization

struct CountSubscription: GraphQLSubscription {
  struct Data: Decodable, Sendable, Equatable {
    let count: Int
  }

  var operationName: String? { "Count" }
  var document: String { "subscription Count { count }" }
}

/// A transport that responds with these chunks and counts the reads.
final class ChunkTransport: HTTPTransport {
  private let contentType: String
  private let chunks: [Data]
  /// Further steps after the chunks, instead of the end.
  private let tail: (@Sendable (Int) async throws -> PullStream<Data>.Step)?
  private let asked = Atomic<Int>(0)

  init(
    _ chunks: [String], contentType: String = #"multipart/mixed;boundary="b";deferSpec=20220824"#,
    tail: (@Sendable (Int) async throws -> PullStream<Data>.Step)? = nil
  ) {
    self.chunks = chunks.map { Data($0.utf8) }
    self.contentType = contentType
    self.tail = tail
  }

  /// The number of reads.
  var asks: Int { asked.load(ordering: .relaxed) }

  func send(_ request: URLRequest) async throws -> HTTPResponse {
    HTTPResponse(
      response: HTTPURLResponse(url: request.url, statusCode: 200, headers: ["Content-Type": contentType]),
      chunks: PullStream { [self] in
        let place = asked.add(1, ordering: .relaxed).oldValue
        if place < chunks.count { return .element(chunks[place]) }
        return try await tail?(place - chunks.count) ?? .end
      })
  }

  static let subscription = "multipart/mixed;boundary=b;subscriptionSpec=1.0"
}

/// The parts of a body in the form of real servers: the boundary arrives together with the part before it.
func parts(_ bodies: String..., closed: Bool = true) -> String {
  "--b" + bodies.map { "\r\nContent-Type: application/json; charset=utf-8\r\n\r\n\($0)\r\n--b" }.joined()
    + (closed ? "--\r\n" : "")
}

extension ApolloClient {
  /// All results of an operation, and the error at its end.
  func outcome<Operation: GraphQLOperation>(of operation: Operation) async throws -> Outcome {
    var outcome = Outcome()
    do {
      for try await response in try results(of: operation) {
        outcome.results.append(String(decoding: response.body.bytes, as: UTF8.self))
        outcome.hasNext.append(response.hasNext)
      }
    } catch {
      outcome.error = error
    }
    return outcome
  }
}

struct Outcome {
  var results: [String] = []
  var hasNext: [Bool] = []
  var error: (any Error)?

  var parsingCode: ResponseParsingError.Code? { (error as? ResponseParsingError)?.code }
}
