import CloudKitWire
public import Foundation

/// The position of a query's next page.
///
/// Apps write `CKQueryOperation.Cursor`. It holds the query, its zone and the server's marker, but
/// no results: the next page returns the records as they are when it is fetched.
open class CKQueryCursor: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // @unchecked Sendable because the stored property is a constant.

    /// The request for the next page.
    let request: QueryRecordsRequest

    init(_ request: QueryRecordsRequest) {
        self.request = request
    }

    /// Returns whether both mark the same page.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? CKQueryCursor)?.request == request
    }

    /// A hash of the request.
    open override var hash: Int { request.hashValue }

    /// Returns the cursor itself, because it is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// A Boolean value that indicates whether the class supports secure coding; always `true`.
    open class var supportsSecureCoding: Bool { true }

    /// Encodes the cursor.
    open func encode(with coder: NSCoder) {
        // The request was sent before, so it can be encoded.
        guard let data = try? WireJSON.encode(request) else { return }
        coder.encode(data as NSData, forKey: "CursorData")
    }

    /// Creates a cursor from an archive; nil when there is none.
    public required init?(coder: NSCoder) {
        let coder = coder.checked
        guard let data = coder.bytes(forKey: "CursorData"),
            // Apple's decoders return nil for a damaged archive.
            let request = try? WireJSON.decode(QueryRecordsRequest.self, from: data)
        else { return nil }
        self.request = request
    }
}
