package import CloudKit

/// Encodes values into records, for an API that has other protocols than this module.
package protocol GraphDialect {
    /// The action on a record when a record that it refers to is deleted.
    var referenceAction: CKRecord.ReferenceAction { get }

    /// Returns whether values of a type are records.
    func isNode(_ type: Any.Type) -> Bool

    /// Returns the node of a value; nil for values of other types.
    func node(for value: any Encodable) -> GraphNode?

    /// Returns the form in which a value is stored; nil for the usual one.
    func form(of value: any Encodable) throws -> (any CKRecordValue)?
}
