package import CarabinerWire
public import FoundationEssentials

/// The bytes of a GraphQL response, checked once and with the members located.
public struct ResponseBody: Sendable {
  /// The whole response object.
  public let bytes: Data
  private let dataRange: Range<Int>?
  private let errorsRange: Range<Int>?
  private let extensionsRange: Range<Int>?
  /// How many member names occur more than once in one object. The last value of each counts.
  public let duplicateMembers: Int

  static let null = Data("null".utf8)

  /// Checks the bytes of a response.
  ///
  /// - Throws: ``ResponseParsingError``: `invalidJSON` with the place, or `notAGraphQLResponse` with the head of the body.
  public init(_ bytes: Data, limits: ResponseLimits = ResponseLimits()) throws {
    let members: JSONMembers
    do {
      members = try JSONMembers(locating: bytes.span, limits: limits.json)
    } catch {
      throw ResponseParsingError.unreadable(error, body: bytes)
    }
    try self.init(bytes, members)
  }

  /// Checks the bytes of a response and notes the places of all its values for the store.
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
    return (try ResponseBody(bytes, JSONMembers(tape, in: bytes.span)), tape)
  }

  private init(_ bytes: Data, _ members: JSONMembers) throws(ResponseParsingError) {
    dataRange = members.range(of: "data")
    errorsRange = members.range(of: "errors")
    guard members.isObject, dataRange != nil || errorsRange != nil else {
      throw ResponseParsingError.notAGraphQLResponse(body: bytes)
    }
    if let fault = Self.fault(of: bytes, dataRange, errorsRange) {
      throw ResponseParsingError.notAGraphQLResponse(fault, body: bytes)
    }
    extensionsRange = members.range(of: "extensions")
    duplicateMembers = members.duplicates
    self.bytes = bytes
  }

  /// What keeps the members from being those of a GraphQL response (October 2021, 7.1); nil if nothing does.
  private static func fault(of bytes: Data, _ data: Range<Int>?, _ errors: Range<Int>?) -> String? {
    func text(_ range: Range<Int>) -> Data {
      bytes[(bytes.startIndex + range.lowerBound)..<(bytes.startIndex + range.upperBound)]
    }
    if let data, let first = text(data).first, first != UInt8(ascii: "{"), first != UInt8(ascii: "n") {
      return "its data is not an object"
    }
    guard let errors else { return nil }
    let list = text(errors)
    if list == null { return data == nil ? "it has no data, and its errors are null" : nil }
    guard let entries = (try? JSONValue(parsing: [UInt8](list)))?.array, entries.allSatisfy({ $0.object != nil }) else {
      return "its errors are not a list of objects"
    }
    // Servers that send an empty list beside data are many.
    return entries.isEmpty && data == nil ? "it has no data, and its list of errors is empty" : nil
  }

  /// A response that is nothing but data, made here and known to be well-formed.
  ///
  /// - Parameter data: Where in the bytes the data is.
  init(located bytes: Data, data: Range<Int>) {
    self.bytes = bytes
    dataRange = data
    errorsRange = nil
    extensionsRange = nil
    duplicateMembers = 0
  }

  /// A response that was put together of checked parts.
  init(_ merged: MergedResponse) {
    bytes = Data(merged.text)
    dataRange = merged.data
    errorsRange = merged.errors
    extensionsRange = merged.extensions
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
  public var hasData: Bool { data.map { $0 != Self.null } ?? false }

  /// Which entry of the response's tape is the data; nil if that is no object.
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

/// How large and deep a response may be.
public struct ResponseLimits: Sendable, Hashable {
  /// How deep arrays and objects may be nested.
  public static let defaultMaximumDepth = 512
  /// How large a part of a response may be, 64 MiB.
  public static let defaultMaximumPartBytes = MultipartLimits.defaultMaximumPartBytes
  /// How large the headers of a part may be, 16 KiB.
  public static let defaultMaximumPartHeaderBytes = MultipartLimits.defaultMaximumHeaderBytes
  /// How large a response may be that is put together of parts, all parts added up, 64 MiB.
  public static let defaultMaximumMergedBytes = IncrementalResponse.defaultMaximumBytes
  /// How much may follow the last part before the connection is given up, 64 KiB.
  static let maximumEpilogueBytes = 64 << 10

  /// How deep arrays and objects may be nested.
  public var maximumDepth: Int
  /// How large a part of a response may be.
  public var maximumPartBytes: Int
  /// How large the headers of a part may be.
  public var maximumPartHeaderBytes: Int
  /// How large a response may be that is put together of parts, all parts added up.
  public var maximumMergedBytes: Int
  /// How long to wait for the next result of a response in parts; nil for as long as it takes.
  ///
  /// Signs of life are no results, so this ends a subscription of which nothing else comes. Many are silent for hours and well,
  /// which is why there is no limit unless one is set.
  public var idleTimeout: Duration?
  /// How long the server may take to end a response after its last part.
  var epilogueTimeout = Duration.milliseconds(100)

  /// Limits, each with its default.
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

  /// A response of which nothing came yet, within these limits.
  var incrementalResponse: IncrementalResponse { IncrementalResponse(limits: json, maximumBytes: maximumMergedBytes) }
  var json: JSONLimits { JSONLimits(maximumDepth: maximumDepth) }
  var multipart: MultipartLimits {
    MultipartLimits(maximumPartBytes: maximumPartBytes, maximumHeaderBytes: maximumPartHeaderBytes)
  }
}
