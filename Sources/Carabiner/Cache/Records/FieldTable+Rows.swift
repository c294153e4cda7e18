extension FieldTable {
  /// Where in a buffer the raw JSON of a field stands, and when it was received.
  package typealias Place = (value: Range<Int>, received: Int64)

  /// A table whose values stand in a buffer, for caches that keep them as rows of their own.
  package init(names: [String], places: [Place], buffer: [UInt8]) {
    self.init(
      names: names,
      slots: places.map { Slot(start: Int32($0.value.lowerBound), length: Int32($0.value.count), received: $0.received) },
      buffer: buffer)
  }

  /// The raw JSON of the field whose name stands at a position.
  package func value(at position: Int) -> ArraySlice<UInt8> { bytes(at: position) }

  /// When the field whose name stands at a position was received, in milliseconds since 1970.
  package func received(at position: Int) -> Int64 { slots[position].received }
}
