public import Carabiner
public import FoundationEssentials

/// Decodes values from bytes in one format. `JSONDecoder` and `PropertyListDecoder` conform.
public typealias FlexibleDecoder = Carabiner.FlexibleDecoder

/// A value that a decoder can read.
public protocol Parseable {
  /// Reads the value.
  ///
  /// - Throws: An error of the decoder.
  init<T: FlexibleDecoder>(from data: Data, decoder: T) throws
}

/// A value cannot be read.
public enum ParseableError: DescribedError, Sendable, Hashable {
  /// The type has no initialiser for this decoder.
  case unsupportedInitializer
  /// The type does not read data yet.
  case notImplemented

  public var description: String {
    switch self {
    case .unsupportedInitializer: "the type cannot be read with this decoder; make it Decodable"
    case .notImplemented: "the type does not read data; implement init(from:decoder:)"
    }
  }
}

extension Parseable where Self: Decodable {
  public init<T: FlexibleDecoder>(from data: Data, decoder: T) throws {
    self = try decoder.decode(Self.self, from: data)
  }
}
