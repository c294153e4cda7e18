public import FoundationEssentials

/// A file that is uploaded as the value of a variable.
public struct GraphQLFile: Sendable, Hashable {
  /// The source of the bytes.
  public enum Content: Sendable, Hashable {
    /// In memory.
    case data(Data)
    /// In a regular file, which is read while it is sent.
    case path(String)
  }

  /// The variable, or a path in one: `avatar`, `files.0`, `input.attachments.2`. Several files with one name form a list.
  public var fieldName: String
  /// The file name that is sent to the server.
  public var originalName: String
  /// The media type that is sent to the server.
  public var mimeType: String
  /// The source of the bytes.
  public var content: Content

  /// The media type of bytes of an unknown kind.
  public static let octetStream = "application/octet-stream"

  /// Creates a file from bytes in memory.
  public init(fieldName: String, originalName: String, mimeType: String = Self.octetStream, data: Data) {
    self.fieldName = fieldName
    self.originalName = originalName
    self.mimeType = mimeType
    content = .data(data)
  }

  /// Creates a file from a path.
  ///
  /// - Parameters:
  ///   - fieldName: The variable for the file.
  ///   - path: The path of the file.
  ///   - originalName: The file name that is sent; nil for the last part of the path.
  ///   - mimeType: The media type that is sent.
  public init(fieldName: String, path: String, originalName: String? = nil, mimeType: String = Self.octetStream) {
    self.fieldName = fieldName
    self.originalName = originalName ?? path.split(separator: "/").last.map(String.init) ?? path
    self.mimeType = mimeType
    content = .path(path)
  }

  /// The bytes as a part of a body.
  ///
  /// - Throws: ``RequestChainError`` with code `invalidRequest` if the file is missing, unreadable or not a regular file.
  func segment() throws -> SegmentedBody.Segment {
    switch content {
    case .data(let data): return .data(data)
    case .path(let path):
      let target = URL(filePath: path).resolvingSymlinksInPath().path
      let attributes: [FileAttributeKey: Any]
      do {
        attributes = try FileManager.default.attributesOfItem(atPath: target)
      } catch {
        throw refusal("there is no file \(path)", "correct the path")
      }
      guard attributes[.type] as? FileAttributeType == .typeRegular else {
        throw refusal("\(path) is not a regular file", "copy its content into one")
      }
      guard FileManager.default.isReadableFile(atPath: target), let size = attributes[.size] as? UInt64,
        let length = Int(exactly: size)
      else { throw refusal("the file \(path) cannot be read", "look at its permissions") }
      return .file(path: path, length: length)
    }
  }

  private func refusal(_ fact: String, _ advice: String) -> RequestChainError {
    RequestChainError(.invalidRequest, "\(fact), the value of the variable \(fieldName); \(advice)")
  }
}
