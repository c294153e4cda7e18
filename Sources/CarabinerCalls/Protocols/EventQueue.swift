/// The few events that a head or the end of a body gives at once.
struct EventQueue {
  private var events: [ResponseEvent] = []

  mutating func add(_ event: ResponseEvent) { events.append(event) }

  mutating func next() -> ResponseEvent? { events.isEmpty ? nil : events.removeFirst() }
}
