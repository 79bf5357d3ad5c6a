import CloudKitWebClient
public import Foundation
import Synchronization

/// A piece of work with CloudKit, to be added to a database, a container or any operation queue.
///
/// Each operation runs its blocks one after the other, on threads of the system and never on the main
/// one:
/// first those of single items, then the one of the whole, then `completionBlock`.
open class CKOperation: Operation, @unchecked Sendable {
    // @unchecked Sendable because a lock guards the life cycle; the rest is set before the start.

    /// The identity of an operation.
    public typealias ID = String

    /// How an operation runs.
    public typealias Configuration = CKOperationConfiguration

    /// The operation's identity, made by the framework.
    public var operationID: CKOperation.ID { identity }

    /// The operations that this one belongs to; its configuration fills in what this one leaves open.
    open var group: CKOperationGroup?

    /// Is called when the operation would outlive the process; never, here.
    open var longLivedOperationWasPersistedBlock: (() -> Void)?

    private let identity: CKOperation.ID = UUID().uuidString
    private let life = OperationLife()
    private var goesOn = false
    private let callbacks = CallbackLine()
    private let begun = Mutex<Int?>(nil)
    private var ownConfiguration = CKOperationConfiguration()

    /// Makes an operation with nothing to do.
    public override init() {
        super.init()
    }

    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    /// How the operation runs; setting nil goes back to the defaults.
    open var configuration: CKOperation.Configuration! {
        get { ownConfiguration }
        set { ownConfiguration = CKOperationConfiguration(newValue?.values ?? OperationSettings()) }
    }

    /// What the operation's own configuration sets.
    var settings: OperationSettings {
        get { ownConfiguration.values }
        set { ownConfiguration.values = newValue }
    }

    /// How urgent the operation is, as its configuration says.
    open override var qualityOfService: QualityOfService {
        get { effectiveSettings.qualityOfService ?? .default }
        set { settings.qualityOfService = newValue }
    }

    /// What holds for this operation: its own settings, then its group's.
    var effectiveSettings: OperationSettings {
        settings.filled(from: group?.settings ?? OperationSettings())
    }

    /// How the operation reaches its service.
    var connection: CloudConnection {
        (effectiveSettings.container ?? CKContainer.default()).connection
    }

    /// The sign-in that the operation was begun under; nil before, or without a service.
    var signIn: Int? { begun.withLock { $0 } }

    /// Binds the operation to the user of this moment, the first time: it was made for that one, and
    /// does nothing for another, however long it waits in its queue.
    func begin() {
        let current = connection.signIn
        begun.withLock { $0 = $0 ?? current }
    }

    // MARK: What subclasses do

    /// Does the work, reporting items as they are done.
    ///
    /// - Throws: When the work fails as a whole.
    func perform() async throws(CKError) {}

    /// Reports the end of the work; `error` is nil when it did not fail as a whole.
    func conclude(_ error: CKError?) {}

    /// Runs blocks of the app on the operation's queue, and waits for them.
    func report(_ blocks: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            callbacks.add {
                blocks()
                continuation.resume()
            }
        }
    }

    /// Runs blocks of the app on the operation's queue, after those that wait there.
    func post(_ blocks: @escaping @Sendable () -> Void) {
        callbacks.add(blocks)
    }

    // MARK: Life cycle

    /// True: an operation runs on after `start()` returns.
    open override var isAsynchronous: Bool { true }

    /// Whether the operation has started and not ended.
    open override var isExecuting: Bool { life.isExecuting }

    /// Whether the operation has ended.
    open override var isFinished: Bool { life.isFinished }

    /// Starts the operation; one that was cancelled ends with `CKError.operationCancelled`.
    open override func start() {
        willChangeValue(for: \.isExecuting)
        let begins = life.begin()
        didChangeValue(for: \.isExecuting)
        guard begins else { return }
        if isCancelled { work() } else { main() }
        if !goesOn { end() }
    }

    /// Begins the operation's work, which goes on after this returns.
    ///
    /// An operation whose subclass does something else here, and does not call `super`, ends when
    /// this returns.
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

    /// Asks the operation to end early, with `CKError.operationCancelled`.
    ///
    /// What the server has received by then may take effect all the same.
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

    /// The time by which the container's client waits.
    private var clock: any Clock<Duration> {
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
