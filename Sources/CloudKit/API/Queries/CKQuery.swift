public import Foundation

/// A search for records: a record type, a predicate and a sort order.
///
/// ```swift
/// let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "title BEGINSWITH 'M'"))
/// query.sortDescriptors = [NSSortDescriptor(key: "creationDate", ascending: false)]
/// let (matches, cursor) = try await database.records(matching: query)
/// ```
///
/// Predicates are limited to CloudKit's subset; any other fails with `CKError.invalidArguments`
/// when the query runs.
open class CKQuery: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // @unchecked Sendable because apps set the order before they hand the query over.

    /// The type of the records.
    public var recordType: CKRecord.RecordType { type }

    /// The condition that the records must match.
    open var predicate: NSPredicate { condition }

    /// The order of the results, most significant first; nil leaves it to the server.
    open var sortDescriptors: [NSSortDescriptor]?

    private let type: CKRecord.RecordType
    private let condition: NSPredicate

    /// Creates a query; an empty type ends the process with "CKQuery: the record type is empty".
    public init(recordType: CKRecord.RecordType, predicate: NSPredicate) {
        precondition(!recordType.isEmpty, "CKQuery: the record type is empty")
        type = recordType
        condition = predicate
    }

    /// Returns an independent copy with the same values.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = CKQuery(recordType: type, predicate: condition)
        copy.sortDescriptors = sortDescriptors
        return copy
    }

    /// A Boolean value that indicates whether the class supports secure coding; always `true`.
    open class var supportsSecureCoding: Bool { true }

    /// Encodes the query; one that CloudKit could not run is encoded without its predicate and
    /// cannot be decoded.
    open func encode(with coder: NSCoder) {
        QueryArchive.encode(self, with: coder)
    }

    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    /// Creates a query from an archive; nil when the archive holds none.
    public required init!(coder aDecoder: NSCoder) {
        let aDecoder = aDecoder.checked
        guard let contents = QueryArchive.decode(aDecoder) else { return nil }
        type = contents.recordType
        condition = contents.predicate
        sortDescriptors = contents.sortDescriptors
    }

    /// A textual representation with the type and the predicate.
    open override var description: String {
        "<CKQuery: \(type); predicate=\(condition.givenFormat ?? "\(condition)")>"
    }
}
