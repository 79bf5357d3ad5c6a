#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#elseif canImport(Darwin)
import Darwin
#endif

/// A thread of the system that nobody waits for, for calls that block: Swift's own threads may not.
package final class DetachedThread {
    private let body: @Sendable () -> Void

    private init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    /// Starts a thread, which ends with its closure.
    ///
    /// - Parameters:
    ///   - stackBytes: The size of its stack.
    ///   - body: The closure that it runs.
    /// - Returns: `true` if it was started, `false` if the machine has no room for another thread.
    package static func start(stackBytes: Int, _ body: @escaping @Sendable () -> Void) -> Bool {
        // Not created by an initializer, because C's headers belong to different modules on
        // different systems.
        let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
        defer { attributes.deallocate() }
        pthread_attr_init(attributes)
        defer { pthread_attr_destroy(attributes) }
        pthread_attr_setstacksize(attributes, stackBytes)
        pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED))
        #if canImport(Darwin)
        var thread: pthread_t?
        #else
        var thread = pthread_t()
        #endif
        let started = Unmanaged.passRetained(DetachedThread(body))
        let failure = pthread_create(
            &thread,
            attributes,
            { argument in
                #if canImport(Darwin)
                Unmanaged<DetachedThread>.fromOpaque(argument).takeRetainedValue().body()
                #else
                guard let argument else { return nil }
                Unmanaged<DetachedThread>.fromOpaque(argument).takeRetainedValue().body()
                #endif
                return nil
            },
            started.toOpaque()
        )
        if failure != 0 { started.release() }
        return failure == 0
    }
}
