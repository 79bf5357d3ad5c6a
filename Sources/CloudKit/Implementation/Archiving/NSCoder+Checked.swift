import Foundation

// A keyed unarchiver made by `init(forReadingFrom:)` ends the process on a missing key here, where
// Apple's records an error. Every read of an archive therefore goes through these.
extension NSCoder {
    /// Makes an unarchiver record an error where it would end the process; every `init(coder:)` of
    /// the module starts with it.
    ///
    /// Foundation allows that only before anything was read, and ends the process later; what says
    /// so is not public. Where it cannot be found the unarchiver is left as it is.
    func forgive() {
        guard let unarchiver = self as? NSKeyedUnarchiver,
            unarchiver.decodingFailurePolicy != .setErrorAndReturn,
            let flags = Mirror(reflecting: unarchiver).descendant("_flags", "rawValue"),
            let bits = UInt("\(flags)"), bits & 4 == 0
        else { return }
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
    }

    /// Reads a string; nil when it is missing or something else.
    func string(forKey key: String) -> String? {
        object(NSString.self, forKey: key) as String?
    }

    /// Reads an object of a class; nil when it is missing or something else.
    func object<Object: NSObject & NSCoding>(
        _ type: Object.Type,
        forKey key: String
    ) -> Object? {
        anything(forKey: key) as? Object
    }

    /// Reads whatever stands under a key, of any class that the module's archives hold.
    ///
    /// Foundation ends the process when it finds a class that was not expected, under every policy:
    /// all are expected, and callers look at what came.
    func anything(forKey key: String) -> Any? {
        guard containsValue(forKey: key) else { return nil }
        return decodeObject(of: ArchiveNames.readable, forKey: key)
    }

    /// Reads an array of objects of a class; nil when it is missing or something else.
    func array<Object: NSObject & NSCoding>(of type: Object.Type, forKey key: String) -> [Object]? {
        anything(forKey: key) as? [Object]
    }

    /// Reads an array of strings; nil when it is missing or something else.
    func strings(forKey key: String) -> [String]? {
        array(of: NSString.self, forKey: key)?.map { $0 as String }
    }

    /// Reads a date; nil when it is missing or something else.
    func date(forKey key: String) -> Date? {
        object(NSDate.self, forKey: key) as Date?
    }

    /// Reads bytes; nil when they are missing or something else.
    func bytes(forKey key: String) -> Data? {
        object(NSData.self, forKey: key) as Data?
    }

    /// Reads an integer; nil when it is missing or too large.
    func integer(forKey key: String) -> Int? {
        guard containsValue(forKey: key) else { return nil }
        return Int(exactly: decodeInt64(forKey: key))
    }

    /// Reads a truth value; false when it is missing.
    func truth(forKey key: String) -> Bool {
        containsValue(forKey: key) && decodeBool(forKey: key)
    }

    /// Reads a case of an enumeration; nil when it is missing or unknown.
    func choice<Choice: RawRepresentable<Int>>(forKey key: String) -> Choice? {
        integer(forKey: key).flatMap(Choice.init(rawValue:))
    }
}
