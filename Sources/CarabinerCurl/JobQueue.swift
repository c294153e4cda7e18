/// First in, first out, moving what remains seldom.
struct JobQueue {
  /// How many places of jobs that have run are kept before what remains moves down.
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
      // A loop that never runs dry would else keep the places of all jobs it ever ran.
      jobs.removeFirst(head)
      head = 0
    }
    return job
  }
}
