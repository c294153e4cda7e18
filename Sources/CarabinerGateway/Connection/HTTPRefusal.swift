internal import NIOHTTP1

/// A request that is answered with an error status; its connection is closed afterwards.
struct HTTPRefusal: Error, Hashable {
  let status: HTTPResponseStatus
  let message: String
}
