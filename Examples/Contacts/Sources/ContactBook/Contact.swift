public import Foundation

/// A person and how to reach them.
public struct Contact: Codable, Hashable, Sendable, Identifiable {
    /// The contact's identity, which is also the name of its record.
    public var id: String
    /// The person's name.
    public var name: String
    /// The person's telephone number.
    public var phone: String
    /// The system fields of the server's last known version of the record; nil before the first sync.
    var systemFields: Data?

    /// Creates a contact.
    public init(id: String = UUID().uuidString, name: String, phone: String = "") {
        self.id = id
        self.name = name
        self.phone = phone
    }
}
