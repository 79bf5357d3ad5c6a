#if S3
/// The description of an object that S3 has.
package struct S3Object: Hashable, Sendable {
    package var size: Int64
    /// The end of the second in which it was stored, in milliseconds since 1970-01-01 UTC: an object is never
    /// older than this says.
    package var modified: Int64
    /// The version; nil in a bucket without versions.
    package var version: String?

    /// Returns a description from the header fields of a response; nil if one of them is missing.
    package init?(_ headers: [String: String]) {
        guard let size = headers["content-length"].flatMap({ Int64($0) }), size >= 0,
            let modified = headers["last-modified"].flatMap({ S3Date.milliseconds(header: $0) })
        else { return nil }
        self.size = size
        self.modified = modified + 999
        version = headers["x-amz-version-id"].flatMap { $0 == "null" ? nil : $0 }
    }
}

/// A page of a list.
package struct S3Page<Item: Sendable>: Sendable {
    package var items: [Item]
    /// The query items that lead to the next page; empty at the end.
    package var next: [(name: String, value: String)]
}

/// An object in a list.
package struct S3ListedObject: Hashable, Sendable {
    package var key: String
    package var modified: Int64
}

/// An upload in parts that has not come to its end.
package struct S3ListedUpload: Hashable, Sendable {
    package var key: String
    package var id: String
    package var started: Int64
}
#endif
