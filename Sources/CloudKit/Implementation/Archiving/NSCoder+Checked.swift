import Foundation

// A keyed unarchiver made by `init(forReadingFrom:)` ends the process on a missing key here, where
// Apple's records an error. Every read of an archive therefore goes through these.
extension NSCoder {
    /// Reads a string; nil when it is missing or something else.
    func string(forKey key: String) -> String? {
        object(NSString.self, forKey: key) as String?
    }

    /// Reads an object of a class; nil when it is missing or something else.
    func object<Object: NSObject & NSCoding>(
        _ type: Object.Type,
        forKey key: String
    ) -> Object? {
        guard containsValue(forKey: key) else { return nil }
        return decodeObject(of: type, forKey: key)
    }

    /// Reads a date; nil when it is missing or something else.
    func date(forKey key: String) -> Date? {
        object(NSDate.self, forKey: key) as Date?
    }
}
