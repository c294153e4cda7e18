import CarabinerWire
import TestTools
import Testing

@Suite("Content codings that a client accepts")
struct AcceptedCodingsTests {
  @Test(
    "quality values decide, then the order of the server", .rule("gateway.20"),
    arguments: [
      ("gzip", "gzip"), ("zstd, gzip", "zstd"), ("gzip, zstd", "zstd"), ("gzip;q=1, zstd;q=0.9", "gzip"), ("GZIP", "gzip"),
      ("x-gzip", "gzip"), ("*", "zstd"), ("*;q=0.1, gzip;q=0.2", "gzip"), ("zstd;q=0, *", "gzip"), ("gzip;q=0", nil),
      ("gzip;q=0, *;q=0", nil), ("br, deflate", nil), ("identity", nil), ("identity, gzip;q=0.5", nil),
      ("identity;q=0.5, gzip;q=0.5", "gzip"), ("", nil), ("gzip;q=2", nil), ("gzip;q=x", nil),
      (" gzip ; q=0.3 , zstd;q=0.2", "gzip"),
      ("gzip;q=0, gzip", nil), (",,;q=1,", nil),
    ] as [(String, String?)])
  func preferred(_ header: String, _ expected: String?) {
    #expect(AcceptedCodings(header).preferred(of: ["zstd", "gzip"]) == expected)
  }
}
