public import Foundation

/// A place in the sequence of a database's or a zone's changes, to continue from later.
///
/// Opaque, and good only for the database or zone that it came from.
open class CKServerChangeToken: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // @unchecked Sendable because the stored property is a constant.

    /// The token as the server wrote it.
    let token: String

    init(token: String) {
        self.token = token
    }

    /// Whether both stand for the same place.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? CKServerChangeToken)?.token == token
    }

    /// A hash of the place.
    open override var hash: Int { token.hashValue }

    /// The token itself, which cannot change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// True: an archived token can be read securely.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the token.
    open func encode(with coder: NSCoder) {
        coder.encode(token as NSString, forKey: "ChangeTokenData")
    }

    /// Reads a token; nil when there is none.
    public required init?(coder: NSCoder) {
        let coder = coder.checked
        guard let token = coder.string(forKey: "ChangeTokenData") else { return nil }
        self.token = token
    }
}
