public import CloudKitCodable

/// The price of an article: a record of the public database.
public struct Price: CloudKitModel, Identifiable, Equatable {
    /// The article's number: the record's name, and a field.
    public var id: String
    /// The price in cents.
    public var cents: Int

    /// Creates a price.
    public init(id: String, cents: Int) {
        self.id = id
        self.cents = cents
    }
}
