/// What this package's client and server agree on beyond CloudKit Web Services.
///
/// A client asks with a header, and the server answers with the same one. Neither does anything that
/// Apple's service or another client would not understand before it has seen the other's header.
package enum WireExtensions {
    /// The header of requests and answers.
    package static let header = "X-Swift-CloudKit-Extensions"

    /// What the header says: dates keep all their bits, and 400 operations are one atomic request.
    package static let value = "exact-dates, atomic-400"

    /// Operations in one atomic `records/modify` request.
    package static let operationsPerRequest = 400
}
