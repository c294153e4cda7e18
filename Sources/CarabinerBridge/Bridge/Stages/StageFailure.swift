/// An error on its way up and the stage it came from: only stages further out handle it.
struct StageFailure: Error {
  let error: any Error
  let depth: Int
}
