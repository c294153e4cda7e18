package import CarabinerWire
public import FoundationEssentials

/// The bytes of a GraphQL response, validated once, with the places of its members.
public struct ResponseBody: Sendable {
  /// The whole response object.
  public let bytes: Data
  private let dataRange: Range<Int>?
  private let errorsRange: Range<Int>?
  private let extensionsRange: Range<Int>?
  /// The number of repeated member names. If a name is repeated, the last value is used.
  public let duplicateMembers: Int

  static let null = Data("null".utf8)

  /// Validates the bytes of a response.
  ///
  /// - Throws: ``ResponseParsingError``: `invalidJSON` with the place, or `notAGraphQLResponse` with the head of the body.
  public init(_ bytes: Data, limits: ResponseLimits = ResponseLimits()) throws {
    let members: JSONMembers
    do {
      members = try JSONMembers(locating: bytes.span, limits: limits.json)
    } catch {
      throw ResponseParsingError.unreadable(error, body: bytes)
    }
    try self.init(bytes, ResponseMembers(members))
  }

  /// Validates the bytes of a response and records the places of all its values for the store.
  ///
  /// - Throws: As ``init(_:limits:)``.
  package static func scanned(
    _ bytes: Data, limits: ResponseLimits = ResponseLimits()
  ) throws -> (body: ResponseBody, tape: JSONTape) {
    let tape: JSONTape
    do {
      tape = try JSONTape(scanning: bytes.span, limits: limits.json)
    } catch {
      throw ResponseParsingError.unreadable(error, body: bytes)
    }
    let members = ResponseMembers(tape, in: bytes.span) ?? ResponseMembers(JSONMembers(tape, in: bytes.span))
    return (try ResponseBody(bytes, members), tape)
  }

  private init(_ bytes: Data, _ members: ResponseMembers) throws(ResponseParsingError) {
    dataRange = members.data
    errorsRange = members.errors
    guard members.isObject, dataRange != nil || errorsRange != nil else {
      throw ResponseParsingError.notAGraphQLResponse(body: bytes)
    }
    if let fault = Self.fault(of: bytes, dataRange, errorsRange) {
      throw ResponseParsingError.notAGraphQLResponse(fault, body: bytes)
    }
    extensionsRange = members.extensions
    duplicateMembers = members.duplicates
    self.bytes = bytes
  }

  /// The reason why the members are not those of a GraphQL response (October 2021, 7.1); nil if they are.
  private static func fault(of bytes: Data, _ data: Range<Int>?, _ errors: Range<Int>?) -> String? {
    func text(_ range: Range<Int>) -> Data {
      bytes[(bytes.startIndex + range.lowerBound)..<(bytes.startIndex + range.upperBound)]
    }
    if let data, case let first = bytes.span[data.lowerBound], first != UInt8(ascii: "{"), first != UInt8(ascii: "n") {
      return "its data is not an object"
    }
    guard let errors else { return nil }
    let list = text(errors)
    if list == null { return data == nil ? "it has no data, and its errors are null" : nil }
    guard let entries = (try? JSONValue(parsing: [UInt8](list)))?.array, entries.allSatisfy({ $0.object != nil }) else {
      return "its errors are not a list of objects"
    }
    // An empty list beside data is accepted, because many servers send it.
    return entries.isEmpty && data == nil ? "it has no data, and its list of errors is empty" : nil
  }

  /// An object in place of a body that is passed on.
  static let unread = ResponseBody(located: Data("{\"data\":null}".utf8), data: 8..<12)

  /// Creates a response that contains only data and is known to be well-formed.
  ///
  /// - Parameter data: The range of the data in the bytes.
  init(located bytes: Data, data: Range<Int>) {
    self.bytes = bytes
    dataRange = data
    errorsRange = nil
    extensionsRange = nil
    duplicateMembers = 0
  }

  /// Creates a response from merged, valid parts.
  init(_ merged: MergedResponse) {
    var text = Data()
    let members = merged.write { piece in unsafe piece.withUnsafeBytes { unsafe text.append(contentsOf: $0) } }
    bytes = text
    dataRange = members.data
    errorsRange = members.errors
    extensionsRange = members.extensions
    duplicateMembers = 0
  }

  /// The raw `data` member; nil if it is absent.
  public var data: Data? { dataRange.map(slice) }
  /// The raw `errors` member; nil if it is absent.
  public var errors: Data? { errorsRange.map(slice) }
  /// The raw `extensions` member; nil if it is absent.
  public var extensions: Data? { extensionsRange.map(slice) }

  /// Whether there is an `errors` member with at least one entry.
  public var hasErrors: Bool {
    guard let errors, errors != Self.null else { return false }
    return errors.contains(UInt8(ascii: "{"))
  }

  /// Whether the request failed before it was executed: there are errors, and no `data`, not even null.
  package var isRequestError: Bool { dataRange == nil && hasErrors }

  /// Whether `data` is present and not null.
  public var hasData: Bool {
    // A value that begins with another byte is an object.
    dataRange.map { bytes.span[$0.lowerBound] != UInt8(ascii: "n") } ?? false
  }

  /// The entry of the data in the response's tape; nil if the data is not an object.
  func dataPlace(on tape: JSONTape) -> Int? {
    guard let dataRange else { return nil }
    var place = 2
    while place < tape.entries.count {
      let value = tape.entries[place]
      if Int(value.start) == dataRange.lowerBound, case .object = value.kind { return place }
      place = Int(value.next) + 1
    }
    return nil
  }

  private func slice(_ range: Range<Int>) -> Data {
    bytes[(bytes.startIndex + range.lowerBound)..<(bytes.startIndex + range.upperBound)]
  }
}

/// The limits for the size and depth of a response.
public struct ResponseLimits: Sendable, Hashable {
  /// The maximum nesting depth of arrays and objects.
  public static let defaultMaximumDepth = 512
  /// The default maximum size of a part of a response, 64 MiB.
  public static let defaultMaximumPartBytes = MultipartLimits.defaultMaximumPartBytes
  /// The default maximum size of the headers of a part, 16 KiB.
  public static let defaultMaximumPartHeaderBytes = MultipartLimits.defaultMaximumHeaderBytes
  /// The default maximum total size of the parts of a response, 64 MiB.
  public static let defaultMaximumMergedBytes = IncrementalResponse.defaultMaximumBytes
  /// The maximum number of bytes after the last part before the connection is closed, 64 KiB.
  static let maximumEpilogueBytes = 64 << 10

  /// The maximum nesting depth of arrays and objects.
  public var maximumDepth: Int
  /// The maximum size of a part of a response, in bytes.
  public var maximumPartBytes: Int
  /// The maximum size of the headers of a part, in bytes.
  public var maximumPartHeaderBytes: Int
  /// The maximum total size of the parts of a response, in bytes.
  public var maximumMergedBytes: Int
  /// The maximum time between two results of a response in parts; nil for no limit.
  ///
  /// Heartbeats do not count as results, so this also ends a subscription that sends only heartbeats. Many healthy subscriptions
  /// send no result for hours, so there is no limit by default.
  public var idleTimeout: Duration?
  /// The time that the server has to end a response after its last part.
  var epilogueTimeout = Duration.milliseconds(100)

  /// Creates limits.
  public init(
    maximumDepth: Int = Self.defaultMaximumDepth, maximumPartBytes: Int = Self.defaultMaximumPartBytes,
    maximumPartHeaderBytes: Int = Self.defaultMaximumPartHeaderBytes,
    maximumMergedBytes: Int = Self.defaultMaximumMergedBytes, idleTimeout: Duration? = nil
  ) {
    self.maximumDepth = maximumDepth
    self.maximumPartBytes = maximumPartBytes
    self.maximumPartHeaderBytes = maximumPartHeaderBytes
    self.maximumMergedBytes = maximumMergedBytes
    self.idleTimeout = idleTimeout
  }

  /// An empty response in parts with these limits.
  var incrementalResponse: IncrementalResponse { IncrementalResponse(limits: json, maximumBytes: maximumMergedBytes) }
  var json: JSONLimits { JSONLimits(maximumDepth: maximumDepth) }
  var multipart: MultipartLimits {
    MultipartLimits(maximumPartBytes: maximumPartBytes, maximumHeaderBytes: maximumPartHeaderBytes)
  }
}
