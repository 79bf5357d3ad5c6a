import Foundation

extension NSCoder {
    /// The coder with which the module reads an archive; every `init(coder:)` starts with it.
    ///
    /// If a Foundation stores what it has parsed elsewhere, its unarchiver itself reads.
    var checked: NSCoder {
        (self as? NSKeyedUnarchiver).flatMap(UnarchiverContents.init).map(ArchiveReader.init)
            ?? self
    }

    /// Reads a string; nil when it is missing or of another type.
    func string(forKey key: String) -> String? {
        object(NSString.self, forKey: key) as String?
    }

    /// Reads an object of a class; nil when it is missing or of another type.
    func object<Object: NSObject & NSCoding>(
        _ type: Object.Type,
        forKey key: String
    ) -> Object? {
        anything(forKey: key) as? Object
    }

    /// Reads any value under a key, of any class that the module's archives hold.
    ///
    /// Foundation ends the process when it finds an unexpected class, under every policy: all are
    /// expected, and callers check the result.
    func anything(forKey key: String) -> Any? {
        guard containsValue(forKey: key) else { return nil }
        return decodeObject(of: ArchiveNames.readable, forKey: key)
    }

    /// Reads an array of objects of a class; nil when it is missing or of another type.
    func array<Object: NSObject & NSCoding>(of type: Object.Type, forKey key: String) -> [Object]? {
        anything(forKey: key) as? [Object]
    }

    /// Reads an array of strings; nil when it is missing or of another type.
    func strings(forKey key: String) -> [String]? {
        array(of: NSString.self, forKey: key)?.map { $0 as String }
    }

    /// Reads a date; nil when it is missing or of another type.
    func date(forKey key: String) -> Date? {
        object(NSDate.self, forKey: key) as Date?
    }

    /// Reads data; nil when it is missing or of another type.
    func bytes(forKey key: String) -> Data? {
        object(NSData.self, forKey: key) as Data?
    }

    /// Reads an integer; nil when it is missing or too large.
    func integer(forKey key: String) -> Int? {
        guard containsValue(forKey: key) else { return nil }
        return Int(exactly: decodeInt64(forKey: key))
    }

    /// Reads a Boolean value; false when it is missing.
    func truth(forKey key: String) -> Bool {
        containsValue(forKey: key) && decodeBool(forKey: key)
    }

    /// Reads a case of an enumeration; nil when it is missing or unknown.
    func choice<Choice: RawRepresentable<Int>>(forKey key: String) -> Choice? {
        integer(forKey: key).flatMap(Choice.init(rawValue:))
    }
}
