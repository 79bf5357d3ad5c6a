import CloudKitWebClient
public import Foundation
import Synchronization

/// A CloudKit request or a series of them, to be added to a database, a container or any operation
/// queue.
///
/// An operation calls its closures one after the other, never on the main thread: first those for
/// single items, then the one for the whole, then `completionBlock`.
open class CKOperation: Operation, @unchecked Sendable {
    // @unchecked Sendable because a lock guards the life cycle; the rest is set before the start.

    /// The ID of an operation.
    public typealias ID = String

    /// The settings of an operation.
    public typealias Configuration = CKOperationConfiguration

    /// The operation's ID, which the framework creates.
    public var operationID: CKOperation.ID { identity }

    /// The operation's group, whose configuration applies where the operation's own sets nothing.
    open var group: CKOperationGroup?

    /// The closure to call when the operation is to outlive the process; never called here.
    open var longLivedOperationWasPersistedBlock: (() -> Void)?

    private let identity: CKOperation.ID = UUID().uuidString
    private let life = OperationState()
    private var goesOn = false
    private let callbacks = CallbackQueue()
    private let begun = Mutex<Int?>(nil)
    private var ownConfiguration = CKOperationConfiguration()

    /// Creates an empty operation.
    public override init() {
        super.init()
    }

    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    /// The operation's configuration; setting nil restores the defaults.
    open var configuration: CKOperation.Configuration! {
        get { ownConfiguration }
        set { ownConfiguration = CKOperationConfiguration(newValue?.values ?? OperationSettings()) }
    }

    /// The settings of the operation's own configuration.
    var settings: OperationSettings {
        get { ownConfiguration.values }
        set { ownConfiguration.values = newValue }
    }

    /// The quality of service of the operation's configuration.
    open override var qualityOfService: QualityOfService {
        get { effectiveSettings.qualityOfService ?? .default }
        set { settings.qualityOfService = newValue }
    }

    /// The operation's settings, completed with those of its group.
    var effectiveSettings: OperationSettings {
        settings.filled(from: group?.settings ?? OperationSettings())
    }

    /// The connection to the operation's service.
    var connection: CloudConnection {
        (effectiveSettings.container ?? CKContainer.default()).connection
    }

    /// The sign-in that the operation began under; nil before it began, or without a service.
    var signIn: Int? { begun.withLock { $0 } }

    /// Binds the operation to the current user, at the first call: the operation does nothing for
    /// another user, however long it waits in its queue.
    func begin() {
        let current = connection.signIn
        begun.withLock { $0 = $0 ?? current }
    }

    // MARK: Overridden by subclasses

    /// Performs the operation and reports each item as it completes.
    ///
    /// - Throws: An error when the operation fails as a whole.
    func perform() async throws(CKError) {}

    /// Reports the end of the operation; `error` is nil unless it failed as a whole.
    func conclude(_ error: CKError?) {}

    /// Runs the app's closures on the operation's queue, and waits for them.
    func report(_ blocks: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            callbacks.add {
                blocks()
                continuation.resume()
            }
        }
    }

    /// Runs the app's closures on the operation's queue, after those that are already waiting.
    func post(_ blocks: @escaping @Sendable () -> Void) {
        callbacks.add(blocks)
    }

    // MARK: Life cycle

    /// A Boolean value that indicates whether the operation continues after `start()` returns;
    /// always `true`.
    open override var isAsynchronous: Bool { true }

    /// A Boolean value that indicates whether the operation has started and not yet ended.
    open override var isExecuting: Bool { life.isExecuting }

    /// A Boolean value that indicates whether the operation has ended.
    open override var isFinished: Bool { life.isFinished }

    /// Starts the operation; a cancelled one ends with `CKError.operationCancelled`.
    open override func start() {
        willChangeValue(for: \.isExecuting)
        let begins = life.begin()
        didChangeValue(for: \.isExecuting)
        guard begins else { return }
        if isCancelled { work() } else { main() }
        if !goesOn { end() }
    }

    /// Begins the operation's work, which continues after this returns.
    ///
    /// If a subclass overrides this without calling `super`, the operation ends when this returns.
    open override func main() { work() }

    private func work() {
        goesOn = true
        begin()
        life.own(
            Task(priority: effectiveSettings.taskPriority) {
                let error = await self.run()
                await self.report { self.conclude(error) }
                self.end()
            }
        )
        if isCancelled { life.cancel() }
    }

    /// Requests that the operation end early, with `CKError.operationCancelled`.
    ///
    /// Requests that the server has already received may still take effect.
    open override func cancel() {
        super.cancel()
        life.cancel()
    }

    private func run() async -> CKError? {
        let cancelled = CKError(.operationCancelled, message: "The operation was cancelled")
        guard !isCancelled else { return cancelled }
        let clock = clock
        do throws(CKError) {
            try await within(effectiveSettings.deadline, on: clock) { () async throws(CKError) in
                try await self.perform()
            }
            return nil
        } catch {
            return isCancelled ? cancelled : error
        }
    }

    /// The clock of the container's client.
    private var clock: any Clock<Duration> {
        // Without a service, nothing is sent, whatever the clock.
        (try? effectiveSettings.container?.connection.client.clock) ?? DeadlineClock()
    }

    private func end() {
        willChangeValue(for: \.isExecuting)
        willChangeValue(for: \.isFinished)
        life.end()
        didChangeValue(for: \.isExecuting)
        didChangeValue(for: \.isFinished)
    }
}
