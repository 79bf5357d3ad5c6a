#if !canImport(ObjectiveC)
public import Foundation

// What programs around CloudKit use of Foundation that is missing on this platform.

extension UserDefaults {
    /// Sets a value, as key-value coding does on Apple platforms; nil removes it.
    public func setValue(_ value: Any?, forKey key: String) {
        set(value, forKey: key)
    }

    /// The value of a key, as key-value coding gives it on Apple platforms.
    public func value(forKey key: String) -> Any? {
        object(forKey: key)
    }
}

extension NSKeyedUnarchiver {
    /// Reads an archived list of objects of one class; nil when the archive holds another thing.
    ///
    /// ```swift
    /// let zoneIDs = try NSKeyedUnarchiver.unarchivedArrayOfObjects(
    ///     ofClass: CKRecordZone.ID.self,
    ///     from: data
    /// )
    /// ```
    public static func unarchivedArrayOfObjects<Object: NSObject & NSCoding>(
        ofClass type: Object.Type,
        from data: Data
    ) throws -> [Object]? {
        try unarchivedObject(ofClasses: [NSArray.self, type], from: data) as? [Object]
    }

    /// Reads an archived dictionary of keys and objects of one class each; nil when the archive holds
    /// another thing.
    ///
    /// ```swift
    /// let tokens = try NSKeyedUnarchiver.unarchivedDictionary(
    ///     ofKeyClass: CKRecordZone.ID.self,
    ///     objectClass: CKServerChangeToken.self,
    ///     from: data
    /// )
    /// ```
    public static func unarchivedDictionary<Key: NSObject & NSCoding, Object: NSObject & NSCoding>(
        ofKeyClass keyType: Key.Type,
        objectClass type: Object.Type,
        from data: Data
    ) throws -> [Key: Object]? {
        try unarchivedObject(ofClasses: [NSDictionary.self, keyType, type], from: data)
            as? [Key: Object]
    }
}

extension URL {
    /// The folder of the user's documents.
    public static var documentsDirectory: URL { folder(.documentDirectory) }

    /// The folder of what apps keep for themselves.
    public static var applicationSupportDirectory: URL { folder(.applicationSupportDirectory) }

    /// The folder of what can be made again.
    public static var cachesDirectory: URL { folder(.cachesDirectory) }

    private static func folder(_ directory: FileManager.SearchPathDirectory) -> URL {
        FileManager.default.urls(for: directory, in: .userDomainMask).first ?? homeDirectory
    }
}

extension NotificationCenter {
    /// The notifications of a name as they come, from the call on.
    ///
    /// ```swift
    /// for await _ in NotificationCenter.default.notifications(named: .CKAccountChanged) {
    ///     await reload()
    /// }
    /// ```
    public func notifications(
        named name: Notification.Name,
        object: (any AnyObject & Sendable)? = nil
    ) -> Notifications {
        Notifications(center: self, name: name, object: object)
    }

    /// A sequence of notifications, which ends when it is cancelled.
    public final class Notifications: AsyncSequence, @unchecked Sendable {
        // @unchecked Sendable because every stored property is a constant; the observer goes with
        // the sequence.

        /// A notification.
        public typealias Element = Notification

        /// Nothing fails.
        public typealias Failure = Never

        private let stream: AsyncStream<Sent>
        private let center: NotificationCenter
        private let observer: any NSObjectProtocol

        // Whoever posts a notification hands it over to all who listen.
        private struct Sent: @unchecked Sendable {
            // @unchecked Sendable because Apple's sequence gives notifications to other tasks too.
            let notification: Notification
        }

        fileprivate init(center: NotificationCenter, name: Notification.Name, object: AnyObject?) {
            let (stream, continuation) = AsyncStream<Sent>.makeStream()
            self.stream = stream
            self.center = center
            observer = center.addObserver(forName: name, object: object, queue: nil) {
                continuation.yield(Sent(notification: $0))
            }
        }

        deinit {
            center.removeObserver(observer)
        }

        /// Starts to wait.
        public func makeAsyncIterator() -> Iterator {
            Iterator(self)
        }

        /// Waits for one notification after the other.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let sequence: Notifications
            private var sent: AsyncStream<Sent>.Iterator

            fileprivate init(_ sequence: Notifications) {
                self.sequence = sequence
                sent = sequence.stream.makeAsyncIterator()
            }

            /// The next notification; nil when the task was cancelled.
            public mutating func next() async -> Notification? {
                await next(isolation: #isolation)
            }

            /// The next notification; nil when the task was cancelled.
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async -> Notification? {
                await sent.next(isolation: actor)?.notification
            }
        }
    }
}
#endif
