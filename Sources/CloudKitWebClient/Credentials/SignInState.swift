/// The state of a client's sign-in and token, as a machine without locks and files: events go in, and
/// the changes to be stored come out.
///
/// A token belongs to the sign-in under which it was sent. Work that began under one sign-in gets no
/// token of another, and its response renews none.
package struct SignInState: Hashable, Sendable {
    /// A token to be stored for the next run, or none, and its number in the order of changes.
    package struct Change: Hashable, Sendable {
        /// The token; nil after a sign-out.
        package let token: String?
        fileprivate let edition: Int
    }

    /// The token of the signed-in user; nil without one.
    package private(set) var token: String?
    /// The number of times that a user was signed in or out.
    package private(set) var signIn = 0

    private var edition = 0
    private var kept = 0

    /// Creates the state at the start of a run.
    package init(token: String?) {
        self.token = token
    }

    /// Stores the token of another user, or of the same one who signed in again; nil signs out.
    package mutating func signIn(_ token: String?) -> Change {
        signIn += 1
        return change(to: token)
    }

    /// Returns whether work that began under a sign-in may continue.
    package func isCurrent(_ signIn: Int) -> Bool { signIn == self.signIn }

    /// Stores the token in the response to a request of a sign-in; returns nil when it belongs to
    /// another sign-in or is not new.
    package mutating func renew(_ token: String, under signIn: Int) -> Change? {
        guard isCurrent(signIn), self.token != nil, self.token != token else { return nil }
        return change(to: token)
    }

    /// Returns whether a change must still be stored, because no later one replaced it.
    package mutating func keeps(_ change: Change) -> Bool {
        guard change.edition > kept else { return false }
        kept = change.edition
        return true
    }

    private mutating func change(to token: String?) -> Change {
        edition += 1
        self.token = token
        return Change(token: token, edition: edition)
    }
}
