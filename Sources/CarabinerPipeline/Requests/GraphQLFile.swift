public import Carabiner
public import FoundationEssentials

/// A file to upload.
public struct GraphQLFile: Sendable, Hashable {
  /// A file cannot be uploaded.
  public enum GraphQLFileError: DescribedError, Sendable, Hashable {
    /// The file does not exist or is not a regular file.
    case couldNotGetFileSize(fileURL: URL)

    public var description: String {
      switch self {
      case .couldNotGetFileSize(let url): "the size of \(url.path) cannot be read; pass the URL of a regular file"
      }
    }
  }

  /// The media type of bytes of an unknown kind.
  public static let octetStreamMimeType = Carabiner.GraphQLFile.octetStream

  /// The variable whose value the file is.
  public let fieldName: String
  /// The file name that is sent.
  public let originalName: String
  /// The media type that is sent.
  public let mimeType: String
  /// The bytes; nil for a file on disk.
  public let data: Data?
  /// The file; nil for bytes in memory.
  public let fileURL: URL?
  /// How many bytes the file has.
  public let contentLength: UInt64

  /// A file in memory.
  public init(fieldName: String, originalName: String, mimeType: String = Self.octetStreamMimeType, data: Data) {
    self.fieldName = fieldName
    self.originalName = originalName
    self.mimeType = mimeType
    self.data = data
    fileURL = nil
    contentLength = UInt64(data.count)
  }

  /// A file on disk. Each attempt reads it again.
  ///
  /// - Throws: ``GraphQLFileError``.
  public init(fieldName: String, originalName: String, mimeType: String = Self.octetStreamMimeType, fileURL: URL) throws {
    let attributes = try? FileManager.default.attributesOfItem(atPath: fileURL.path)
    guard let size = attributes?[.size] as? UInt64, attributes?[.type] as? FileAttributeType != .typeDirectory else {
      throw GraphQLFileError.couldNotGetFileSize(fileURL: fileURL)
    }
    self.fieldName = fieldName
    self.originalName = originalName
    self.mimeType = mimeType
    data = nil
    self.fileURL = fileURL
    contentLength = size
  }

  /// The same file for the core.
  var core: Carabiner.GraphQLFile {
    if let fileURL {
      return Carabiner.GraphQLFile(fieldName: fieldName, path: fileURL.path, originalName: originalName, mimeType: mimeType)
    }
    return Carabiner.GraphQLFile(fieldName: fieldName, originalName: originalName, mimeType: mimeType, data: data ?? Data())
  }
}
