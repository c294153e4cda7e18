/// Microseconds since the simulation began.
typealias VirtualTime = Int64

extension VirtualTime {
  static func seconds(_ count: Double) -> Self { Self(count * 1_000_000) }
  static func milliseconds(_ count: Double) -> Self { Self(count * 1000) }

  init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    self = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
  }

  var inSeconds: Double { Double(self) / 1_000_000 }
}

/// Events in the order of their times; those of one time in the order in which they were added.
struct EventQueue<Event> {
  private struct Entry {
    let time: VirtualTime
    let number: Int
    let event: Event

    func isBefore(_ other: Entry) -> Bool { time == other.time ? number < other.number : time < other.time }
  }

  /// A binary heap.
  private var entries: [Entry] = []
  private var added = 0

  mutating func add(_ event: Event, at time: VirtualTime) {
    added += 1
    entries.append(Entry(time: time, number: added, event: event))
    var child = entries.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard entries[child].isBefore(entries[parent]) else { return }
      entries.swapAt(child, parent)
      child = parent
    }
  }

  /// Takes the next event out.
  mutating func next() -> (time: VirtualTime, event: Event)? {
    guard let first = entries.first else { return nil }
    entries.swapAt(0, entries.count - 1)
    entries.removeLast()
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < entries.count && entries[child].isBefore(entries[least]) {
        least = child
      }
      guard least != parent else { break }
      entries.swapAt(parent, least)
      parent = least
    }
    return (first.time, first.event)
  }
}
