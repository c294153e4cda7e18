internal import CarabinerWire

extension FuzzTarget {
  // MARK: Proxies

  func checkProxyHeader(_ bytes: [UInt8]) throws {
    let header = ProxyHeader(bytes)
    switch header {
    case .incomplete:
      try require(bytes.count < ProxyHeader.maximumBinary, "more bytes are needed than a header may have")
      for count in bytes.indices {
        try require(ProxyHeader(bytes.prefix(count)) == .incomplete, "the begin of an incomplete header is something else")
      }
    case .malformed: try require(ProxyHeader(bytes + [0]) == .malformed, "a further byte makes a header valid")
    case .complete(_, let length):
      try require((1...min(bytes.count, ProxyHeader.maximumBinary)).contains(length), "a header is longer than its bytes")
      try require(ProxyHeader(bytes.prefix(length)) == header, "a header depends on the bytes behind it")
      try require(ProxyHeader(bytes.prefix(length - 1)) == .incomplete, "a header is complete before its end")
    }
  }
}
