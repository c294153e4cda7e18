/// A FIFO queue that rarely moves its elements.
struct JobQueue {
  /// The number of finished entries that are kept before the remaining jobs are moved.
  private static let wastedPlaces = 1024

  private var jobs: [UnownedJob] = []
  private var head = 0

  var isEmpty: Bool { head == jobs.count }

  mutating func append(_ job: UnownedJob) { jobs.append(job) }

  mutating func append(contentsOf more: [UnownedJob]) { jobs.append(contentsOf: more) }

  mutating func popFirst() -> UnownedJob? {
    guard head < jobs.count else { return nil }
    let job = jobs[head]
    head += 1
    if head == jobs.count {
      jobs.removeAll(keepingCapacity: true)
      head = 0
    } else if head >= Self.wastedPlaces, head * 2 >= jobs.count {
      // Otherwise the queue of a loop that is always busy would grow without limit.
      jobs.removeFirst(head)
      head = 0
    }
    return job
  }
}
