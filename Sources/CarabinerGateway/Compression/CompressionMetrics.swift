/// Counts bytes before and after compression.
final class CompressionMetrics: Sendable {
  private let sizes = ContentCoding.allCases.map { _ in (plain: AtomicCount(), coded: AtomicCount()) }

  func compressed(_ coding: ContentCoding, from plain: Int, to coded: Int) {
    for (index, other) in ContentCoding.allCases.enumerated() where other == coding {
      sizes[index].plain.add(UInt64(plain))
      sizes[index].coded.add(UInt64(coded))
    }
  }

  func write(to text: inout some MetricSink) {
    let name = "carabiner_compression_bytes_total"
    text.family(name, .counter, "Bytes of compressed responses, by encoding, before (in) and after (out) compression.")
    for (coding, size) in zip(ContentCoding.allCases, sizes) {
      text.sample(name, [("encoding", coding.rawValue), ("side", "in")], Double(size.plain.value))
      text.sample(name, [("encoding", coding.rawValue), ("side", "out")], Double(size.coded.value))
    }
  }
}
