internal import Carabiner
internal import CarabinerWire
internal import FoundationEssentials
internal import NIOCore
internal import NIOFoundationCompat

/// Writes results as multipart parts or as server-sent events.
struct PieceWriter: Sendable {
  typealias Response = GraphQLResponse<DynamicOperation>

  private let pieces: ResponseFormat.Pieces
  private let multipart: MultipartWriter
  /// Whether the results belong to one deferred response. If not, they belong to a subscription.
  private let isDeferred: Bool
  private var deferred: DeferredParts

  init(_ pieces: ResponseFormat.Pieces, isDeferred: Bool = false) {
    self.pieces = pieces
    self.isDeferred = isDeferred
    deferred = DeferredParts(usesIDs: pieces == .multipartIncremental)
    multipart = MultipartWriter(specification: pieces.specification)
  }

  var contentType: String { pieces == .events ? "text/event-stream" : multipart.contentType }
  var opening: [UInt8] { pieces == .events ? [] : multipart.opening }
  var closing: [UInt8] { pieces == .events ? Array("event: complete\ndata:\n\n".utf8) : multipart.closing }

  /// The heartbeat that is sent while no result is available; nil if the format has none.
  var heartbeat: [UInt8]? {
    switch pieces {
    case .events: Array(":\n\n".utf8)
    case .multipartSubscription: multipart.part("{}".utf8)
    case .multipartDeferred, .multipartIncremental: nil
    }
  }

  /// Returns a result as a piece.
  mutating func piece(_ response: Response, isLast: Bool) -> ByteBuffer {
    switch pieces {
    case .events where isDeferred: ByteBuffer(bytes: event(deferred.part(response, hasNext: response.hasNext && !isLast)))
    case .events, .multipartSubscription: piece(response.body)
    case .multipartDeferred, .multipartIncremental:
      ByteBuffer(bytes: multipart.part(deferred.part(response, hasNext: response.hasNext && !isLast)))
    }
  }

  private static let payloadOpening = MultipartWriter.partOpening + "{\"payload\":".utf8
  private static let payloadClosing = "}".utf8 + MultipartWriter.partClosing
  private static let eventOpening = Array("event: next\ndata: ".utf8)
  private static let eventClosing = Array("\n\n".utf8)

  /// Returns a result of a subscription as a piece.
  func piece(_ body: ResponseBody) -> ByteBuffer {
    let (opening, closing) =
      pieces == .events ? (Self.eventOpening, Self.eventClosing) : (Self.payloadOpening, Self.payloadClosing)
    var piece = ByteBufferAllocator().buffer(capacity: opening.count + body.bytes.count + closing.count)
    piece.writeBytes(opening)
    if pieces == .events, body.bytes.span.hasLineBreak {
      piece.writeBytes(body.bytes.lazy.filter(\.isNoLineBreak))
    } else {
      piece.writeData(body.bytes)
    }
    piece.writeBytes(closing)
    return piece
  }

  /// The piece that ends a deferred response whose last result announced more; empty if none is due.
  ///
  /// A server may announce the end in a part of its own, from which no result is made.
  mutating func ending() -> [UInt8] {
    guard let part = deferred.ending() else { return [] }
    return pieces == .events ? event(part) : multipart.part(part)
  }

  /// Returns an error as a piece, for a failure after the head was sent.
  func failure(_ json: [UInt8]) -> [UInt8] {
    switch pieces {
    case .events where isDeferred: event(json.dropLast() + ",\"hasNext\":false}".utf8)
    case .events: event(json)
    case .multipartSubscription:
      multipart.part("{\"payload\":null,".utf8 + json.dropFirst())
    case .multipartDeferred, .multipartIncremental: multipart.part(json.dropLast() + ",\"hasNext\":false}".utf8)
    }
  }

  /// Returns a `next` event with this JSON.
  func event(_ json: some Collection<UInt8>) -> [UInt8] {
    Self.eventOpening + json.lazy.filter(\.isNoLineBreak) + Self.eventClosing
  }
}

// The data of an event is one line. JSON contains line breaks only between tokens, so they can be removed.
extension UInt8 {
  fileprivate var isNoLineBreak: Bool { self != 0x0A && self != 0x0D }
}

extension Span<UInt8> {
  fileprivate var hasLineBreak: Bool {
    for index in indices where !self[index].isNoLineBreak { return true }
    return false
  }
}

extension ResponseFormat.Pieces {
  /// The parameter of the media type that names the format.
  fileprivate var specification: String {
    switch self {
    case .multipartIncremental: "incrementalSpec=v0.2"
    case .multipartSubscription: "subscriptionSpec=1.0"
    case .multipartDeferred, .events: "deferSpec=20220824"
    }
  }
}
