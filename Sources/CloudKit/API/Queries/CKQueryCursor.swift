import CloudKitWire
public import Foundation

/// Where the next page of a query starts.
///
/// Apps write `CKQueryOperation.Cursor`. It holds the query, its zone and the server's mark, and no
/// results: the next page is of the records as they are then.
open class CKQueryCursor: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // @unchecked Sendable because the stored property is a constant.

    /// The request of the next page.
    let request: QueryRecordsRequest

    init(_ request: QueryRecordsRequest) {
        self.request = request
    }

    /// Whether both stand for the same page.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? CKQueryCursor)?.request == request
    }

    /// A hash of the page.
    open override var hash: Int { request.hashValue }

    /// The cursor itself, which cannot change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// True: an archived cursor can be read securely.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the cursor.
    open func encode(with coder: NSCoder) {
        guard let data = try? WireJSON.encode(request) else { return }
        coder.encode(data as NSData, forKey: "CursorData")
    }

    /// Reads a cursor; nil when there is none.
    public required init?(coder: NSCoder) {
        let coder = coder.checked
        guard let data = coder.bytes(forKey: "CursorData"),
            let request = try? WireJSON.decode(QueryRecordsRequest.self, from: data)
        else { return nil }
        self.request = request
    }
}
