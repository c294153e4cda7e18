extension TrustFile {
  /// Reads a trust file.
  ///
  /// - Throws: ``ReleaseError`` if it cannot be read, others could change it, or it is malformed.
  package init(at path: String) throws(ReleaseError) {
    try self.init(parsing: try ReleaseFile.trusted(path, maximumBytes: Self.maximumBytes), name: path)
  }
}
