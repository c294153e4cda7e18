/// A content coding of responses.
package enum ContentCoding: String, Sendable, CaseIterable {
  case zstd
  case gzip
}
