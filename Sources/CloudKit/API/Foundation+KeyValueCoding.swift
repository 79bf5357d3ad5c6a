#if !canImport(ObjectiveC)
public import Foundation

// The parts of Foundation that CloudKit programs use and this platform lacks.

extension UserDefaults {
    /// Sets a value, as key-value coding does on Apple platforms; nil removes it.
    public func setValue(_ value: Any?, forKey key: String) {
        set(value, forKey: key)
    }

    /// Returns a key's value, as key-value coding does on Apple platforms.
    public func value(forKey key: String) -> Any? {
        object(forKey: key)
    }
}

extension NSKeyedUnarchiver {
    /// Reads an archived array of objects of one class; returns nil if the archive holds anything
    /// else.
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

    /// Reads an archived dictionary with keys and objects of one class each; returns nil if the
    /// archive holds anything else.
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
    /// The user's documents directory.
    public static var documentsDirectory: URL { folder(.documentDirectory) }

    /// The directory for an app's own files.
    public static var applicationSupportDirectory: URL { folder(.applicationSupportDirectory) }

    /// The directory for files that can be created again.
    public static var cachesDirectory: URL { folder(.cachesDirectory) }

    private static func folder(_ directory: FileManager.SearchPathDirectory) -> URL {
        FileManager.default.urls(for: directory, in: .userDomainMask).first ?? homeDirectory
    }
}

extension NotificationCenter {
    /// Returns the notifications with a name that are posted from now on.
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

    /// A sequence of notifications, which ends when its task is cancelled.
    public final class Notifications: AsyncSequence, @unchecked Sendable {
        // @unchecked Sendable because every stored property is a constant; the observer is removed
        // with the sequence.

        /// The element type.
        public typealias Element = Notification

        /// The error type: the sequence never fails.
        public typealias Failure = Never

        private let stream: AsyncStream<Sent>
        private let center: NotificationCenter
        private let observer: any NSObjectProtocol

        // Posting a notification hands it over to every observer.
        private struct Sent: @unchecked Sendable {
            // @unchecked Sendable because Apple's sequence too hands notifications to other tasks.
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

        /// Returns an iterator, which waits for notifications.
        public func makeAsyncIterator() -> Iterator {
            Iterator(self)
        }

        /// An iterator that waits for one notification after the other.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let sequence: Notifications
            private var sent: AsyncStream<Sent>.Iterator

            fileprivate init(_ sequence: Notifications) {
                self.sequence = sequence
                sent = sequence.stream.makeAsyncIterator()
            }

            /// Returns the next notification; nil when the task was cancelled.
            public mutating func next() async -> Notification? {
                await next(isolation: #isolation)
            }

            /// Returns the next notification; nil when the task was cancelled.
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async -> Notification? {
                await sent.next(isolation: actor)?.notification
            }
        }
    }
}
#endif
