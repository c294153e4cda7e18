/// An error by which somebody on the way refuses a call, and says what its client is to be told.
package protocol RefusingError: Error {
  /// The HTTP status a client gets, 400 to 599; nil if nobody says.
  var refusalStatus: Int? { get }
  /// What happened, in words for the client; nil if they are for operators alone.
  var refusalMessage: String? { get }
  /// The same for programs, as JSON text; nil if there is none for the client.
  var refusalDetail: String? { get }
  /// How long a client is to wait before it asks again; nil if nobody says.
  var refusalDelay: Duration? { get }
}
