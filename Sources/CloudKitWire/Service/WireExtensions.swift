/// The extensions of CloudKit Web Services that this package's client and server share.
///
/// A client offers them in a header, and the server confirms them with the same one. Neither sends
/// anything that Apple's service or another client would not understand before it has seen the
/// other's header.
package enum WireExtensions {
    /// The header of requests and responses.
    package static let header = "X-Swift-CloudKit-Extensions"

    /// The header's value: dates keep all their bits, and 400 operations are one atomic request.
    package static let value = "exact-dates, atomic-400"

    /// The maximum number of operations in one atomic `records/modify` request.
    package static let operationsPerRequest = 400
}
