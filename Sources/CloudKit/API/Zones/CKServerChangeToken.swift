public import Foundation

/// A position in the change feed of a database or a zone, from which a later fetch continues.
///
/// Opaque, and valid only for the database or zone that it came from.
open class CKServerChangeToken: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // @unchecked Sendable because the stored property is a constant.

    /// The token's text from the server.
    let token: String

    init(token: String) {
        self.token = token
    }

    /// Returns whether both tokens mark the same position.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? CKServerChangeToken)?.token == token
    }

    /// A hash of the token.
    open override var hash: Int { token.hashValue }

    /// Returns the token itself, because it is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// A Boolean value that indicates whether the class supports secure coding; always `true`.
    open class var supportsSecureCoding: Bool { true }

    /// Encodes the token.
    open func encode(with coder: NSCoder) {
        coder.encode(token as NSString, forKey: "ChangeTokenData")
    }

    /// Creates a token from an archive; nil when there is none.
    public required init?(coder: NSCoder) {
        let coder = coder.checked
        guard let token = coder.string(forKey: "ChangeTokenData") else { return nil }
        self.token = token
    }
}
